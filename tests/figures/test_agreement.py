"""Figures against the theory, and their comparison with the authors' stored values."""

from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.figures import FIGURES
from doubletrouble.figures._agreement import AUTHORS, FOLDER
from doubletrouble.theory import psi_terms

TINY: dict[str, Any] = {"simulated_ratios": (1.0, 1.0, 1), "dim": 10, "n_data": 2, "n_init": 2}
SMALL: dict[str, dict[str, Any]] = {
    "term-by-term": TINY,
    "decomposition": {},
    "double-descent": TINY,
    "multiple-k-decomposition": {},
    "ensemble-vs-overparametrize": {},
    "ensemble-vs-regularize": {},
}


@pytest.mark.parametrize("name", SMALL)
def test_authors_values_are_compared_for_their_constants_only(name: str) -> None:
    spec = FIGURES[name]
    for activation, compared in (("relu", True), ("tanh", False)):
        results = spec.agreement(spec.compute(**SMALL[name], activation=activation))
        with_authors = [one for one in results if one.reference.startswith(AUTHORS)]
        assert any(one.count for one in with_authors) == compared


def test_lines_are_those_of_the_theory() -> None:
    one, ten = FIGURES["multiple-k-decomposition"].compute()
    terms = FIGURES["term-by-term"].compute(**TINY)
    for panel, theory in (
        (one, dt.exact_error(one.problem)),
        (ten, dt.exact_error(ten.problem, 10)),
        (terms, psi_terms(terms.problem)),
    ):
        for line in panel.lines:
            np.testing.assert_array_equal(line.y, getattr(theory, line.label), err_msg=line.label)


def test_every_table_is_described() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    names = [path.stem for path in FOLDER.glob("*.csv")]
    assert names
    assert [name for name in names if f"`{name}`" not in text] == []
