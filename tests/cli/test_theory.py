"""Commands of the exact theory: the numbers of the library, as JSON, CSV and text."""

import math
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble import theory
from doubletrouble._numbers import plain
from doubletrouble.advice import advise_problem
from doubletrouble.cli import main
from doubletrouble.cli._flags import SCHEME_OPTIONS
from doubletrouble.conventions import TimeUnit
from doubletrouble.ensembles import SCHEMES, named_ensemble
from doubletrouble.parameters import declarations
from tests.cli.results import (
    CalledError,
    Capture,
    check_errors,
    check_forms,
    csv_rows,
    error_message,
    json_result,
    lines,
    parts_of,
    stop,
)

PARTS = ["noise", "initialization", "sampling", "bias", "bayes"]

# --- the error by cause --------------------------------------------------------------------------


def test_without_flags_the_problem_is_the_default(capsys: Capture) -> None:
    check_forms("exact", dt.exact_error(dt.Problem()), capsys)
    check_forms("exact --anova", dt.anova(dt.Problem()), capsys)


def test_every_flag_reaches_the_problem(capsys: Capture) -> None:
    own = [name for name in declarations(dt.Problem) if name != "flips"]
    given: dict[str, Any] = dict(zip(own, (0.7, 1.3, 0.2, 0.9, 0.4, 0.3, 0.6), strict=True))
    words = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in given.items())
    problem = dt.Problem(**given, activation="tanh")
    result = json_result(f"exact {words} --activation tanh --n-members 3 --scheme divide", capsys)
    assert result["parts"][-1]["error"] == dt.exact_error(problem, dt.Divide(3)).total
    parts = parts_of(f"exact --anova {words} --activation tanh", capsys)
    assert parts["total"] == dt.anova(problem).total


def test_a_table_is_the_product_of_the_ranges(capsys: Capture) -> None:
    words = "--n-members 1,inf --ridge 0,0.1 --features-per-dim 0.5:2:log:3 --noise 0,1"
    rows = json_result(f"exact {words}", capsys)["points"]
    points = product((0.5, 1.0, 2.0), (0.0, 0.1), (0.0, 1.0), (1, "inf"))
    columns = ("features_per_dim", "ridge", "noise_sd", "n_members")
    assert [tuple(row[name] for name in columns) for row in rows] == list(points)
    for row in rows:
        p, ridge, noise, k = (float(row[name]) for name in columns)
        error = dt.exact_error(dt.Problem(features_per_dim=p, ridge=ridge, noise=noise), k)
        assert float(row["noise"]) == pytest.approx(error.noise, rel=1e-13)
        assert float(row["total"]) == pytest.approx(error.total, rel=1e-13)
    assert any(row["total"] == "inf" for row in rows)


def test_losses_are_those_of_the_library(capsys: Capture) -> None:
    words = "--task classification --loss logistic --features-per-dim 0.5,2 --flips 0.1 -K 5"
    problem = dt.Problem(
        task="classification", loss="logistic", features_per_dim=[0.5, 2.0], flips=0.1
    )
    check_forms(f"exact {words}", dt.exact_error(problem, 5), capsys)
    noisy = dt.exact_error(problem, 5, "zero_one_noisy")
    check_forms(f"exact {words} --measure zero_one_noisy", noisy, capsys)
    check_forms(f"exact {words} --vote", dt.exact_error(problem, dt.Vote(5)), capsys)
    words = "optimum --task classification --loss hinge --measure zero_one_noisy"
    best = dt.optimal_ridge(dt.Problem(task="classification", loss="hinge"), 1, "zero_one_noisy")
    assert json_result(words, capsys)["ridge"] == best.ridge


def test_heavy_tails_are_a_mixture(capsys: Capture) -> None:
    words = "exact --loss huber:0.7 --noise-mixture 0.9:0.5,0.1:4 --ridge 0.1"
    noise = dt.Mixture([(0.9, 0.5), (0.1, 4.0)])
    problem = dt.Problem(loss=dt.losses.Huber(0.7), noise=noise, ridge=0.1)
    check_forms(words, dt.exact_error(problem), capsys)


def test_losses_that_a_command_does_not_have_are_refused(capsys: Capture) -> None:
    check_errors(
        [
            ("exact --loss hinge", "loss must be one of squared, huber, absolute, quantile"),
            ("exact --loss huber:x", "loss must"),
            ("exact --task ranking", "task must"),
            ("exact --flips 0.1", "flips must be 0 for regression"),
            ("exact --task classification --test-noise 1", "test_noise must be 0"),
            ("exact --measure zero_one_noisy", "measure must"),
            ("exact --vote -K 3", "ensemble must average"),
            ("exact --task classification --vote --scheme divide", "scheme must"),
            ("exact --noise 1 --noise-mixture 1:1", "noise_mixture must not"),
            ("exact --noise-mixture 0.5:1", "weights must"),
            ("exact --noise-mixture 1", "noise_mixture must"),
            ("exact --task classification --noise-mixture 1:1", "noise_mixture must be left out"),
            ("flow --loss huber", "loss must be squared for gradient_flow"),
            ("advise --task classification --loss max_margin", "loss must"),
        ],
        capsys,
    )


def test_members_may_draw_samples_or_features(capsys: Capture) -> None:
    cases: dict[str, dict[str, Any]] = {
        "--scheme subsample --fraction 0.5,1": {"fraction": np.array([[0.5, 1.0]])},
        "--scheme bootstrap": {},
        "--scheme feature_bank --bank-per-dim 4,inf": {"bank_per_dim": np.array([[4, math.inf]])},
    }
    functions = {"exact": dt.exact_error, "exact --anova": dt.anova}
    for (words, given), (command, function) in product(cases.items(), functions.items()):
        rows = json_result(f"{command} {words} --n-members 1,inf", capsys)["points"]
        ensemble = named_ensemble(words.split()[1], [[1.0], [math.inf]], **given)
        error: Any = function(dt.Problem(), ensemble)
        assert [row["total"] for row in rows] == np.ravel(error.total).tolist(), words
        assert [row["resampling"] for row in rows] == np.ravel(error.resampling).tolist()
        for name, values in given.items():
            assert [float(row[name]) for row in rows] == [*values.ravel(), *values.ravel()]
    assert parts_of("exact --scheme subsample --fraction 1", capsys)["resampling"] == 0
    text = lines("exact --scheme subsample --fraction 0.5", capsys)
    assert [line.split()[0] for line in text[1:5]] == list(PARTS)[:4]
    assert [line.split()[0] for line in text[-3:-1]] == ["resampling", "total"]


def words_of(scheme: str) -> str:
    """The flags that choose a scheme of three members, with all of its options."""
    own = [name for name in declarations(SCHEMES[scheme]) if name in SCHEME_OPTIONS]
    value = {name: 0.5 if SCHEME_OPTIONS[name].high == 1.0 else 4.0 for name in own}
    options = (f"--{name.replace('_', '-')} {value[name]}" for name in own)
    return " ".join([f"--scheme {scheme} --n-members 3", *options])


FUNCTIONS = {
    "exact": "exact_error",
    "exact --anova": "anova",
    "optimum": "optimal_ridge",
    "exact --training": "training_error",
    "flow": "gradient_flow",
}


def test_every_command_takes_the_schemes_that_its_function_supports(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    for command, scheme in product(FUNCTIONS, SCHEMES):
        function = FUNCTIONS[command]
        monkeypatch.setattr(theory, function, stop)
        if function in SCHEMES[scheme].functions():
            words = f"{command} {words_of(scheme)}".split()
            with pytest.raises(CalledError) as called:
                main(words)
            assert SCHEMES[scheme] in map(type, called.value.args), words
        else:
            message = error_message([*command.split(), "--scheme", scheme], capsys)
            assert message.startswith("scheme must"), scheme
            assert f"for {function}, got {scheme!r}" in message


def test_a_new_scheme_is_a_choice(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    class Halves(dt.Divide):
        """K models for a test."""

    monkeypatch.setitem(SCHEMES, Halves.name, SCHEMES.pop(Halves.name))  # until the test ends
    parts = parts_of("exact --scheme halves --n-members 2", capsys)
    assert parts == parts_of("exact --scheme divide --n-members 2", capsys)


def test_training_error_is_that_of_the_library(capsys: Capture) -> None:
    words = "exact --training --ridge 0,0.1 --scheme divide --n-members 1,5"
    result = json_result(words, capsys)
    ensemble = dt.Divide(np.array([1.0, 5.0]))
    expected = dt.training_error(dt.Problem(ridge=np.array([[0.0], [0.1]])), ensemble)
    assert [row["total"] for row in result["points"]] == np.ravel(expected).tolist()
    assert [row["n_members"] for row in result["points"]] == [1, 5, 1, 5]
    value = dt.training_error(dt.Problem(ridge=1.0))
    text = lines("exact --training --ridge 1", capsys)
    assert (text[0], text[-1]) == ("Training error", f"The total is {plain(float(value))}.")


def test_signal_to_noise_ratio_replaces_the_noise(capsys: Capture) -> None:
    for command in ("exact", "optimum"):
        result = json_result(f"{command} --snr 4,inf --signal 2", capsys)
        assert result == json_result(f"{command} --noise 0.5,0 --signal 2", capsys)
    check_errors([("exact --snr 1 --noise 1", "snr must"), ("exact --snr 0", "snr must")], capsys)


def test_counts_replace_ratios(capsys: Capture) -> None:
    problem = dt.Problem.from_sizes(n_features=[[100], [300]], n_samples=200, dim=[100, 200])
    words = "exact --anova --n-features 100,300 --n-samples 200 --dim 100,200"
    check_forms(words, dt.anova(problem), capsys)


def test_optimum_is_that_of_the_library(capsys: Capture) -> None:
    rows = json_result("optimum --noise 0.1,1 --n-members 1,inf", capsys)["points"]
    for row, (noise, k) in zip(rows, product((0.1, 1.0), (1, math.inf)), strict=True):
        best = dt.optimal_ridge(dt.Problem(noise=noise), k)
        assert row["ridge"] == pytest.approx(best.ridge, rel=1e-9)
        assert row["total"] == pytest.approx(best.error.total, rel=1e-12)
    check_forms("optimum", dt.optimal_ridge(dt.Problem()), capsys)


def test_csv_has_every_digit(capsys: Capture) -> None:
    rows = csv_rows("exact --ridge 0,0.1 --features-per-dim 1", capsys)
    assert [row["ridge"] for row in rows] == ["0.0", "0.1"]
    assert rows[0]["noise"] == "inf"
    error = dt.exact_error(dt.Problem(features_per_dim=1.0, ridge=0.1))
    assert float(rows[1]["noise"]) == pytest.approx(error.noise, rel=1e-15)


def test_errors_of_theory_commands_name_the_argument(capsys: Capture) -> None:
    cases = [
        ("exact --ridge -1", "ridge must"),
        ("exact --scheme both", "scheme must"),
        ("exact --activation rlu", "activation must"),
        ("exact --dim 3", "n_features, n_samples, dim must"),
        ("exact --dim 3 --n-samples 3 --n-features 3 --features-per-dim 1", "features_per_dim"),
        ("exact --ridge 1:2:log:2000 --noise 1:2:log:2000", "ranges must"),
        ("optimum --ridge 1", "No such option: --ridge"),
        ("exact --anova --training", "training must be left out with anova"),
        ("exact --training --vote", "vote must be left out with training"),
        ("exact --anova --measure squared", "measure must be left out with anova"),
    ]
    check_errors(cases, capsys)


# --- training time -------------------------------------------------------------------------------


def test_times_are_rows_and_parts_are_columns(capsys: Capture) -> None:
    words = "flow --features-per-dim 1 --ridge 0 --n-members 1,inf --times 0,1:100:log:3,inf"
    result = json_result(words, capsys)
    times = [0.0, 1.0, 10.0, 100.0, math.inf]
    assert [float(row["time"]) for row in result["points"]] == times * 2
    assert [row["n_members"] for row in result["points"]] == [1] * 5 + ["inf"] * 5
    problem = dt.Problem(features_per_dim=1.0, ridge=0.0)
    for k, rows in ((1, result["points"][:5]), (math.inf, result["points"][5:])):
        error = dt.gradient_flow(problem, times, k)
        for part in (*PARTS[:4], "total"):
            values = [float(row[part]) for row in rows]
            assert values == pytest.approx(getattr(error, part), rel=1e-12)
    assert result["points"][4]["total"] == "inf"


def test_default_times_are_typical_and_one_time_is_a_small_table(capsys: Capture) -> None:
    rows = json_result("flow", capsys)["points"]
    assert [row["time"] for row in rows] == [10.0**k for k in range(-2, 7)]
    check_forms("flow --times 3", dt.gradient_flow(dt.Problem(), 3.0), capsys)


@pytest.mark.parametrize(
    "time_unit", ["sum", *(pytest.param(c, marks=pytest.mark.full) for c in ("mean", "half_mean"))]
)
def test_time_may_be_steps_times_learning_rate(time_unit: TimeUnit, capsys: Capture) -> None:
    sizes = {"n_features": 80, "n_samples": 120, "dim": 40}
    counts = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in sizes.items())
    result = json_result(f"flow {counts} --times 0.3,3 --time-unit {time_unit}", capsys)
    time = dt.convert_time([0.3, 3.0], time_unit, "flow", **sizes)
    error = dt.gradient_flow(dt.Problem.from_sizes(**sizes), time)
    assert [row["total"] for row in result["points"]] == pytest.approx(error.total, rel=1e-12)
    assert [row["time"] for row in result["points"]] == [0.3, 3.0]  # as given


def test_time_units_of_a_mean_need_only_ratios(capsys: Capture) -> None:
    rows = json_result("flow --samples-per-dim 2,4 --times 6 --time-unit mean", capsys)["points"]
    for row, samples, time in zip(rows, (2.0, 4.0), (6.0, 3.0), strict=True):
        error = dt.gradient_flow(dt.Problem(samples_per_dim=samples), time)
        assert row["total"] == pytest.approx(error.total, rel=1e-12)


def test_errors_of_flow_name_the_argument(capsys: Capture) -> None:
    cases = [
        ("flow --times -1", "times must"),
        ("flow --time-unit wall", "time_unit must"),
        ("flow --time-unit half_sum", "time_unit must be mean or half_mean"),
    ]
    check_errors(cases, capsys)


# --- advice --------------------------------------------------------------------------------------


def test_advice_is_that_of_the_library(capsys: Capture) -> None:
    words = "advise --features-per-dim 1.2 --noise 0.5 --budget 3 --n-members 2"
    advice = advise_problem(dt.Problem(features_per_dim=1.2, noise=0.5), 2, budget=3)
    check_forms(words, advice, capsys)


def test_advice_and_budget_are_counts_for_counts(capsys: Capture) -> None:
    words = "advise --n-features 240 --n-samples 200 --dim 200 --snr 2"
    problem = dt.Problem(features_per_dim=1.2, noise=0.5)
    result = json_result(f"{words} --budget 1000", capsys)
    assert (result["budget"], result["unit"]) == (1000, "one")
    rows = {row["option"]: row for row in result["options"]}
    assert rows["now"]["n_features"] == 240
    assert rows["2x data"]["n_samples"] == 400
    assert rows["best allocation"]["n_features"] == pytest.approx(1000)
    best = dt.best_allocation(problem, 5.0)
    assert rows["best allocation"]["error"] == pytest.approx(best.total)
    marginal = dt.advise(problem).facts["marginal"]
    assert result["marginal"]["sample"] == pytest.approx(marginal["sample"] / 200)
    training = json_result(f"{words} --cost training --budget {240 * 200 * 200}", capsys)
    assert training["budget"] == pytest.approx(240 * 200 * 200)
    expected = advise_problem(problem, cost="training")["best allocation"]
    assert training["ideal"].keys() <= {option.name for option in dt.advise(problem).options}
    for name, ideal in training["ideal"].items():
        option = advise_problem(problem, cost="training")[name]
        assert ideal["error"] == pytest.approx(option.total)
        assert ideal["n_features"] == pytest.approx(200 * option.setting["features_per_dim"])
    assert training["options"][-1]["error"] == pytest.approx(expected.total, rel=1e-2)


def test_allocations_of_counts_are_whole(capsys: Capture) -> None:
    words = "--n-features 40 --n-samples 30 --dim 35 --budget 40"
    for row in json_result(f"advise {words}", capsys)["options"]:
        if row["n_features"] != "inf":
            assert row["n_features"] == pytest.approx(round(row["n_features"]), rel=1e-9)
        if row["scheme"] == "divide":
            assert row["n_members"] <= 30


def test_a_chart_is_written(tmp_path: Path, capsys: Capture) -> None:
    for ending in ("png", "PDF"):
        chart = tmp_path / f"advice.{ending}"
        assert main(["advise", "--chart", str(chart)]) == 0
        assert chart.stat().st_size > 1000
        assert capsys.readouterr().err == f"{chart} written\n"
    assert "b.png" in error_message(["advise", "--chart", str(tmp_path / "none" / "b.png")], capsys)


def test_errors_of_advice_name_the_argument(capsys: Capture) -> None:
    cases = [
        ("advise --ridge 1,2", "ridge must be one number"),
        ("advise --budget 1,2", "budget must be one number"),
        ("advise --budget 0", "budget must"),
        ("advise --cost money", "cost must"),
        ("advise --scheme bootstrap", "scheme must"),
        ("advise --chart bars.jpg", "chart must"),
        ("advise --n-samples 2 --dim 3", "n_features, n_samples, dim must"),
        ("advise --n-samples 2,3 --dim 3", "n_samples must"),
    ]
    check_errors(cases, capsys)
