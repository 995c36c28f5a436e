"""Problems, results and errors can be pickled."""

import pickle

import numpy as np

import doubletrouble as dt
from doubletrouble.activations import NAMES


def test_problems_pickle() -> None:
    z = np.linspace(-2, 2, 9)
    for name in NAMES:
        problem = dt.Problem(ridge=np.array([0.1, 1.0]), activation=name)
        again = pickle.loads(pickle.dumps(problem))
        assert again == problem
        assert again.moments.function is not None
        np.testing.assert_array_equal(again.moments.function(z), problem.moments.function(z))  # type: ignore[misc]


def test_spectra_and_results_pickle() -> None:
    problem = dt.SpectralProblem(
        eigenvalues=[1.0, 0.1], target_powers=[1.0, 1.0], n_features=5, n_samples=[4, 8]
    )
    for thing in (problem, dt.exact_error(problem), dt.anova(problem), dt.optimal_ridge(problem)):
        assert pickle.loads(pickle.dumps(thing)) == thing


def test_convergence_error_pickles_its_last_point() -> None:
    error = dt.ConvergenceError("no root", last=(1.0, 2.0), residual=0.5)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.last, again.residual) == ("no root", (1.0, 2.0), 0.5)
