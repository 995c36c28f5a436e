"""Flags from declarations: their help, their defaults, and the values they accept."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

import doubletrouble as dt
from doubletrouble import glossary
from doubletrouble.cli import main
from doubletrouble.cli._app import COMMANDS, load
from doubletrouble.cli._flags import SCHEME_OPTIONS, SPECS
from doubletrouble.ensembles import SCHEMES
from doubletrouble.parameters import declared
from tests.cli.results import Capture, check_errors, error_message
from tests.docs.pages import text_of

REQUIRED = {
    "simulate": ["--dim", "12"],
    "sweep run": ["grid.sqlite", "--dim", "12"],
    "decompose": ["f.npy"],
    "diagnose": ["data.csv", "--target", "y", "--model", "sklearn.linear_model.Ridge"],
}


def commands() -> Iterator[tuple[str, Any]]:
    """Every command with its full name."""
    for name in COMMANDS:
        command = load(name)
        inner = getattr(command, "commands", {})
        yield from ((f"{name} {one}", inner[one]) for one in inner) if inner else [(name, command)]


def test_every_command_and_flag_has_help_and_is_in_the_guide() -> None:
    guide = text_of("cli.md")
    for name, command in commands():
        assert command.help, name
        assert [p.name for p in command.params if not getattr(p, "help", None)] == [], name
        assert f"doubletrouble {name}" in guide, name


def test_help_has_the_declarations() -> None:
    params = load("exact").params
    texts = {param.name: " ".join(param.help.split()) for param in params}
    for field, spec in declared(dt.Problem):
        text = texts[field.name]
        assert text.startswith(f"{spec.symbol}: {spec.meaning.replace('`math.inf`', 'inf')}")
        assert spec.domain in text
        default = dt.Problem().noise if field.name == "noise" else field.default
        assert f"[default: {default:g}" in text
    for name, kind in SCHEMES.items():
        assert kind.__doc__ is not None
        assert f"'{name}': {kind.__doc__.splitlines()[0].rstrip('.')}" in texts["scheme"]
    for name, spec in SCHEME_OPTIONS.items():
        assert texts[name].startswith(f"{spec.symbol}: {spec.meaning}")


def test_help_explains_the_symbols(capsys: Capture) -> None:
    assert main(["--help"]) == 0
    words = set(re.split(r"[\s.,;]+", capsys.readouterr().out))
    names = ("N_FEATURES", "N_SAMPLES", "DIM", "RIDGE", "NOISE", "SIGNAL", "N_MEMBERS")
    assert {getattr(glossary, name).symbol for name in names} <= words


def test_help_has_only_the_schemes_that_a_command_supports() -> None:
    texts = {param.name: param.help for param in load("advise").params}
    assert [name for name in SCHEMES if f"'{name}'" in texts["scheme"]] == ["ensemble", "divide"]
    assert not SCHEME_OPTIONS.keys() & texts.keys()
    for command in ("lazy", "decompose"):
        assert "scheme" not in {param.name for param in load(command).params}


def test_every_declared_number_is_validated(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    tried = set()
    for command, loaded in commands():
        for param in loaded.params:
            if param.name in SPECS:
                words = [*command.split(), *REQUIRED.get(command, []), param.opts[0], "x"]
                message = error_message(words, capsys)
                assert param.name in message or param.opts[0] in message, message
                tried.add(param.name)
    assert tried == set(SPECS)


def test_ranges_are_validated(capsys: Capture) -> None:
    for text in ("", "nan", "-1", "1,1", "x", "1:2", "0:1:log:3", "1:2:cubic:3", "1:2:log:0"):
        assert error_message(["exact", f"--ridge={text}"], capsys).startswith("ridge must"), text
    check_errors([("exact --n-members 1.5", "n_members must be a whole number")], capsys)


def test_options_of_a_scheme_are_validated(capsys: Capture) -> None:
    cases = [
        ("exact --scheme subsample", "fraction must be given"),
        ("exact --scheme subsample --fraction 1.5", "fraction must"),
        ("exact --fraction 0.5", "fraction must be left out"),
        ("exact --scheme divide,subsample", "scheme must"),
        ("exact --scheme feature_bank", "bank_per_dim must be given"),
        ("exact --scheme feature_bank --bank-per-dim 1", "bank_per_dim must"),
        ("exact --json --csv", "json must"),
    ]
    check_errors(cases, capsys)
