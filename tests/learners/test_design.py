"""Components that a design does not identify, the notes on them, and validation."""

import math
import re
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble._numbers import percent
from doubletrouble.learners import decompose_predictions
from tests.messages import message_of, not_identified


def drawn(*shape: int) -> Any:
    """With every part well above zero."""
    D, _, K, T = shape
    rng = np.random.default_rng(0)
    parts = [
        size * rng.normal(size=draws) for size, draws in ((3, (D, 1, 1, T)), (2, (D, 1, K, T)))
    ]
    return 5 + sum(parts) + rng.normal(size=shape)


# --- absent parts and notes ----------------------------------------------------------------------


def test_noise_needs_two_noise_draws() -> None:
    result = decompose_predictions(drawn(4, 1, 3, 5), np.zeros(5))
    assert list(result.error().parts) == ["initialization", "sampling", "bias"]
    not_identified(result.error(), "noise", r"^noise needs")
    not_identified(result.anova(), "noise_sampling", r"^noise × sampling needs")
    assert result.anova().initialization.value < math.inf
    (note,) = result.notes
    assert "noise is in initialization and sampling" in note


def test_initialization_needs_two_initializations() -> None:
    for crossed, where in ((True, "sampling and bias"), (False, "sampling")):
        result = decompose_predictions(drawn(4, 2, 1, 5), np.zeros(5), crossed=crossed)
        assert list(result.error().parts) == ["noise", "sampling", "bias"]
        not_identified(result.error(), "initialization", r"^initialization needs")
        with pytest.raises(ValueError, match="ensemble needs"):
            result.error(2)
        with pytest.raises(ValueError, match="ensemble needs"):
            result.anova(math.inf)
        assert result.error(1).total == result.error().total
        (note,) = result.notes
        assert f"is in {where} " in note


def test_sampling_needs_two_data_sets() -> None:
    result = decompose_predictions(drawn(1, 2, 3, 5), np.zeros(5))
    assert list(result.error().parts) == ["noise", "initialization", "bias"]
    not_identified(result.error(), "sampling", r"^sampling needs")
    assert "is in bias" in result.notes[0]
    assert result.error().bias.confidence_interval() == (-math.inf, math.inf)


def test_fresh_initializations_hide_their_main_effect() -> None:
    anova = decompose_predictions(drawn(4, 2, 3, 5), np.zeros(5), crossed=False).anova()
    not_identified(anova, "initialization", "initializations")
    not_identified(anova, "initialization_sampling", "initializations")
    assert list(anova.parts) == [
        "bias",
        "sampling",
        "noise_sampling",
        "noise_initialization_sampling",
    ]


def test_bias_and_total_need_a_target() -> None:
    result = decompose_predictions(drawn(4, 2, 3, 5))
    for terms in (result.error(), result.anova(2)):
        not_identified(terms, "bias", r"^bias needs .*y_test")
        assert math.isnan(terms.total)
        assert terms.reasons["total"].startswith("total needs")
    assert list(result.error(2).parts) == ["noise", "initialization", "sampling"]
    not_identified(result.error(), "bayes", r"^noise floor needs .*y_test")
    assert "y_test" in result.notes[0]
    assert "%" not in str(result.error())


def test_labels_alone_have_a_note() -> None:
    result = decompose_predictions(drawn(4, 2, 3, 5), y_test=np.zeros(5))
    (note,) = result.notes
    assert "y_test" in note
    assert f"note: {note}" in str(result)


def test_a_complete_design_has_no_notes() -> None:
    result = decompose_predictions(drawn(4, 2, 3, 5), np.zeros(5))
    assert result.notes == ()
    lines = [line.split() for line in str(result).splitlines()]
    for K, name in ((5, "5"), (math.inf, "∞")):
        assert [name, *str(result.error(K).total).split()] in lines


def test_the_table_has_parts_and_shares() -> None:
    result = decompose_predictions(drawn(4, 2, 3, 5), np.zeros(5))
    lines, error = [line.split() for line in str(result).splitlines()], result.error()
    for name in ("noise", "initialization", "sampling", "bias", "total"):
        part = getattr(error, name)
        share = [] if name == "total" else [percent(float(part) / float(error.total))]
        assert [name, *str(part).split(), *share] in lines
    assert repr(result).startswith("Decomposition(noise=")


def test_negative_estimates_have_a_note() -> None:
    result = decompose_predictions(np.random.default_rng(1).normal(size=(4, 2, 3, 5)), np.zeros(5))
    below = [name for name, part in result.error().parts.items() if part.value < 0]
    assert below
    (note,) = result.notes
    assert "below 0" in note
    assert all(name in note for name in below)


# --- validation -----------------------------------------------------------------------------------


def test_shape_and_type_of_predictions_are_checked() -> None:
    for shape in ((3,), (2, 3, 4), (1, 2, 3, 4, 5, 6), (2, 0, 3, 4), (2, 2, 3, 0)):
        with pytest.raises(ValueError, match=rf"^predictions must .*{re.escape(str(shape))}"):
            decompose_predictions(np.zeros(shape))
    with pytest.raises(ValueError, match=r"^predictions must"):
        decompose_predictions([[[[1.0, 2.0], [1.0]]]])
    bad: Any
    for bad in (np.zeros((2, 2, 2, 2), dtype=complex), [[[["a"]]]], None):
        with pytest.raises(TypeError, match=r"^predictions must be an array .* of numbers"):
            decompose_predictions(bad)


def test_predictions_that_are_not_finite_are_refused_with_their_index() -> None:
    f = np.zeros((10, 2, 20, 300))  # several blocks
    for bad in (math.nan, math.inf, -math.inf, 1e61):
        f[1, 0, 2, 271] = bad
        message = f"^predictions must .*{re.escape(f'{bad!r} at index (1, 0, 2, 271)')}$"
        with pytest.raises(ValueError, match=message):
            decompose_predictions(f)


@pytest.mark.parametrize("name", ["truth", "y_test"])
def test_targets_are_checked(name: str) -> None:
    f = drawn(3, 2, 2, 4)
    bad: Any
    for bad, shape in (([0.0] * 3, "(3,)"), (0.0, "()"), (np.zeros((1, 4)), "(1, 4)")):
        with pytest.raises(ValueError, match=rf"^{name} must .*{re.escape(shape)}$"):
            decompose_predictions(f, **{name: bad})
    bad = [0.0, 0.0, math.nan, 0.0]
    with pytest.raises(ValueError, match=rf"^{name} must be .*, got nan at index 2$"):
        decompose_predictions(f, **{name: bad})


def test_ensembles_are_checked() -> None:
    result = decompose_predictions(drawn(3, 2, 2, 4), np.zeros(4))
    bad: Any
    for method in (result.error, result.anova):
        for bad in (0, 1.5, -1, math.nan, dt.Divide(2), [1, 2], "ensemble"):
            assert message_of(method, bad).startswith("ensemble must"), bad
