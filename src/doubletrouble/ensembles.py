r"""Ensembles: how their members draw samples and features, and the products of their errors.

K equal members are averaged. Each has P features and m of the N samples; any two share k of the
features and n of the samples. A scheme is the four numbers

    K              `n_members`
    m/N            `sample_share`, as numerator and denominator
    n/m            `shared_samples`
    k/P            `shared_features`

and whether the choice from a common set is a separate cause (`resamples`). Simulations use
`draw_samples`. The theory, the command line, the page, the documentation and the property tests
read these attributes: a new scheme is one subclass of `Scheme` (docs/extending.md).

**Products.** For a target of unit power and label noise of unit variance, the mean product of the
errors of two members has the parts of `CrossTerms`; `theory` combines them to the error of the
average by cause.
"""

from __future__ import annotations  # help() then shows the alias Numeric

import re
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from doubletrouble import glossary
from doubletrouble._numerics import PointArrays
from doubletrouble.parameters import (
    Declared,
    FloatArray,
    IntArray,
    Numeric,
    NumericField,
    OptionalField,
    Parameter,
    Value,
    as_value,
    check_choice,
    checked,
    common_shape,
    declarations,
    parameter,
    refuse,
    shown,
)
from doubletrouble.problems import Problem, SpectralProblem

Resampled: TypeAlias = Literal["samples", "features"]
"""The common set that members choose from, if their choice is a separate cause."""

SCHEMES: dict[str, type[Scheme]] = {}
"""Schemes by their names on the command line; subclasses of `Scheme` are added here."""


_ESTIMATORS = ("RandomFeaturesRidge", "RandomFeaturesClassifier")


@dataclass(frozen=True, eq=False, repr=False)
class Scheme(Declared):
    """Base of all ensembles: K members, and the overlap of any two of them.

    Parameters
    ----------
    n_members : int or inf or array_like, default: 1
        K: models averaged; `math.inf` is allowed.
        Must be a whole number in [1, inf].

    Raises
    ------
    ValueError
        If a number is outside its domain, or arrays do not broadcast.
    TypeError
        If a field is not a number or an array of numbers.
    """

    n_members: NumericField = parameter(glossary.N_MEMBERS, 1)

    name: ClassVar[str]
    summary: ClassVar[str] = (
        "{K} models"  # a format: "{K}" is the number of members, other fields have their names
    )
    shares: ClassVar[tuple[str, str, str]] = ("…", "…", "…")  # m/N, n/m and k/P as formulas
    resamples: ClassVar[Resampled | None] = None
    with_replacement: ClassVar[bool] = False  # samples are drawn N of N, with replacement
    any_size: ClassVar[bool] = True  # m/N and n/m do not depend on K: one simulation has every K
    shares_features: ClassVar[bool] = False  # members have features in common
    more_functions: ClassVar[tuple[str, ...]] = ()  # that support this scheme; not inherited
    # `__post_init__` of subclasses sets these on instances:
    sample_share: ClassVar[tuple[Value, Value]] = (1.0, 1.0)  # m/N: numerator and denominator
    shared_samples: ClassVar[Value] = 1.0  # n/m: share of a member's samples that another has

    def __init_subclass__(cls, *, averages: bool = True, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()
        if not averages:
            return
        known = SCHEMES.get(cls.name, cls)
        if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValueError(f"a scheme must have a name of its own, got {cls.name!r} again")
        SCHEMES[cls.name] = cls

    @classmethod
    def functions(cls) -> tuple[str, ...]:
        """Return the names of the functions that support the scheme.

        Returns
        -------
        tuple of str
            Names of functions, methods and estimators; those in `more_functions` of the class
            itself are the last.

        Examples
        --------
        >>> import doubletrouble as dt
        >>> "gradient_flow" in dt.Divide.functions(), "gradient_flow" in dt.Bootstrap.functions()
        (True, False)
        """
        names: tuple[str, ...] = ("exact_error", "anova", "training_error", "optimal_ridge")
        names += ("simulate", "Simulation.error", "Sweep")
        if not cls.with_replacement:
            names += ("calibration", "gradient_flow", "best_stopping_time")
        if not cls.shares_features:
            names += _ESTIMATORS
        more: tuple[str, ...] = cls.__dict__.get("more_functions", ())
        return names + more

    def _set(self, **shares: object) -> None:
        for name, value in shares.items():
            object.__setattr__(self, name, value)

    def shared_features(self, problem: Problem | SpectralProblem) -> Value:
        """Return k/P, the share of a member's features that another has; where `shares_features`.

        Parameters
        ----------
        problem : Problem or SpectralProblem
            The problem of a member, with its P.

        Returns
        -------
        float or numpy.ndarray
            The share, of the broadcast shape of the problem and the ensemble.

        Raises
        ------
        ValueError
            If the common set of features is smaller than a member, or its size is not given.
        """
        return 0.0

    def draw_samples(self, n_samples: int, count: int, rng: np.random.Generator) -> IntArray:
        """Draw the samples of members, for simulations.

        Parameters
        ----------
        n_samples : int
            Samples N in all.
        count : int
            Members to draw.
        rng : numpy.random.Generator
            The source of random numbers.

        Returns
        -------
        numpy.ndarray
            Counts of each sample in each member, (count, N).

        Raises
        ------
        NotImplementedError
            If a subclass has another `sample_share` and does not define it.
        """
        if self.sample_share is not Scheme.sample_share:
            raise NotImplementedError(f"{type(self).__name__} must define draw_samples")
        return np.ones((count, n_samples), dtype=np.int64)

    @property
    def options(self) -> dict[str, Value]:
        """The fields that are given, without the number of members."""
        names = [f.name for f in fields(self) if f.name != "n_members"]
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def __str__(self) -> str:
        shown = {name: _words(value) for name, value in self.options.items()}
        text = self.summary.format(K=_words(self.n_members).replace("inf", "∞"), **shown)
        return re.sub(r"^1 models", "1 model", text)

    def __repr__(self) -> str:
        options = "".join(f", {name}={_code(value)}" for name, value in self.options.items())
        return f"{type(self).__name__}({_code(self.n_members)}{options})"


def _parts(n_samples: int, n_parts: Value) -> IntArray:
    """Index of the part of each sample, (N,); sizes differ by at most one."""
    ends = np.rint(np.arange(1, int(n_parts)) * n_samples / n_parts)
    return np.searchsorted(ends, np.arange(n_samples), side="right")


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble(Scheme):
    """K models with features of their own, each trained on all of the samples.

    A bare number stands for it: `exact_error(problem, 10)` is `exact_error(problem, Ensemble(10))`.

    Parameters
    ----------
    n_members : int or inf or array_like, default: 1
        K: models averaged; `math.inf` is allowed.
        Must be a whole number in [1, inf].

    Examples
    --------
    >>> import doubletrouble as dt
    >>> print(dt.Ensemble(10))
    10 models, own features, all data
    """

    summary = "{K} models, own features, all data"
    shares = ("1", "1", "0")
    more_functions = (
        "advise",
        "exponents",
        "Simulation.anova",
        "Decomposition.error",
        "Decomposition.anova",
        "Diagnosis.error",
        "Forecast.error",
        "train_lazy",
        "lazy_curve",
        "LazyRun.error",
        "LazySplit.error",
    )


@dataclass(frozen=True, eq=False, repr=False)
class Divide(Scheme):
    """K models with features of their own, each trained on its own N/K of the samples.

    Parameters
    ----------
    n_members : int or inf or array_like, default: 1
        K: models averaged; `math.inf` is allowed.
        Must be a whole number in [1, inf].

    Examples
    --------
    >>> import doubletrouble as dt
    >>> print(dt.Divide(10))
    10 models, own features, the data in 10 disjoint parts
    """

    summary = "{K} models, own features, the data in {K} disjoint parts"
    shares = ("1/K", "0", "0")
    more_functions = ("advise", "Simulation.anova")
    any_size = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(sample_share=(1.0, self.n_members), shared_samples=0.0)

    def draw_samples(self, n_samples: int, count: int, rng: np.random.Generator) -> IntArray:  # noqa: D102
        own = _parts(n_samples, np.asarray(self.n_members)) == np.arange(count)[:, None]
        return np.asarray(own, dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Subsample(Scheme):
    """K models with features of their own, each on a share of the samples (sub-bagging).

    Members draw independently of each other.

    Parameters
    ----------
    n_members : int or inf or array_like, default: 1
        K: models averaged; `math.inf` is allowed.
        Must be a whole number in [1, inf].
    fraction : float or array_like
        η: share of the samples that each member draws, without replacement.
        Must be in (0, 1].

    Examples
    --------
    >>> import doubletrouble as dt
    >>> print(dt.Subsample(10, fraction=0.6))
    10 models, own features, a fraction 0.6 of the data each, without replacement
    """

    fraction: NumericField = parameter(glossary.FRACTION, kw_only=True)

    summary = (
        "{K} models, own features, a fraction {fraction} of the data each, without replacement"
    )
    shares = ("η", "η", "0")
    resamples = "samples"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(sample_share=(self.fraction, 1.0), shared_samples=self.fraction)

    def draw_samples(self, n_samples: int, count: int, rng: np.random.Generator) -> IntArray:  # noqa: D102
        size = round(float(np.multiply(self.fraction, n_samples)))
        counts = np.zeros((count, n_samples), dtype=np.int64)
        for row in counts:
            row[rng.permutation(n_samples)[:size]] = 1
        return counts


@dataclass(frozen=True, eq=False, repr=False)
class Bootstrap(Scheme):
    """K models with features of their own, each on N of the N samples drawn with replacement.

    Parameters
    ----------
    n_members : int or inf or array_like, default: 1
        K: models averaged; `math.inf` is allowed.
        Must be a whole number in [1, inf].

    Examples
    --------
    >>> import doubletrouble as dt
    >>> print(dt.Bootstrap(10))
    10 models, own features, a bootstrap sample of the data each
    """

    summary = "{K} models, own features, a bootstrap sample of the data each"
    shares = ("1", "1 - 1/e of the distinct samples", "0")
    resamples = "samples"
    with_replacement = True
    more_functions = ("Diagnosis.error",)

    def draw_samples(self, n_samples: int, count: int, rng: np.random.Generator) -> IntArray:  # noqa: D102
        chances = np.full(n_samples, 1 / n_samples)
        return np.stack([rng.multinomial(n_samples, chances) for _ in range(count)])


@dataclass(frozen=True, eq=False, repr=False)
class FeatureBank(Scheme):
    """K models on all of the samples, each with P features chosen from a common bank.

    Every member chooses without replacement, independently of the others. The bank of a `Problem`
    has `bank_per_dim`, that of a `SpectralProblem` has `n_bank`.

    Parameters
    ----------
    n_members : int or inf or array_like, default: 1
        K: models averaged; `math.inf` is allowed.
        Must be a whole number in [1, inf].
    bank_per_dim : float or array_like or None, default: None
        B/D: features per dimension in the bank that members choose from.
        Must be in [1e-50, 1e+50] or inf.
    n_bank : float or array_like or None, default: None
        B: features in the bank that members choose from.
        Must be in [1e-50, 1e+50] or inf.

    Raises
    ------
    ValueError
        If not exactly one of `bank_per_dim` and `n_bank` is given, or a number is outside its
        domain.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> print(dt.FeatureBank(10, bank_per_dim=5.0))
    10 models, features chosen from a common bank of 5 per dimension, all data
    """

    bank_per_dim: OptionalField = parameter(glossary.BANK_PER_DIM, None, kw_only=True)
    n_bank: OptionalField = parameter(glossary.N_BANK, None, kw_only=True)

    shares = ("1", "1", "P/B")
    resamples = "features"
    shares_features = True
    more_functions = _ESTIMATORS

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.bank_per_dim is None) == (self.n_bank is None):
            raise ValueError(
                "bank_per_dim must be given, or n_bank for a SpectralProblem, and not both, got "
                f"bank_per_dim={self.bank_per_dim!r} and n_bank={self.n_bank!r}"
            )
        size = "{bank_per_dim} per dimension" if self.n_bank is None else "{n_bank}"
        self._set(summary=f"{{K}} models, features chosen from a common bank of {size}, all data")

    def shared_features(self, problem: Problem | SpectralProblem) -> Value:  # noqa: D102
        isotropic = isinstance(problem, Problem)
        name = "bank_per_dim" if isotropic else "n_bank"
        bank: Value | None = getattr(self, name)
        features: Value = getattr(problem, "features_per_dim" if isotropic else "n_features")
        if bank is None:
            raise ValueError(f"{name} must be given for a {type(problem).__name__}, got {self!r}")
        common_shape({"the problem's fields": problem.shape, name: np.shape(bank)})
        few = np.asarray(bank) < np.asarray(features)
        shown = np.broadcast_to(bank, few.shape) if few.ndim else bank
        refuse(name, shown, few, "at least the features of one member")
        with np.errstate(invalid="ignore"):
            share = np.fmin(np.divide(features, bank), 1.0)  # inf/inf: the share has no effect
        return as_value(share)


@dataclass(frozen=True, eq=False, repr=False)
class Folds(Scheme):
    """K models with features of their own, each trained without one of K disjoint parts.

    Parameters
    ----------
    n_members : int or inf or array_like, default: 2
        K: models averaged; `math.inf` is allowed.
        Must be a whole number in [2, inf].

    Examples
    --------
    >>> import doubletrouble as dt
    >>> print(dt.Folds(5))
    5 models, own features, each without one of 5 disjoint parts of the data
    """

    n_members: NumericField = parameter(replace(glossary.N_MEMBERS, low=2.0, typical=(2, 100)), 2)

    summary = "{K} models, own features, each without one of {K} disjoint parts of the data"
    shares = ("(K - 1)/K", "(K - 2)/(K - 1)", "0")
    any_size = False

    def __post_init__(self) -> None:
        super().__post_init__()
        K = np.asarray(self.n_members)
        # one of infinitely many parts is empty
        others = np.where(np.isinf(K), 1.0, np.subtract(K, 1))
        parts = np.where(np.isinf(K), 1.0, K)
        shared = np.divide(np.where(np.isinf(K), 1.0, np.subtract(K, 2)), others)
        if not np.ndim(K):
            self._set(sample_share=(float(others), float(parts)), shared_samples=float(shared))
        else:
            self._set(sample_share=(others, parts), shared_samples=shared)

    def draw_samples(self, n_samples: int, count: int, rng: np.random.Generator) -> IntArray:  # noqa: D102
        own = rng.permutation(int(np.asarray(self.n_members)))[:count, None]
        return np.asarray(_parts(n_samples, self.n_members) != own, dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Vote(Scheme, averages=False):
    """The majority vote of K classifiers with features of their own, each on all of the samples.

    Ties count half, so that an even number is as good as one less. It is supported for
    classification only, by `exact_error`, `Simulation.error`, `LazyRun.error` and
    `LazySplit.error`; all other ensembles average the scores.

    Parameters
    ----------
    n_members : int or inf or array_like, default: 1
        K: models averaged; `math.inf` is allowed.
        Must be a whole number in [1, inf].

    Examples
    --------
    >>> import doubletrouble as dt
    >>> print(dt.Vote(5))
    5 models, own features, all data, by majority vote
    """

    summary = "{K} models, own features, all data, by majority vote"
    shares = ("1", "1", "0")

    @classmethod
    def functions(cls) -> tuple[str, ...]:  # noqa: D102
        return "exact_error", "LazyRun.error", "LazySplit.error"


EnsembleLike: TypeAlias = Numeric | Scheme
"""Type of the argument `ensemble`: a number of members K, an array of numbers, or a scheme."""


def supporting(function: str) -> list[type[Scheme]]:
    """The schemes that a function supports, by the function's name.

    >>> [kind.__name__ for kind in supporting("advise")]
    ['Ensemble', 'Divide']
    """
    kinds: list[type[Scheme]] = [*SCHEMES.values(), Vote]
    return [kind for kind in kinds if function in kind.functions()]


def as_ensemble(ensemble: EnsembleLike, function: str = "exact_error") -> Scheme:
    """Return an argument `ensemble` as a scheme that `function` supports, or raise ValueError.

    >>> as_ensemble(10)
    Ensemble(10)
    """
    if not isinstance(ensemble, Scheme):
        try:
            return Ensemble(checked("ensemble", ensemble, glossary.N_MEMBERS))
        except TypeError:
            kinds = _names_of(supporting(function))
            wanted = f"one of {kinds}" if "," in kinds else f"an {kinds}"
            got = shown(ensemble)
            raise TypeError(f"ensemble must be a number or {wanted}, got {got}") from None
    if type(ensemble) is Scheme or function not in ensemble.functions():
        kinds = _names_of(supporting(function))
        raise ValueError(f"ensemble must be one of {kinds} for {function}, got {ensemble!r}")
    return ensemble


def _names_of(kinds: Sequence[type[Scheme]]) -> str:
    return ", ".join(kind.__name__ for kind in kinds)


def named_ensemble(scheme: str, n_members: Numeric = 1, **options: Numeric | None) -> Scheme:
    """Return the ensemble of a scheme's name, as on the command line and in stored grids.

    Options that are None count as not given; unknown options raise ValueError.

    >>> named_ensemble("subsample", 10, fraction=0.6, bank_per_dim=None)
    Subsample(10, fraction=0.6)
    """
    check_choice("scheme", scheme, SCHEMES)
    kind = SCHEMES[scheme]
    known = {f.name: f for f in fields(kind) if f.name != "n_members"}
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if name not in known:
            raise ValueError(f"{name} must be left out for scheme {scheme!r}, got {value!r}")
    for name, declared in known.items():
        if declared.default is MISSING and name not in given:
            raise ValueError(f"{name} must be given for scheme {scheme!r}, got None")
    ensemble: Scheme = kind(n_members, **given)
    return ensemble


def scheme_options() -> dict[str, Parameter]:
    """The declarations of all options of all schemes, by name."""
    options: dict[str, Parameter] = {}
    for kind in SCHEMES.values():
        options |= {name: spec for name, spec in declarations(kind).items() if name != "n_members"}
    return options


def parameters_of(problem: Problem | SpectralProblem, scheme: Scheme) -> dict[str, Value]:
    """The fields of a problem and the options of an ensemble, by name."""
    values: dict[str, Value] = {
        f.name: getattr(problem, f.name)
        for f in fields(problem)
        if not f.metadata.get("vector", False)
    }
    return {**values, "n_members": scheme.n_members, **scheme.options}


def coordinates(
    problem: Problem | SpectralProblem, scheme: Scheme, **others: Value
) -> dict[str, Value]:
    """The fields and options that vary from point to point, by name."""
    values = {**parameters_of(problem, scheme), **others}
    return {name: value for name, value in values.items() if np.ndim(value)}


def _code(value: Value) -> str:
    """A number, or a list of numbers, as Python code."""
    if np.ndim(value):
        return np.array2string(np.asarray(value), threshold=8, separator=", ").replace("\n", "")
    number = float(value)
    return f"{number:.0f}" if number.is_integer() and abs(number) < 1e15 else repr(number)


def _words(value: Numeric) -> str:
    """A number, or the range of an array, to six digits."""
    low, high = float(np.min(value)), float(np.max(value))
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


# --- products of the errors of two members -------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class CrossTerms(PointArrays):
    """Parts of the mean product of two members' errors, for unit powers of target and noise."""

    bias: FloatArray | float = 0.0  # of the mean predictor
    initialization: FloatArray | float = 0.0  # V_P: the features alone
    sampling: FloatArray | float = 0.0  # V_X: the inputs alone
    interaction: FloatArray | float = 0.0  # V_PX: features and inputs together
    noise_sampling: FloatArray | float = 0.0  # label noise through the inputs
    noise_interaction: FloatArray | float = 0.0  # label noise through inputs and features


@dataclass(slots=True, kw_only=True)
class MemberTerms(PointArrays):
    """The product of two different members, and the excess of the square of one over it."""

    shared: CrossTerms
    own: CrossTerms

    def unlearned(self) -> MemberTerms:
        """The terms of a target outside the features: all bias, with the response to noise."""
        shared, own = self.shared, self.own
        return MemberTerms(
            shared=CrossTerms(
                bias=1.0, sampling=shared.noise_sampling, interaction=shared.noise_interaction
            ),
            own=CrossTerms(sampling=own.noise_sampling, interaction=own.noise_interaction),
        )


def scheme_words(scheme: Scheme) -> str:
    """A scheme in words: "∞ models", with what else is not that of `Ensemble`."""
    return str(scheme).removesuffix(", own features, all data")
