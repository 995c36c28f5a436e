"""Unbiasedness with as few draws as possible: the mean z over 200 repeats."""

import math

import numpy as np
import pytest

from doubletrouble.decomposition import decompose_predictions
from tests.decomposition.random_effects import Effects, rows

REPEATS, T = 200, 150
FEWEST = [(2, 2, 2), (3, 2, 2), (2, 3, 2), (2, 2, 3), (3, 3, 3)]
ENOUGH = [(10, 2, 3), (12, 2, 4)]  # for standard errors of their own, without a tail of few draws


def repeated(draws: tuple[int, int, int]) -> dict[str, tuple[list[float], list[float]]]:
    """Deviations from the truth of every part, and their own standard errors."""
    effects, rng = Effects(), np.random.default_rng(sum(draws))
    truth = {f"anova {name}": value for name, value in effects.anova.items()}
    truth |= effects.sequential | {"total": effects.ensemble(1), "K": effects.ensemble(4)}
    result: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in truth}
    for _ in range(REPEATS):
        f = effects.draw((*draws, T), rng)
        split = decompose_predictions(f, np.zeros(T), include_test=False)
        parts = rows(split) | {f"anova {name}": part for name, part in split.anova().parts.items()}
        parts["K"] = split.error(4).total
        for name, (off, errors) in result.items():
            off.append(float(parts[name].value) - truth[name])
            errors.append(float(parts[name].standard_error))
    return result


@pytest.mark.statistical
@pytest.mark.parametrize("draws", FEWEST)
def test_in_units_of_their_spread(draws: tuple[int, int, int]) -> None:
    for name, (off, _) in repeated(draws).items():
        assert abs(np.mean(off) / np.std(off)) < 0.2, name


@pytest.mark.statistical
@pytest.mark.parametrize("draws", ENOUGH)
def test_in_units_of_their_own_standard_errors(draws: tuple[int, int, int]) -> None:
    for name, (off, errors) in repeated(draws).items():
        assert all(map(math.isfinite, errors))
        assert abs(np.mean(np.array(off) / errors)) < 0.2, name
