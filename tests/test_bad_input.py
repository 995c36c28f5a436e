"""Invalid arguments of the public API: every argument goes through its validator.

`test_parameters` tests the validator of numbers with all kinds of invalid values.
"""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.activations import NAMES
from doubletrouble.ensembles import SCHEMES, as_ensemble, named_ensemble
from doubletrouble.parameters import FloatArray, declarations
from doubletrouble.theory import effective_ridge, psi_terms
from tests.messages import message_of
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
Call = Callable[..., object]


def with_defaults(function: Call, **defaults: Any) -> Call:
    def call(**arguments: Any) -> object:
        return function(**{**defaults, **arguments})

    return call


from_sizes = with_defaults(dt.Problem.from_sizes, **SIZES)
spectral = with_defaults(dt.SpectralProblem, **SPECTRUM)
convert_ridge = with_defaults(dt.convert_ridge, value=0.1, source="sklearn", target="gram", **SIZES)
convert_time = with_defaults(dt.convert_time, value=0.1, source="mean", target="gram", **SIZES)
CONVERSIONS = (convert_ridge, convert_time)
flow = with_defaults(dt.gradient_flow, problem=PROBLEM, times=1.0)
subsample = with_defaults(dt.Subsample, fraction=0.5)
bank = with_defaults(dt.FeatureBank, bank_per_dim=5.0)
bank_of_spectrum = with_defaults(dt.FeatureBank, n_bank=5.0)

FUNCTIONS: dict[str, Call] = {  # of a problem and an ensemble
    name: with_defaults(getattr(dt, name), problem=PROBLEM)
    for name in ("exact_error", "anova", "training_error", "optimal_ridge", "best_stopping_time")
}
FUNCTIONS["gradient_flow"] = flow
MEMBERS: list[Call] = [dt.Ensemble, dt.Divide, subsample, dt.Bootstrap, bank]

# every numeric argument of the API, by the function that takes it
NUMERIC: list[tuple[Call, str]] = [
    *((dt.Problem, name) for name in declarations(dt.Problem)),
    *((from_sizes, name) for name in (*SIZES, "noise")),
    *((spectral, name) for name in declarations(dt.SpectralProblem)),
    *((convert, name) for convert in CONVERSIONS for name in ("value", *SIZES)),
    *((call, "ensemble") for call in FUNCTIONS.values()),
    *((scheme, "n_members") for scheme in MEMBERS),
    (subsample, "fraction"),
    (bank, "bank_per_dim"),
    (bank_of_spectrum, "n_bank"),
    (flow, "times"),
]


def assert_names(call: Call, name: str, value: Any, shown: str) -> None:
    """The message begins with the argument and contains the value."""
    message = message_of(call, **{name: value})
    assert message.startswith(f"{name} must "), (name, value, message)
    assert shown in message.removeprefix(name), (name, value, message)


def test_every_numeric_argument_is_validated() -> None:
    for call, name in NUMERIC:
        for value, shown in ((-1, "-1"), (NAN, "nan"), (True, "True"), ([1.0, "two"], "'two'")):
            assert_names(call, name, value, shown)


def test_values_outside_the_domain_are_refused() -> None:
    for call, name, value, shown in (
        (dt.Problem, "features_per_dim", 0, "0"),
        (dt.Problem, "samples_per_dim", [[1.0, INF]], "inf at index (0, 1)"),
        *((dt.Problem, n, INF, "inf") for n in ("signal", "noise", "nonlinear_signal")),
        (dt.Problem, "test_noise", INF, "inf"),
        (from_sizes, "n_features", 0, "0"),
        (from_sizes, "n_samples", INF, "inf"),
        (from_sizes, "dim", INF, "inf"),
        (spectral, "eigenvalues", [1.0, INF], "inf at index 1"),
        (spectral, "target_powers", [INF, 1.0], "inf at index 0"),
        (spectral, "tail", INF, "inf"),
        (spectral, "n_samples", INF, "inf"),
        (spectral, "n_samples", 0, "0"),
        (convert_ridge, "n_features", [4, INF], "inf at index 1"),
        (convert_ridge, "dim", [2.0, 0.0], "0.0 at index 1"),
        *((scheme, "n_members", value, str(value)) for scheme in MEMBERS for value in (0, 1.5)),
        (subsample, "fraction", 0, "0"),
        (subsample, "fraction", [0.5, 1.5], "1.5 at index 1"),
        (bank, "bank_per_dim", [5.0, 1e60], "1e+60 at index 1"),
        (bank_of_spectrum, "n_bank", 0, "0"),
    ):
        assert_names(call, name, value, shown)


def test_shapes_of_a_spectrum_are_checked() -> None:
    for name, value, shown in (
        ("eigenvalues", [[1.0], [0.1]], "shape (2, 1)"),
        ("eigenvalues", [], "shape (0,)"),
        ("target_powers", [1.0, 2.0, 3.0], "3"),
        ("target_powers", np.ones((2, 1)), "shape (2, 1)"),
        ("tail", [0.1, 0.1], "shape (2,)"),
    ):
        assert_names(spectral, name, value, shown)


def test_conventions_are_named() -> None:
    for call in CONVERSIONS:
        for name in ("source", "target"):
            for value in ("scipy", "", None, 2, ["gram"]):
                assert_names(call, name, value, repr(value))


def test_problem_must_be_a_problem() -> None:
    single = (psi_terms, effective_ridge)
    for call in (*FUNCTIONS.values(), *single):
        for value in (None, "relu", dt.Problem):
            assert_names(call, "problem", value, type(value).__name__)
    for call in single:  # defined for isotropic problems only
        assert_names(call, "problem", dt.SpectralProblem(**SPECTRUM), "SpectralProblem")


def test_mismatched_shapes_name_both_arguments() -> None:
    cases: list[tuple[Call, dict[str, Any]]] = [
        (dt.Problem, {"ridge": [0.1, 0.2], "noise": [1.0, 2.0, 3.0]}),
        (from_sizes, {"n_samples": [2, 3], "dim": [2, 3, 4]}),
        (spectral, {"n_features": [2, 3], "gram_ridge": [2, 3, 4]}),
        (convert_ridge, {"n_features": [2, 3], "dim": [2, 3, 4]}),
        (convert_time, {"value": [0.1, 0.2], "n_samples": [2, 3, 4]}),
        (subsample, {"n_members": [1, 2], "fraction": [0.1, 0.2, 0.3]}),
        (bank, {"n_members": [1, 2], "bank_per_dim": [5.0, 6.0, 7.0]}),
    ]
    for call, arguments in cases:
        message = message_of(call, **arguments)
        assert "must broadcast" in message
        for name, value in arguments.items():
            assert name in message
            assert str(np.shape(value)) in message


# --- ensembles -----------------------------------------------------------------------------------


def test_ensemble_must_be_a_number_or_a_scheme() -> None:
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
    ):
        assert_names(as_ensemble, "ensemble", value, shown)


def test_ensemble_must_broadcast_with_the_problem() -> None:
    three = [1, 2, 3]
    several = dt.Problem(ridge=[0.1, 0.2])
    for call in FUNCTIONS.values():
        for members in (
            three,
            dt.Divide(three),
            dt.Subsample(2, fraction=[0.1, 0.2, 0.3]),
            dt.FeatureBank(2, bank_per_dim=[5.0, 6.0, 7.0]),
        ):
            message = message_of(call, problem=several, ensemble=members)
            assert re.match("(ensemble|bank_per_dim) must broadcast with the problem", message)
            assert "(2,)" in message
            assert message.endswith("(3,)")
    message = message_of(flow, times=[1.0, 2.0], ensemble=dt.Divide(three))
    assert message.startswith("times must broadcast with ensemble of shape (3,)")


def test_unsupported_schemes_list_the_supported_ones() -> None:
    for function in dt.Ensemble.functions():
        every: list[type[dt.Scheme]] = [*SCHEMES.values(), dt.Vote]
        known = [kind.__name__ for kind in every if function in kind.functions()]
        for name, kind in SCHEMES.items():
            members = example(name, PROBLEM, 2)
            if function in kind.functions():
                assert as_ensemble(members, function) is members
                continue
            message = message_of(as_ensemble, ensemble=members, function=function)
            assert message.startswith(f"ensemble must be one of {', '.join(known)} for {function}")
            assert message.endswith(f"got {members!r}")


def test_votes_are_listed_where_they_are_supported() -> None:
    unknown: Any = "a"
    assert "Vote" in message_of(dt.exact_error, problem=PROBLEM, ensemble=unknown)
    assert "Vote" not in message_of(dt.optimal_ridge, problem=PROBLEM, ensemble=unknown)
    x = np.ones((4, 2))
    for model in (dt.RandomFeaturesClassifier, dt.RandomFeaturesRidge):
        message = message_of(model(ensemble=dt.Vote(3)).fit, X=x, y=[0, 1, 0, 1])
        assert f"for {model.__name__}, got Vote(3)" in message


def test_bank_must_match_the_problem() -> None:
    spectrum = dt.SpectralProblem(**SPECTRUM)
    for call in FUNCTIONS.values():
        for problem, sizes, name, shown in (
            (PROBLEM, {"bank_per_dim": 1.5}, "bank_per_dim", "1.5"),
            (PROBLEM, {"bank_per_dim": [5.0, 1.5]}, "bank_per_dim", "1.5 at index 1"),
            (spectrum, {"n_bank": 4}, "n_bank", "4.0"),
            (PROBLEM, {"n_bank": 50}, "bank_per_dim", "given"),
            (spectrum, {"bank_per_dim": 50}, "n_bank", "given"),
        ):
            members = dt.FeatureBank(2, **sizes)
            message = message_of(call, problem=problem, ensemble=members)
            assert message.startswith(f"{name} must ")
            assert shown in message


def test_bank_has_one_size() -> None:
    for sizes in ({}, {"bank_per_dim": 5.0, "n_bank": 5.0}):
        assert message_of(dt.FeatureBank, n_members=2, **sizes).startswith("bank_per_dim must ")


def test_options_of_named_schemes_are_checked() -> None:
    for scheme, options, name, word in (
        ("jackknife", {}, "scheme", "bootstrap"),
        ("subsample", {}, "fraction", "given"),
        ("ensemble", {"fraction": 0.5}, "fraction", "left out"),
        ("subsample", {"fraction": 1.5}, "fraction", "1.5"),
        ("feature_bank", {}, "bank_per_dim", "given"),
    ):
        message = message_of(named_ensemble, scheme=scheme, n_members=2, **options)
        assert message.startswith(f"{name} must ")
        assert word in message


# --- activations ---------------------------------------------------------------------------------


def test_unknown_activations_list_the_known_ones() -> None:
    for name in ("relux", "", "relu6", "heaviside "):
        with pytest.raises(ValueError, match=r"^activation must be one of ") as caught:
            dt.activation(name)
        assert repr(name) in str(caught.value)
        assert all(known in str(caught.value) for known in NAMES)
    assert_names(dt.Problem, "activation", "relux", "'relux'")


def test_activation_must_be_a_name_or_a_function() -> None:
    for spec in (None, 3, ["relu"], {"name": "relu"}, b"relu"):
        with pytest.raises(TypeError, match=r"^activation must be "):
            dt.activation(spec)  # type: ignore[arg-type]
    assert_names(dt.Problem, "activation", None, "None")


def test_moments_of_an_activation_are_validated() -> None:
    for name, value in (
        ("mean", INF),
        ("linear", NAN),
        ("nonlinear", -0.1),
        ("nonlinear", INF),
        ("mean", "0"),
        ("linear", None),
        ("nonlinear", True),
        ("linear", 1j),
    ):
        moments: dict[str, Any] = {"mean": 0.0, "linear": 1.0, "nonlinear": 1.0, "name": "mine"}
        assert_names(with_defaults(dt.Activation, **moments), name, value, repr(value))


def out_of_order(z: FloatArray) -> FloatArray:
    raise RuntimeError("out of order")


def test_functions_must_return_finite_numbers_of_the_same_shape() -> None:
    """NumPy does not warn for functions that diverge or are not defined everywhere."""
    functions: list[tuple[Any, str]] = [
        (lambda z: z[:1], "(1,)"),
        (lambda z: np.sum(z), "()"),
        (lambda z: np.stack([z, z]), "(2, "),
        (lambda z: None, "()"),
        (lambda z: np.nan * z, "nan"),
        (lambda z: np.where(z > 3, np.nan, z), "nan"),
        (lambda z: np.where(z < -3, -np.inf, z), "-inf"),
        (lambda z: z + 1j, "complex128"),
        (lambda z: np.full(z.shape, "high"), "<U4"),
        (lambda z: np.exp(z * z / 3.9), "second moment"),
        (np.log, "finite"),
        (np.sqrt, "finite"),
        (lambda z: 1 / z, "finite"),
        (lambda z: np.exp(z * z), "finite"),
    ]
    for function, shown in functions:
        message = message_of(dt.activation, spec=function)
        assert message.startswith("activation must "), message
        assert shown in message
    assert message_of(dt.Problem, activation=functions[0][0]).startswith("activation must ")
    with pytest.raises(RuntimeError, match="out of order"):
        dt.activation(out_of_order)


def test_only_public_names_are_listed() -> None:
    for module in (dt.theory, dt.convex, dt.losses):
        assert not {"np", "Any", "has_any_loss", "_error", "solved"} & set(dir(module))
        assert all(hasattr(module, name) for name in dir(module))
    assert {"Huber", "loss"} <= set(dir(dt.losses))


def test_dim_of_a_spectrum_must_be_one_whole_number() -> None:
    for dim in ([1, 2], "a", None):
        message = message_of(dt.SpectralProblem.from_problem, PROBLEM, dim=dim)
        assert message.startswith("dim must be one whole number, got")


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("progress", lambda: dt.simulate(dt.Problem(), dim=10, progress="no")),  # type: ignore[call-overload]
        ("mean_loss", lambda: dt.training_error(dt.Problem(), mean_loss="no")),  # type: ignore[arg-type]
        ("center", lambda: dt.kernel("relu", np.eye(2), center="no")),  # type: ignore[arg-type]
        (
            "deterministic",
            lambda: dt.decompose_predictions(
                np.zeros((3, 1, 2, 4)),
                truth=np.zeros(4),
                deterministic="no",  # type: ignore[arg-type]
            ),
        ),
    ],
)
def test_flags_are_true_or_false(name: str, call: Callable[[], object]) -> None:
    with pytest.raises(TypeError, match=f"^{name} must be True or False, got 'no'"):
        call()
