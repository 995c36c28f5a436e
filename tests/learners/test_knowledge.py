"""Options of decompose_predictions: several outputs, noise of labels, absent randomness."""

import math
from typing import Any

import numpy as np
import pytest

from doubletrouble.learners import Decomposition, decompose_predictions
from doubletrouble.parameters import FloatArray
from doubletrouble.results import Estimate
from tests.learners.random_effects import Effects, label, rows

T = 12
FULL = pytest.mark.full
TRUTH = np.linspace(-1, 1, T)


def drawn(*draws: int, seed: int = 0) -> FloatArray:
    D, N, K = draws
    return Effects().draw((D, N, K, T), np.random.default_rng(seed))


def added_up(result: Decomposition) -> float:
    return sum(float(part.value) for part in result.error().parts.values())


# --- outputs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(6, 2, 4), (3, 2, 3), (6, 1, 4), (6, 2, 1)])
def test_outputs_are_added_up(shape: tuple[int, int, int]) -> None:
    apart = [drawn(*shape, seed=seed) for seed in range(3)]
    targets = [TRUTH, 2 * TRUTH, 0 * TRUTH]
    result = decompose_predictions(np.stack(apart, axis=-1), np.stack(targets, axis=-1))
    each = [decompose_predictions(f, y) for f, y in zip(apart, targets, strict=True)]
    for name, part in rows(result).items():
        assert part.value == pytest.approx(sum(float(rows(one)[name].value) for one in each))
    for name, part in result.anova().parts.items():
        expected = sum(float(one.anova().parts[name].value) for one in each)
        assert part.value == pytest.approx(expected)
    assert result.design.n_test == T


def test_one_output_equals_no_output_axis() -> None:
    f = drawn(6, 2, 4)
    flat, deep = (
        decompose_predictions(f, TRUTH),
        decompose_predictions(f[..., None], TRUTH[:, None]),
    )
    assert flat.error().parts == deep.error().parts
    assert flat.error(3).total == deep.error(3).total


def test_an_output_twice_is_twice_as_much() -> None:
    """They move together: standard errors double, those of the test points included."""
    f = drawn(6, 2, 4)
    once = decompose_predictions(f, TRUTH)
    twice = decompose_predictions(np.stack([f, f], axis=-1), np.stack([TRUTH, TRUTH], axis=-1))
    for name, part in rows(twice).items():
        assert part.value == pytest.approx(2 * rows(once)[name].value)
        assert part.standard_error == pytest.approx(2 * rows(once)[name].standard_error)


def test_targets_must_have_the_outputs() -> None:
    f = np.stack([drawn(3, 2, 3)] * 2, axis=-1)
    with pytest.raises(ValueError, match=r"^truth must .* 2 outputs"):
        decompose_predictions(f, TRUTH)


# --- noise of the test labels --------------------------------------------------------------------


@pytest.mark.parametrize("sigma", [0.5, np.linspace(0, 1, T)])
def test_known_label_noise_is_subtracted(sigma: Any) -> None:
    f = drawn(6, 2, 4)
    with_noise = decompose_predictions(f, y_test=TRUTH)
    without = decompose_predictions(f, y_test=TRUTH, label_noise=sigma)
    floor = float(np.mean(np.broadcast_to(sigma, T) ** 2))
    for name in ("bias", "total"):
        expected = rows(with_noise)[name].value - floor
        assert rows(without)[name].value == pytest.approx(expected)
    assert without.error().sampling == with_noise.error().sampling
    assert label(with_noise, "bias") == "bias + noise floor"
    assert label(without, "bias") == "bias"
    assert not any("y_test" in note for note in without.notes)


def test_label_noise_of_outputs_is_added_up() -> None:
    f, y = np.stack([drawn(6, 2, 4)] * 2, axis=-1), np.stack([TRUTH, TRUTH], axis=-1)
    plain = float(decompose_predictions(f, y_test=y).error().bias.value)
    sigma = np.linspace(0, 1, T)
    for noise, floor in (
        (0.5, 2 * 0.25),
        (sigma, 2 * np.mean(sigma**2)),
        (np.stack([sigma, 0 * sigma], axis=1), np.mean(sigma**2)),
    ):
        result = decompose_predictions(f, y_test=y, label_noise=noise)
        assert result.error().bias.value == pytest.approx(plain - floor)


@pytest.mark.statistical
def test_label_noise_is_subtracted_on_average() -> None:
    rng, n_test, off = np.random.default_rng(0), 300, []
    for _ in range(40):
        f = Effects().draw((4, 2, 3, n_test), rng)
        y = 0.9 * rng.standard_normal(n_test)
        error = decompose_predictions(f, y_test=y, label_noise=0.9).error()
        off.append(float(error.bias) - 0.7)
    assert abs(float(Estimate.of(np.array(off)).z_score(0.0))) < 4


def test_options_are_checked() -> None:
    """The last argument of every case is refused, by its name."""
    cases: list[dict[str, Any]] = [
        {"truth": TRUTH, "label_noise": 1.0},
        {"label_noise": 1.0},
        {"y_test": TRUTH, "label_noise": -1.0},
        {"y_test": TRUTH, "label_noise": [1.0, 2.0]},
        {"deterministic": True},  # with four initializations
        {"noiseless": True},  # with two noise draws
        {"injected": 1.0},  # and one draw of added noise
        {"confidence": 1.0},
    ]
    for options in cases:
        with pytest.raises(ValueError, match=rf"^{list(options)[-1]} must"):
            decompose_predictions(drawn(6, 2, 4), **options)
    with pytest.raises(ValueError, match=r"^injected must"):
        decompose_predictions(drawn(6, 3, 4), TRUTH, injected=-1.0)


# --- absent randomness ---------------------------------------------------------------------------


def test_deterministic_learners_have_no_initialization_part() -> None:
    f = drawn(6, 2, 1)
    unmarked, marked = (
        decompose_predictions(f, TRUTH, deterministic=known) for known in (False, True)
    )
    assert list(marked.error().parts) == ["noise", "initialization", "sampling", "bias"]
    assert (
        marked.error().initialization.value,
        marked.error().initialization.standard_error,
    ) == (0, 0)
    for name, part in unmarked.error().parts.items():
        assert marked.error().parts[name] == part
    assert not any("initialization" in note for note in marked.notes)
    assert marked.error(10).total == marked.error(math.inf).total == marked.error().total
    assert marked.anova().noise_sampling == marked.error().noise
    assert marked.anova().initialization.value == marked.anova().initialization_sampling.value == 0
    every = sum(float(part.value) for part in marked.anova().parts.values())
    assert every == pytest.approx(marked.error().total.value)


def test_noiseless_labels_have_no_noise_part() -> None:
    f = drawn(6, 1, 4)
    unmarked, marked = (decompose_predictions(f, TRUTH, noiseless=known) for known in (False, True))
    assert list(marked.error().parts) == ["noise", "initialization", "sampling", "bias"]
    assert (marked.error().noise.value, marked.error().noise.standard_error) == (0, 0)
    assert marked.error().initialization == unmarked.error().initialization
    assert label(unmarked, "sampling") == "sampling + label noise"
    assert label(unmarked, "initialization") == "initialization + label noise"
    assert label(marked, "sampling") == "sampling"
    anova = marked.anova()
    assert anova.noise_sampling.value == anova.noise_initialization_sampling.value == 0
    assert not any("noise draw" in note for note in marked.notes)


# --- noise that is added to labels with noise of their own ---------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize("ratio", [0.25, *(pytest.param(c, marks=FULL) for c in (1.0, 4.0))])
def test_own_noise_is_identified_by_the_response_to_added_noise(ratio: float) -> None:
    """Own noise is one draw for each data set, of c times the variance that each draw adds."""
    e, rng, n_test = Effects(), np.random.default_rng(1), 120
    truth = e.sequential | {"total": sum(e.sequential.values()), "K = 4": e.ensemble(4)}
    result: dict[str, list[float]] = {name: [] for name in truth}
    for _ in range(60):
        no_noise = Effects(noise_sampling=0, noise_initialization_sampling=0)
        only = Effects(bias=0, initialization=0, sampling=0, initialization_sampling=0)
        own, added = (only.draw((4, n, 3, n_test), rng) for n in (1, 2))
        f = no_noise.draw((4, 3, 3, n_test), rng) + own  # the first draw is the labels as they are
        f[:, 1:] += added / math.sqrt(ratio)
        split = decompose_predictions(f, np.zeros(n_test), injected=ratio)
        assert added_up(split) == pytest.approx(split.error().total.value)
        every = sum(float(part.value) for part in split.anova().parts.values())
        assert every == pytest.approx(split.error().total.value)
        answers = rows(split) | {"K = 4": split.error(4).total}
        for name, values in result.items():
            values.append(float(answers[name].value))
    for name, values in result.items():
        z = float(Estimate.of(np.array(values)).z_score(truth[name]))
        assert abs(z) < 4, (name, z)


@pytest.mark.parametrize("shape", [(1, 3, 3), (4, 3, 1), (1, 3, 1)])
def test_parts_with_own_noise_add_up_where_some_are_absorbed(shape: tuple[int, int, int]) -> None:
    result = decompose_predictions(drawn(*shape), TRUTH, injected=0.5)
    assert added_up(result) == pytest.approx(result.error().total.value)


def test_hidden_noise_is_named() -> None:
    result = decompose_predictions(drawn(6, 2, 4), y_test=TRUTH, hidden_noise=True)
    assert label(result, "noise") == "noise"
    assert label(result, "initialization") == "initialization + label noise"
    assert label(result, "sampling") == "sampling + label noise"
    assert label(result, "bias") == "bias + noise floor"
