"""exact, anova, optimum, training, psi and activation: the library's numbers, in every form."""

import csv
import io
import math
from dataclasses import fields
from itertools import product
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.activations import NAMES
from doubletrouble.cli import main
from doubletrouble.cli._app import load
from doubletrouble.cli._flags import SCHEME_OPTIONS, axes
from doubletrouble.ensembles import SCHEMES, SUPPORT, named_ensemble
from doubletrouble.parameters import Parameter, declarations
from tests.cli.results import Capture, error_message, json_result


def test_the_default_is_the_default_problem(capsys: Capture) -> None:
    result = json_result("exact", capsys)
    problem, error = dt.Problem(), dt.exact_error(dt.Problem())
    fields = {name: getattr(problem, name) for name in declarations(dt.Problem)}
    others = {"n_members": 1, "activation": "relu", "scheme": "ensemble"}
    assert result["parameters"] == fields | others
    assert result["rows"] == [
        {
            "error_noise": error.noise,
            "error_initialization": error.initialization,
            "error_sampling": error.sampling,
            "error_bias": error.bias,
            "error_bayes": error.bayes,
            "error_total": error.total,
        }
    ]


def test_every_flag_reaches_the_problem(capsys: Capture) -> None:
    given = dict(zip(declarations(dt.Problem), (0.7, 1.3, 0.2, 0.9, 0.4, 0.3, 0.6), strict=True))
    words = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in given.items())
    problem = dt.Problem(**given, activation="tanh")
    result = json_result(f"exact {words} --activation tanh --n-members 3 --scheme divide", capsys)
    assert result["rows"][0]["error_total"] == dt.exact_error(problem, dt.Divide(3)).total
    assert result["parameters"] == given | {
        "n_members": 3,
        "activation": "tanh",
        "scheme": "divide",
    }
    result = json_result(f"anova {words} --activation tanh", capsys)
    assert result["rows"][0]["error_total"] == dt.anova(problem).total


def test_a_table_is_the_product_of_the_ranges(capsys: Capture) -> None:
    words = "--n-members 1,inf --ridge 0,0.1 --features-per-dim 0.5:2:log:3 --noise 0,1"
    rows = json_result(f"exact {words}", capsys)["rows"]
    points = product((0.5, 1.0, 2.0), (0.0, 0.1), (0.0, 1.0), (1, "inf"))
    columns = ("features_per_dim", "ridge", "noise", "n_members")
    assert [tuple(row[name] for name in columns) for row in rows] == list(points)
    for row in rows:
        p, ridge, noise, k = (float(row[name]) for name in columns)
        error = dt.exact_error(dt.Problem(features_per_dim=p, ridge=ridge, noise=noise), k)
        assert float(row["error_noise"]) == pytest.approx(error.noise, rel=1e-13)
        assert float(row["error_total"]) == pytest.approx(error.total, rel=1e-13)
    assert any(row["error_total"] == "inf" for row in rows)


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ("--scheme subsample --fraction 0.5,1", {"fraction": np.array([[0.5, 1.0]])}),
        ("--scheme bootstrap", {}),
        ("--scheme feature_bank --bank-per-dim 4,inf", {"bank_per_dim": np.array([[4, math.inf]])}),
    ],
)
@pytest.mark.parametrize(("command", "function"), [("exact", dt.exact_error), ("anova", dt.anova)])
def test_members_may_draw_samples_or_features(
    words: str, given: dict[str, Any], command: str, function: Any, capsys: Capture
) -> None:
    result = json_result(f"{command} {words} --n-members 1,inf", capsys)
    ensemble = named_ensemble(words.split()[1], [[1.0], [math.inf]], **given)
    error = function(dt.Problem(), ensemble)
    rows = result["rows"]
    assert [row["error_total"] for row in rows] == np.ravel(error.total).tolist()
    assert [row["error_resampling"] for row in rows] == np.ravel(error.resampling).tolist()
    for name, values in given.items():
        assert [float(row[name]) for row in rows] == [*values.ravel(), *values.ravel()]


def value_of(spec: Parameter) -> float:
    """A value of an option that every problem of default size allows."""
    return 0.5 if spec.high == 1.0 else 4.0


def words_of(scheme: str) -> str:
    """The flags that choose a scheme of three members, with all of its options."""
    own = [name for name in declarations(SCHEMES[scheme]) if name in SCHEME_OPTIONS]
    options = (f"--{n.replace('_', '-')} {value_of(SCHEME_OPTIONS[n])}" for n in own)
    return " ".join([f"--scheme {scheme} --n-members 3", *options])


COMMANDS = {
    "exact": "exact_error",
    "anova": "anova",
    "optimum": "optimal_ridge",
    "training": "training_error",
    "flow": "gradient_flow",
    "stopping": "best_stopping_time",
}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_every_scheme_that_its_function_supports(
    command: str, scheme: str, capsys: Capture
) -> None:
    words = f"{command} {words_of(scheme)}"
    if SUPPORT[COMMANDS[command]](SCHEMES[scheme]):
        assert json_result(words, capsys)["parameters"]["scheme"] == scheme
    else:
        message = error_message(words.split(), capsys)
        assert message.startswith("scheme must be one of ensemble, ")
        assert f"for {COMMANDS[command]}, got {scheme!r}" in message


def test_help_has_every_scheme_in_the_words_of_its_class() -> None:
    texts = {param.name: " ".join(param.help.split()) for param in load("training").params}
    for name, kind in SCHEMES.items():
        assert f"'{name}': {kind.__doc__.splitlines()[0].rstrip('.')}" in texts["scheme"]
    for name, spec in SCHEME_OPTIONS.items():
        assert texts[name].startswith(f"{spec.symbol}: {spec.meaning}")


def test_a_new_scheme_is_a_choice_without_a_change_here(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    class Halves(dt.Divide):
        """K models for a test."""

    monkeypatch.setitem(SCHEMES, Halves.name, SCHEMES.pop(Halves.name))  # until the test ends
    result = json_result("exact --scheme halves --n-members 2", capsys)
    assert result["rows"] == json_result("exact --scheme divide --n-members 2", capsys)["rows"]


def test_the_training_error_is_the_librarys(capsys: Capture) -> None:
    words = "training --ridge 0,0.1 --scheme divide --n-members 1,5"
    result = json_result(words, capsys)
    assert "test_noise" not in result["parameters"]
    ensemble = dt.Divide(np.array([1.0, 5.0]))
    expected = dt.training_error(dt.Problem(ridge=np.array([[0.0], [0.1]])), ensemble)
    assert [row["training_error"] for row in result["rows"]] == np.ravel(expected).tolist()
    assert main(["training", "--ridge", "1"]) == 0
    value = dt.training_error(dt.Problem(ridge=1.0))
    assert capsys.readouterr().out.splitlines()[-1].split()[-1] == f"{value:.6g}"


def test_the_terms_of_the_theory_are_the_librarys(capsys: Capture) -> None:
    result = json_result("psi --features-per-dim 0.5,2 --activation tanh", capsys)
    assert result["parameters"] == {
        "samples_per_dim": 1.0,
        "ridge": 1e-5,
        "activation": "tanh",
    }
    terms = dt.psi_terms(dt.Problem(features_per_dim=np.array([0.5, 2.0]), activation="tanh"))
    for f in fields(terms):
        assert [row[f.name] for row in result["rows"]] == getattr(terms, f.name).tolist()
    assert main(["psi"]) == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split()[0] for line in lines] == ["Ψ₁", "Ψ₂ᵛ", "Ψ₃ᵛ", "Ψ₂ᵉ", "Ψ₃ᵉ", "Ψ₂ᵈ", "Ψ₂ᵖ"]
    assert main(["psi", "--ridge", "inf,1"]) == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_the_signal_to_noise_ratio_replaces_the_noise(command: str, capsys: Capture) -> None:
    result = json_result(f"{command} --snr 4,inf --signal 2", capsys)
    by_noise = json_result(f"{command} --noise 0.5,0 --signal 2", capsys)
    pairs = zip(result["rows"], by_noise["rows"], strict=True)
    assert all(row.items() >= other.items() for row, other in pairs)
    assert float(result["rows"][0]["snr"]) == 4.0
    one = json_result(f"{command} --snr 4 --signal 2", capsys)["parameters"]
    assert (one["snr"], one["noise"]) == (4.0, 0.5)
    message = error_message([command, "--snr", "1", "--noise", "1"], capsys)
    assert message == "noise must not be given with snr, got '1'\n"
    message = error_message([command, "--snr", "0"], capsys)
    assert message.startswith("snr must be in [1e-06, 1e+06] or inf, got 0.0")


def test_the_resampling_row_is_shown(capsys: Capture) -> None:
    assert main(["exact", "--scheme", "subsample", "--fraction", "0.5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "η=0.5" in " ".join(lines[:2])
    assert [line.split()[0] for line in lines[3:]] == [
        "noise",
        "initialization",
        "sampling",
        "bias",
        "bayes",
        "resampling",
        "total",
    ]


def test_counts_replace_ratios(capsys: Capture) -> None:
    result = json_result("anova --n-features 100,300 --n-samples 200 --dim 100,200", capsys)
    assert [(row["n_features"], row["dim"]) for row in result["rows"]] == [
        (100, 100),
        (100, 200),
        (300, 100),
        (300, 200),
    ]
    problem = dt.Problem.from_sizes(n_features=300, n_samples=200, dim=100)
    assert result["rows"][2]["error_total"] == pytest.approx(dt.anova(problem).total, rel=1e-13)
    assert "features_per_dim" not in result["parameters"]


def test_the_optimum_is_the_librarys(capsys: Capture) -> None:
    rows = json_result("optimum --noise 0.1,1 --n-members 1,inf", capsys)["rows"]
    for row, (noise, k) in zip(rows, product((0.1, 1.0), (1, math.inf)), strict=True):
        best = dt.optimal_ridge(dt.Problem(noise=noise), k)
        assert row["ridge"] == pytest.approx(best.ridge, rel=1e-9)
        assert row["error_total"] == pytest.approx(best.error.total, rel=1e-12)


def test_csv_has_every_digit(capsys: Capture) -> None:
    assert main(["exact", "--ridge", "0,0.1", "--features-per-dim", "1", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["ridge"] for row in rows] == ["0.0", "0.1"]
    assert rows[0]["error_noise"] == "inf"
    error = dt.exact_error(dt.Problem(features_per_dim=1.0, ridge=0.1))
    assert float(rows[1]["error_noise"]) == pytest.approx(error.noise, rel=1e-15)


def test_one_activation_or_all(capsys: Capture) -> None:
    rows = json_result("activation", capsys)["rows"]
    assert [row["activation"] for row in rows] == list(NAMES)
    (tanh,) = json_result("activation Tanh", capsys)["rows"]
    sigma = dt.activation("tanh")
    assert tanh == {
        "activation": "tanh",
        "mean": sigma.mean,
        "linear": sigma.linear,
        "nonlinear": sigma.nonlinear,
        "closed_form": False,
    }
    assert main(["activation", "relu"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == [
        "relu",
        "0.3989",
        "0.5",
        "0.3014",
        "yes",
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("exact --ridge -1", "ridge must be in [0, inf], got -1.0"),
        ("exact --ridge 1,1", "ridge must hold every value once, got 1.0 twice"),
        ("exact --ridge=", "ridge must be a number or START:STOP:log|linear:COUNT, got ''"),
        ("exact --ridge nan", "ridge must be in [0, inf], got nan"),
        ("exact --noise 0:1:log:3", "noise must have ends above 0 in a log range, got '0:1:log:3'"),
        ("exact --n-members 1.5", "n_members must be a whole number in [1, inf], got 1.5"),
        (
            "exact --scheme both",
            f"scheme must be one of {', '.join(SCHEMES)}, got 'both'",
        ),
        ("exact --scheme subsample", "fraction must be given for scheme 'subsample', got None"),
        ("exact --scheme subsample --fraction 1.5", "fraction must be in (0, 1], got 1.5"),
        ("exact --fraction 0.5", "fraction must be left out for scheme 'ensemble'"),
        ("exact --scheme divide,subsample", "scheme must be one of ensemble, divide"),
        ("exact --scheme feature_bank", "bank_per_dim must be given, or n_bank"),
        (
            "exact --scheme feature_bank --bank-per-dim 1",
            "bank_per_dim must be at least the features of one member, got 1.0",
        ),
        ("anova --scheme subsample", "fraction must be given for scheme 'subsample', got None"),
        ("anova --fraction 0.5", "fraction must be left out for scheme 'ensemble', got 0.5"),
        ("psi --noise 1", "No such option: --noise"),
        ("psi --snr 1", "No such option: --snr"),
        ("psi --n-members 2", "No such option: --n-members"),
        ("training --ridge -1", "ridge must be in [0, inf], got -1.0"),
        ("exact --activation rlu", "activation must be one of leaky_relu, relu"),
        ("exact --dim 3", "n_features, n_samples, dim must be given together"),
        (
            "exact --dim 3 --n-samples 3 --n-features 3 --features-per-dim 1",
            "features_per_dim must be left out",
        ),
        (
            "exact --ridge 1:2:log:2000 --noise 1:2:log:2000",
            "ranges must have at most 1000000 combinations, got 4000000",
        ),
        ("exact --json --csv", "json must be left out where csv is given, got both"),
        ("exact 3", "Got unexpected extra argument"),
        ("exact --rigde 1", "No such option: --rigde"),
        ("optimum --ridge 1", "No such option: --ridge"),
        ("exat", "No such command 'exat'; did you mean 'exact'?"),
        ("activation rlu", "activation must be one of leaky_relu, relu"),
    ],
)
def test_an_error_is_one_line_and_code_two(words: str, message: str, capsys: Capture) -> None:
    assert error_message(words.split(), capsys).startswith(message)


def test_debug_shows_the_traceback(capsys: Capture) -> None:
    assert main(["exact", "--debug", "--ridge", "x"]) == 2
    message = capsys.readouterr().err
    assert message.startswith("Traceback")
    assert "ValueError: ridge must be" in message


def test_defaults_are_those_of_the_problem() -> None:
    assert axes({"ridge": None})["ridge"] == (dt.Problem().ridge,)
