"""Bad input is one sentence, at once, and nothing is left on the disk."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import doubletrouble as dt
from doubletrouble.networks import _train as train
from doubletrouble.networks._program import Program
from tests.networks.literal import small_data

DATA = small_data(pool=2)
BAD: list[tuple[dict[str, Any], str]] = [
    *(({"width": w}, r"width must be a whole number in \[1, .*\], got") for w in (0, -1, 1.5)),
    *(({"width": width}, "width must be a number .*, got") for width in (True, "a", None)),
    ({"width": [4, 8]}, r"width must be one number, got \[4, 8\]"),
    *(({"laziness": a}, r"laziness must be in \[1e-06, .* or inf, got") for a in (0, -1, math.nan)),
    ({"laziness": -math.inf}, "laziness must be in .*, got -inf"),
    ({"laziness": "x"}, "laziness must be a number .*, got 'x'"),
    *(({"depth": depth}, r"depth must be a whole number in \[2, 100\], got") for depth in (1, 2.5)),
    ({"loss": "l1"}, "loss must be one of hinge, squared_hinge, squared, logistic, got 'l1'"),
    ({"loss": None}, "loss must be one of .*, got None"),
    ({"optimizer": "rmsprop"}, "optimizer must be one of auto, adam, gd, sgd, exact, got 'rms"),
    ({"optimizer": "exact"}, "loss must be 'squared' to be solved exactly, got 'hinge'"),
    (
        {"optimizer": "exact", "loss": "squared", "laziness": 10},
        "laziness must be inf for optimizer 'exact', got 10.0",
    ),
    ({"optimizer": "sgd"}, "batch_size must be given for optimizer 'sgd' and .*, got None"),
    ({"batch_size": 5}, "batch_size must be given for .* no other, got 5 for 'auto'"),
    ({"optimizer": "sgd", "batch_size": 0}, "batch_size must be a whole number of at least 1"),
    *(({"learning_rate": r}, r"learning_rate must be in .*, got") for r in (0, -0.1, math.inf)),
    *(({"max_steps": n}, "max_steps must be a whole number of at least 1, got") for n in (0, 1.5)),
    ({"max_steps": True}, "max_steps must be a whole number of at least 1, got True"),
    ({"patience": 0}, "patience must be a whole number of at least 1, got 0"),
    ({"tolerance": -1}, "tolerance must be in .*, got -1"),
    ({"tolerance": math.nan}, "tolerance must be in .*, got nan"),
    *(({"seed": seed}, "seed must be a whole number of at least 0 .*, got") for seed in (-1, 0.5)),
    ({"seed": 2**32}, "seed must be a whole number of at least 0 and below 4294967296, got"),
    ({"dtype": "float16"}, "dtype must be one of float32, tf32, float64, got 'float16'"),
    ({"device": "abacus"}, "device must be 'auto', 'cpu' or a GPU torch has here, got 'abacus'"),
    ({"memory": -1}, "memory must be in .*, got -1"),
]  # fmt: skip
MINE: dict[str, tuple[Callable[..., Any], list[tuple[dict[str, Any], str]]]] = {
    "train_lazy": (
        dt.train_lazy,
        [
            *(
                ({"ensemble": n}, r"ensemble must be a whole number in \[1, inf\]")
                for n in (0, 1.5)
            ),
            ({"ensemble": dt.Divide(2)}, "ensemble must be one of Ensemble for train_lazy, got"),
        ],
    ),
    "lazy_split": (
        dt.lazy_split,
        [
            ({"n_init": 0}, "n_init must be a whole number of at least 1, got 0"),
            ({"n_noise": 0}, "n_noise must be a whole number of at least 1, got 0"),
            ({"n_data": 1}, "n_data must be a whole number of at least 2, got 1"),
            ({"n_data": 3}, "n_data must be at most 2, .*, got 3"),
            ({"noise": -1}, "noise must be in .*, got -1"),
            (
                {"noise": 0.5, "loss": "hinge"},
                "noise must be 0 for loss 'hinge', .*, got 0.5; flips",
            ),
            ({"flips": 1.5}, "flips must be in .*, got 1.5"),
            ({"momentum": 0.9}, "options of training must be among loss, .*, got 'momentum'"),
        ],
    ),
}
CURVE: list[tuple[dict[str, Any], str]] = [
    ({"widths": []}, "widths must not be empty"),
    ({"widths": [4, 4]}, "widths must hold every value once, got 4"),
    ({"widths": [4, 0]}, r"widths must be a whole number in \[1, .*, got 0"),
    ({"widths": [2.5]}, r"widths must be a whole number in \[1, .*, got 2.5"),
    ({"laziness": []}, "laziness must not be empty"),
    ({"laziness": [1, -1]}, "laziness must be in .* or inf, got -1"),
    ({"laziness": math.nan}, "laziness must be in .* or inf, got nan"),
    ({"ensemble": 0}, r"ensemble must be a whole number in \[1, inf\], got 0"),
    ({"ensemble": dt.Divide(2)}, "ensemble must be one of Ensemble for lazy_curve, got Divide"),
    ({"depth": 1}, r"depth must be a whole number in \[2, 100\], got 1"),
    ({"seed": -1}, "seed must be a whole number of at least 0 .*, got -1"),
    ({"memory": -1}, "memory must be in .*, got -1"),
    ({"loss": "l1"}, "loss must be one of .*, got 'l1'"),
    ({"optimizer": "exact"}, "loss must be 'squared' to be solved exactly, got 'hinge'"),
    ({"optimizer": "exact", "loss": "squared"}, "laziness must be inf for .*, got 2.0"),
    ({"optimizer": "sgd"}, "batch_size must be given for optimizer 'sgd'"),
    ({"max_steps": 0}, "max_steps must be a whole number of at least 1, got 0"),
    ({"dtype": "half"}, "dtype must be one of float32, tf32, float64, got 'half'"),
    ({"device": "abacus"}, "device must be .*, got 'abacus'"),
    ({"momentum": 0.9}, "options of training must be among loss, .*, got 'momentum'"),
]
CASES = [
    pytest.param(call, options, message, id=f"{name} {options}")
    for name, (call, own) in MINE.items()
    for options, message in BAD + own
]


def nothing(*_: Any, **__: Any) -> None:
    raise AssertionError("trained")


@pytest.mark.parametrize(("call", "options", "message"), CASES)
def test_bad_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[..., Any],
    options: dict[str, Any], message: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(Program, "__init__", nothing)
    given: dict[str, Any] = {"width": 4, "depth": 3, "loss": "hinge", "max_steps": 5}
    if call is dt.lazy_split:
        given |= {"n_data": 2, "n_init": 2}
    with pytest.raises((ValueError, TypeError), match=f"^{message}") as caught:
        call(DATA, store=tmp_path / "run", **{**given, **options})
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("options", "message"), CURVE, ids=str)
def test_bad_options_of_a_curve_leave_no_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], message: str
) -> None:
    monkeypatch.setattr(Program, "__init__", nothing)
    given: dict[str, Any] = {"widths": [3], "laziness": [2.0, math.inf], "device": "cpu"}
    with pytest.raises((ValueError, TypeError), match=f"^{message}") as caught:
        dt.lazy_curve(DATA, store=tmp_path / "store", **{**given, **options})
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("call", [dt.train_lazy, dt.lazy_split, dt.lazy_curve])
@pytest.mark.parametrize("data", [None, "digits", np.zeros((3, 2))], ids=["None", "str", "array"])
def test_data_that_are_none(call: Callable[..., Any], data: Any) -> None:
    name = type(data).__name__
    with pytest.raises(TypeError, match=rf"^data must be a Data, as from load_data, got {name}$"):
        call(data)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_no_gpu() -> None:
    with pytest.raises(ValueError, match=r"^device must be .*, got 'cuda': .*") as caught:
        dt.train_lazy(DATA, device="cuda")
    assert "\n" not in str(caught.value)


def test_data_of_one_class_or_with_nan_never_get_here() -> None:
    x, y = np.zeros((4, 2)), np.array([1.0, -1.0, 1.0, -1.0])
    with pytest.raises(ValueError, match=r"^y_train must hold both classes, got only 1\.0"):
        dt.Data(x_train=x, y_train=np.ones(4), x_test=x, y_test=y)
    with pytest.raises(ValueError, match=r"^x_train must be finite, got nan"):
        dt.Data(x_train=np.where(x == 0, np.nan, x), y_train=y, x_test=x, y_test=y)


def test_numbers_of_numpy_are_numbers(tmp_path: Path) -> None:
    """Also where they are written down: in a checkpoint's name and in a store."""
    options: dict[str, Any] = {
        "width": np.int64(4), "depth": np.int32(3), "laziness": np.float32(2.0),
        "max_steps": np.int64(5), "learning_rate": np.float32(0.125), "seed": np.uint8(3),
        "ensemble": np.int16(2), "patience": np.int64(4),
    }  # fmt: skip
    plain = {name: value.item() for name, value in options.items()}
    given: dict[str, Any] = {"device": "cpu", "store": tmp_path / "run"}
    first = dt.train_lazy(DATA, **given, **options)
    again = dt.train_lazy(DATA, **given, **plain)
    np.testing.assert_array_equal(first.predictions, again.predictions)
    assert first.settings == again.settings
    assert {type(value) for value in first.settings.values()} <= {int, float, str, type(None)}


def test_settings_say_how_it_was_done() -> None:
    run = dt.train_lazy(DATA, width=3, ensemble=2, max_steps=4, device="cpu", seed=5)
    assert (run.width, run.laziness, run.n_members) == (3, 100.0, 2)
    assert run.settings == {
        "depth": 5, "seed": 5, "dtype": "float32", "data": "small", "loss": "hinge",
        "optimizer": "adam", "learning_rate": 0.1, "max_steps": 4, "patience": 100,
        "tolerance": 1e-3, "batch_size": None,
    }  # fmt: skip
    assert train.REVISION == 1
