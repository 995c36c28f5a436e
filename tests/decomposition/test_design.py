"""Components that a design does not identify, the notes on them, and bad predictions."""

import math
import re
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.decomposition import decompose_predictions


def drawn(*shape: int) -> Any:
    """With every part well above zero."""
    D, _, K, T = shape
    rng = np.random.default_rng(0)
    parts = [
        size * rng.normal(size=draws) for size, draws in ((3, (D, 1, 1, T)), (2, (D, 1, K, T)))
    ]
    return 5 + sum(parts) + rng.normal(size=shape)


# --- absent parts and notes ----------------------------------------------------------------------


def test_one_noise_draw() -> None:
    result = decompose_predictions(drawn(4, 1, 3, 5), np.zeros(5))
    assert list(result.error().parts) == ["initialization", "sampling", "bias"]
    with pytest.raises(ValueError, match=r"^noise needs 2 or more draws of label noise .*, got 1$"):
        _ = result.error().noise
    with pytest.raises(ValueError, match=r"^noise_sampling needs"):
        _ = result.anova().noise_sampling
    assert result.anova().initialization.value < math.inf
    (note,) = result.notes
    assert note.startswith("One noise draw for each data set")
    assert note.endswith("label noise is in initialization and sampling.")


def test_one_initialization() -> None:
    for crossed, where in ((True, "sampling and bias"), (False, "sampling")):
        result = decompose_predictions(drawn(4, 2, 1, 5), np.zeros(5), crossed=crossed)
        assert list(result.error().parts) == ["noise", "sampling", "bias"]
        with pytest.raises(ValueError, match=r"^initialization needs 2 or more initializations"):
            _ = result.error().initialization
        with pytest.raises(ValueError, match=r"^the error of an ensemble needs 2 or more init"):
            result.error(2)
        with pytest.raises(ValueError, match=r"^the error of an ensemble needs 2 or more init"):
            result.anova(math.inf)
        assert result.error(1).total == result.error().total
        (note,) = result.notes
        assert f"is in {where} (it is zero for a learner without randomness)" in note


def test_one_data_set() -> None:
    result = decompose_predictions(drawn(1, 2, 3, 5), np.zeros(5))
    assert list(result.error().parts) == ["noise", "initialization", "bias"]
    with pytest.raises(ValueError, match=r"^sampling needs 2 or more data sets, got 1$"):
        _ = result.error().sampling
    assert result.notes[0] == "One data set: the effect of its draw is in bias."
    assert result.error().bias.confidence_interval() == (-math.inf, math.inf)


def test_fresh_initializations_hide_their_main_effect() -> None:
    anova = decompose_predictions(drawn(4, 2, 3, 5), np.zeros(5), crossed=False).anova()
    with pytest.raises(ValueError, match=r"needs the same initializations for every data set"):
        _ = anova.initialization
    with pytest.raises(ValueError, match=r"needs the same initializations for every data set"):
        _ = anova.initialization_sampling
    assert list(anova.parts) == [
        "bias",
        "sampling",
        "noise_sampling",
        "noise_initialization_sampling",
    ]


def test_no_target() -> None:
    result = decompose_predictions(drawn(4, 2, 3, 5))
    for name in ("bias", "total"):
        with pytest.raises(ValueError, match=rf"^{name} needs truth or y_test, got neither$"):
            getattr(result.error(), name)
        with pytest.raises(ValueError, match=rf"^{name} needs truth or y_test, got neither$"):
            getattr(result.anova(2), name)
    assert list(result.error(2).parts) == ["noise", "initialization", "sampling"]
    with pytest.raises(ValueError, match=r"^bayes needs both truth and y_test$"):
        _ = result.error().bayes
    assert "neither truth nor y_test" in result.notes[0]
    assert "%" not in str(result.error())


def test_labels_alone() -> None:
    result = decompose_predictions(drawn(4, 2, 3, 5), y_test=np.zeros(5))
    assert result.notes == (
        "Bias and total are against y_test and contain the noise of its labels.",
    )
    assert str(result).endswith(result.notes[0])


def test_a_complete_design_has_no_notes() -> None:
    result = decompose_predictions(drawn(4, 2, 3, 5), np.zeros(5))
    assert result.notes == ()
    averaged = [f"K = 5 averaged: {result.error(5).total}"]
    averaged += [f"K = ∞ averaged: {result.error(math.inf).total}"]
    assert str(result).splitlines() == [*str(result.error()).splitlines(), *averaged]


def test_the_table() -> None:
    result = decompose_predictions(drawn(4, 2, 3, 5), np.zeros(5))
    lines, error = str(result).splitlines(), result.error()
    names = ["noise", "initialization", "sampling", "bias", "total"]
    assert [line.split()[0] for line in lines[:-2]] == names
    for line, name in zip(lines[:-2], names, strict=True):
        part = getattr(error, name)
        share = [] if name == "total" else [f"{float(part) / float(error.total):.1%}"]
        assert line.split() == [name, *str(part).split(), *share]
    assert repr(result).startswith("Decomposition(noise=")


def test_negative_estimates_have_a_note() -> None:
    result = decompose_predictions(np.random.default_rng(1).normal(size=(4, 2, 3, 5)), np.zeros(5))
    below = [name for name, part in result.error().parts.items() if part.value < 0]
    assert below
    (note,) = result.notes
    assert note.startswith(f"{' and '.join(below)} is estimated as negative")


# --- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3,), (2, 3, 4), (1, 2, 3, 4, 5, 6), (2, 0, 3, 4), (2, 2, 3, 0)])
def test_shapes_are_refused(shape: tuple[int, ...]) -> None:
    message = r"^predictions must be an array \[data, noise, init, test\] .*, got shape "
    with pytest.raises(ValueError, match=message + re.escape(str(shape))):
        decompose_predictions(np.zeros(shape))


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e61])
def test_predictions_that_are_not_finite_are_refused_with_their_index(bad: float) -> None:
    f = np.zeros((20, 20, 20, 300))  # several blocks
    f[1, 0, 2, 271] = bad
    message = f"predictions must be finite numbers up to 1e+60, got {bad!r} at index (1, 0, 2, 271)"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        decompose_predictions(f)


@pytest.mark.parametrize("bad", [np.zeros((2, 2, 2, 2), dtype=complex), [[[["a"]]]], None])
def test_arrays_of_other_types_are_refused(bad: Any) -> None:
    with pytest.raises(TypeError, match=r"^predictions must be an array .* of numbers, got"):
        decompose_predictions(bad)


def test_ragged_lists_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^predictions must be an array"):
        decompose_predictions([[[[1.0, 2.0], [1.0]]]])


@pytest.mark.parametrize("name", ["truth", "y_test"])
def test_targets_are_checked(name: str) -> None:
    f = drawn(3, 2, 2, 4)
    bad: Any
    for bad, shape in (([0.0] * 3, "(3,)"), (0.0, "()"), (np.zeros((1, 4)), "(1, 4)")):
        message = f"{name} must have one number for each of 4 test points, got shape {shape}"
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            decompose_predictions(f, **{name: bad})
    bad = [0.0, 0.0, math.nan, 0.0]
    with pytest.raises(ValueError, match=rf"^{name} must be .*, got nan at index 2$"):
        decompose_predictions(f, **{name: bad})


@pytest.mark.parametrize("bad", [0, 1.5, -1, math.nan])
def test_numbers_of_members_are_checked(bad: float) -> None:
    result = decompose_predictions(drawn(3, 2, 2, 4), np.zeros(4))
    with pytest.raises(ValueError, match=r"^ensemble must be a whole number in \[1, inf\], got "):
        result.error(bad)


def test_ensembles_are_checked() -> None:
    result = decompose_predictions(drawn(3, 2, 2, 4), np.zeros(4))
    for name in ("error", "anova"):
        message = f"^ensemble must be one of Ensemble for Decomposition.{name}, got Divide"
        with pytest.raises(ValueError, match=message):
            getattr(result, name)(dt.Divide(2))
    with pytest.raises(TypeError, match=r"^ensemble must be one number, got array"):
        result.anova([1, 2])
    with pytest.raises(TypeError, match=r"^ensemble must be a number of models or one of Ensemble"):
        result.error("ensemble")
