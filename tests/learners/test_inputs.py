"""Inputs of fits: a learner that works in place does not change those of the next fit."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import ExtraTreeRegressor

import doubletrouble as dt
from doubletrouble.errors import require
from tests.learners.known import FEW, pool, source


@pytest.mark.parametrize("threads", [None, 3])
def test_arrays_changed_in_place_do_not_reach_other_fits(threads: int | None) -> None:
    where: dict[str, Any] = {} if threads is None else {"executor": ThreadPoolExecutor(threads)}
    result = [
        dt.decompose(
            make_pipeline(StandardScaler(copy=copy), ExtraTreeRegressor()), source(), **where, **FEW
        ).predictions
        for copy in (True, False)
    ]
    np.testing.assert_array_equal(result[0], result[1])


def test_tables_changed_in_place_do_not_reach_other_fits() -> None:
    pandas = require("pandas", "tables")
    X, y = pool(150)
    data = dt.PoolSource(pandas.DataFrame(X), y, n_samples=20, n_test=30)

    def fit(X: Any, y: Any, seed: int) -> Any:
        def predict(Z: Any) -> Any:
            Z.iloc[:, 0] *= 2
            return Z.iloc[:, 0].to_numpy()

        X.iloc[:, 0] = y[:] = np.nan
        return predict

    result = dt.decompose(fit, data, **FEW).predictions
    assert (result == result[0, 0, 0]).all()


def test_sparse_inputs_changed_in_place_do_not_reach_other_fits() -> None:
    sparse = require("scipy.sparse", "core")
    X, y = pool(150)
    data = dt.PoolSource(sparse.coo_matrix(X), y, n_samples=20, n_test=30)

    def fit(X: Any, y: Any, seed: int) -> Any:
        def predict(Z: Any) -> Any:
            Z.data *= 2
            return Z.toarray()[:, 0]

        return predict

    result = dt.decompose(fit, data, **FEW).predictions
    assert (result == result[0, 0, 0]).all()


def test_single_precision_has_no_warnings() -> None:
    def fit(X: Any, y: Any, seed: int) -> Any:
        return lambda Z: Z[:, 0].astype(np.float32)

    assert dt.decompose(fit, source(), **FEW).n_fits == 24  # warnings are errors here


def test_splitters_have_seeds() -> None:
    few = FEW | {"n_data": 2, "n_noise": 1}
    learner = GridSearchCV(KernelRidge(), {"alpha": [0.1, 1, 10]}, cv=KFold(3, shuffle=True))
    one, again = (dt.decompose(learner, source(), **few) for _ in range(2))
    np.testing.assert_array_equal(one.predictions, again.predictions)
    assert not any("has no random_state" in note for note in one.notes)
    assert len({one.predictions[:, :, k].tobytes() for k in range(3)}) > 1
    assert learner.cv.random_state is None
    plain = GridSearchCV(KernelRidge(), {"alpha": [0.1, 1]}, cv=KFold(3))
    assert any("has no random_state" in n for n in dt.decompose(plain, source(), **few).notes)


def test_a_sample_with_other_arguments_is_named_with_its_signature() -> None:
    def draw(n: int) -> Any:
        return np.zeros((n, 2)), np.zeros(n)

    wrong: Any = draw
    with pytest.raises(
        TypeError, match=r"^sample must be a function sample\(rng, n\) .*got draw\(n"
    ):
        dt.GeneratorSource(wrong, n_samples=5)
