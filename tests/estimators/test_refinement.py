"""Products in float32 that end in float64, and how it is noticed where they cannot."""

from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.estimators import _refinement as refinement
from tests.estimators.literal import data


def pair(monkeypatch: pytest.MonkeyPatch, ridge: float, **options: Any) -> tuple[Any, Any, bool]:
    """Predictions the plain way and with refinement, and whether it gave the answer."""
    x, y = data(400, 5, outputs=2)
    w = np.random.default_rng(0).uniform(0.1, 2, 400)
    model = dt.RandomFeaturesRidge(60, ridge=ridge, random_state=0, **options)
    plain = model.fit(x, y, w).predict(x)
    monkeypatch.setattr(refinement, "LEAST", 0)
    refined, answers = refinement.refined, []

    def watched(*args: Any) -> Any:
        answers.append(refined(*args))
        return answers[-1]

    monkeypatch.setattr("doubletrouble.estimators._members.refined", watched)
    return plain, model.fit(x, y, w).predict(x), answers[0] is not None


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ridge", [1e-3, 0.1, 10.0])
def test_is_the_plain_solution(
    intercept: bool, ridge: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, quick, taken = pair(monkeypatch, ridge, fit_intercept=intercept)
    assert taken
    assert not np.array_equal(plain, quick)
    np.testing.assert_allclose(quick, plain, atol=1e-8)


@pytest.mark.parametrize(("ridge", "center"), [(0.0, True), (1e-9, True), (1e-6, False)])
def test_gives_way_where_single_precision_is_not_enough(
    ridge: float, center: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, quick, taken = pair(monkeypatch, ridge, center=center)
    assert not taken
    assert np.array_equal(plain, quick)


def test_a_first_step_that_is_too_long_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A matrix that is off by a tenth: the steps shrink too slowly."""
    from doubletrouble.estimators._primal import Primal

    right = Primal.equations
    monkeypatch.setattr(
        Primal, "equations", lambda self, alpha: (1.1 * right(self, alpha)[0], self._sums.right)
    )
    plain, quick, taken = pair(monkeypatch, 0.1)
    assert not taken
    assert np.array_equal(plain, quick)


def test_features_that_are_all_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing to solve: the fit of least norm predicts nothing."""
    monkeypatch.setattr(refinement, "LEAST", 0)
    model = dt.RandomFeaturesRidge(20, ridge=0.0, center=False, random_state=0)
    x, y = np.zeros((100, 3)), np.ones(100)
    assert np.array_equal(model.fit(x, y).predict(x), np.zeros(100))
