"""simulate: one call of the library for a whole curve, and the theory beside it."""

import csv
import io
import math

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.cli import main
from doubletrouble.ensembles import named_ensemble
from tests.cli.results import Capture, error_message, json_result

SMALL = "simulate --dim 12 --n-data 3 --n-init 2"


def test_a_curve_is_one_simulation(capsys: Capture) -> None:
    words = "--features-per-dim 0.5,2 --ridge 0.1,1 --n-members 2,inf --scheme ensemble,divide"
    rows = json_result(f"{SMALL} {words} --seed 3", capsys)["rows"]
    run = dt.simulate(
        dt.Problem(),
        dim=12,
        n_data=3,
        n_init=2,
        seed=3,
        features_per_dim=[0.5, 2.0],
        ridge=[0.1, 1.0],
        ensembles=[dt.Divide(2), dt.Divide(math.inf)],
    )
    assert len(rows) == 2 * 2 * 2 * 2 * 6
    keys = ("features_per_dim", "ridge", "n_members", "scheme", "part")
    places = [tuple(row[key] for key in keys) for row in rows]
    assert len(set(places)) == len(rows)
    assert places[0] == (0.5, 0.1, 2, "ensemble", "noise")
    assert places[-1] == (2.0, 1.0, "inf", "divide", "total")
    for row in rows:
        at = (0.5, 2.0).index(row["features_per_dim"]), (0.1, 1.0).index(row["ridge"])
        ensemble, part = named_ensemble(row["scheme"], float(row["n_members"])), row["part"]
        result = getattr(run.error(ensemble), part)
        theory = getattr(dt.exact_error(run.problem, ensemble), part)
        expected = (result.value, result.standard_error, theory, result.z_score(theory))
        numbers = [float(row[name]) for name in ("value", "standard_error", "theory", "z")]
        assert numbers == [float(np.broadcast_to(v, (2, 2))[at]) for v in expected]


def test_every_option_is_passed_on(capsys: Capture) -> None:
    words = (
        "--samples-per-dim 0.5 --noise 0.3 --activation erf --dtype float32 --ridge 1 "
        "--test sample --no-center --n-members 1"
    )
    result = json_result(f"{SMALL} {words}", capsys)
    run = dt.simulate(
        dt.Problem(samples_per_dim=0.5, noise=0.3, activation="erf", ridge=1.0),
        dim=12,
        n_data=3,
        n_init=2,
        dtype="float32",
        test="sample",
        center=False,
    )
    assert result["rows"][-1]["value"] == run.error(1).total.value
    settings = {"dim": 12, "model": "features", "n_data": 3, "n_init": 2, "center": False}
    assert result["parameters"].items() >= (settings | {"test": "sample", "n_members": 1}).items()
    kernel = json_result(f"{SMALL} --features-per-dim inf --model kernel --n-members 1", capsys)
    assert kernel["parameters"]["features_per_dim"] == "inf"


def test_members_may_draw_samples_or_features(capsys: Capture) -> None:
    words = "--scheme ensemble,subsample,feature_bank --fraction 0.51 --bank-per-dim 4 --ridge 0.1"
    result = json_result(f"{SMALL} {words} --n-members 2", capsys)
    given = {
        "ensemble": dt.Ensemble(2),
        "subsample": dt.Subsample(2, fraction=0.51),
        "feature_bank": dt.FeatureBank(2, bank_per_dim=4.0),
    }
    run = dt.simulate(
        dt.Problem(ridge=0.1), dim=12, n_data=3, n_init=2, ensembles=list(given.values())[1:]
    )
    assert result["parameters"]["fraction"] == 0.5  # as it is realized
    for scheme, ensemble in given.items():
        rows = {row["part"]: row for row in result["rows"] if row["scheme"] == scheme}
        assert list(rows)[-1] == "total"
        assert ("resampling" in rows) == (scheme != "ensemble")
        theory, error = dt.exact_error(run.problem, run.realized(ensemble)), run.error(ensemble)
        for part, row in rows.items():
            assert row["value"] == getattr(error, part).value
            assert row["theory"] == pytest.approx(getattr(theory, part), rel=1e-12)


def test_the_signal_to_noise_ratio_replaces_the_noise(capsys: Capture) -> None:
    words = f"{SMALL} --n-members 1 --signal 2"
    result = json_result(f"{words} --snr 4", capsys)
    assert result["rows"] == json_result(f"{words} --noise 0.5", capsys)["rows"]
    assert (result["parameters"]["snr"], result["parameters"]["noise"]) == (4.0, 0.5)


def test_training_may_stop_at_times(capsys: Capture) -> None:
    words = "--features-per-dim 0.5,2 --ridge 0 --n-members 1,inf --times 0,1,inf"
    rows = json_result(f"{SMALL} {words}", capsys)["rows"]
    run = dt.simulate(
        dt.Problem(ridge=0.0),
        dim=12,
        n_data=3,
        n_init=2,
        features_per_dim=[0.5, 2.0],
        times=[0.0, 1.0, math.inf],
    )
    assert len(rows) == 2 * 3 * 2 * 6
    totals = [row for row in rows if row["part"] == "total" and row["n_members"] == "inf"]
    assert [float(row["time"]) for row in totals] == [0.0, 1.0, math.inf] * 2
    assert run.times is not None
    theory = dt.gradient_flow(run.problem, run.times, math.inf).total
    assert [row["theory"] for row in totals] == pytest.approx(np.ravel(theory), rel=1e-12)
    assert [row["value"] for row in totals] == np.ravel(run.error(math.inf).total.value).tolist()
    one = json_result(f"{SMALL} --n-members 1 --times 1", capsys)
    assert one["parameters"]["time"] == 1.0
    assert one["parameters"]["ridge"] == dt.Problem().ridge
    for scheme, theory in (("divide", "--theory"), ("bootstrap", "--no-theory")):
        assert main([*SMALL.split(), "--scheme", scheme, "--times", "1", theory]) == 0


def test_the_theory_may_be_left_out(capsys: Capture) -> None:
    assert main([*SMALL.split(), "--n-members", "1", "--no-theory", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(rows[0]) == ["part", "value", "standard_error"]
    assert [row["part"] for row in rows] == [
        "noise",
        "initialization",
        "sampling",
        "bias",
        "bayes",
        "total",
    ]
    assert main([*SMALL.split(), "--n-members", "1", "--no-theory"]) == 0
    assert "theory" not in capsys.readouterr().out


def test_the_table_has_a_line_for_every_part(capsys: Capture) -> None:
    assert main([*SMALL.split(), "--test-noise", "0.5", "--n-members", "1,inf"]) == 0
    lines = capsys.readouterr().out.splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("─")) + 1
    assert lines[first - 2].split() == ["K", "part", "simulated", "theory", "z"]
    assert len(lines[first:]) == 2 * 6
    assert all("±" in line for line in lines[first:])
    assert max(map(len, lines)) <= 80


def test_a_problem_without_error_has_a_table(capsys: Capture) -> None:
    assert main([*SMALL.split(), "--signal", "0", "--noise", "0", "--n-members", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split()[0] == "total"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("simulate", "Missing option '--dim'"),
        ("simulate --dim x", "Invalid value for '--dim'"),
        (f"{SMALL} --noise 0,1", "noise must be one number here, got '0,1'; sweeps run any grid"),
        (f"{SMALL} --model deep", "model must be one of features, gaussian, kernel, got 'deep'"),
        (f"{SMALL} --scheme both", "scheme must be among ensemble, divide, subsample"),
        (f"{SMALL} --scheme divide,divide", "scheme must hold every value once, got 'divide'"),
        (f"{SMALL} --scheme subsample", "fraction must be given for scheme 'subsample', got None"),
        (f"{SMALL} --fraction 0.5", "fraction must be left out for scheme 'ensemble', got 0.5"),
        (
            f"{SMALL} --scheme subsample --fraction 0.5,1",
            "fraction must be one number here, got '0.5,1'",
        ),
        (
            f"{SMALL} --scheme bootstrap --times 1",
            "scheme must be one of ensemble, divide, subsample, feature_bank",
        ),
        (f"{SMALL} --snr 1 --noise 1", "noise must not be given with snr, got '1'"),
        (f"{SMALL} --snr 1,2", "snr must be one number here, got '1,2'"),
        (f"{SMALL} --times -1", "times must be in [0, 1e+150] or inf, got -1.0"),
        (f"{SMALL} --ridge inf", "ridge must be finite to be simulated, got inf"),
        (f"{SMALL} --n-data 1", "n_data must be a whole number of at least 2, got 1"),
        (f"{SMALL} --device moon", "device must be "),
    ],
)
def test_an_error_is_one_line_and_code_two(words: str, message: str, capsys: Capture) -> None:
    assert error_message(words.split(), capsys).startswith(message)
