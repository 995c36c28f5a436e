"""Ridge regression by the smaller Gram matrix, on NumPy and on torch."""

from typing import Any

import numpy as np
import pytest

from doubletrouble import _ridge
from doubletrouble.errors import require

RNG = np.random.default_rng(0)
Z, Y = RNG.standard_normal((12, 5)), RNG.standard_normal((12, 2))


def on(library: str, array: Any) -> Any:
    return np.array(array) if library == "numpy" else require("torch", "torch").tensor(array)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_minimum_norm_is_that_of_the_pseudoinverse(library: str) -> None:
    for z in (Z, Z.T, np.zeros((3, 2))):  # singular, positive, zero
        gram, right = z @ z.T, z @ z.T @ RNG.standard_normal((len(z), 2))
        found = np.asarray(_ridge.minimum_norm(on(library, gram), on(library, right)))
        expected = np.linalg.pinv(gram, rcond=1e-10) @ right
        np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_null_vector_is_not_an_eigenvector(library: str) -> None:
    constant = np.full(12, 12**-0.5)
    gram = _ridge.centred(Z @ Z.T + 7.0, constant)
    np.testing.assert_allclose(gram @ constant, 0, atol=1e-12)
    matrix, null = on(library, gram), on(library, constant)
    values, vectors = (np.asarray(a) for a in _ridge.eigenvectors(matrix, null=null))
    assert vectors.shape == (12, 11)
    assert np.count_nonzero(values) == 5
    np.testing.assert_allclose((vectors * values) @ vectors.T, gram, atol=1e-12)
    np.testing.assert_allclose(constant @ vectors, 0, atol=1e-12)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_solution_is_refused_below_a_condition(library: str) -> None:
    gram, right = on(library, np.diag([1.0, 1e-6])), on(library, np.ones((2, 1)))
    found = _ridge.cholesky_solution(gram, right, least=1e-7)
    assert found is not None
    np.testing.assert_allclose(np.asarray(found).ravel(), [1.0, 1e6])
    assert _ridge.cholesky_solution(gram, right, least=1e-5) is None
    lifted = _ridge.cholesky_solution(gram, right, 1.0, least=1e-5)
    np.testing.assert_allclose(np.asarray(lifted).ravel(), [0.5, 1 / (1 + 1e-6)])


def test_modes_of_design_and_of_both_gram_matrices_agree() -> None:
    alphas = np.array([0.0, 1e-3, 1.0])
    design = _ridge.Modes.of_design(Z, Y, 12)
    features = _ridge.Modes.of_features(Z.T @ Z, Z.T @ Y)
    rows = _ridge.Modes.of_rows(Z @ Z.T, Y)
    assert design.right is not None
    assert features.right is not None
    expected = np.stack(
        [np.linalg.solve(Z.T @ Z + alpha * np.eye(5), Z.T @ Y) for alpha in alphas], axis=2
    ).reshape(5, 6)
    for coef in (
        design.right @ design.gains(alphas, 1),
        features.right @ features.gains(alphas, 1),
        Z.T @ rows.dual(alphas),
    ):
        np.testing.assert_allclose(coef, expected, rtol=1e-10)
