"""Invalid input over the whole public API: the message names the argument and the value."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.activations import NAMES
from doubletrouble.ensembles import SCHEMES, SUPPORT, as_ensemble, named_ensemble
from doubletrouble.parameters import FloatArray, declarations
from doubletrouble.replica import psi_terms as replica_psi_terms
from doubletrouble.replica import saddle_point
from tests.schemes import ensemble as example

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


def anova(**arguments: Any) -> object:
    return dt.anova(**{"problem": PROBLEM, **arguments})


def flow(**arguments: Any) -> object:
    return dt.gradient_flow(**{"problem": PROBLEM, "times": 1.0, **arguments})


def stopping(**arguments: Any) -> object:
    return dt.best_stopping_time(**{"problem": PROBLEM, **arguments})


def ensemble(**fields: Any) -> object:
    return dt.Ensemble(**fields)


def divide(**fields: Any) -> object:
    return dt.Divide(**fields)


def subsample(**fields: Any) -> object:
    return dt.Subsample(**{"fraction": 0.5, **fields})


def bootstrap(**fields: Any) -> object:
    return dt.Bootstrap(**fields)


def bank(**fields: Any) -> object:
    return dt.FeatureBank(**{"bank_per_dim": 5.0, **fields})


def bank_of_spectrum(**fields: Any) -> object:
    return dt.FeatureBank(**{"n_bank": 5.0, **fields})


ENSEMBLES = (exact_error, anova, training_error, optimal_ridge, flow, stopping)

# every numeric argument of the API, by the function that takes it
NUMERIC: list[tuple[Callable[..., object], str]] = [
    *((problem, name) for name in declarations(dt.Problem)),
    *((from_sizes, name) for name in SIZES),
    (from_sizes, "noise"),
    *((spectral, name) for name in declarations(dt.SpectralProblem)),
    *((convert, name) for convert in (ridge_to, ridge_from) for name in ("ridge", *SIZES)),
    *((call, "ensemble") for call in (exact_error, anova, training_error, optimal_ridge, flow)),
    *((scheme, "n_members") for scheme in (ensemble, divide, subsample, bootstrap, bank)),
    (subsample, "fraction"),
    (bank, "bank_per_dim"),
    (flow, "times"),
]
# invalid values for any numeric argument, and their text in the message
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
    ([[1.0, 1.0], [-3.0, 1.0]], "-3.0 at index (1, 0)"),
    ([1.0, "two"], "'two' at index 1"),
    ([1.0, None], "None at index 1"),
    ([1.0, [2.0]], "[2.0] at index 1"),
]


def message_of(call: Callable[..., object], **arguments: Any) -> str:
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
def test_numeric_arguments_are_validated(
    call: Callable[..., object], name: str, value: Any, shown: str
) -> None:
    message = message_of(call, **{name: value})
    assert message.startswith(f"{name} must ")
    element, _, _ = shown.partition(" at index")
    assert (element if name == "ensemble" else shown) in message  # of ensembles, the whole value


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
            (call, "ensemble", value, shown)
            for call in ENSEMBLES
            for value, shown in (
                (0, "0"),
                (1.5, "1.5"),
                ([2, 0], "0.0 at index 1"),
                ("divide", "'divide'"),
                (dt.Divide, "Divide"),
                (None, "None"),
                (["divide"], "'divide'"),
                (PROBLEM, "Problem"),
                ({"scheme": "divide"}, "{'scheme': 'divide'}"),
            )
        ),
        *(
            (call, "n_members", value, shown)
            for call in (ensemble, divide, subsample, bootstrap, bank)
            for value, shown in ((0, "0"), (1.5, "1.5"), ([2, 0], "0.0 at index 1"))
        ),
        *((subsample, "fraction", value, str(value)) for value in (0, 1.1, 0.0, INF)),
        (subsample, "fraction", [0.5, 1.5], "1.5 at index 1"),
        (bank, "bank_per_dim", 0, "0"),
        *((bank_of_spectrum, "n_bank", value, repr(value)) for value in (0, -1, NAN, "many", True)),
        (bank, "bank_per_dim", [5.0, 1e60], "1e+60 at index 1"),
        *(
            (call, "convention", value, repr(value))
            for call in (ridge_to, ridge_from)
            for value in ("scipy", "", None, 2, ["gram"])
        ),
        *(
            (call, "problem", value, type(value).__name__)
            for call in (*ENSEMBLES, replica_psi_terms, saddle_point)
            for value in (None, 2.0, "relu", dt.Problem)
        ),
        (problem, "activation", "relux", "'relux'"),
        (problem, "activation", None, "None"),
    ],
)
def test_values_outside_the_domain_raise(
    call: Callable[..., object], name: str, value: Any, shown: str
) -> None:
    message = message_of(call, **{name: value})
    assert message.startswith(f"{name} must ")
    assert shown in message.removeprefix(name)


@pytest.mark.parametrize("value", [None, 2.0, "relu"], ids=repr)
@pytest.mark.parametrize(
    "call", [dt.psi_terms, dt.effective_ridge, dt.anova, replica_psi_terms, saddle_point]
)
def test_problem_must_be_a_problem(call: Callable[..., object], value: Any) -> None:
    message = message_of(call, problem=value)
    assert message.startswith("problem must be a Problem")
    assert message.endswith(f"got {type(value).__name__}")


def test_psi_terms_require_an_isotropic_problem() -> None:
    spectrum = dt.SpectralProblem(**SPECTRUM)
    for call in (dt.psi_terms, dt.effective_ridge, replica_psi_terms, saddle_point):
        assert (
            message_of(call, problem=spectrum) == "problem must be a Problem, got SpectralProblem"
        )


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
    message = message_of(call, **arguments)
    assert "broadcast" in message
    for name, value in arguments.items():
        assert name in message
        assert str(np.shape(value)) in message


THREE = [1, 2, 3]
UNFIT = [
    THREE,
    dt.Ensemble(THREE),
    dt.Divide(THREE),
    dt.Subsample(2, fraction=[0.1, 0.2, 0.3]),
    dt.FeatureBank(THREE, bank_per_dim=5.0),
    dt.FeatureBank(2, bank_per_dim=[5.0, 6.0, 7.0]),
]


@pytest.mark.parametrize("members", UNFIT, ids=repr)
@pytest.mark.parametrize("call", ENSEMBLES)
def test_ensemble_must_broadcast_with_the_problem(
    call: Callable[..., object], members: Any
) -> None:
    message = message_of(call, problem=dt.Problem(ridge=[0.1, 0.2]), ensemble=members)
    assert re.match("(ensemble|bank_per_dim) must broadcast with the problem's fields", message)
    assert "(2,)" in message
    assert message.endswith("(3,)")


def test_fields_of_an_ensemble_must_broadcast() -> None:
    message = message_of(subsample, n_members=[1, 2], fraction=[0.1, 0.2, 0.3])
    assert message == "fraction must broadcast with n_members of shape (2,), got shape (3,)"
    message = message_of(bank, n_members=[1, 2], bank_per_dim=[5.0, 6.0, 7.0])
    assert message == "bank_per_dim must broadcast with n_members of shape (2,), got shape (3,)"


def test_times_must_broadcast_with_the_ensemble() -> None:
    message = message_of(flow, times=[1.0, 2.0], ensemble=dt.Divide(THREE))
    assert message.startswith("times must broadcast with ensemble of shape (3,)")
    assert message.endswith("(2,)")


@pytest.mark.parametrize("function", SUPPORT)
def test_unsupported_scheme_message_lists_the_supported_ones(function: str) -> None:
    """The message lists the supported ones."""
    for name, kind in SCHEMES.items():
        members = example(name, PROBLEM, 2)
        if SUPPORT[function](kind):
            assert as_ensemble(members, function) is members
            continue
        message = message_of(as_ensemble, ensemble=members, function=function)
        known = [n.__name__ for n in SCHEMES.values() if SUPPORT[function](n)]
        assert message.startswith(f"ensemble must be one of {', '.join(known)} for {function}")
        assert message.endswith(f"got {members!r}")


@pytest.mark.parametrize("call", [flow, stopping])
def test_unsupported_schemes_raise(call: Callable[..., object]) -> None:
    message = message_of(call, ensemble=dt.Bootstrap(3))
    assert message.startswith("ensemble must be one of Ensemble, Divide, Subsample, FeatureBank")
    assert message.endswith("got Bootstrap(3)")


@pytest.mark.parametrize(
    ("members", "spectrum", "words"),
    [
        (
            dt.FeatureBank(2, bank_per_dim=1.5),
            False,
            "bank_per_dim must be at least the features of one member, got 1.5",
        ),
        (
            dt.FeatureBank(2, bank_per_dim=[5.0, 1.5]),
            False,
            "bank_per_dim must be at least the features of one member, got 1.5 at index 1",
        ),
        (
            dt.FeatureBank(2, n_bank=4),
            True,
            "n_bank must be at least the features of one member, got 4.0",
        ),
        (dt.FeatureBank(2, n_bank=50), False, "bank_per_dim must be given for a Problem"),
        (dt.FeatureBank(2, bank_per_dim=50), True, "n_bank must be given for a SpectralProblem"),
    ],
)
@pytest.mark.parametrize("call", ENSEMBLES)
def test_bank_must_match_the_problem(
    call: Callable[..., object], members: Any, words: str, *, spectrum: bool
) -> None:
    problem = dt.SpectralProblem(**SPECTRUM) if spectrum else PROBLEM
    assert message_of(call, problem=problem, ensemble=members).startswith(words)


@pytest.mark.parametrize("sizes", [{}, {"bank_per_dim": 5.0, "n_bank": 5.0}])
def test_bank_has_one_size(sizes: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"^bank_per_dim must be given, or n_bank for a Spectral"):
        dt.FeatureBank(2, **sizes)


@pytest.mark.parametrize(
    ("scheme", "options", "words"),
    [
        ("jackknife", {}, "scheme must be one of ensemble, divide, subsample, bootstrap, fea"),
        ("subbag", {"fraction": 0.5}, "scheme must be one of ensemble, divide, subsample"),
        ("subsample", {}, "fraction must be given for scheme 'subsample', got None"),
        ("ensemble", {"fraction": 0.5}, "fraction must be left out for scheme 'ensemble', got 0.5"),
        ("bootstrap", {"fraction": 0.5}, "fraction must be left out for scheme 'bootstrap'"),
        ("subsample", {"fraction": 1.5}, "fraction must be in (0, 1], got 1.5"),
        ("feature_bank", {}, "bank_per_dim must be given"),
    ],
)
def test_invalid_scheme_options_raise(scheme: str, options: dict[str, float], words: str) -> None:
    assert message_of(named_ensemble, scheme=scheme, n_members=2, **options).startswith(words)


@pytest.mark.parametrize(
    ("fields", "name", "shown"),
    [
        ({"ridge": 0.0}, "ridge", "0.0"),
        ({"ridge": INF}, "ridge", "inf"),
        ({"features_per_dim": INF}, "features_per_dim", "inf"),
        ({"ridge": [0.1, 0.0]}, "ridge", "0.0 at index 1"),
    ],
)
def test_replica_route_refuses_limits(fields: Any, name: str, shown: str) -> None:
    for call in (replica_psi_terms, saddle_point):
        message = message_of(call, problem=dt.Problem(**{"ridge": 0.1, **fields}))
        assert message.startswith(f"{name} must ")
        assert f"got {shown}" in message


def test_saddle_point_requires_a_single_point() -> None:
    message = message_of(saddle_point, problem=dt.Problem(ridge=[0.1, 0.2]))
    assert message == "problem must be a single point, got fields of shape (2,)"


@pytest.mark.parametrize("printed", [[0], [15], ["one"], 3, [[1]]], ids=repr)
def test_unknown_errata_are_named(printed: Any) -> None:
    message = message_of(replica_psi_terms, problem=PROBLEM, printed=printed)
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
        ("mean", math.inf),
        ("linear", math.nan),
        ("nonlinear", -0.1),
        ("nonlinear", math.inf),
        ("mean", "0"),
        ("linear", None),
        ("nonlinear", True),
        ("linear", 1j),
    ],
)
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
)
def test_invalid_callables_raise(function: Any, error: Any, words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        dt.activation(function)
    assert str(caught.value).startswith("activation must ")
    assert "\n" not in str(caught.value)
    with pytest.raises(error, match=words):
        dt.Problem(activation=function)


@pytest.mark.parametrize("function", [np.log, np.sqrt, lambda z: 1 / z, lambda z: np.exp(z * z)])
def test_non_finite_functions_raise_without_a_warning(function: Any) -> None:
    with pytest.raises(ValueError, match=r"^activation must return finite numbers, got "):
        dt.activation(function)


def test_errors_of_a_callable_are_chained() -> None:
    with pytest.raises(RuntimeError, match="out of order"):
        dt.activation(_never)


@pytest.mark.parametrize("spec", [None, 3, 1.5, ["relu"], {"name": "relu"}, b"relu"], ids=repr)
def test_invalid_activation_raises_type_error(spec: Any) -> None:
    with pytest.raises(TypeError, match=r"^activation must be a name, an Activation or a callable"):
        dt.activation(spec)
