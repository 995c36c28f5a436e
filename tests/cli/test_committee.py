"""committee: members in words, strictly read, and the library's error of them together."""

import csv
import io
import json
import math

import pytest

import doubletrouble as dt
from doubletrouble.cli import main
from tests.cli.results import Capture, error_message

FIRST, SECOND = "P/D=2 N/D=1 ridge=1e-3", "P/D=0.5 N/D=0.8 ridge=1e-2 activation=tanh"
MEMBERS = [
    dt.Member(features_per_dim=2.0, samples_per_dim=1.0, ridge=1e-3),
    dt.Member(features_per_dim=0.5, samples_per_dim=0.8, ridge=1e-2, activation="tanh"),
]


def words(*learners: str) -> list[str]:
    return ["committee", *(word for one in learners for word in ("--member", one))]


def test_the_error_is_the_librarys(capsys: Capture) -> None:
    given = ["--weights", "optimal", "--noise", "0.5", "--signal", "2", "--nonlinear-signal", "0.3"]
    assert main([*words(FIRST, SECOND), *given, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    best = dt.committee(MEMBERS, weights="optimal", noise=0.5, signal=2.0, nonlinear_signal=0.3)
    assert result["parameters"] == {
        "signal": 2.0,
        "noise": 0.5,
        "nonlinear_signal": 0.3,
        "sharing": "samples",
        "weights": "optimal",
    }
    for k, (row, one) in enumerate(zip(result["rows"], MEMBERS, strict=True)):
        assert row["member"] == k + 1
        assert row["features_per_dim"] == one.features_per_dim
        assert row["activation"] == one.activation
        assert row["weight"] == best.weights[k]
        assert [row["pair_error_1"], row["pair_error_2"]] == best.pair_errors[k].tolist()
        assert row["error_total"] == best.error.total
        assert row["error_sampling"] == best.error.sampling


@pytest.mark.parametrize("sharing", ["samples", "features", "both", "nothing"])
def test_members_share_samples_or_features(sharing: str, capsys: Capture) -> None:
    assert main([*words(FIRST, SECOND), "--sharing", sharing, "--csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert float(rows[0]["error_total"]) == dt.committee(MEMBERS, sharing=sharing).error.total


def test_overlaps_and_weights_may_be_numbers(capsys: Capture) -> None:
    given = ["--sharing", "features=0.3,samples=0.8", "--weights", "1.5,-0.5", "--json"]
    assert main([*words(FIRST, SECOND), *given]) == 0
    row = json.loads(capsys.readouterr().out)["rows"][0]
    exact = dt.committee(MEMBERS, sharing=(0.3, 0.8), weights=[1.5, -0.5])
    assert row["error_total"] == exact.error.total


@pytest.mark.parametrize(
    "text",
    [
        "P/D=0.5 N/D=0.8 λ=0.01 σ=tanh",
        "features_per_dim=0.5 samples-per-dim=0.8 ridge=0.01 activation=Tanh",
        "P/D=0.5, N/D=0.8, ridge=0.01, activation=tanh",
    ],
)
def test_a_member_may_be_written_in_symbols_or_words(text: str, capsys: Capture) -> None:
    assert main([*words(text), "--json"]) == 0
    row = json.loads(capsys.readouterr().out)["rows"][0]
    assert row["error_total"] == dt.committee(MEMBERS[1:]).error.total


def test_omitted_flags_have_their_defaults(capsys: Capture) -> None:
    assert main([*words("", "σ=relu"), "--json"]) == 0
    row = json.loads(capsys.readouterr().out)["rows"][0]
    assert row["error_total"] == pytest.approx(dt.exact_error(dt.Problem(), 2).total, rel=1e-12)


def test_the_signal_to_noise_ratio_replaces_the_noise(capsys: Capture) -> None:
    assert main([*words(FIRST, SECOND), "--snr", "4", "--signal", "2", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    exact = dt.committee(MEMBERS, noise=0.5, signal=2.0)
    assert result["rows"][0]["error_total"] == exact.error.total
    assert (result["parameters"]["snr"], result["parameters"]["noise"]) == (4.0, 0.5)


def test_the_table_has_parts_members_and_their_products(capsys: Capture) -> None:
    peak = words("P/D=1 ridge=0", "P/D=2 ridge=0", "P/D=inf ridge=0")
    assert main([*peak, "--weights", "optimal"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:8]] == [
        "noise",
        "initialization",
        "sampling",
        "bias",
        "bayes",
        "total",
    ]
    rows = [line.split() for line in lines[-3:]]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert rows[0][5:7] == ["0", "inf"]
    assert max(map(len, lines)) <= 80
    assert main(peak) == 0  # equal weights
    assert [
        line.split()[1] for line in capsys.readouterr().out.splitlines() if "total" in line
    ] == [str(math.inf)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["committee"], "Missing option '--member'"),
        (words("P=3"), "member must be NAME=VALUE words, NAME one of λ, σ, P/D, N/D, ridge, "),
        (words("P/D 3"), "member must be NAME=VALUE words"),
        (words("P/D="), "member must be NAME=VALUE words"),
        (words("P/D = 3"), "member must be NAME=VALUE words"),
        (words("P/D=3 P/D=4"), "member must have every NAME once, got 'P/D=4' as well"),
        (words("ridge=1 λ=2"), "member must have every NAME once, got 'λ=2' as well"),
        (words("P/D=wide"), "features_per_dim must be a number"),
        (words("P/D=1:2:log:3"), "features_per_dim must be one number here, got '1:2:log:3'"),
        (words("P/D=-1"), "features_per_dim must be in [1e-50, 1e+50] or inf, got -1.0"),
        (words("N/D=inf"), "samples_per_dim must be in [1e-50, 1e+50], got inf"),
        (words("activation=rlu"), "activation must be one of leaky_relu, relu"),
        ([*words("", ""), "--weights", "best"], "weights must be equal, optimal or an array"),
        ([*words("", ""), "--weights", "0.5"], "weights must be one for each of 2, got shape (1,)"),
        ([*words("", ""), "--weights", "0.5,0.6"], "weights must add up to 1, got 1.1"),
        ([*words("", ""), "--sharing", "all"], "sharing must be one of samples, features, both"),
        ([*words("", ""), "--sharing", "widths=1"], "sharing must be NAME=VALUE words, NAME one"),
        ([*words("", ""), "--sharing", "features=3"], "shared features must be at most 2"),
        ([*words(""), "--noise", "0,1"], "noise must be one number here, got '0,1'"),
        ([*words(""), "--snr", "1", "--noise", "1"], "noise must not be given with snr, got '1'"),
        ([*words(""), "--snr", "0"], "snr must be in [1e-06, 1e+06] or inf, got 0.0"),
        ([*words(""), "--snr", "1,2"], "snr must be one number here, got '1,2'"),
        ([*words(""), "--noise", "-1"], "noise must be in [0, 1e+150], got -1.0"),
    ],
)
def test_an_error_is_one_line_and_code_two(given: list[str], message: str, capsys: Capture) -> None:
    assert error_message(given, capsys).startswith(message)
