"""The command on spectra given by a law: exponents and frontiers of the library."""

import math

import pytest

import doubletrouble as dt
from tests.cli.results import Capture, check_errors, check_forms, json_result, lines


def test_exponents_are_those_of_the_library(capsys: Capture) -> None:
    words = "--capacity 2 --source 0.4 --n-features 1e8 --n-samples 1e5,1e9 --noise 0.2"
    words += " --gram-ridge 0.5"
    problem = dt.SpectralProblem.from_law(
        dt.PowerLaw(capacity=2.0, source=0.4),
        n_features=1e8,
        n_samples=[1e5, 1e9],
        noise=0.2,
        gram_ridge=0.5,
    )
    check_forms(f"scaling {words} -K 3", dt.exponents(problem, 3), capsys)
    law = dt.SpectralProblem.from_law(
        dt.PowerLaw(capacity=1.5, source=0.8), n_features=1e8, n_samples=1e6, noise=0.1
    )
    words = "scaling --best-ridge --n-samples 1e6 --n-features 1e8"
    check_forms(words, dt.exponents(law, ridge="best"), capsys)


def test_laws_have_their_own_parameters(capsys: Capture) -> None:
    sizes = "--n-samples 100 --n-features 500 --gram-ridge 0.1"
    numbers = {"n_samples": 100, "n_features": 500, "gram_ridge": 0.1, "noise": 0.1}
    laws = {
        "--law exponential --scale 5": dt.ExponentialLaw(scale=5.0, source=0.8),
        "--law two-power --capacity 1.2 --later-capacity 3 --knee 20": dt.TwoPowerLaw(
            capacity=1.2, later_capacity=3.0, knee=20.0, source=0.8
        ),
        "--capacity 0.8 --n-modes 300": dt.PowerLaw(capacity=0.8, source=0.8, n_modes=300),
    }
    for words, law in laws.items():
        problem = dt.SpectralProblem.from_law(law, **numbers)
        rows = json_result(f"scaling {words} {sizes}", capsys)["exponents"]
        (row,) = [row for row in rows if row["part"] == "bias"]
        found = dt.exponents(problem).by_n_samples.bias
        assert row["by_n_samples"] == pytest.approx(found, rel=1e-9), words
        assert ("regime" in row) == ("two-power" in words)


def test_frontier_is_that_of_the_library(capsys: Capture) -> None:
    words = "--steps 100 --predictions 1e8 --workers 4 --max-n-samples 1e6 --max-n-members 16"
    law = dt.SpectralProblem.from_law(
        dt.PowerLaw(capacity=1.5, source=0.8), n_features=1.0, n_samples=1.0, noise=0.3
    )
    cost = dt.Cost(steps=100, predictions=1e8, workers=4)
    frontier = dt.scaling_frontier(
        law, [1e12, 1e14], cost=cost, max_n_samples=1e6, max_n_members=16
    )
    check_forms(f"scaling --compute 1e12,1e14 --noise 0.3 {words}", frontier, capsys)
    free = json_result("scaling --compute 1e12", capsys)
    assert free["exponents"]["total"] == pytest.approx(-8 / 21)


def test_text_has_the_tables_of_the_library(capsys: Capture) -> None:
    several = lines("scaling --n-samples 1e5,1e7 --n-features 1e9", capsys)
    assert [line.split()[0] for line in several[-3:-1]] == ["1.00e+05", "1.00e+07"]
    assert several[-2].split()[-1] == "samples"
    problem = dt.SpectralProblem.from_law(
        dt.PowerLaw(capacity=1.5, source=0.8), n_samples=1.0, noise=0.1
    )
    frontier = dt.scaling_frontier(problem, [1e12], cost=dt.Cost(workers=math.inf))
    check_forms("scaling --compute 1e12 --workers inf", frontier, capsys)
    assert str(frontier).endswith("K ~ C^∞.")


def test_errors_name_the_argument(capsys: Capture) -> None:
    check_errors(
        [
            ("scaling --law cubic", "law must"),
            ("scaling --law exponential", "scale must be given"),
            ("scaling --scale 3", "scale must be left out"),
            ("scaling --law exponential --scale 3 --capacity 2", "capacity must be left out"),
            ("scaling --capacity 0.9", "capacity must be above 1"),
            ("scaling --source 0", "source must"),
            ("scaling --steps 10", "steps must be left out"),
            ("scaling --gram-ridge 1 --best-ridge", "gram_ridge must be left out"),
            ("scaling --compute 0.1", "compute must"),
            ("scaling --compute 1e12 -K 3", "n_members must be left out"),
            ("scaling --compute 1e12 --noise 0,1", "noise must be one number"),
            ("scaling --compute 1e12 --workers 1.5", "workers must"),
            ("scaling --compute 1e12 --max-n-samples 0", "max_n_samples must"),
        ],
        capsys,
    )
