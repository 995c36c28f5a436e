r"""The learning problems: random features with any convex loss, or with a measured spectrum.

A model f(x) = Σ_h a_h σ(θ_h·x/√D) with P random features is fitted to N samples
y = ⟨β, x⟩ + F⋆·(nonlinear part) + τ·ε of dimension D; ridge regression minimizes

    (1/N) Σ_μ (y_μ - f(x_μ))² + (P λ / D) |a|²        [dascoli2020] Eq. (4)

The theory needs P/D, N/D, λ, the powers F = |β|, τ, F⋆ and the activation's moments. Other losses
ℓ replace (y - f)² by 2 ℓ(y, f) (`losses`). For classification labels are sign(⟨β, x⟩ + τ·ε), then
flipped with probability p. Problems with a measured spectrum are those of ridge regression.
"""

from __future__ import annotations  # help() then shows the alias Numeric

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

import numpy as np

from doubletrouble import glossary
from doubletrouble.activations import Activation, Function, activation
from doubletrouble.losses import LOSSES, TASKS, Loss, LossLike, Squared, Task, loss, name_or_loss
from doubletrouble.parameters import (
    Declared,
    FloatArray,
    Numeric,
    NumericField,
    Validated,
    Value,
    check_choice,
    checked,
    common_shape,
    declarations,
    number,
    parameter,
    refuse,
    shown,
    whole_number,
)
from doubletrouble.spectra import (
    UNDERFLOW,
    Levels,
    SpectralLaw,
    binned_levels,
    foreign_field,
    levels_of,
)


def noise_at(snr: float, signal: float = 1.0) -> float:
    """Return the label noise τ for which the signal-to-noise ratio F/τ is `snr`.

    >>> noise_at(2.0), noise_at(float("inf"), 3.0)
    (0.5, 0.0)
    """
    if not snr > 0:
        raise ValueError(f"snr must be positive, got {snr:g}")
    return signal / snr


@dataclass(frozen=True)
class Mixture:
    """Label noise with heavy tails: a mixture of centred Gaussians.

    Parameters
    ----------
    components : sequence of (float, float)
        Pairs (weight, sd): the share of a component, all of which add up to 1, and its standard
        deviation.

    Raises
    ------
    ValueError
        If there are no pairs, the weights do not add up to 1, or a number is outside its domain.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> outliers = dt.Mixture([(0.9, 0.5), (0.1, 4.0)])  # one label in ten is an outlier
    >>> round(outliers.variance, 3)
    1.825
    """

    components: Sequence[tuple[float, float]]

    def __post_init__(self) -> None:
        try:
            pairs = np.asarray(self.components, dtype=np.float64)
        except (TypeError, ValueError):
            pairs = np.empty(0)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs):
            raise ValueError(f"components must be pairs (weight, sd), got {self.components!r}")
        weights = checked("weights", pairs[:, 0], glossary.MIXTURE_WEIGHT)
        checked("standard deviations", pairs[:, 1], glossary.NOISE)
        total = float(np.sum(weights))
        if not abs(total - 1) <= 1e-9:
            raise ValueError(f"weights must add up to 1, got {total:g}")
        pairs[:, 0] /= total
        object.__setattr__(self, "components", tuple((float(w), float(s)) for w, s in pairs))

    @property
    def variance(self) -> float:
        """The variance Σ w sd²."""
        return sum(weight * sd**2 for weight, sd in self.components)


class _Activated(Declared):
    """Base of classes with an activation, stored by name or, for functions, as an `Activation`."""

    activation: str | Activation | Function

    def __post_init__(self) -> None:
        super().__post_init__()
        named = isinstance(self.activation, str)
        object.__setattr__(self, "activation", self.moments.name if named else self.moments)

    @cached_property
    def moments(self) -> Activation:
        """The activation with its moments μ₀, μ₁, μ⋆."""
        return activation(self.activation)


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem(_Activated):
    """Random features on isotropic Gaussian data with a linear teacher; any convex loss.

    Arrays broadcast, to the shape `shape`. The teacher's nonlinear part, of power
    `nonlinear_signal`², cannot be learned when N ~ D.

    Parameters
    ----------
    features_per_dim : float or array_like, default: 2
        P/D: random features per input dimension; `math.inf` is the kernel limit.
        Must be in [1e-50, 1e+50] or inf.
    samples_per_dim : float or array_like, default: 1
        N/D: training samples per input dimension.
        Must be in [1e-50, 1e+50].
    ridge : float or array_like, default: 1e-05
        λ: ridge penalty; 0 is the minimum-norm limit, `math.inf` predicts zero.
        Must be in [0, inf].
    signal : float or array_like, default: 1
        F: norm of the linear teacher.
        Must be in [0, 1e+150].
    noise : float or array_like or Mixture or None, default: None
        τ: standard deviation of the noise on training labels.
        Must be in [0, 1e+150]. A `Mixture` is for regression only. The default is 1 for
        regression and 0 for classification.
    nonlinear_signal : float or array_like, default: 0
        F⋆: root power of the part of the teacher that cannot be learned.
        Must be in [0, 1e+150].
    test_noise : float or array_like, default: 0
        τ̃: standard deviation of the noise on test labels.
        Must be in [0, 1e+150].
    flips : float or array_like, default: 0
        p: probability that a training label of a class is flipped.
        Must be in [0, 0.5].
    activation : str or Activation or callable, default: "relu"
        σ: the activation of the features, by its name (as in `activation`), or a function of an
        array.
    loss : str or losses.Loss, default: "squared"
        ℓ: the loss of the fit, or its name, such as "hinge" or "huber:1.35" (as in `losses.loss`);
        stored as a name, except for a loss of your own that has no name.
    task : "regression" or "classification", default: "regression"
        The labels: numbers, or classes ±1, of which a share `flips` are wrong.

    Raises
    ------
    ValueError
        If a number is outside its domain, arrays do not broadcast, a name is unknown, the loss is
        not one of the task, or a field of `excluded` is not 0.
    TypeError
        If a field is not of the type above, or `noise` is a `Mixture` for classification.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> problem = dt.Problem(features_per_dim=[1.5, 2.0, 4.0], samples_per_dim=1.0, ridge=1e-5)
    >>> problem.shape, problem.moments.linear
    ((3,), 0.5)
    """

    features_per_dim: NumericField = parameter(glossary.FEATURES_PER_DIM, 2.0)
    samples_per_dim: NumericField = parameter(glossary.SAMPLES_PER_DIM, 1.0)
    ridge: NumericField = parameter(glossary.RIDGE, 1e-5)
    signal: NumericField = parameter(glossary.SIGNAL, 1.0)
    noise: Validated[Numeric | Mixture | None, Value | Mixture] = parameter(glossary.NOISE, None)
    nonlinear_signal: NumericField = parameter(glossary.NONLINEAR_SIGNAL, 0.0)
    test_noise: NumericField = parameter(glossary.TEST_NOISE, 0.0)
    flips: NumericField = parameter(glossary.FLIPS, 0.0)
    activation: str | Activation | Function = "relu"
    loss: LossLike = "squared"
    task: Task = "regression"

    def __post_init__(self) -> None:
        check_choice("task", self.task, TASKS)
        given = loss(self.loss)
        object.__setattr__(self, "loss", name_or_loss(given))
        classes = self.task == "classification"
        noise = vars(self)["noise"]  # as given
        noise = (0.0 if classes else 1.0) if noise is None else noise
        object.__setattr__(self, "noise", 0.0 if isinstance(noise, Mixture) else noise)
        super().__post_init__()
        if isinstance(noise, Mixture):
            if classes:
                raise TypeError(f"noise must be a number for classification, got {noise!r}")
            object.__setattr__(self, "noise", noise)
        if self.task not in given.tasks:
            possible = ", ".join(name for name, kind in LOSSES.items() if self.task in kind.tasks)
            raise ValueError(f"loss must be one of {possible} for {self.task}, got {given!s}")
        case = "regression" if self.is_ridge_regression else f"{self.task} with loss {self.loss!s}"
        for name in self.excluded:
            value = getattr(self, name)
            refuse(name, value, np.asarray(value) != 0, f"0 for {case}")

    @cached_property
    def loss_function(self) -> Loss:
        """The loss itself."""
        return loss(self.loss)

    @property
    def excluded(self) -> tuple[str, ...]:
        """The fields that must be 0 for this task and loss."""
        if self.task == "classification":
            return ("nonlinear_signal", "test_noise")
        return ("flips",) if self.is_ridge_regression else ("nonlinear_signal", "flips")

    @property
    def is_ridge_regression(self) -> bool:
        """Whether the loss is the squared loss of regression, whose error has a closed form."""
        return self.task == "regression" and isinstance(self.loss_function, Squared)

    @property
    def noise_sd(self) -> Value:
        """The standard deviation of the label noise, of a `Mixture` too."""
        noise = self.noise
        return math.sqrt(noise.variance) if isinstance(noise, Mixture) else noise

    @classmethod
    def from_sizes(
        cls, *, n_features: Numeric, n_samples: Numeric, dim: Numeric, **others: Any
    ) -> Self:
        """Build the problem from counts P, N and D instead of ratios.

        Parameters
        ----------
        n_features : float or array_like
            Random features P, in [1e-50, 1e50] or inf.
        n_samples : float or array_like
            Training samples N, in [1e-50, 1e50].
        dim : float or array_like
            Input dimensions D, in [1e-50, 1e50].
        **others : Any
            Other fields of the problem.

        Returns
        -------
        Problem
            With the ratios P/D and N/D.

        Raises
        ------
        ValueError
            If a number is outside its domain, or arrays do not broadcast.
        TypeError
            If a field is not of the type above.

        Examples
        --------
        >>> import doubletrouble as dt
        >>> dt.Problem.from_sizes(n_features=400, n_samples=200, dim=200).features_per_dim
        2.0
        """
        features = checked("n_features", n_features, glossary.N_FEATURES)
        samples = checked("n_samples", n_samples, glossary.N_SAMPLES)
        dims = checked("dim", dim, glossary.DIM)
        common_shape({"n_features": features, "n_samples": samples, "dim": dims})
        return cls(features_per_dim=features / dims, samples_per_dim=samples / dims, **others)


def require_ridge_regression(problem: object, function: str) -> None:
    """Raise ValueError if a function has the squared loss of regression only.

    >>> require_ridge_regression(Problem(loss="huber"), "psi_terms")
    Traceback (most recent call last):
    ValueError: loss must be squared for psi_terms, got huber:1.0
    """
    if not isinstance(problem, Problem):  # spectral problems and members have no other loss
        return
    if problem.task != "regression":
        raise ValueError(f"task must be regression for {function}, got {problem.task}")
    if not problem.is_ridge_regression:
        raise ValueError(f"loss must be squared for {function}, got {problem.loss}")


USUAL: dict[str, Any] = {f.name: getattr(Problem(), f.name) for f in fields(Problem)}
"""Default value of each field of `Problem`."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Member(_Activated):
    """One member of a committee: its own P, share of data, ridge and activation.

    The target (signal, noise) is an argument of `pair_error` and `committee`.

    Parameters
    ----------
    features_per_dim : float or array_like, default: 2
        P/D: random features per input dimension; `math.inf` is the kernel limit.
        Must be in [1e-50, 1e+50] or inf.
    samples_per_dim : float or array_like, default: 1
        N/D: training samples per input dimension.
        Must be in [1e-50, 1e+50].
    ridge : float or array_like, default: 1e-05
        λ: ridge penalty; 0 is the minimum-norm limit, `math.inf` predicts zero.
        Must be in [0, inf].
    activation : str or Activation or callable, default: "relu"
        σ: the activation of the features, by its name (as in `activation`), or a function of an
        array.

    Raises
    ------
    ValueError
        If a number is outside its domain, arrays do not broadcast, or a name is unknown.
    TypeError
        If a field is not of the type above.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> dt.Member(features_per_dim=0.5, samples_per_dim=0.8, ridge=1e-2, activation="tanh").ridge
    0.01
    """

    features_per_dim: NumericField = parameter(glossary.FEATURES_PER_DIM, 2.0)
    samples_per_dim: NumericField = parameter(glossary.SAMPLES_PER_DIM, 1.0)
    ridge: NumericField = parameter(glossary.RIDGE, 1e-5)
    activation: str | Activation | Function = "relu"


def ridge_name(problem: object) -> str:
    """The field with the ridge of a problem: δ of a `SpectralProblem`, λ of others."""
    return "gram_ridge" if isinstance(problem, SpectralProblem) else "ridge"


_LEVEL_FIELDS = tuple(f.name for f in fields(Levels))


def _is_left_out(value: Numeric | None) -> bool:
    """Whether a field of levels is a placeholder: None, 0 or empty."""
    return value is None or (np.size(value) < 2 and not np.any(value))


@dataclass(frozen=True, kw_only=True, eq=False)
class SpectralProblem(Declared):
    """Random-features ridge regression on data with a known kernel spectrum.

    The features' kernel k(x, x') = E_θ σ(θ·x) σ(θ·x') has population eigenvalues `eigenvalues`
    and, beyond them, a continuum of infinitely many tiny ones. Powers of the target are squared
    coefficients. With `multiplicities`, entry i stands for that many eigenfunctions, each with this
    eigenvalue and this power. Sizes, ridge and noise may be arrays, which broadcast.

    `from_law` is the problem of a `PowerLaw`, `ExponentialLaw` or `TwoPowerLaw`, which may have
    infinitely many modes. `binned` compresses a long list. `level_error` of a law is twice the
    difference from a finer rule.

    **Ridge convention.** `gram_ridge` is δ, added to the N × N Gram matrix of the features divided
    by P: the fit solves (Φ Φᵀ / P + δ I) c = y. `convert_ridge(λ, "paper", "gram", ...)` converts
    from the paper's λ (δ = λ N/D); scikit-learn's alpha is δ P. As with the paper's λ, the penalty
    relative to the mean loss does not change when data are divided: each of K members has δ/K on
    its own Gram matrix.

    Parameters
    ----------
    eigenvalues : float or array_like
        l: eigenvalues of the kernel.
        Must be in [0, 1e+150].
    target_powers : float or array_like
        v²: power of the target on each eigenfunction.
        Must be in [0, 1e+300].
    multiplicities : float or array_like or None, default: None
        m: modes of each eigenvalue; non-integer numbers are allowed.
        Must be in [1e-150, 1e+150].
    tail : float, default: 0
        t: total weight of infinitely many tiny eigenvalues.
        Must be in [0, 1e+150].
    n_features : float or array_like
        P: random features; `math.inf` is the kernel limit.
        Must be in [1e-50, 1e+50] or inf.
    n_samples : float or array_like
        N: training samples.
        Must be in [1e-50, 1e+50].
    gram_ridge : float or array_like, default: 0
        δ: ridge on the Gram matrix of features/√P; 0 is the minimum-norm limit.
        Must be in [0, inf].
    noise : float or array_like, default: 0
        τ: standard deviation of the noise on training labels.
        Must be in [0, 1e+150].
    nonlinear_signal : float or array_like, default: 0
        F⋆: root power of the part of the teacher that cannot be learned.
        Must be in [0, 1e+150].
    test_noise : float or array_like, default: 0
        τ̃: standard deviation of the noise on test labels.
        Must be in [0, 1e+150].
    law : SpectralLaw or None, default: None
        The law that the levels (eigenvalues, powers, multiplicities and tail) follow from, with the
        sizes; other levels cannot be given with it, and `from_law` changes the law.
    level_error : float, default: 0
        ε: relative error of sums over modes: a bound for a list, an estimate for a law.
        Must be in [0, inf].

    Raises
    ------
    ValueError
        If a number is outside its domain, arrays do not broadcast, the lists of levels differ in
        length, or levels other than its own are given with a law; or if `gram_ridge` is too small
        for a law whose eigenvalues underflow.
    TypeError
        If a field is not of the type above.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> spectrum = dt.SpectralProblem(eigenvalues=[1.0, 0.1, 0.01], target_powers=[1.0, 0.5, 0.1],
    ...                               tail=0.05, n_features=50, n_samples=20, gram_ridge=0.1,
    ...                               noise=0.3)
    >>> round(dt.exact_error(spectrum).total, 6)
    0.056319
    """

    eigenvalues: Validated[Numeric, FloatArray] = parameter(glossary.EIGENVALUES, vector=True)
    target_powers: Validated[Numeric, FloatArray] = parameter(glossary.TARGET_POWERS, vector=True)
    multiplicities: Validated[Numeric | None, FloatArray] = parameter(
        glossary.MULTIPLICITIES, None, vector=True
    )
    tail: float = parameter(glossary.TAIL, 0.0, vector=True)
    n_features: NumericField = parameter(glossary.N_FEATURES)
    n_samples: NumericField = parameter(glossary.N_SAMPLES)
    gram_ridge: NumericField = parameter(glossary.GRAM_RIDGE, 0.0)
    noise: NumericField = parameter(glossary.NOISE, 0.0)
    nonlinear_signal: NumericField = parameter(glossary.NONLINEAR_SIGNAL, 0.0)
    test_noise: NumericField = parameter(glossary.TEST_NOISE, 0.0)
    law: SpectralLaw | None = None
    level_error: float = parameter(glossary.LEVEL_ERROR, 0.0, vector=True)

    @property
    def noise_sd(self) -> Value:
        """The standard deviation of the label noise."""
        return self.noise

    def __post_init__(self) -> None:
        law: object = self.law
        if isinstance(law, SpectralLaw):
            self._resolve(law)
        elif law is not None:
            raise TypeError(f"law must be a SpectralLaw, got {type(law).__name__}")
        super().__post_init__()
        if isinstance(law, SpectralLaw):
            self._refuse_underflow(law)
        for name in ("tail", "level_error"):
            if shape := np.shape(getattr(self, name)):
                raise ValueError(f"{name} must be a single number, got shape {shape}")
        if vars(self)["multiplicities"] is None:
            object.__setattr__(self, "multiplicities", np.ones_like(self.eigenvalues))
        for name in ("eigenvalues", "target_powers", "multiplicities"):
            vector = np.atleast_1d(np.asarray(getattr(self, name), dtype=np.float64))
            if vector.ndim != 1:
                raise ValueError(f"{name} must be one-dimensional, got shape {vector.shape}")
            object.__setattr__(self, name, vector)
        count = np.size(self.eigenvalues)
        for name in ("target_powers", "multiplicities"):
            if (size := np.size(getattr(self, name))) != count:
                raise ValueError(
                    f"{name} must have one entry per eigenvalue, {count} in all, got {size}"
                )

    @property
    def size(self) -> float:
        """The smaller of the largest numbers of features and of samples."""
        return min(float(np.max(self.n_features)), float(np.max(self.n_samples)))

    def _resolve(self, law: SpectralLaw) -> None:
        """Set the levels of a law for the sizes of this problem."""
        checked("n_features", self.n_features, glossary.N_FEATURES)
        checked("n_samples", self.n_samples, glossary.N_SAMPLES)
        self._refuse_levels_beside(law)
        for name, value in vars(levels_of(law, self.size)).items():
            object.__setattr__(self, name, value)

    def _least_ridge(self, n_features: Numeric, n_samples: Numeric) -> FloatArray:
        """The least ridge that these sizes allow: 0, unless a law has too many modes for floats.

        Beyond the modes with eigenvalues above 1e-250 of the largest, without ridge, the error of
        a law depends on modes that are too small.
        """
        law, small = self.law, np.minimum(n_features, n_samples)
        if law is None or law.last_mode >= law.n_modes:
            return np.zeros(small.shape)
        beyond = small > law.last_mode
        return np.where(beyond, law.eigenvalue(1.0) * UNDERFLOW * np.asarray(n_samples), 0.0)

    def _refuse_underflow(self, law: SpectralLaw) -> None:
        """Raise ValueError where modes count whose eigenvalues are too small for floats."""
        least = self._least_ridge(self.n_features, self.n_samples)
        bad = np.asarray(self.gram_ridge) < least
        refuse(
            "gram_ridge",
            np.broadcast_to(self.gram_ridge, np.shape(bad)),
            bad,
            f"at least {np.max(least):.3g} where P and N exceed {law.last_mode:.4g}, the modes of "
            f"this law with eigenvalues above {UNDERFLOW:g} of the largest",
        )

    def _refuse_levels_beside(self, law: SpectralLaw) -> None:
        """Raise ValueError for levels that are given, other than the law's own."""
        given = {name: getattr(self, name) for name in _LEVEL_FIELDS}
        present = [name for name, value in given.items() if not _is_left_out(value)]
        if not present:
            return
        name: str | None = present[0]
        if name == "eigenvalues":  # `replace` passes the law's levels, for the sizes there were
            specs = declarations(self)
            numbers = {k: checked(k, v, specs[k]) for k, v in given.items() if v is not None}
            name = foreign_field(law, numbers)
        if name is not None:
            got = shown(given[name])
            raise ValueError(
                f"{name} must be left out where law is given (from_law sets another law), got {got}"
            )

    def __repr__(self) -> str:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        law = values["law"]
        if law is None:
            call, start = type(self).__name__, ""
        else:  # levels are hundreds of numbers that follow from the law
            call, start = f"{type(self).__name__}.from_law", f"{law!r}, "
            values = {k: v for k, v in values.items() if k not in ("law", *_LEVEL_FIELDS)}
        return f"{call}({start}{', '.join(f'{k}={v!r}' for k, v in values.items())})"

    @classmethod
    def from_law(
        cls,
        law: SpectralLaw,
        *,
        n_features: Numeric = math.inf,
        n_samples: Numeric,
        gram_ridge: Numeric = 0.0,
        noise: Numeric = 0.0,
        nonlinear_signal: Numeric = 0.0,
        test_noise: Numeric = 0.0,
    ) -> Self:
        """Return the problem of a law.

        Parameters
        ----------
        law : SpectralLaw
            The law of the eigenvalues and the target: a `PowerLaw`, an `ExponentialLaw` or a
            `TwoPowerLaw`.
        n_features : float or array_like, default: inf
            Random features P, in [1e-50, 1e50] or inf; without them the problem is kernel
            regression.
        n_samples : float or array_like
            Training samples N, in [1e-50, 1e50].
        gram_ridge : float or array_like, default: 0
            The ridge δ on the Gram matrix of features/√P, in [0, inf].
        noise : float or array_like, default: 0
            Standard deviation τ of the noise on training labels.
        nonlinear_signal : float or array_like, default: 0
            Root power F⋆ of the part of the target that cannot be learned.
        test_noise : float or array_like, default: 0
            Standard deviation τ̃ of the noise on test labels.

        Returns
        -------
        SpectralProblem
            Its levels are those of the law for its sizes; `dataclasses.replace` with other sizes
            changes them.

        Raises
        ------
        ValueError
            If a number is outside its domain, or `gram_ridge` is too small for a law whose
            eigenvalues underflow.
        TypeError
            If `law` is not a `SpectralLaw`.

        Examples
        --------
        >>> import doubletrouble as dt
        >>> law = dt.PowerLaw(capacity=1.5, source=0.8)
        >>> sizes = {"n_features": 1e9, "n_samples": 1e9}
        >>> problem = dt.SpectralProblem.from_law(law, **sizes, gram_ridge=1.0, noise=0.1)
        >>> f"{dt.exact_error(problem).total:.5g}"
        '8.0678e-06'
        """
        if not isinstance(law, SpectralLaw):
            raise TypeError(f"law must be a SpectralLaw, got {type(law).__name__}")
        return cls(
            eigenvalues=0.0,
            target_powers=0.0,
            law=law,
            n_features=n_features,
            n_samples=n_samples,
            gram_ridge=gram_ridge,
            noise=noise,
            nonlinear_signal=nonlinear_signal,
            test_noise=test_noise,
        )

    @classmethod
    def binned(
        cls,
        eigenvalues: Numeric,
        target_powers: Numeric,
        levels: int = 500,
        *,
        n_features: Numeric = math.inf,
        n_samples: Numeric | None = None,
        **others: Any,
    ) -> Self:
        """Return the problem of a long list of modes, compressed into few levels.

        Eigenvalues are divided into bins of equal width on a logarithmic scale. In a bin with many
        modes, sums over modes and over the target's power are Gauss rules of their own, with the
        moments of the list (the levels of the second kind have a multiplicity of 1e-30); other
        modes, zeros included, are kept. `level_error` is a bound on the relative error of sums over
        modes, from the distance of their terms to polynomials in the logarithm of the eigenvalue.

        Parameters
        ----------
        eigenvalues, target_powers : array_like
            The list, one entry per mode, in any order.
        levels : int, default: 500
            The most levels, from 50.
        n_features : float or array_like, default: inf
            Random features P; without them the problem is kernel regression.
        n_samples : float or array_like or None, default: None
            Training samples N; as many as modes unless given.
        **others : Any
            Other fields of the problem.

        Returns
        -------
        SpectralProblem
            With at most `levels` levels, and the bound `level_error`, which is 0 for a list that is
            not longer.

        Raises
        ------
        ValueError
            If `levels` is too small for a bound below 1, if the lists differ in length, or if a
            number is outside its domain.
        TypeError
            If a field is not of the type above.

        Examples
        --------
        >>> import numpy as np
        >>> import doubletrouble as dt
        >>> i = np.arange(1.0, 1e5)
        >>> short = dt.SpectralProblem.binned(i**-1.5, i**-2.0, levels=300, n_samples=1000)
        >>> len(short.eigenvalues) <= 300, short.level_error < 1e-9
        (True, True)
        """
        vectors = {
            name: np.atleast_1d(np.asarray(checked(name, value, spec)))
            for name, value, spec in (
                ("eigenvalues", eigenvalues, glossary.EIGENVALUES),
                ("target_powers", target_powers, glossary.TARGET_POWERS),
            )
        }
        values, powers = vectors["eigenvalues"], vectors["target_powers"]
        if values.ndim != 1:
            raise ValueError(f"eigenvalues must be one-dimensional, got shape {values.shape}")
        if powers.shape != values.shape:
            raise ValueError(
                f"target_powers must have one entry per eigenvalue, {values.size} in all, "
                f"got shape {powers.shape}"
            )
        count = whole_number("levels", levels, 50)
        return cls(
            **vars(binned_levels(values, powers, count)),
            n_features=n_features,
            n_samples=values.size if n_samples is None else n_samples,
            **others,
        )

    @classmethod
    def from_problem(cls, problem: Problem, *, dim: int) -> Self:
        """Return an isotropic problem as a spectrum: the eigenvalue μ₁²/D, D times, and a tail μ⋆².

        Parameters
        ----------
        problem : Problem
            A problem of ridge regression, with one `signal`.
        dim : int
            The input dimension D, from 1 to 1e7.

        Returns
        -------
        SpectralProblem
            With the same error; its `gram_ridge` is δ = λ N/D.

        Raises
        ------
        ValueError
            For other losses than the squared loss of regression, an array `signal`, or a `dim`
            outside its domain.
        TypeError
            If `problem` is not a `Problem`, or `dim` not one number.

        Examples
        --------
        >>> import doubletrouble as dt
        >>> flat = dt.SpectralProblem.from_problem(dt.Problem(features_per_dim=2.0), dim=3)
        >>> flat.n_features, flat.eigenvalues, flat.multiplicities
        (6.0, array([0.08333333]), array([3.]))
        """
        if not isinstance(problem, Problem):
            raise TypeError(f"problem must be a Problem, got {type(problem).__name__}")
        require_ridge_regression(problem, "SpectralProblem")
        if not isinstance(dim, int | float | np.number) or isinstance(dim, bool):
            raise TypeError(f"dim must be one whole number, got {shown(dim)}")
        size = number("dim", dim, glossary.WHOLE_DIM)
        if np.ndim(problem.signal):
            raise ValueError(f"signal must be a scalar here, got shape {np.shape(problem.signal)}")
        count, sigma = size, problem.moments
        return cls(
            eigenvalues=sigma.linear**2 / count,
            target_powers=np.square(problem.signal) / count,
            multiplicities=count,
            tail=sigma.nonlinear**2,
            n_features=np.multiply(problem.features_per_dim, count),
            n_samples=np.multiply(problem.samples_per_dim, count),
            gram_ridge=np.multiply(problem.samples_per_dim, problem.ridge),
            noise=problem.noise_sd,
            nonlinear_signal=problem.nonlinear_signal,
            test_noise=problem.test_noise,
        )
