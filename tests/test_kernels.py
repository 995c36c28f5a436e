"""The kernel of infinitely many random features, and Gaussian averages in closed form."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import erf
from scipy.stats import norm

import doubletrouble as dt
from doubletrouble import activation
from doubletrouble.kernels import CLOSED, closed_form
from tests.messages import message_of

RNG = np.random.default_rng(0)
X, OTHER = RNG.standard_normal((5, 12)), RNG.standard_normal((4, 12))


@pytest.mark.parametrize("name", ["erf", "sin", "cos", "quadratic", "linear"])
def test_the_series_equals_the_closed_form_of_smooth_activations(name: str) -> None:
    function = dt.activation(name).function
    own = dt.Activation(name="own", mean=0.0, linear=1.0, nonlinear=1.0, function=function)
    assert closed_form(own) is None
    assert dt.kernel(own, X, OTHER) == pytest.approx(dt.kernel(name, X, OTHER), abs=1e-13)


@pytest.mark.parametrize("name", ["relu", "abs", "leaky_relu"])
def test_the_series_of_a_kink_is_close_to_the_closed_form(name: str) -> None:
    function = dt.activation(name).function
    own = dt.Activation(name="own", mean=0.0, linear=1.0, nonlinear=1.0, function=function)
    near = np.vstack([X, 1.001 * X[:1], -X[:1]])  # where the series converges slowest
    assert dt.kernel(own, near) == pytest.approx(dt.kernel(name, near), abs=5e-6)


@pytest.mark.statistical
@pytest.mark.parametrize("name", [*CLOSED, "tanh", "gelu"])
def test_mean_product_of_features_is_the_kernel(name: str) -> None:
    sigma = dt.activation(name)
    theta = np.random.default_rng(1).standard_normal((20_000, 12))
    assert sigma.function is not None
    for center in (False, True):
        mean = sigma.mean if center else 0.0
        phi, other = (
            np.asarray(sigma.function(x @ theta.T / math.sqrt(12))) - mean for x in (X, OTHER)
        )
        products = phi[:, None, :] * other[None, :, :]
        error = products.std(axis=-1) / math.sqrt(theta.shape[0])
        z = (products.mean(axis=-1) - dt.kernel(name, X, OTHER, center=center)) / error
        assert np.abs(z).max() < 5
        wrong = (products.mean(axis=-1) - dt.kernel(name, X[::-1], OTHER, center=center)) / error
        assert np.abs(wrong).max() > 10  # negative control


def test_kernel_of_sign_in_one_dimension_has_rank_one() -> None:
    x, other = RNG.standard_normal((50, 1)), RNG.standard_normal((40, 1))
    assert np.array_equal(dt.kernel("sign", x, other), np.sign(x) * np.sign(other.T))


def test_kernel_equals_known_values() -> None:
    eye = np.eye(3) * math.sqrt(3)  # |x|² = D, orthogonal
    assert dt.kernel("relu", eye) == pytest.approx(np.where(np.eye(3), 0.5, 0.5 / math.pi))
    assert dt.kernel("linear", X, OTHER) == pytest.approx(X @ OTHER.T / 12)
    diagonal = np.diag(dt.kernel(lambda z: erf(z), eye))
    assert diagonal == pytest.approx(np.full(3, 2 / math.pi * math.asin(2 / 3)))
    assert np.array_equal(np.diag(dt.kernel("sign", X)), np.ones(5))
    assert dt.kernel("tanh", np.zeros((1, 2))) == pytest.approx(np.zeros((1, 1)))


def test_zero_row_is_the_limit_of_small_rows() -> None:
    rows = np.array([[0.0, 0.0], [3.0, 4.0]])
    for name in (*CLOSED, "tanh"):
        result, near = dt.kernel(name, rows), dt.kernel(name, [[1e-12, 0.0], [3.0, 4.0]])
        if name == "sign":  # which jumps at zero, where it is zero
            near[0] = near[:, 0] = 0.0
        assert result == pytest.approx(near, abs=1e-10), name


def test_large_rows_do_not_overflow() -> None:
    rows = np.array([[100.0, 1.0], [-100.0, 1.0], [100.0, 1.5]])
    a, c = np.square(rows).mean(axis=1), rows @ rows.T / 2
    half = 0.5 * (a[:, None] + a)
    plus, minus = np.exp(c - half), np.exp(-c - half)
    assert dt.kernel("cos", rows) == pytest.approx(0.5 * (plus + minus), rel=1e-12)
    assert dt.kernel("sin", rows) == pytest.approx(0.5 * (plus - minus), rel=1e-12)
    assert dt.kernel("cos", [[100.0, 1.0]]) == pytest.approx(np.array([[0.5]]))
    small = np.array([[1e-9, 0.0]])  # all digits of a small product
    assert dt.kernel("sin", small, [[1.0, 0.0]]) == pytest.approx(
        np.array([[0.5e-9 * math.exp(-0.25)]]), rel=1e-14, abs=0
    )


def test_torch_tensors_have_the_same_averages() -> None:
    torch = pytest.importorskip("torch")
    a, b, c = (np.array(v) for v in ([0.0, 1.0, 5000.0], [1.0, 0.5, 5000.0], [0.0, -0.3, 4999.0]))
    for name in CLOSED:
        known = closed_form(dt.activation(name))
        assert known is not None
        result = known.overlap(*map(torch.asarray, (a, b, c)))
        assert np.asarray(result) == pytest.approx(known.overlap(a, b, c), rel=1e-13)


def test_the_kernel_is_symmetric_and_positive() -> None:
    for name in ("relu", "tanh"):
        gram = dt.kernel(name, X)
        assert gram == pytest.approx(gram.T)
        assert np.linalg.eigvalsh(gram).min() > -1e-12


def test_inputs_of_the_kernel_are_validated() -> None:
    invalid: list[Any] = [[1.0, 2.0], [["a"]], [[math.nan]]]
    for inputs in invalid:
        assert message_of(dt.kernel, "relu", inputs).startswith("X must"), inputs
    with pytest.raises(ValueError, match=r"^X2 must have 12 columns"):
        dt.kernel("relu", X, np.ones((2, 3)))
    silent = dt.Activation(name="own", mean=0.0, linear=1.0, nonlinear=0.0)
    with pytest.raises(ValueError, match=r"^activation must have a function"):
        dt.kernel(silent, X)


# --- averages over a Gaussian test point, against quadrature in two dimensions -------------------


_REACH = 9.0  # the Gaussian beyond is below 1e-18
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(60)


def pieces(cut: Any) -> tuple[Any, Any]:
    """Points and Gaussian weights of Gauss and Legendre, on both sides of a cut."""
    cut = np.clip(cut, -_REACH, _REACH)[..., None]
    sides = [(0.5 * (b - a), 0.5 * (a + b)) for a, b in ((-_REACH, cut), (cut, _REACH))]
    points = np.concatenate([half * _NODES + middle for half, middle in sides], axis=-1)
    weights = np.concatenate([half * _WEIGHTS for half, _ in sides], axis=-1)
    return points, weights * norm.pdf(points)


def by_quadrature(name: str, a: float, b: float, c: float) -> float:
    """E σ(u) σ(v), with v given u integrated first; the kinks and jumps are where u or v is 0."""
    sigma: Any = activation(name).function
    spread = math.sqrt(b - c * c / a)
    u, outer = pieces(np.asarray(0.0))
    mean = c / a * math.sqrt(a) * u
    z, inner = pieces(-mean / spread)
    given = np.sum(inner * sigma(mean[:, None] + spread * z), axis=-1)
    return float(np.sum(outer * sigma(math.sqrt(a) * u) * given))


@pytest.mark.parametrize("name", CLOSED)
def test_overlap_equals_quadrature(name: str) -> None:
    known = closed_form(activation(name))
    assert known is not None
    for a, b, c in ((1.0, 1.0, 0.3), (1.4, 0.7, -0.6)):
        got = float(known.overlap(*map(np.asarray, (a, b, c))))
        assert got == pytest.approx(by_quadrature(name, a, b, c), abs=1e-9)


@pytest.mark.parametrize("name", CLOSED)
def test_averages_have_their_known_limits(name: str) -> None:
    """Independent: a product of means. Identical: the second moment, and μ₁ for unit variance."""
    known, moments = closed_form(activation(name)), activation(name)
    assert known is not None
    a, b, zero = (np.asarray(v) for v in (1.3, 0.6, 0.0))
    assert float(known.overlap(a, b, zero)) == pytest.approx(
        float(known.mean(a) * known.mean(b)), abs=1e-15
    )
    one = np.asarray(1.0)
    power = moments.mean**2 + moments.linear**2 + moments.nonlinear**2
    assert float(known.overlap(one, one, one)) == pytest.approx(power, rel=1e-12)
    assert float(known.mean(one)) == pytest.approx(moments.mean, abs=1e-15)
    assert float(known.slope(one)) == pytest.approx(moments.linear, abs=1e-15)
