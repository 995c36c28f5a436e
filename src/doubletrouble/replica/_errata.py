"""The misprints of [dascoli2020] App. B and C: one table, and the formulas with some put back.

`_appendix_b` has the formulas as they should be. Each erratum of docs/errata.md that changes a
number is a row of `_TABLE`: the source text there, and the text as the paper prints it.
`formulas(printed)` executes the source with these replacements as a module of its own.
"""

import inspect
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from doubletrouble.replica import _appendix_b


@dataclass(frozen=True)
class _Erratum:
    """Where a misprint stands, and {correct text: text as printed}, each found `times` times."""

    where: str
    texts: dict[str, str]
    times: int = 1


_TABLE = {
    1: _Erratum(
        "App. B, Ψ₁: a trace of Hessians",
        {"H(P_psi1).value": "trace(v, H(P_psi1))"},
    ),
    2: _Erratum(
        "App. B and C, P_Ψ₁: sign of the M_X M_W term",
        {"- mustar**2 * psi1 * _11(": "+ mustar**2 * psi1 * _11("},
    ),
    3: _Erratum(
        "App. B and C, Ψ₂ᵛ and Ψ₃ᵛ: overall sign",
        {"-trace(v, ": "trace(v, "},
        times=2,
    ),
    4: _Erratum(
        "App. B, M_Wᵛ and M_Wᵉ: place of the q̃ term",
        {
            " + one**2 * qt / L**2": "",
            "    return M_W_v(at, q, r, 0 * qt, rt)": (
                "    one = 1 + at.mu1**2 * at.psi1 * r\n"
                "    L = one + at.mustar**2 * at.psi1 * q\n"
                "    return M_W_v(at, q, r, qt, rt) + _matrix(0 * q, one**2 * qt / L**2)"
            ),
        },
    ),
    5: _Erratum(
        "App. B, M_Wᵛ: factor 2 in the diagonal",
        {"q * one / L,": "q * one / (1 + 2 * mu1**2 * psi1 * r + mustar**2 * psi1 * q),"},
    ),
    6: _Erratum(
        "App. B, N_Xᵛ and N_Xᵉ: off-diagonal",
        {"rt * (1 - mu1**2 * psi1 * r) / one**3": "rt / one**2"},
    ),
    7: _Erratum(
        "App. B, M_Xᵈ: r² in the denominator",
        {"r / one, 0 * r": "r / (1 + mu1**2 * psi1 * r**2), 0 * r"},
    ),
    8: _Erratum(
        "App. B and C, P_Ψ₂ᵈ: sign of the P_WX term",
        {"- 2 * mustar**2 * mu1**2 * psi1**2 * P_WX": "+ 2 * mustar**2 * mu1**2 * psi1**2 * P_WX"},
    ),
    9: _Erratum(
        "App. C, P_Ψ₃ᵛ and P_Ψ₃ᵉ: sign of the M_X M_W term",
        {"- 2 * mu1**2 * mustar**2 * psi1 * _12": "+ 2 * mu1**2 * mustar**2 * psi1 * _12"},
    ),
    10: _Erratum(
        "App. C, fᵉ and gᵉ: factor 1/2",
        {"rt**2 * f_e(": "rt**2 / 2 * f_e(", "qt**2 * g_e(": "qt**2 / 2 * g_e("},
    ),
    11: _Erratum(
        "App. C, P_Ψ₁: factor μ₁ in the M_X M_W term",
        {"psi1 * _11(M_X @ M_W)": "mu1 * psi1 * _11(M_X @ M_W)"},
    ),
    12: _Erratum(
        "App. C, expanded M_Wᵉ: factor q² missing",
        {"def M_W_e_multiplied_out(": "def M_W_e(", "Q @ Q @ A @ ": "A @ "},
    ),
    13: _Erratum(
        "App. C, defined M_Wᵉ: factor μ⋆² missing",
        {"def M_W_e_defined(": "def M_W_e(", "mustar**2 * psi1 * A @ Q": "psi1 * A @ Q"},
    ),
    14: _Erratum(
        "App. C, sketch of proof: q̃ and r̃ exchanged in the vanilla prefactors",
        {"mu1**2 * rt + mustar**2 * qt": "mu1**2 * qt + mustar**2 * rt"},
        times=2,
    ),
}

ERRATA = {number: erratum.where for number, erratum in _TABLE.items()}
"""The misprints that change a number, by their number in docs/errata.md."""


def formulas(printed: frozenset[int]) -> Any:
    """The module of the formulas, with the errata `printed` as in the paper."""
    return _executed(printed) if printed else _appendix_b


@cache
def _executed(printed: frozenset[int]) -> ModuleType:
    name = f"{_appendix_b.__name__}, errata {sorted(printed)} as printed"
    module = ModuleType(name, _appendix_b.__doc__)
    exec(compile(_source(printed), f"<{name}>", "exec"), module.__dict__)
    return module


def _source(printed: frozenset[int]) -> str:
    source = inspect.getsource(_appendix_b)
    for number in sorted(printed):
        erratum = _TABLE[number]
        for correct, as_printed in erratum.texts.items():
            if (found := source.count(correct)) != erratum.times:
                raise AssertionError(
                    f"erratum {number}: {correct!r} must be in the formulas {erratum.times} times, "
                    f"got {found}"
                )
            source = source.replace(correct, as_printed)
    return source
