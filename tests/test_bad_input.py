"""Bad input, over the whole public API: one sentence that names the argument and the value."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.activations import NAMES
from doubletrouble.parameters import FloatArray, declarations

NAN, INF = math.nan, math.inf
PROBLEM = dt.Problem(ridge=0.1)
SPECTRUM: dict[str, Any] = {
    "eigenvalues": [1.0, 0.1],
    "target_powers": [1.0, 1.0],
    "n_features": 5,
    "n_samples": 3,
}
SIZES: dict[str, Any] = {"n_features": 4, "n_samples": 2, "dim": 2}


def problem(**fields: Any) -> object:
    return dt.Problem(**fields)


def from_sizes(**sizes: Any) -> object:
    return dt.Problem.from_sizes(**{**SIZES, **sizes})


def spectral(**fields: Any) -> object:
    return dt.SpectralProblem(**{**SPECTRUM, **fields})


def ridge_to(ridge: Any = 0.1, convention: Any = "gram", **sizes: Any) -> object:
    return dt.ridge_to(convention, ridge, **{**SIZES, **sizes})


def ridge_from(ridge: Any = 0.1, convention: Any = "sklearn", **sizes: Any) -> object:
    return dt.ridge_from(convention, ridge, **{**SIZES, **sizes})


def exact_error(**arguments: Any) -> object:
    return dt.exact_error(**{"problem": PROBLEM, **arguments})


def training_error(**arguments: Any) -> object:
    return dt.training_error(**{"problem": PROBLEM, **arguments})


def optimal_ridge(**arguments: Any) -> object:
    return dt.optimal_ridge(**{"problem": PROBLEM, **arguments})


# every numeric argument of the API, by the function that takes it
NUMERIC: list[tuple[Callable[..., object], str]] = [
    *((problem, name) for name in declarations(dt.Problem)),
    *((from_sizes, name) for name in SIZES),
    (from_sizes, "noise"),
    *((spectral, name) for name in declarations(dt.SpectralProblem)),
    *((convert, name) for convert in (ridge_to, ridge_from) for name in ("ridge", *SIZES)),
    *((call, "n_members") for call in (exact_error, training_error, optimal_ridge)),
]
# a value that fits no numeric argument, and what the message must show of it
NEVER: list[tuple[Any, str]] = [
    (-1, "-1"),
    (-0.5, "-0.5"),
    (-INF, "-inf"),
    (NAN, "nan"),
    ("two", "'two'"),
    (None, "None"),
    (True, "True"),
    (2j, "2j"),
    ({"a": 1}, "{'a': 1}"),
    ([], "shape (0,)"),
    (np.ones((2, 0)), "shape (2, 0)"),
    ([1.0, -2.0], "-2.0 at index 1"),
    ([1, NAN], "nan at index 1"),
    ([[1.0, 2.0], [-3.0, 4.0]], "-3.0 at index (1, 0)"),
    ([1.0, "two"], "'two' at index 1"),
    ([1.0, None], "None at index 1"),
    ([1.0, [2.0]], "[2.0] at index 1"),
]


def sentence(call: Callable[..., object], **arguments: Any) -> str:
    """The message of the error a call must raise."""
    with pytest.raises((ValueError, TypeError)) as caught:
        call(**arguments)
    assert caught.type in (ValueError, TypeError)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 300
    return message


@pytest.mark.parametrize(("value", "shown"), NEVER, ids=[shown for _, shown in NEVER])
@pytest.mark.parametrize(
    ("call", "name"), NUMERIC, ids=[f"{call.__name__}-{name}" for call, name in NUMERIC]
)
def test_no_numeric_argument_takes_nonsense(
    call: Callable[..., object], name: str, value: Any, shown: str
) -> None:
    message = sentence(call, **{name: value})
    assert message.startswith(f"{name} must ")
    assert shown in message


@pytest.mark.parametrize(
    ("call", "name", "value", "shown"),
    [
        (problem, "features_per_dim", 0, "0"),
        (problem, "features_per_dim", [1.0, 0.0], "0.0 at index 1"),
        (problem, "samples_per_dim", INF, "inf"),
        (problem, "samples_per_dim", [[1.0, INF]], "inf at index (0, 1)"),
        *((problem, n, INF, "inf") for n in ("signal", "noise", "nonlinear_signal", "test_noise")),
        (from_sizes, "n_features", 0, "0"),
        (from_sizes, "n_samples", INF, "inf"),
        (from_sizes, "dim", INF, "inf"),
        (spectral, "eigenvalues", [1.0, INF], "inf at index 1"),
        (spectral, "target_powers", [INF, 1.0], "inf at index 0"),
        (spectral, "eigenvalues", [[1.0], [0.1]], "shape (2, 1)"),
        (spectral, "target_powers", [1.0, 2.0, 3.0], "3"),
        (spectral, "tail", INF, "inf"),
        (spectral, "tail", [0.1, 0.1], "shape (2,)"),
        (spectral, "n_samples", INF, "inf"),
        (ridge_from, "n_features", INF, "inf"),
        (ridge_from, "n_features", [4, INF], "inf at index 1"),
        (ridge_from, "dim", [2.0, 0.0], "0.0 at index 1"),
        *(
            (call, "n_members", value, shown)
            for call in (exact_error, training_error, optimal_ridge)
            for value, shown in ((0, "0"), (1.5, "1.5"), ([2, 0], "0.0 at index 1"))
        ),
        *(
            (call, "scheme", value, repr(value))
            for call in (exact_error, training_error, optimal_ridge)
            for value in ("vanilla", "", None, 1, ["ensemble"])
        ),
        *(
            (call, "convention", value, repr(value))
            for call in (ridge_to, ridge_from)
            for value in ("scipy", "", None, 2, ["gram"])
        ),
        *(
            (call, "problem", value, type(value).__name__)
            for call in (exact_error, training_error, optimal_ridge)
            for value in (None, 2.0, "relu", dt.Problem)
        ),
        (problem, "activation", "relux", "'relux'"),
        (problem, "activation", None, "None"),
    ],
)  # fmt: skip
def test_each_argument_has_a_domain(
    call: Callable[..., object], name: str, value: Any, shown: str
) -> None:
    message = sentence(call, **{name: value})
    assert message.startswith(f"{name} must ")
    assert shown in message.removeprefix(name)


@pytest.mark.parametrize("value", [None, 2.0, "relu"], ids=repr)
@pytest.mark.parametrize("call", [dt.psi_terms, dt.anova, dt.replica.psi_terms])
def test_a_problem_must_be_one(call: Callable[..., object], value: Any) -> None:
    message = sentence(call, problem=value)
    assert message.startswith("problem must be a Problem")
    assert message.endswith(f"got {type(value).__name__}")


def test_psi_terms_belong_to_the_isotropic_problem() -> None:
    spectrum = dt.SpectralProblem(**SPECTRUM)
    for call in (dt.psi_terms, dt.replica.psi_terms):
        assert sentence(call, problem=spectrum) == "problem must be a Problem, got SpectralProblem"


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        (problem, {"ridge": [0.1, 0.2], "noise": [1.0, 2.0, 3.0]}),
        (from_sizes, {"n_samples": [2, 3], "dim": [2, 3, 4]}),
        (spectral, {"n_features": [2, 3], "ridge": [2, 3, 4]}),
        (ridge_to, {"n_features": [2, 3], "dim": [2, 3, 4]}),
        (ridge_to, {"ridge": [0.1, 0.2], "n_samples": [2, 3, 4]}),
        (ridge_from, {"ridge": [0.1, 0.2], "n_samples": [2, 3, 4]}),
    ],
)
def test_mismatched_shapes_name_both(call: Callable[..., object], arguments: Any) -> None:
    message = sentence(call, **arguments)
    assert "broadcast" in message
    for name, value in arguments.items():
        assert name in message
        assert str(np.shape(value)) in message


@pytest.mark.parametrize("call", [exact_error, training_error, optimal_ridge])
def test_members_must_fit_the_problem(call: Callable[..., object]) -> None:
    message = sentence(call, problem=dt.Problem(ridge=[0.1, 0.2]), n_members=[1, 2, 3])
    assert message.startswith("n_members must broadcast with the problem's fields")
    assert "(2,)" in message
    assert message.endswith("(3,)")


@pytest.mark.parametrize(
    ("fields", "name", "shown"),
    [
        ({"ridge": 0.0}, "ridge", "0.0"),
        ({"ridge": INF}, "ridge", "inf"),
        ({"features_per_dim": INF}, "features_per_dim", "inf"),
        ({"ridge": [0.1, 0.0]}, "ridge", "0.0 at index 1"),
    ],
)
def test_the_replica_route_says_what_it_cannot_do(fields: Any, name: str, shown: str) -> None:
    message = sentence(dt.replica.psi_terms, problem=dt.Problem(**{"ridge": 0.1, **fields}))
    assert message.startswith(f"{name} must ")
    assert f"got {shown}" in message


@pytest.mark.parametrize("printed", [[0], [15], ["one"], 3, [[1]]], ids=repr)
def test_unknown_errata_are_named(printed: Any) -> None:
    message = sentence(dt.replica.psi_terms, problem=PROBLEM, printed=printed)
    assert message.startswith("printed must ")
    assert message.endswith(f"got {printed!r}")


# --- activations ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["relux", "", "relu6", "heaviside "])
def test_unknown_names_list_the_known_ones(name: str) -> None:
    with pytest.raises(ValueError, match=r"^activation must be one of ") as caught:
        dt.activation(name)
    assert repr(name) in str(caught.value)
    assert all(known in str(caught.value) for known in NAMES)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("mean", math.inf), ("linear", math.nan), ("nonlinear", -0.1), ("nonlinear", math.inf),
        ("mean", "0"), ("linear", None), ("nonlinear", True), ("linear", 1j),
    ],
)  # fmt: skip
def test_bad_moments_are_named(field: str, value: Any) -> None:
    moments: dict[str, Any] = {"mean": 0.0, "linear": 1.0, "nonlinear": 1.0, field: value}
    with pytest.raises((ValueError, TypeError), match=f"^{field} must be ") as caught:
        dt.Activation(name="mine", **moments)
    assert repr(value) in str(caught.value)


def _never(z: FloatArray) -> FloatArray:
    raise RuntimeError("out of order")


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        (lambda z: z[:1], ValueError, r"shape .* \(1,\)$"),
        (lambda z: np.sum(z), ValueError, r"shape .* \(\)$"),
        (lambda z: np.stack([z, z]), ValueError, r"shape .* \(2, \d+\)$"),
        (lambda z: None, (ValueError, TypeError), "activation must return"),
        (lambda z: np.nan * z, ValueError, r"finite numbers, got nan from <lambda>\(-"),
        (lambda z: np.where(z > 3, np.nan, z), ValueError, r"finite numbers, got nan from"),
        (lambda z: np.where(z < -3, -np.inf, z), ValueError, r"finite numbers, got -inf from"),
        (lambda z: z + 1j, TypeError, "real numbers, got complex128 from <lambda>"),
        (lambda z: np.full(z.shape, "high"), TypeError, "real numbers, got <U4 from <lambda>"),
        (lambda z: np.exp(z * z / 4), ValueError, "finite second moment .* grows too fast"),
        (lambda z: np.exp(z * z / 3.9), ValueError, "finite second moment .* grows too fast"),
    ],
)  # fmt: skip
def test_bad_callables_get_a_sentence(function: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        dt.activation(function)
    assert str(caught.value).startswith("activation must ")
    assert "\n" not in str(caught.value)
    with pytest.raises(error, match=words):
        dt.Problem(activation=function)


@pytest.mark.parametrize("function", [np.log, np.sqrt, lambda z: 1 / z, lambda z: np.exp(z * z)])
def test_functions_with_holes_are_refused_without_a_warning(function: Any) -> None:
    with pytest.raises(ValueError, match=r"^activation must return finite numbers, got "):
        dt.activation(function)


def test_what_a_callable_raises_is_not_swallowed() -> None:
    with pytest.raises(RuntimeError, match="out of order"):
        dt.activation(_never)


@pytest.mark.parametrize("spec", [None, 3, 1.5, ["relu"], {"name": "relu"}, b"relu"], ids=repr)
def test_what_is_no_activation_is_named(spec: Any) -> None:
    with pytest.raises(TypeError, match=r"^activation must be a name, an Activation or a callable"):
        dt.activation(spec)
