"""simulate: one call of the library for a whole curve, and the theory beside it."""

import csv
import io
import math

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.cli.main import main
from doubletrouble.simulation.result import ErrorEstimates
from tests.cli.answers import Capture, answer, refusal

SMALL = "simulate --dim 12 --n-data 3 --n-init 2"


def test_a_curve_is_one_simulation(capsys: Capture) -> None:
    words = "--features-per-dim 0.5,2 --ridge 0.1,1 --n-members 2,inf --schemes ensemble,divide"
    rows = answer(f"{SMALL} {words} --seed 3", capsys)["rows"]
    run = dt.simulate(
        dt.Problem(), dim=12, n_data=3, n_init=2, seed=3, widths=[0.5, 2.0], ridges=[0.1, 1.0],
        n_members=(2, math.inf), schemes=("ensemble", "divide"),
    )  # fmt: skip
    assert len(rows) == 2 * 2 * 2 * 2 * 6
    keys = ("features_per_dim", "ridge", "n_members", "scheme", "part")
    places = [tuple(row[key] for key in keys) for row in rows]
    assert len(set(places)) == len(rows)
    assert places[0] == (0.5, 0.1, 2, "ensemble", "noise")
    assert places[-1] == (2.0, 1.0, "inf", "divide", "total")
    for row in rows:
        at = (0.5, 2.0).index(row["features_per_dim"]), (0.1, 1.0).index(row["ridge"])
        k, scheme, part = float(row["n_members"]), row["scheme"], row["part"]
        found = getattr(run.error(k, scheme), part)
        theory = getattr(dt.exact_error(run.problem, k, scheme), part)
        expected = (found.value, found.standard_error, theory, found.z_score(theory))
        numbers = [float(row[name]) for name in ("value", "standard_error", "theory", "z")]
        assert numbers == [float(np.broadcast_to(v, (2, 2))[at]) for v in expected]


def test_every_option_is_handed_on(capsys: Capture) -> None:
    words = (
        "--samples-per-dim 0.5 --noise 0.3 --activation erf --dtype float32 --ridge 1 "
        "--test sample --no-center --n-members 1"
    )
    found = answer(f"{SMALL} {words}", capsys)
    run = dt.simulate(
        dt.Problem(samples_per_dim=0.5, noise=0.3, activation="erf", ridge=1.0), dim=12, n_data=3,
        n_init=2, dtype="float32", test="sample", center=False,
    )  # fmt: skip
    assert found["rows"][-1]["value"] == run.error(1).total.value
    settings = {"dim": 12, "model": "features", "n_data": 3, "n_init": 2, "center": False}
    assert found["parameters"].items() >= (settings | {"test": "sample", "n_members": 1}).items()
    kernel = answer(f"{SMALL} --features-per-dim inf --model kernel --n-members 1", capsys)
    assert kernel["parameters"]["features_per_dim"] == "inf"


def test_the_theory_may_be_left_out(capsys: Capture) -> None:
    assert main([*SMALL.split(), "--n-members", "1", "--no-theory", "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(rows[0]) == ["part", "value", "standard_error"]
    assert [row["part"] for row in rows] == list(ErrorEstimates.__dataclass_fields__)
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
    ("words", "said"),
    [
        ("simulate", "Missing option '--dim'"),
        ("simulate --dim x", "Invalid value for '--dim'"),
        (f"{SMALL} --noise 0,1", "noise must be one number here, got '0,1'; sweeps run any grid"),
        (f"{SMALL} --model deep", "model must be one of features, gaussian, kernel, got 'deep'"),
        (f"{SMALL} --schemes both", "schemes must be among ensemble, divide, got 'both'"),
        (f"{SMALL} --ridge inf", "ridge must be finite to be simulated, got inf"),
        (f"{SMALL} --n-data 1", "n_data must be a whole number of at least 2, got 1"),
        (f"{SMALL} --device moon", "device must be 'cpu', 'torch' or a device torch has"),
    ],
)
def test_an_error_is_one_sentence_and_code_two(words: str, said: str, capsys: Capture) -> None:
    assert refusal(words.split(), capsys).startswith(said)
