"""Clones, pipelines, searches and data frames of scikit-learn, and its absence."""

import math
import pickle
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import doubletrouble as dt
from doubletrouble.errors import require
from tests.estimators.literal import data

pd = require("pandas", "tables")

MODELS = [
    dt.RandomFeaturesRidge(20, activation=np.tanh, random_state=0),
    dt.RandomFeaturesRidge(20, ridge="loo", ridges=np.array([0.1, 1.0]), random_state=0),
    dt.RandomFeaturesClassifier(20, activation=dt.activation("erf"), random_state=0),
    dt.RandomFeaturesRidge(20, ensemble=dt.Divide(2), random_state=0),
    dt.RandomFeaturesClassifier(20, ensemble=dt.Bootstrap(2), random_state=0),
    dt.RandomFeaturesRidge(math.inf, activation=np.tanh, ensemble=dt.Bootstrap(2), random_state=0),
    dt.RandomFeaturesClassifier(math.inf, ridge="loo", fit_intercept=True),
    dt.RandomFeaturesRidge(20, ridge="forecast", ensemble=2, budget=60, random_state=0),
    dt.RandomFeaturesClassifier(20, ridge="forecast", ridges=[0.1, 1.0], random_state=0),
    dt.RandomFeaturesRidge(math.inf, ridge="forecast", activation=np.tanh, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: str(m)[:40])
def test_clones_and_pickles_predict_the_same(model: Any) -> None:
    x, y = data(40, 5)
    labels = y > 0 if "Classifier" in str(model) else y
    fitted = clone(model).fit(x, labels)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict(x), fitted.predict(x))
    assert again.get_params().keys() == model.get_params().keys()
    if model.ridge == "forecast":
        assert (
            again.forecast_.error(n_features=again.n_features_, ridge=again.ridge_).total.value > 0
        )
    assert np.array_equal(clone(fitted).fit(x, labels).predict(x), fitted.predict(x))


def test_the_ensemble_is_stored_as_given() -> None:
    for given in (3, dt.Ensemble(3), dt.Divide(2)):
        model = dt.RandomFeaturesRidge(5, ensemble=given)
        assert model.get_params()["ensemble"] is given
        assert clone(model).get_params()["ensemble"] == given
        assert model.set_params(ensemble=dt.Divide(4)).ensemble == dt.Divide(4)


def test_pipeline_of_the_transformer_is_the_regressor() -> None:
    x, y = data(50, 5)
    pipe = make_pipeline(
        dt.RandomFeatures(20, random_state=0), Ridge(alpha=0.5, fit_intercept=False)
    )
    ours = dt.RandomFeaturesRidge(20, alpha=0.5, random_state=0)
    np.testing.assert_allclose(pipe.fit(x, y).predict(x), ours.fit(x, y).predict(x), atol=1e-10)


def test_parameters_can_be_searched() -> None:
    x, y = data(80, 5)
    pipe = make_pipeline(StandardScaler(), dt.RandomFeaturesRidge(40, random_state=0))
    grid = {
        "randomfeaturesridge__ridge": [1e-6, 0.03, 1e3],
        "randomfeaturesridge__ensemble": [1, dt.Divide(2)],
    }
    search = GridSearchCV(pipe, grid, cv=3).fit(x, y)
    assert search.best_params_["randomfeaturesridge__ridge"] == 0.03
    by_alpha = GridSearchCV(dt.RandomFeaturesRidge(random_state=0), {"alpha": [0.1, 1.0]}, cv=3)
    assert by_alpha.fit(x, y).best_estimator_.alpha_[0] in (0.1, 1.0)
    scores = cross_val_score(dt.RandomFeaturesRidge(40, random_state=0), x, y, params=None, cv=3)
    assert scores.shape == (3,)


def test_frames_have_feature_names() -> None:
    x, y = data(30, 2)
    frame = pd.DataFrame(x, columns=["a", "b"])
    model = dt.RandomFeaturesRidge(10, random_state=0).fit(frame, pd.Series(y))
    assert list(model.feature_names_in_) == ["a", "b"]
    np.testing.assert_array_equal(model.predict(frame), _quiet(model, x))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a"]])


def _quiet(model: Any, x: Any) -> Any:
    with pytest.warns(UserWarning, match="valid feature names"):
        return model.predict(x)


def test_random_state_determines_the_fit() -> None:
    x, y = data(30, 4)
    first, second, other = (
        dt.RandomFeaturesRidge(10, random_state=s).fit(x, y).coef_ for s in (1, 1, 2)
    )
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_set_params_has_no_effect_before_the_next_fit() -> None:
    x, y = data(30, 4)
    model = dt.RandomFeaturesRidge(10, random_state=0).fit(x, y)
    map_ = dt.RandomFeatures(10, random_state=0).fit(x)
    predicted, mapped = model.predict(x), map_.transform(x)
    assert np.array_equal(model.set_params(center=False).predict(x), predicted)
    assert np.array_equal(map_.set_params(center=False).transform(x), mapped)
    assert not np.array_equal(model.fit(x, y).predict(x), predicted)


def test_ridge_path_does_not_fit_the_estimator() -> None:
    x, y = data(30, 4)
    model = dt.RandomFeaturesRidge(10, random_state=0)
    model.ridge_path(x, y)
    assert set(vars(model)) == set(model.get_params())


def test_estimators_need_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    for name in ("RandomFeatures", "RandomFeaturesRidge", "RandomFeaturesClassifier"):
        monkeypatch.delitem(vars(dt), name, raising=False)  # as before its first use
        with pytest.raises(dt.MissingExtraError, match=r"doubletrouble\[estimators\]"):
            getattr(dt, name)(n_features=3)
