"""flow and stopping: the library's numbers along training time, on any clock."""

import math

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.cli import main
from doubletrouble.conventions import ClockName
from tests.cli.results import Capture, error_message, json_result


def test_times_are_rows_and_parts_are_columns(capsys: Capture) -> None:
    words = "flow --features-per-dim 1 --ridge 0 --n-members 1,inf --times 0,1:100:log:3,inf"
    result = json_result(words, capsys)
    times = [0.0, 1.0, 10.0, 100.0, math.inf]
    assert [float(row["time"]) for row in result["rows"]] == times * 2
    assert [row["n_members"] for row in result["rows"]] == [1] * 5 + ["inf"] * 5
    problem = dt.Problem(features_per_dim=1.0, ridge=0.0)
    for k, rows in ((1, result["rows"][:5]), (math.inf, result["rows"][5:])):
        error = dt.gradient_flow(problem, times, k)
        for part in ("noise", "initialization", "sampling", "bias", "total"):
            values = [float(row[f"error_{part}"]) for row in rows]
            assert values == pytest.approx(getattr(error, part), rel=1e-12)
    assert result["rows"][4]["error_total"] == "inf"
    assert result["parameters"]["scheme"] == "ensemble"


def test_without_times_there_are_the_typical_ones(capsys: Capture) -> None:
    rows = json_result("flow", capsys)["rows"]
    assert [row["time"] for row in rows] == [10.0**k for k in range(-2, 7)]


def test_one_time_is_a_small_table(capsys: Capture) -> None:
    assert main(["flow", "--times", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "t=3" in lines[0] + lines[1]
    assert lines[-1].split() == ["total", f"{dt.gradient_flow(dt.Problem(), 3.0).total:.6g}"]


@pytest.mark.parametrize("clock", ["mean", "half_mean", "sum", "half_sum"])
def test_time_may_be_steps_times_learning_rate(clock: ClockName, capsys: Capture) -> None:
    sizes = {"n_features": 80, "n_samples": 120, "dim": 40}
    counts = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in sizes.items())
    result = json_result(f"flow {counts} --times 0.3,3 --clock {clock}", capsys)
    time = dt.time_from(clock, [0.3, 3.0], **sizes)
    error = dt.gradient_flow(dt.Problem.from_sizes(**sizes), time)
    assert [row["error_total"] for row in result["rows"]] == pytest.approx(error.total, rel=1e-12)
    assert [row["time"] for row in result["rows"]] == [0.3, 3.0]  # as given
    assert result["parameters"]["clock"] == clock
    best = json_result(f"stopping {counts} --clock {clock}", capsys)["rows"][0]["time"]
    exact = dt.best_stopping_time(dt.Problem.from_sizes(**sizes)).time
    assert dt.time_from(clock, best, **sizes) == pytest.approx(exact, rel=1e-12)


def test_a_ratio_is_enough_for_a_mean(capsys: Capture) -> None:
    rows = json_result("flow --samples-per-dim 2,4 --times 6 --clock mean", capsys)["rows"]
    for row, samples, time in zip(rows, (2.0, 4.0), (6.0, 3.0), strict=True):
        error = dt.gradient_flow(dt.Problem(samples_per_dim=samples), time)
        assert row["error_total"] == pytest.approx(error.total, rel=1e-12)


def test_stopping_is_compared_with_the_best_ridge(capsys: Capture) -> None:
    rows = json_result("stopping --features-per-dim 0.5,2 --ridge 0 --noise 0.5", capsys)["rows"]
    problem = dt.Problem(features_per_dim=np.array([0.5, 2.0]), ridge=0.0, noise=0.5)
    best = dt.best_stopping_time(problem)
    assert [row["time"] for row in rows] == pytest.approx(best.time, rel=1e-6)
    assert [row["error_total"] for row in rows] == pytest.approx(best.error.total, rel=1e-12)
    assert [row["best_ridge"] for row in rows] == pytest.approx(best.optimal_ridge.ridge, rel=1e-9)
    there = best.optimal_ridge.error.total
    assert [row["best_ridge_total"] for row in rows] == pytest.approx(there, rel=1e-12)
    assert main(["stopping", "--features-per-dim", "0.5", "--ridge", "0"]) == 0
    message = capsys.readouterr().out
    assert "best time t" in message
    assert "best λ instead" in message
    assert main(["stopping", "--features-per-dim", "0.5,2", "--ridge", "0"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("flow --times -1", "times must be in [0, 1e+150] or inf, got -1.0"),
        ("flow --times 1,1", "times must hold every value once, got 1.0 twice"),
        ("flow --times soon", "times must be a number or START:STOP:log|linear:COUNT, got 'soon'"),
        ("flow --clock wall", "clock must be one of mean, half_mean, sum, half_sum, got 'wall'"),
        ("flow --clock sum", "clock must be mean or half_mean where n_features, n_samples and dim"),
        ("stopping --clock half_sum", "clock must be mean or half_mean where n_features"),
        ("flow --scheme bootstrap", "scheme must be one of ensemble, divide, subsample"),
        ("stopping --times 1", "No such option: --times"),
        ("flow --json --csv", "json must be left out where csv is given, got both"),
    ],
)
def test_an_error_is_one_line_and_code_two(words: str, message: str, capsys: Capture) -> None:
    assert error_message(words.split(), capsys).startswith(message)
