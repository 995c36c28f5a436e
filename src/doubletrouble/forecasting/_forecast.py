"""`forecast`: validate a data set, decompose its Gram matrix once, and check the assumptions."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble import glossary
from doubletrouble._numbers import CONFIDENCE, percent, plain
from doubletrouble.activations import Activation, Function, activation_values
from doubletrouble.activations import activation as known_activation
from doubletrouble.errors import automatic_device
from doubletrouble.forecasting._checks import (
    ForecastCheck,
    ForecastChecks,
    back_test,
    back_test_check,
    feature_check,
    gcv_check,
    least_resolution,
    spectrum_check,
)
from doubletrouble.forecasting._population import Population
from doubletrouble.forecasting._random_features import FeatureEnergy
from doubletrouble.forecasting._result import GIVEN_KERNEL, Forecast
from doubletrouble.forecasting._ridge_functions import (
    DataRows,
    Eigenbasis,
    IntArray,
    LeaveOneOut,
    RidgeTable,
)
from doubletrouble.forecasting._uncertainty import LabelNoise, RowDeviations
from doubletrouble.kernels import kernel as activation_kernel
from doubletrouble.parameters import (
    MOST_SEEDS,
    FloatArray,
    check_flag,
    check_level,
    number,
    refuse,
    refuse_masked,
    whole_number,
)
from doubletrouble.runs import ProgressBar, progress_bar

Features: TypeAlias = Callable[[int, np.random.Generator], FloatArray]
"""Draws P features of all rows, (n, P)."""

_FEWEST_ROWS = 20
_MOST_ROWS = 10_000  # more are sub-sampled
_DRAWN_FEATURES = 1000  # whose energies are measured
_CHECKED_ROWS = 300  # of the check of drawn models
_HALVINGS = ((500, 6), (1000, 3), (2000, 1))  # up to so many rows; with more, one half is enough
_ROWS_COST = 8  # of decomposing all rows, where that of half of them is 1
_ROUNDING = 1e-9
_DIGITS = 1e-6  # to which copies of rows are equal
_CHANCE = 2.0  # pairs of equal rows, relative to those expected of independent rows
_FAR_FROM_ZERO = 1.5  # standard deviations of y
_TAIL, _TAIL_SHARE = 0.05, 0.36  # of the rows, and of the error: 0.2 to 0.3 of Gaussian residuals
_ONE_SIDED = 1.645  # standard errors, of 95%
_FLOOR = 0.5  # of the likeliest noise, where it is not known: the least error may be 0 as well
_DRAWS = 200  # of standard errors
_ASYMMETRY = 1e-8
_NEGATIVE = 1e-8
_LARGEST = 1e50  # inputs, entries of a Gram matrix and labels: their products do not overflow
_SMALLEST = 1e-100  # eigenvalue


def forecast(
    X: npt.ArrayLike | None,
    y: npt.ArrayLike,
    *,
    scale: bool = True,
    fit_intercept: bool = True,
    activation: str | Activation | Function = "relu",
    kernel: npt.ArrayLike | None = None,
    center: bool = True,
    noise: float | None = None,
    groups: npt.ArrayLike | None = None,
    dim: float | None = None,
    seed: int = 0,
    device: str = "auto",
    check: bool = True,
    confidence: float = CONFIDENCE,
    progress: bool = True,
) -> Forecast:
    """Forecast the test error of random-features ridge regression on a data set.

    No model is trained: the error at any number of features, ridge, number of models and of rows
    follows from one eigendecomposition of the kernel's Gram matrix, with its causes. By default the
    columns of X are scaled and the models have an intercept.

    Parameters
    ----------
    X : array_like of shape (n, D) or None
        Inputs, 20 rows or more, independent draws. None with `kernel`. More than 10,000 rows are
        sub-sampled, except on a GPU.
    y : array_like of shape (n,) or (n, T)
        Labels, not constant; errors are summed over columns.
    scale : bool, default: True
        Whether each column of X is scaled to mean 0 and variance 1 over all rows, and constant
        columns are left out. False takes X as `RandomFeaturesRidge` does. A `kernel` is not scaled.
    fit_intercept : bool, default: True
        Whether a constant that is not penalized is fitted: y need not have mean 0.
    activation : str or Activation or callable, default: "relu"
        σ of the features: a name, an `Activation` or any function on arrays.
    kernel : array_like of shape (n, n) or None, default: None
        A Gram matrix in place of that of the activation, symmetric and without negative
        eigenvalues; its features are taken as Gaussian.
    center : bool, default: True
        Whether the mean of σ(z), z ~ N(0, 1), is subtracted.
    noise : float or None, default: None
        The standard deviation of the labels' noise, of each column, if it is known.
    groups : array_like of shape (n,) or None, default: None
        A label for each row, with 20 or more values, where rows are repeated or related: those of a
        group are left out together.
    dim : float or None, default: None
        D in λ N/D, the ridge on the Gram matrix; None for the columns of X, 1 without X.
    seed : int, default: 0
        The seed of drawn features, splits and standard errors, in [0, 2³²).
    device : str, default: "auto"
        The device of the eigendecomposition: "cpu", or a device of torch such as "cuda". "auto" is
        torch's GPU where torch is imported already and has one, else "cpu".
    check : bool, default: True
        Whether `checks` are run; they take about as long as the rest. Without them,
        standard errors for N > n lack the error of the back-test.
    confidence : float, default: 0.9
        The level of intervals in tables and plots, in (0, 1).
    progress : bool, default: True
        Whether progress is shown on stderr where it takes more than two seconds.

    Returns
    -------
    Forecast
        Its `error`, `best_ridge`, `best_allocation`, `advise`, `noise`, `checks`, `baseline`,
        `plot` and `map`.

    Raises
    ------
    ValueError
        If the data have too few rows, other shapes, numbers that are not finite or too large, or
        are constant; if `kernel` is not a Gram matrix, the device is not available, or an option is
        out of range.
    TypeError
        If the data are not numbers or have masked elements, or an option is not of the type above.
    MissingExtraError
        If a device of torch is given and torch is not installed.

    Examples
    --------
    >>> import doubletrouble as dt, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 10))
    >>> y = np.tanh(X[:, 0]) + 0.1 * rng.standard_normal(100)
    >>> f = dt.forecast(X, y, check=False)
    >>> peak, wide = f.error(n_features=[100, 1000], ridge=1e-4).total.value
    >>> bool(peak > wide)
    True
    """
    seed = whole_number("seed", seed, 0, MOST_SEEDS)
    check_level("confidence", confidence)
    flags = {"scale": scale, "fit_intercept": fit_intercept, "center": center, "check": check}
    flags |= {"progress": progress}
    for name, flag in flags.items():
        check_flag(name, flag)
    if not isinstance(device, str):
        raise TypeError(f"device must be a string such as 'cpu' or 'cuda', got {device!r}")
    if device == "auto":
        device = automatic_device()
    given = None if noise is None else number("noise", noise, glossary.NOISE)
    sigma = known_activation(activation)
    labels = _labels(y)
    n, outputs = labels.shape
    if X is None and kernel is None:
        raise ValueError("X must be given unless kernel is, got None")
    inputs = None if X is None else _inputs(X, n)
    if n < _FEWEST_ROWS:
        raise ValueError(f"y must have at least {_FEWEST_ROWS} rows, got {n}")
    gram = None if kernel is None else _gram(kernel, n)
    scale = bool(scale) and gram is None
    codes = None if groups is None else _groups(groups, n)
    notes: list[str] = []
    if scale and inputs is not None:
        varies = np.ptp(inputs, axis=0) > 0
        if not varies.all():
            constant = f"{np.count_nonzero(~varies)} of {len(varies)} columns of X"
            notes.append(f"{constant} are constant, and left out.")
        inputs = standardized(np.asfortranarray(inputs[:, varies]))  # of any order, the same sums
    columns = 1 if inputs is None else inputs.shape[1]
    D = number("dim", columns if dim is None else dim, glossary.DIM)
    if device == "cpu" and n > _MOST_ROWS:
        notes.append(
            f"{_MOST_ROWS:,} of {n:,} rows are used, chosen at random; device='cuda' uses all."
        )
        rng = np.random.default_rng((seed, 0))
        chosen = np.sort(rng.choice(n, _MOST_ROWS, replace=False))
        labels = labels[chosen]
        inputs = None if inputs is None else inputs[chosen]
        gram = None if gram is None else gram[np.ix_(chosen, chosen)]
        codes = None if codes is None else np.unique(codes[chosen], return_inverse=True)[1]
    if codes is None:
        repeated, message = _repeated_rows(inputs, gram, labels)
        if message:
            warnings.warn(message, UserWarning, stacklevel=2)
        elif repeated:
            message = (
                f"{_rows_repeated(repeated)}, as is likely by chance where inputs have few values: "
                "equal rows are taken as independent draws; pass groups= if they are related"
            )
        notes += [f"{message}."] if message else []
    features = None
    if gram is None:
        assert inputs is not None
        features = _feature_draws(inputs, sigma, center=bool(center))
        gram = activation_kernel(sigma, inputs, center=bool(center))
    rows = DataRows(
        gram=gram, labels=labels, groups=codes, intercept=bool(fit_intercept), device=device
    )

    rng = np.random.default_rng((seed, 2))
    with progress_bar(_ROWS_COST + check * _n_halves(n), unit="step", progress=progress) as bar:
        spectrum = Eigenbasis.of(rows)
        if spectrum.eigenvalues[-1] <= _SMALLEST:
            source = "X" if kernel is None else "kernel"
            raise ValueError(f"{source} must have rows that differ, got a Gram matrix of zeros")
        notes += _data_notes(spectrum, rows)
        likely, energy = _likely_noise(spectrum), _feature_energy(spectrum, features, rng)
        loo = LeaveOneOut.of(spectrum, codes)  # overwrites the eigenvectors
        bar.update(_ROWS_COST)
        notes += _tail_notes(loo)
        deviations = RowDeviations.of(loo, rows, np.random.default_rng((seed, 3)), _DRAWS)
        label_noise = _label_noise(loo, deviations, likely, given, outputs)
        if given is not None and given > label_noise.upper * (1 + _ROUNDING):
            notes.append(
                f"These rows bound the noise at {plain(label_noise.upper)}, below the "
                f"{plain(given)} given: the bound is used."
            )
        floor = label_noise.estimate**2 * outputs * (_FLOOR if given is None else 1.0)
        population = Population.of(loo, rows.n_modes, floor)
        checks: list[ForecastCheck] = []
        tested = np.array([0.0]), np.array([0.0])
        if check:
            halves = _halves(rows, floor, rng, bar)
            if halves:
                least = least_resolution(loo, population)
                checks.append(spectrum_check(population, halves, least))
            if features is not None:
                checks.append(_feature_check(rows, features, energy, rng))
            checks.append(gcv_check(loo))
            if halves:
                tested = back_test(RidgeTable.of(loo.kappa, loo.functions, rows.n_modes), halves)
                checks.append(back_test_check(*tested, halves, least))
    return Forecast(
        dim=D,
        activation=sigma.name if kernel is None else GIVEN_KERNEL,
        scale=scale,
        noise=label_noise,
        checks=ForecastChecks(tuple(checks)),
        notes=tuple(notes),
        seed=seed,
        confidence=confidence,
        _rows=rows,
        _loo=loo,
        _energy=energy,
        _population=population,
        _deviations=deviations,
        _back_test=tested,
    )


def _data_notes(spectrum: Eigenbasis, rows: DataRows) -> list[str]:
    """Notes on labels far from 0 without an intercept, and on a singular Gram matrix."""
    notes = []
    offset = np.abs(rows.labels.mean(axis=0)) / rows.labels.std(axis=0).clip(min=_SMALLEST)
    if not rows.intercept and offset.max() > _FAR_FROM_ZERO:
        notes.append(
            f"The mean of y is {plain(offset.max(), 2)} times its standard deviation from 0, and "
            "there is no intercept: fit_intercept=True is better, and the variance over features "
            "is too high without it."
        )
    if spectrum.rounding:
        rank = int(np.count_nonzero(spectrum.eigenvalues))
        notes.append(
            f"The Gram matrix has rank {rank:,} of {rows.n_modes:,}, to rounding: models without a "
            "ridge differ by rounding, and are not forecast at many features."
        )
    return notes


def _tail_notes(loo: LeaveOneOut) -> list[str]:
    """A note on errors of heavy tails: a sample without the largest has a small variance, too."""
    n = len(loo.row_errors)
    largest, count = np.sort(loo.row_errors[:, np.argmin(loo.functions.error)]), round(_TAIL * n)
    share = float(largest[n - count :].sum() / largest.sum())
    if count < 2 or share <= _TAIL_SHARE:
        return []
    return [
        f"{count:,} of {n:,} rows make up {percent(share)} of the error: standard errors are too "
        "small if the tails of the inputs or of the noise are heavy."
    ]


def _label_noise(
    loo: LeaveOneOut,
    deviations: RowDeviations,
    likely: float,
    given: float | None,
    outputs: int,
) -> LabelNoise:
    """The noise of one column: the given one, or the likeliest within its bounds."""
    bound = _largest_noise(loo, deviations)
    least = float((loo.functions.error / (1 + loo.functions.sampling)).min())  # bias² + σ²
    variance = min(likely, least) if given is None else min(given**2 * outputs, bound)
    return LabelNoise(
        estimate=math.sqrt(variance / outputs),
        upper=math.sqrt((bound if given is None else variance) / outputs),
        given=given,
        n_samples=len(loo.row_errors),
    )


def _largest_noise(loo: LeaveOneOut, deviations: RowDeviations) -> float:
    """The upper end (95%) of the least bias² + σ² over κ, summed over outputs.

    It is used where the variance over training sets is at most the bias: beyond, it is the small
    ratio of two large numbers.
    """
    own = loo.functions
    upper = own.error / (1 + own.sampling) * (1 + _ONE_SIDED * deviations.error.std(axis=1))
    return float(upper[(own.sampling <= 1) | (own.sampling == own.sampling.min())].min())


def _likely_noise(spectrum: Eigenbasis) -> float:
    """The noise variance of the likeliest Gaussian process, summed over outputs.

    With b = Uᵀ y, ρ minimizes n log a(ρ) + Σ_j log(d_j + ρ), a = mean_j b_j²/(d_j + ρ); the noise
    is ρ a.
    """
    d, rho = spectrum.eigenvalues, spectrum.kappas
    power = np.square(spectrum.vectors.T @ spectrum.labels).sum(axis=1)
    size = (power[:, None] / (d[:, None] + rho)).mean(axis=0)
    negative_log_likelihood = len(d) * np.log(size) + np.log(d[:, None] + rho).sum(axis=0)
    best = int(np.argmin(negative_log_likelihood))
    return float(rho[best] * size[best])


def _feature_energy(
    spectrum: Eigenbasis, features: Features | None, rng: np.random.Generator
) -> FeatureEnergy:
    """The spread of the features' energies at half of the degrees of freedom."""
    if features is None:
        return FeatureEnergy(variance=0.0)
    d, kappas = spectrum.eigenvalues, spectrum.kappas
    freedom = (d[:, None] / (d[:, None] + kappas)).sum(axis=0)
    kappa = kappas[int(np.argmin(np.abs(freedom - 0.5 * len(d))))]
    drawn = features(_DRAWN_FEATURES, rng)
    energies = (np.square(spectrum.vectors.T @ drawn) / (d + kappa)[:, None]).sum(axis=0)
    learned = d / (d + kappa)
    return FeatureEnergy.measured(energies, float(learned.sum()), float((learned**2).sum()))


def _n_halves(n_rows: int) -> int:
    """The number of halves of the rows that are decomposed."""
    if n_rows > _HALVINGS[-1][0]:
        return 1
    return 2 * next(count for most, count in _HALVINGS if n_rows <= most)


def _halves(
    rows: DataRows, noise: float, rng: np.random.Generator, bar: ProgressBar
) -> list[Population]:
    """The population functions from halves of the rows; not from halves that are constant."""
    n, count, chosen = len(rows), _n_halves(len(rows)), []
    for _ in range((count + 1) // 2):
        order = rows.shuffled(rng)
        chosen += [order[: n // 2], order[n // 2 :]]
    found = []
    for index in chosen[:count]:
        half = rows.subset(index)
        basis = Eigenbasis.of(half)
        if basis.eigenvalues[-1] > _SMALLEST:
            loo = LeaveOneOut.of(basis, half.groups)
            found.append(Population.of(loo, half.n_modes, noise))
        bar.update()
    return found


def _feature_check(
    rows: DataRows, features: Features, energy: FeatureEnergy, rng: np.random.Generator
) -> ForecastCheck:
    """The check of drawn models, on some of the rows."""
    chosen = np.sort(rng.permutation(len(rows))[:_CHECKED_ROWS])
    labels = rows.labels[chosen]
    if rows.intercept:
        labels = labels - labels.mean(axis=0)
    few = DataRows(gram=rows.gram[np.ix_(chosen, chosen)], labels=labels)
    loo = LeaveOneOut.of(Eigenbasis.of(few))
    whole = RidgeTable.of(loo.kappa, loo.functions, len(few))

    def draw(count: int, generator: np.random.Generator) -> FloatArray:
        return features(count, generator)[chosen]

    diagonal = float(np.diagonal(few.gram).mean())
    return feature_check(whole, energy, draw, labels, diagonal, rng)


def _feature_draws(inputs: FloatArray, sigma: Activation, *, center: bool) -> Features:
    if sigma.function is None:
        raise ValueError(f"activation must have a function, got {sigma!r}")
    function, dim = sigma.function, inputs.shape[1]
    mean = sigma.mean if center else 0.0

    def draw(count: int, rng: np.random.Generator) -> FloatArray:
        theta = rng.standard_normal((dim, count)) / math.sqrt(dim)
        return activation_values(function, inputs @ theta, sigma.name) - mean

    return draw


# --- validation ---


def _labels(y: npt.ArrayLike) -> FloatArray:
    """Labels (n, T), finite and not constant."""
    labels = _numbers("y", y)
    if not labels.size:
        raise ValueError(f"y must have rows, got shape {labels.shape}")
    if labels.ndim not in (1, 2):
        raise ValueError(f"y must have shape (n,) or (n, T), got {labels.shape}")
    labels = labels.reshape(len(labels), -1)
    spreads = np.ptp(labels, axis=0)
    spread = float(spreads.max())
    if not spread:
        raise ValueError(f"y must not be constant, got {labels[0, 0]:g} everywhere")
    if not spreads.all():
        raise ValueError(f"y must vary in every column, got column {spreads.argmin()} constant")
    if not 1 / _LARGEST < spread < _LARGEST:
        raise ValueError(
            f"y must have a spread in ({1 / _LARGEST:g}, {_LARGEST:g}), got {spread:.3g}"
        )
    return labels


def _inputs(X: npt.ArrayLike, n: int) -> FloatArray:
    """Inputs (n, D), finite numbers."""
    frame: Any = X
    for column in getattr(frame, "columns", ()):
        if (kind := np.asarray(frame[column]).dtype).kind not in "biuf":
            raise TypeError(
                f"X must be numbers, got {kind} in column {column!r}: encode it, or leave it out"
            )
    inputs = _numbers("X", X)
    if inputs.ndim != 2 or not inputs.size:
        raise ValueError(f"X must have shape (n, D), got {inputs.shape}")
    if len(inputs) != n:
        raise ValueError(f"X must have a row for each of {n} labels, got {len(inputs)}")
    if (largest := float(np.abs(inputs).max())) > _LARGEST:
        raise ValueError(f"X must be at most {_LARGEST:g} in magnitude, got {largest:.3g}")
    if not np.ptp(inputs, axis=0).any():
        raise ValueError(f"X must vary, got {n} equal rows")
    return inputs


def _numbers(name: str, values: npt.ArrayLike) -> FloatArray:
    """An array of finite real numbers."""
    try:
        raw = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise ValueError(f"{name} must have rows of equal length, got {_kind(values)}") from None
    refuse_masked(name, values)
    if raw.dtype.kind == "O":
        bad = next((value for value in raw.flat if not isinstance(value, Real)), None)
        if bad is not None:
            raise TypeError(f"{name} must be numbers, got {_kind(bad)}")
    elif raw.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be numbers, got an array of {raw.dtype}")
    array = raw.astype(np.float64)
    refuse(name, array, ~np.isfinite(array), "finite")
    return array


def _kind(value: object) -> str:
    return repr(value) if isinstance(value, str) else f"a {type(value).__name__}"


def _gram(kernel: npt.ArrayLike, n: int) -> FloatArray:
    """A symmetric matrix (n, n) without negative eigenvalues, to rounding."""
    gram = _numbers("kernel", kernel)
    if gram.shape != (n, n):
        raise ValueError(f"kernel must have shape ({n}, {n}), got {gram.shape}")
    size = float(np.abs(gram).max())
    if size > _LARGEST:
        raise ValueError(f"kernel must be at most {_LARGEST:g}, got {size:.3g}")
    if size == 0:
        raise ValueError("kernel must not be zero, got a matrix of zeros")
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


def standardized(columns: FloatArray) -> FloatArray:
    """Columns of mean 0 and variance 1; those that are constant become 0.

    >>> standardized(np.array([[0.0, 0.1], [2.0, 0.1]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    spread = columns.std(axis=0)  # of a constant column it may be its rounding
    varies = (np.ptp(columns, axis=0) > 0) & (spread > 0)
    return np.where(varies, columns - columns.mean(axis=0), 0.0) / np.where(varies, spread, 1.0)


def _groups(groups: npt.ArrayLike, n: int) -> IntArray:
    """Codes 0, 1, … of groups."""
    values = np.asarray(groups)
    if values.shape != (n,):
        raise ValueError(f"groups must have a label for each of {n} rows, got {values.shape}")
    try:
        codes = np.unique(values, return_inverse=True)[1].astype(np.int64)
    except TypeError:
        raise TypeError("groups must have labels of one type, got several") from None
    if (count := int(codes.max()) + 1) < _FEWEST_ROWS:
        raise ValueError(f"groups must have at least {_FEWEST_ROWS} labels, got {count}")
    return codes


def _repeated_rows(
    inputs: FloatArray | None, gram: FloatArray | None, labels: FloatArray
) -> tuple[int, str]:
    """The number of inputs that are equal to earlier ones, and a message if chance is no reason.

    Equal inputs with labels of their own are draws from a discrete distribution. Independent rows
    are equal in all columns no more often than in some of them, which is counted over rows that
    differ: with one continuous column, or continuous labels, never. Inputs that are equal with
    their labels are so to six digits.
    """
    table = gram if inputs is None else inputs
    assert table is not None
    some = [] if inputs is None or table.shape[1] == 1 else [table[:, ::2], table[:, 1::2]]
    both, copies = _row_codes(np.column_stack([table, labels]))
    codes, repeated = _row_codes(table, digits=0.0)
    if not copies and not repeated:
        return 0, ""
    halves = [_row_codes(half)[0] for half in some]
    label_codes, _ = _row_codes(labels)
    near = len(table) ** 2 * _DIGITS  # pairs of continuous labels that are equal to six digits
    for count, own, others, fewest in (
        (copies, both, [label_codes, *halves], near),
        (repeated, codes, halves, 0.0),
    ):
        first = np.unique(own, return_index=True)[1]  # rows that differ
        chance = min((_equal_pairs(other[first]) for other in others), default=math.inf)
        if _equal_pairs(own) > max(_CHANCE * chance * (len(own) / len(first)) ** 2, fewest):
            kind = "labels included, " if own is both else ""
            return repeated, (
                f"{_rows_repeated(count)}, {kind}more than by chance: leave-one-out is "
                "optimistic; pass groups= with one label for equal rows"
            )
    return repeated, ""


def _rows_repeated(count: int) -> str:
    return "1 row of X is repeated" if count == 1 else f"{count:,} rows of X are repeated"


def _row_codes(table: FloatArray, digits: float = _DIGITS) -> tuple[IntArray, int]:
    """Codes of rows, the same for equal ones, and how many are equal to an earlier one.

    Rows are neighbours in the order of a projection if they are equal, to digits relative to the
    column's deviations from its median.
    """
    centred = table - np.median(table, axis=0)
    size = np.abs(centred)
    size += np.median(size, axis=0)
    scale = np.where(size.any(axis=0), size.max(axis=0), 1.0)
    order = np.argsort((centred / scale) @ np.random.default_rng(0).random(table.shape[1]))
    near = np.abs(np.diff(table[order], axis=0)) <= digits * size[order[1:]]
    new = np.append(True, ~near.all(axis=1))
    codes = np.empty(len(table), dtype=np.int64)
    codes[order] = np.cumsum(new) - 1
    return codes, len(table) - int(new.sum())


def _equal_pairs(codes: IntArray) -> float:
    counts = np.bincount(codes).astype(float)
    return float((counts * (counts - 1)).sum())
