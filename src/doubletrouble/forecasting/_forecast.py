"""`forecast`: validate a data set, decompose its Gram matrix once, and check the assumptions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble import glossary
from doubletrouble.activations import Activation, Function
from doubletrouble.activations import activation as known_activation
from doubletrouble.forecasting._checks import (
    ForecastChecks,
    back_test,
    back_test_check,
    feature_check,
    gcv_check,
    spectrum_check,
)
from doubletrouble.forecasting._kernel_ridge import (
    IntArray,
    KernelRidge,
    LeaveOneOut,
    Spectrum,
)
from doubletrouble.forecasting._population import Population
from doubletrouble.forecasting._random_features import FeatureEnergy
from doubletrouble.forecasting._result import Forecast, LabelNoise, RowDeviations
from doubletrouble.kernels import kernel as activation_kernel
from doubletrouble.parameters import MOST_SEEDS, FloatArray, number, whole_number
from doubletrouble.results import check_level

Features: TypeAlias = Callable[[int, np.random.Generator], FloatArray]
"""Draws P features of all rows, (n, P)."""

_FEWEST_ROWS = 20
_MOST_ROWS = 10_000  # more are sub-sampled
_DRAWN_FEATURES = 1000  # whose energies are measured
_CHECKED_ROWS = 400  # of the check of drawn models
_HALVINGS = ((500, 6), (1000, 3), (2000, 1))  # up to so many rows; with more, one half is enough
_DRAWS = 200  # of standard errors
_CONFIDENCE = 0.9
_ASYMMETRY = 1e-8
_NEGATIVE = 1e-8


def forecast(
    X: Any,
    y: Any,
    *,
    activation: str | Activation | Function = "relu",
    kernel: npt.ArrayLike | None = None,
    center: bool = True,
    fit_intercept: bool = False,
    noise: float | None = None,
    groups: Any = None,
    dim: float | None = None,
    seed: int = 0,
    device: str = "cpu",
    check: bool = True,
    confidence: float = _CONFIDENCE,
) -> Forecast:
    """Forecast the test error of random-features ridge regression on a data set.

    No model is trained: the error at any width, ridge, number of models and of rows follows from
    one eigendecomposition of the kernel's Gram matrix, with its causes.

    Parameters
    ----------
    X : array-like (n, D) or None
        Inputs, 20 rows or more, independent draws: scaled as `RandomFeaturesRidge` will see them.
        None with `kernel`.
    y : array-like (n,) or (n, T)
        Labels; errors are summed over columns.
    activation, center, fit_intercept
        As in `RandomFeaturesRidge`.
    kernel : array-like (n, n)
        A Gram matrix in place of that of the activation; its features are taken as Gaussian.
    noise : float
        The standard deviation of the labels' noise, if it is known.
    groups : array-like
        A label for each row, where rows are repeated or related: those of a group are left out
        together.
    dim : float
        D in λ N/D, the ridge on the Gram matrix; default: the columns of X, 1 without X.
    seed : int
        Of drawn features, splits and standard errors.
    device : str
        Of the eigendecomposition: "cpu", or a device of torch such as "cuda".
    check : bool
        Whether the checks in `trust` are run; they take about as long as the rest.
    confidence : float
        Of the intervals in tables.

    Returns
    -------
    Forecast
        `error`, `trust`, `noise`, `advise`, `plot`, `to_frame`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 10))
    >>> y = np.tanh(X[:, 0]) + 0.1 * rng.standard_normal(200)
    >>> f = forecast(X, y, check=False)
    >>> peak, wide = f.error(width=[200, 2000], ridge=1e-4).total.value
    >>> bool(peak > wide)
    True
    """
    seed = whole_number("seed", seed, 0, MOST_SEEDS)
    check_level("confidence", confidence)
    for name, flag in (("center", center), ("fit_intercept", fit_intercept), ("check", check)):
        if not isinstance(flag, bool | np.bool_):
            raise TypeError(f"{name} must be True or False, got {flag!r}")
    sigma = known_activation(activation)
    labels = _labels(y)
    inputs = None if X is None else _inputs(X, len(labels))
    if inputs is None and kernel is None:
        raise ValueError("X must be given unless kernel is, got None")
    D = number("dim", _columns(inputs) if dim is None else dim, glossary.DIM)
    gram = None if kernel is None else _gram(kernel, len(labels))
    codes = None if groups is None else _groups(groups, len(labels))
    notes: list[str] = []
    rng = np.random.default_rng((seed, 0))
    if device == "cpu" and len(labels) > _MOST_ROWS:
        chosen = np.sort(rng.choice(len(labels), _MOST_ROWS, replace=False))
        notes.append(
            f"{_MOST_ROWS} of {len(labels)} rows are used, chosen at random; device='cuda' uses all"
        )
        labels = labels[chosen]
        inputs = None if inputs is None else inputs[chosen]
        gram = None if gram is None else gram[np.ix_(chosen, chosen)]
        codes = None if codes is None else np.unique(codes[chosen], return_inverse=True)[1]
    if codes is None and (repeated := _repeated(inputs, gram)):
        message = (
            f"{repeated} rows are repeated: leave-one-out is optimistic; pass groups= with one "
            "label for equal rows"
        )
        warnings.warn(message, UserWarning, stacklevel=2)
        notes.append(message)
    features = None
    if gram is None:
        assert inputs is not None
        gram = activation_kernel(sigma, inputs, center=bool(center))
        features = _feature_draws(inputs, sigma, center=bool(center))
    given = None if noise is None else number("noise", noise, glossary.NOISE)
    return _forecast(
        gram,
        labels,
        features,
        codes,
        dim=D,
        intercept=bool(fit_intercept),
        noise=given,
        seed=seed,
        device=device,
        check=bool(check),
        confidence=confidence,
        notes=tuple(notes),
        name="given kernel" if kernel is not None else sigma.name,
    )


def _forecast(
    gram: FloatArray,
    labels: FloatArray,
    features: Features | None,
    groups: IntArray | None,
    *,
    dim: float,
    intercept: bool,
    noise: float | None,
    seed: int,
    device: str,
    check: bool,
    confidence: float,
    notes: tuple[str, ...],
    name: str,
) -> Forecast:
    n, outputs = labels.shape
    rng = np.random.default_rng((seed, 2))
    spectrum = Spectrum.of(gram, labels, intercept=intercept, device=device)
    if spectrum.eigenvalues[-1] <= 0:
        raise ValueError("X must have rows that differ from zero, got a Gram matrix of zeros")
    likely = _likely_noise(spectrum)
    energy = _feature_energy(spectrum, features, rng)
    loo = LeaveOneOut.of(spectrum, groups)  # overwrites the eigenvectors
    population = Population.of(loo, n - int(intercept), 0.0)
    bound = float(np.exp(population.log_mean_error).min())
    variance = min(likely, bound) if noise is None else noise**2 * outputs
    if noise is not None and variance > bound:
        notes = (
            *notes,
            f"the given noise is more than these rows allow, at most "
            f"{math.sqrt(bound / outputs):.3g}",
        )
    population = replace(population, noise=min(variance, bound))
    whole = KernelRidge.of(loo.kappa, loo.functions, n - int(intercept))
    halves = (
        _halves(gram, labels, groups, population.noise, rng, intercept=intercept, device=device)
        if check
        else []
    )
    tested = back_test(whole, halves) if halves else (np.array([0.0]), np.array([0.0]))
    checks = []
    if halves:
        checks.append(spectrum_check(population, halves))
    if check and features is not None:
        checks.append(_feature_check(gram, labels, features, energy, rng, intercept=intercept))
    if check:
        checks += [gcv_check(loo), back_test_check(*tested)]
    return Forecast(
        n_rows=n,
        dim=dim,
        n_outputs=outputs,
        activation=name,
        noise=LabelNoise(
            estimate=math.sqrt(variance / outputs),
            upper=math.sqrt((bound if noise is None else variance) / outputs),
            given=noise is not None,
            n_rows=n,
        ),
        trust=ForecastChecks(tuple(checks)),
        notes=notes,
        gram=gram,
        labels=labels,
        intercept=intercept,
        groups=groups,
        loo=loo,
        energy=energy,
        population=population,
        deviations=RowDeviations.of(loo, rng, _DRAWS),
        back_test=tested,
        seed=seed,
        confidence=confidence,
    )


def _likely_noise(spectrum: Spectrum) -> float:
    """The noise variance of the likeliest Gaussian process, summed over outputs.

    With b = Uᵀ y, ρ minimizes n log a(ρ) + Σ_j log(d_j + ρ), a = mean_j b_j²/(d_j + ρ); the noise
    is ρ a.
    """
    d, rho = spectrum.eigenvalues, spectrum.kappas()
    power = np.square(spectrum.vectors.T @ spectrum.labels).sum(axis=1)
    size = (power[:, None] / (d[:, None] + rho)).mean(axis=0)
    outputs = spectrum.labels.shape[1]
    unlikely = len(d) * np.log(size / outputs) + np.log(d[:, None] + rho).sum(axis=0)
    best = int(np.argmin(unlikely))
    return float(rho[best] * size[best])


def _feature_energy(
    spectrum: Spectrum, features: Features | None, rng: np.random.Generator
) -> FeatureEnergy:
    """The spread of the features' energies at half of the degrees of freedom."""
    if features is None:
        return FeatureEnergy(variance=0.0)
    d, kappas = spectrum.eigenvalues, spectrum.kappas()
    freedom = (d[:, None] / (d[:, None] + kappas)).sum(axis=0)
    kappa = kappas[int(np.argmin(np.abs(freedom - 0.5 * len(d))))]
    drawn = features(_DRAWN_FEATURES, rng)
    energies = (np.square(spectrum.vectors.T @ drawn) / (d + kappa)[:, None]).sum(axis=0)
    learned = d / (d + kappa)
    return FeatureEnergy.measured(energies, float(learned.sum()), float((learned**2).sum()))


def _halves(
    gram: FloatArray,
    labels: FloatArray,
    groups: IntArray | None,
    noise: float,
    rng: np.random.Generator,
    *,
    intercept: bool,
    device: str,
) -> list[Population]:
    """The population functions from halves of the rows, both of every random halving."""
    n = len(gram)
    halvings = next((count for most, count in _HALVINGS if n <= most), 0)
    halves: list[IntArray] = []
    for _ in range(max(halvings, 1)):
        if groups is None:
            order = rng.permutation(n)
        else:
            order = np.argsort(rng.permutation(int(groups.max()) + 1)[groups], kind="stable")
        halves += [order[: n // 2], order[n // 2 :]]
    found = []
    for rows in halves if halvings else halves[:1]:
        inside = gram[np.ix_(rows, rows)]
        spectrum = Spectrum.of(inside, labels[rows], intercept=intercept, device=device)
        own = None if groups is None else np.unique(groups[rows], return_inverse=True)[1]
        found.append(Population.of(LeaveOneOut.of(spectrum, own), spectrum.n_modes, noise))
    return found


def _feature_check(
    gram: FloatArray,
    labels: FloatArray,
    features: Features,
    energy: FeatureEnergy,
    rng: np.random.Generator,
    *,
    intercept: bool,
) -> Any:
    """The check of drawn models, on some of the rows."""
    rows = np.sort(rng.permutation(len(gram))[:_CHECKED_ROWS])
    inside, own = gram[np.ix_(rows, rows)], labels[rows]
    if intercept:
        own = own - own.mean(axis=0)
    loo = LeaveOneOut.of(Spectrum.of(inside, own, intercept=False))
    whole = KernelRidge.of(loo.kappa, loo.functions, len(rows))

    def chosen(count: int, generator: np.random.Generator) -> FloatArray:
        return features(count, generator)[rows]

    diagonal = float(np.diagonal(inside).mean())
    return feature_check(whole, energy, chosen, own, diagonal, rng)


def _feature_draws(inputs: FloatArray, sigma: Activation, *, center: bool) -> Features:
    if sigma.function is None:
        raise ValueError(f"activation must have a function, got {sigma!r}")
    function, dim = sigma.function, inputs.shape[1]
    mean = sigma.mean if center else 0.0

    def draw(count: int, rng: np.random.Generator) -> FloatArray:
        theta = rng.standard_normal((dim, count)) / math.sqrt(dim)
        return np.asarray(function(inputs @ theta), dtype=np.float64) - mean

    return draw


# --- validation ---


def _labels(y: Any) -> FloatArray:
    """Labels (n, T), finite and not constant."""
    try:
        labels = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"y must be numbers, got {_kind(y)}") from None
    if labels.ndim not in (1, 2) or not labels.size:
        raise ValueError(f"y must have shape (n,) or (n, T), got {labels.shape}")
    labels = labels.reshape(len(labels), -1)
    if not np.isfinite(labels).all():
        raise ValueError(f"y must be finite, got {labels[~np.isfinite(labels)][0]!r}")
    if len(labels) < _FEWEST_ROWS:
        raise ValueError(f"y must have at least {_FEWEST_ROWS} rows, got {len(labels)}")
    if not np.ptp(labels, axis=0).any():
        raise ValueError(f"y must not be constant, got {labels[0, 0]!r} everywhere")
    return labels


def _inputs(X: Any, n: int) -> FloatArray:
    """Inputs (n, D), finite numbers."""
    columns = getattr(X, "columns", None)
    if columns is not None:
        for column in columns:
            if not np.issubdtype(np.asarray(X[column]).dtype, np.number):
                raise TypeError(
                    f"X must be numbers, got {np.asarray(X[column]).dtype} in column {column!r}: "
                    "encode it, or leave it out"
                )
    try:
        inputs = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"X must be numbers, got {_kind(X)}") from None
    if inputs.ndim != 2 or not inputs.size:
        raise ValueError(f"X must have shape (n, D), got {inputs.shape}")
    if len(inputs) != n:
        raise ValueError(f"X must have a row for each of {n} labels, got {len(inputs)}")
    if not np.isfinite(inputs).all():
        row, column = np.argwhere(~np.isfinite(inputs))[0]
        raise ValueError(f"X must be finite, got {inputs[row, column]!r} at row {row}")
    return inputs


def _kind(value: Any) -> str:
    return f"an array of {np.asarray(value).dtype}" if np.ndim(value) else repr(value)


def _columns(inputs: FloatArray | None) -> float:
    return 1.0 if inputs is None else float(inputs.shape[1])


def _gram(kernel: npt.ArrayLike, n: int) -> FloatArray:
    """A symmetric matrix (n, n) without negative eigenvalues, to rounding."""
    try:
        gram = np.array(kernel, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"kernel must be a matrix of numbers, got {_kind(kernel)}") from None
    if gram.shape != (n, n):
        raise ValueError(f"kernel must have shape ({n}, {n}), got {gram.shape}")
    if not np.isfinite(gram).all():
        raise ValueError("kernel must be finite, got NaN or inf")
    size = float(np.abs(gram).max())
    off = float(np.abs(gram - gram.T).max())
    if off > _ASYMMETRY * size:
        raise ValueError(f"kernel must be symmetric, got differences up to {off:.3g}")
    gram = 0.5 * (gram + gram.T)
    try:
        np.linalg.cholesky(gram + _NEGATIVE * max(float(np.trace(gram)), size) * np.eye(n))
    except np.linalg.LinAlgError:
        least = float(np.linalg.eigvalsh(gram)[0])
        raise ValueError(f"kernel must not have negative eigenvalues, got {least:.3g}") from None
    return gram


def _groups(groups: Any, n: int) -> IntArray:
    """Codes 0, 1, … of groups."""
    values = np.asarray(groups)
    if values.shape != (n,):
        raise ValueError(f"groups must have a label for each of {n} rows, got {values.shape}")
    codes = np.unique(values, return_inverse=True)[1].astype(np.int64)
    if codes.max() + 1 < _FEWEST_ROWS:
        raise ValueError(
            f"groups must be at least {_FEWEST_ROWS}, got {codes.max() + 1} different labels"
        )
    return codes


def _repeated(inputs: FloatArray | None, gram: FloatArray | None) -> int:
    """The number of rows that are equal to an earlier one."""
    rows = inputs if inputs is not None else gram
    assert rows is not None
    return len(rows) - len(np.unique(rows, axis=0))
