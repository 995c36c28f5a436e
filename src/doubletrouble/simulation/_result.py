"""The results of simulations: every term of every draw, and the errors they give."""

from __future__ import annotations  # help() then shows the alias Numeric

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from doubletrouble import _plots
from doubletrouble._display import (
    Column,
    Content,
    Entries,
    Shown,
    Table,
    committee_content,
    error_content,
    point_table,
    settings_text,
)
from doubletrouble._numbers import number_in
from doubletrouble._plots import Axes, varying_parameters
from doubletrouble.convex import ClassMeasure
from doubletrouble.ensembles import (
    Ensemble,
    EnsembleLike,
    Scheme,
    Vote,
    as_ensemble,
    scheme_words,
)
from doubletrouble.estimates import Estimate
from doubletrouble.glossary import symbol
from doubletrouble.losses import MEASURES, VOTE_MEASURES, measure_name
from doubletrouble.palette import printed_name
from doubletrouble.parameters import (
    FloatArray,
    IntArray,
    Numeric,
    Parts,
    Value,
    check_choice,
    check_flag,
    common_shape,
    refuse,
    shown,
)
from doubletrouble.problems import USUAL, Member, Problem
from doubletrouble.results import (
    AnovaTerms,
    ErrorTerms,
    PsiTerms,
    common_coordinates,
    fixed,
    unsplit_error,
)
from doubletrouble.simulation._pairs import Products, SimulatedTerms, majority, terms_by_cause
from doubletrouble.simulation._plan import has_all_samples, same_terms, single_ensemble
from doubletrouble.theory import Amplitudes, checked_weights, combine

_MODELS = {
    "features": "random features",
    "gaussian": "Gaussian covariates",
    "kernel": "infinitely many features",
}
_ALWAYS = ("features_per_dim", "samples_per_dim", "ridge", "noise")  # printed settings


_VOTE_TOTAL_ONLY = "the parts of a vote must be computed by theory: its total alone is counted"
_NO_INFORMATION = (
    "the parts of the error of labels without information must be computed by theory: draws "
    "determine their total alone"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnEnsemble:
    """An ensemble as requested and as realized, and every term of every draw."""

    requested: Scheme
    realized: Scheme  # with fraction or bank in whole numbers of samples or features
    terms: SimulatedTerms

    @property
    def name(self) -> str:
        """The scheme as requested; with K for the number of members where draws serve every one."""
        if not self.requested.any_size:
            return repr(self.requested)
        options = "".join(f", {name}={value:g}" for name, value in self.requested.options.items())
        return f"{type(self.requested).__name__}(K{options})"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Simulation(Shown):
    """A simulation at the sizes realized, with every term of every draw.

    Results have the axes of `problem`: `exact_error(sim.problem, ensemble)` is the theory for every
    point. `times` are the last axis: `gradient_flow(sim.problem, sim.times)`. Draws have an axis in
    front; the powers of ridge regression are not part of them, but of the errors.

    All estimates of a simulation, and of others with the same model, seed and number of draws, are
    of the same random numbers: arithmetic between them is paired, draw by draw.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> run = dt.simulate(dt.Problem(ridge=[0.01, 0.1, 1.0]), dim=20, n_data=4, n_init=2)
    >>> run.error().total.value.shape == dt.exact_error(run.problem).total.shape == (3,)
    True
    >>> gain = run.error(1).total - run.error(10).total
    >>> bool((gain.value > 0).all())
    True
    """

    problem: Problem
    dim: int
    model: str
    seed: int
    n_init: int
    test: str  # how the average over test points was taken: "exact" or "sample"; "auto": both
    n_test: int | IntArray  # test points sampled in each draw; an array where points differ
    center: bool
    dtype: str
    draws: SimulatedTerms  # of members with all of the data
    drawn: tuple[DrawnEnsemble, ...] = ()  # further ensembles
    times: FloatArray | None = None  # of gradient flow; None: ridge regression

    @property
    def n_data(self) -> int:
        """The number of independent draws."""
        return int(self.draws.values.shape[1])

    @property
    def ensembles(self) -> tuple[Scheme, ...]:
        """The ensembles drawn in addition to those with all of the data, as requested."""
        return tuple(one.requested for one in self.drawn)

    @property
    def psi(self) -> PsiTerms[Estimate] | None:
        """Every Ψ term of ridge regression; None where the outputs are not linear in the labels."""
        if not self.problem.is_ridge_regression:
            return None
        terms = {name: self.estimate(values) for name, values in self.draws.psi.items()}
        return PsiTerms(**terms, coordinates=self._coordinates(Ensemble(1)))

    # --- overlaps ---

    @property
    def m(self) -> Estimate:
        """E ν h, the overlap of one learner with the teacher."""
        return self._overlap("overlap", noise=False)

    @property
    def q(self) -> Estimate:
        """E h², the power of one learner."""
        return self._overlap("same", noise=True)

    @property
    def intercept(self) -> Estimate:
        """The intercept of one learner; 0 for losses without one."""
        counts = self.draws.counts
        return self.estimate(counts[0] if counts.size else np.zeros_like(self.draws.values[0]))

    def overlap(
        self, shared_features: float = 0.0, shared_samples: float = 1.0, shared_noise: bool = True
    ) -> Estimate:
        """E h h' of two learners that share all or none of their features, inputs and noise.

        Parameters
        ----------
        shared_features : 0.0 or 1.0, default: 0.0
            The share of the features they have in common.
        shared_samples : 0.0 or 1.0, default: 1.0
            The share of the inputs they have in common.
        shared_noise : bool, default: True
            Whether the labels of common inputs have the same noise.

        Returns
        -------
        Estimate
            The mean product of their outputs.

        Raises
        ------
        ValueError
            If a share is neither 0 nor 1.
        TypeError
            If `shared_noise` is not True or False.

        Examples
        --------
        >>> import doubletrouble as dt
        >>> problem = dt.Problem(task="classification", loss="hinge", flips=0.1, ridge=0.1)
        >>> run = dt.simulate(problem, dim=10, n_data=4, n_init=2)
        >>> 0 < run.overlap(0.0, 1.0).value < run.q.value
        True
        """
        for name, share in (
            ("shared_features", shared_features),
            ("shared_samples", shared_samples),
        ):
            if share not in (0, 1):
                raise ValueError(f"{name} must be 0 or 1 in a simulation, got {share!r}")
        check_flag("shared_noise", shared_noise)
        if shared_samples:
            return self._overlap("same" if shared_features else "other", noise=shared_noise)
        return self._overlap("features" if shared_features else "apart", noise=False)

    def _overlap(self, kind: str, *, noise: bool) -> Estimate:
        """The mean of one kind of product, for the powers of the problem."""
        terms, at = self._deepened(Ensemble(1)), self._amplitudes
        products = [(at.signal, terms.linear)]
        if terms.quadratic is not None:
            products.append((at.nonlinear_signal, terms.quadratic))
        if noise:
            products.append((at.noise, terms.noise))
        total: Value = sum(np.square(size) * getattr(by_kind, kind) for size, by_kind in products)
        return self.estimate(np.asarray(total))

    # --- errors ---

    def error(
        self, ensemble: EnsembleLike = 1, *, measure: str | None = None
    ) -> ErrorTerms[Estimate]:
        """The test error of an ensemble, by cause.

        Standard errors of the rates and of the cross-entropy of classes are by the jackknife over
        draws.

        Rates are those of learners scaled to outputs of power one, which all count alike, as in the
        limit D → ∞. For labels without information (`flips=0.5`, or no signal) the total alone is
        estimated: the split of the limit p → 1/2, which the theory reports, is not identified.

        Parameters
        ----------
        ensemble : float or array_like or Scheme or Vote, default: 1
            The number of models K, or `Ensemble(K)`, always available. Other ensembles must be
            among those drawn, the `ensembles` of `simulate`: `Subsample`, `Bootstrap` and
            `FeatureBank` are then available for any K, or an array of them, which broadcasts with
            the problem; schemes whose shares depend on K are available for the K drawn. `Vote(K)`
            of classifiers, for K up to `n_init`, is counted at points held out: its total is
            estimated, and its parts are not; the measure is "zero_one" or "zero_one_noisy".
        measure : str or None, default: None
            For regression the mean squared error. For classification "zero_one", the default, or
            "squared" against the clean sign, "zero_one_noisy" or "log" against labels with
            noise and flips: definitions and parts are those of `exact_error`.

        Returns
        -------
        ErrorTerms of Estimate
            Every part and the total.

        Raises
        ------
        ValueError
            If the ensemble was not drawn, a vote has more than `n_init` members, or the measure is
            not available.
        TypeError
            If `ensemble` is neither a number nor a scheme.

        Examples
        --------
        >>> import doubletrouble as dt
        >>> run = dt.simulate(dt.Problem(), dim=20, n_data=4, n_init=2, ensembles=dt.Bootstrap(10))
        >>> run.error([1, 10]).total.value.shape, run.error(dt.Bootstrap(5)).total.value > 0
        ((2,), True)

        >>> problem = dt.Problem(task="classification", loss="hinge", flips=0.1, ridge=0.1)
        >>> run = dt.simulate(problem, dim=10, n_data=4, n_init=3)
        >>> 0 < run.error(3).total.value < 0.5, 0 < run.error(dt.Vote(3)).total.value < 0.5
        (True, True)
        """
        if isinstance(ensemble, Vote):
            return self._vote_error(ensemble, measure)
        known = MEASURES if self.problem.task == "classification" else ("squared",)
        measure = known[0] if measure is None else measure
        check_choice("measure", measure, known, self.problem.task)
        scheme = single_ensemble("ensemble", ensemble, "Simulation.error", any_members=True)
        if measure != "squared":
            return self._class_error(scheme, measure)
        return ErrorTerms(
            **self._estimates(scheme, self._parts(scheme)),
            coordinates=self._coordinates(scheme),
            settings=self._fixed(scheme),
        )

    def _class_error(self, scheme: Scheme, measure: str) -> ErrorTerms[Estimate]:
        """A measure of classes by cause: a function of the overlap with the teacher and the power.

        The power of the mean score of K members is q_d, of two that share nothing, and a part for
        each cause: these are the parts of the squared error.
        """
        origin = "linear" if measure == "log" else "directions"
        powers, at = self._parts(scheme, origin), self._deepened(scheme).of(origin)
        measured, signal = ClassMeasure.of(self.problem, measure), np.asarray(self.problem.signal)
        uninformative = np.any((signal == 0) | (np.asarray(self.problem.flips) == 0.5))

        def value(m: FloatArray, q: FloatArray) -> FloatArray:
            along = m / np.where(signal > 0, signal, np.inf)
            return np.asarray(measured.value(along, q - along**2))

        def estimated(excess: Value) -> FloatArray:
            if measure != "log" and np.ndim(excess) == 0:  # the rate of the mean predictor
                return np.asarray(np.zeros_like(at.apart) + measured.bayes)
            return jackknife(value, *np.broadcast_arrays(at.overlap, at.apart + excess))

        coordinates, label = self._coordinates(scheme), measure_name(measure)
        if uninformative and measure != "log":  # the limit of the parts is not that of their means
            excess = sum(powers[name] for name in powers if name not in ("bias", "bayes"))
            total = np.broadcast_to(estimated(np.asarray(excess)), at.apart.shape)
            rate = self.estimate(np.array(total))
            return unsplit_error(rate, _NO_INFORMATION, coordinates=coordinates, label=label)
        parts = self._estimates(scheme, measured.parts(estimated, powers))
        return ErrorTerms(**parts, coordinates=coordinates, label=label)

    def _vote_error(self, vote: Vote, measure: str | None) -> ErrorTerms[Estimate]:
        """The rate of a majority, counted at points held out."""
        if self.problem.task != "classification":
            raise ValueError(f"ensemble must average for {self.problem.task}, got {vote!r}")
        measure = MEASURES[0] if measure is None else measure
        check_choice("measure", measure, VOTE_MEASURES, "a vote")
        members = np.asarray(vote.n_members)
        wanted = f"at most n_init = {self.n_init} to count votes"
        refuse("n_members", members, members > self.n_init, wanted)
        clean, noisy = np.split(self._deepened(vote).counts[3:], 2)
        if measure == "zero_one":
            rate = majority(clean, members)
        else:
            flips = np.asarray(self.problem.flips)
            rate = flips + (1 - 2 * flips) * majority(noisy, members)
        return unsplit_error(
            self.estimate(rate),
            _VOTE_TOTAL_ONLY,
            coordinates=self._coordinates(vote),
            label=measure_name(measure),
        )

    def held_out(self, ensemble: int = 1) -> Estimate:
        """The error counted at test points that were held out, where labels are drawn.

        A check of `error`: the error rate without noise, or the squared error.

        Parameters
        ----------
        ensemble : int, default: 1
            The number of models K: 1, or `n_init` for the average of all with the same data.

        Returns
        -------
        Estimate
            The error.

        Raises
        ------
        ValueError
            If `ensemble` is neither 1 nor `n_init`, or the problem is one of ridge regression.
        """
        if self.problem.is_ridge_regression:
            raise ValueError(
                "problem must have drawn labels to count errors at points held out, got ridge "
                "regression"
            )
        if ensemble not in (1, self.n_init):
            raise ValueError(f"ensemble must be 1 or n_init = {self.n_init}, got {ensemble!r}")
        return self.estimate(self.draws.counts[1 if ensemble == 1 else 2])

    def anova(self, ensemble: EnsembleLike = 1) -> AnovaTerms[Estimate]:
        """The symmetric split of the squared error: main effects and interactions.

        For classification the squared error is that against the clean sign. With the overlap of two
        students that share their features alone, Ψ₂(features), the parts of `doubletrouble.anova`
        are differences of mean products, and as unbiased:

            V_P = F² (Ψ₂ᶠ - Ψ₂ᵈ)        V_PX = F² (Ψ₂ᵛ - Ψ₂ᵉ - Ψ₂ᶠ + Ψ₂ᵈ)
            V_Xε = τ² Ψ₃ᵉ               V_PXε = τ² (Ψ₃ᵛ - Ψ₃ᵉ)

        where v, e, f and d are one student, and two that share data, features, or nothing.

        Parameters
        ----------
        ensemble : float or array_like or Scheme, default: 1
            The number of models K, or one of the ensembles drawn.

        Returns
        -------
        AnovaTerms of Estimate
            Every main effect and interaction, and the total.

        Raises
        ------
        ValueError
            If the ensemble was not drawn, or is not supported.
        TypeError
            If `ensemble` is neither a number nor a scheme.
        """
        scheme = single_ensemble("ensemble", ensemble, "Simulation.anova", any_members=True)
        parts = self._estimates(scheme, self._parts(scheme, interactions=True))
        return AnovaTerms(**parts, coordinates=self._coordinates(scheme))

    def realized(self, ensemble: EnsembleLike = 1) -> Scheme:
        """The ensemble at the sizes realized, to compare with theory.

        A fraction of the samples, or the size of a bank, is rounded to whole numbers:
        `exact_error(sim.problem, sim.realized(ensemble))` is the theory for `sim.error(ensemble)`.

        Parameters
        ----------
        ensemble : float or array_like or Scheme or Vote, default: 1
            The number of models K, a vote of classifiers, or one of the ensembles drawn, as
            requested.

        Returns
        -------
        Scheme
            The ensemble with rounded sizes.

        Raises
        ------
        ValueError
            If the ensemble was not drawn.
        TypeError
            If `ensemble` is neither a number nor a scheme.
        """
        if isinstance(ensemble, Vote) and self.problem.task == "classification":
            return ensemble
        scheme = single_ensemble("ensemble", ensemble, "Simulation.error", any_members=True)
        if has_all_samples(scheme):
            return scheme
        return replace(self._drawn(scheme).realized, n_members=scheme.n_members)

    def terms_of(self, ensemble: EnsembleLike = 1) -> SimulatedTerms:
        """Return every term of every draw of the members of an ensemble.

        Parameters
        ----------
        ensemble : float or array_like or Scheme, default: 1
            The number of models K, which has no effect, or one of the ensembles drawn.

        Returns
        -------
        SimulatedTerms
            The table of mean products of the outputs of two members; its method `named` returns
            the arrays by name, with draws along the first axis.

        Raises
        ------
        ValueError
            If the ensemble was not drawn.
        TypeError
            If `ensemble` is neither a number nor a scheme.
        """
        scheme = single_ensemble("ensemble", ensemble, "Simulation.error", any_members=True)
        return self.draws if has_all_samples(scheme) else self._drawn(scheme).terms

    def estimate(self, draws: FloatArray) -> Estimate:
        """Return the mean of a quantity over draws, with its standard error.

        Parameters
        ----------
        draws : array_like
            The quantity, with the draws of this simulation along the first axis.

        Returns
        -------
        Estimate
            The mean, paired with other estimates of the same draws.
        """
        return Estimate.of(draws, key=self._key)

    # --- shown ---

    def plot(
        self,
        ax: Axes | None = None,
        *,
        ensemble: EnsembleLike = 1,
        theory: ErrorTerms[Any] | None = None,
    ) -> Axes:
        """Draw the error by cause, with the theory beside it.

        Parameters
        ----------
        ax : matplotlib.axes.Axes or None, default: None
            The axes to draw on; those of a new figure unless given.
        ensemble : float or array_like or Scheme, default: 1
            The number of models K, or one of the ensembles drawn.
        theory : ErrorTerms or None, default: None
            The error at the same points, as of `exact_error(sim.problem, ensemble)`, which is drawn
            as lines in the colours of the points, of the totals for two axes, or as bars for a
            single point.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.

        Raises
        ------
        ValueError
            If the simulation has more than two axes, the theory is of other points, or the ensemble
            was not drawn.
        TypeError
            If `theory` is not an `ErrorTerms`.
        MissingExtraError
            If matplotlib is not installed.

        Examples
        --------
        >>> import matplotlib, doubletrouble as dt
        >>> matplotlib.use("Agg")
        >>> run = dt.simulate(dt.Problem(ridge=[0.01, 0.1, 1.0]), dim=20, n_data=4, n_init=2)
        >>> axes = run.plot(theory=dt.exact_error(run.problem))
        """
        if theory is None:
            return self.error(ensemble).plot(ax)
        return self.compare(theory, ensemble).plot(ax)

    def compare(self, theory: ErrorTerms[Any], ensemble: EnsembleLike = 1) -> TheoryComparison:
        """Compare the error with the theory, part by part.

        Parameters
        ----------
        theory : ErrorTerms
            The error at the same points, as of `exact_error(sim.problem, ensemble)`.
        ensemble : float or array_like or Scheme, default: 1
            The number of models K, or one of the ensembles drawn.

        Returns
        -------
        TheoryComparison
            Both errors, and their differences in standard errors.

        Raises
        ------
        ValueError
            If the theory is of other points, or the ensemble was not drawn.
        TypeError
            If `theory` is not an `ErrorTerms`.

        Examples
        --------
        >>> import doubletrouble as dt
        >>> run = dt.simulate(dt.Problem(ridge=0.1), dim=20, n_data=4, n_init=2)
        >>> bool(abs(run.compare(dt.exact_error(run.problem)).z["total"]) < 10)
        True
        """
        scheme = as_ensemble(ensemble, "Simulation.error")
        about = self._content()
        if not np.ndim(scheme.n_members):
            about = replace(about, title=f"{about.title}; {scheme_words(scheme)}")
        return TheoryComparison(simulated=self.error(ensemble), theory=theory, _about=about)

    def _picture(self) -> _plots.Picture:
        return _plots.error_picture(self.error())

    def _content(self) -> Content:
        error = self.error()
        content = error_content(error)
        tables = list(content.tables)
        if self.drawn and not error.shape:
            schemes = [as_ensemble(1, "Simulation.error"), *self.ensembles]
            columns = [Column(name="ensemble", form="words"), Column(name="error")]
            rows = [[scheme_words(scheme), self.error(scheme).total] for scheme in schemes]
            table = Table(name="ensembles", title="Ensembles drawn", columns=columns, rows=rows)
            tables.append(table)
        names = ("dim", "model", "seed", "n_data", "n_init", "test", "center", "dtype")
        return replace(
            content,
            title=f"Simulated {error.label} ± standard error: {_MODELS[self.model]}, "
            f"{self.n_data} draws\n{self._settings()}",
            tables=tables,
            facts={**{name: getattr(self, name) for name in names}, "problem": self._parameters()},
        )

    def _parameters(self) -> dict[str, Any]:
        """The problem at the sizes realized."""
        return {f.name: getattr(self.problem, f.name) for f in fields(self.problem)}

    def _settings(self) -> str:
        """The sizes, and the parameters that are not the default ones."""
        at: dict[str, object] = {"D": self.dim}
        for name, value in self._parameters().items():
            if np.ndim(value):
                at[symbol(name)] = f"{len(np.unique(value))} values"
            elif name in _ALWAYS or value != USUAL[name]:
                at[symbol(name)] = value
        if self.times is not None:
            at["time"] = f"{self.times.size} values"
        return settings_text(at)

    # --- from draws to parts ---

    @property
    def _key(self) -> Hashable:
        """Equal for simulations of the same random numbers."""
        return ("simulate", self.model, self.seed, self.n_data)

    def _coordinates(self, scheme: Scheme) -> dict[str, Value]:
        """The parameters that vary along the axes of the results."""
        values = {**self._parameters(), "time": self.times, "n_members": scheme.n_members}
        values |= self.realized(scheme).options
        return {name: value for name, value in values.items() if np.ndim(value)}

    def _fixed(self, scheme: Scheme) -> dict[str, float]:
        """The parameters that are one number each."""
        return fixed({**self._parameters(), "dim": self.dim, "n_members": scheme.n_members})

    def _drawn(self, scheme: Scheme) -> DrawnEnsemble:
        for one in self.drawn:
            if same_terms(scheme, one.requested) or same_terms(scheme, one.realized):
                return one
        known = ", ".join(one.name for one in self.drawn)
        raise ValueError(
            f"ensemble must be a number, or one of those drawn ({known or 'none'}; see "
            f"simulate(..., ensembles=...)), got {scheme!r}"
        )

    @property
    def _amplitudes(self) -> Amplitudes:
        """The powers by which terms are multiplied: those of drawn labels are part of the terms."""
        p, linear = self.problem, self.problem.is_ridge_regression
        return Amplitudes(
            signal=np.asarray(p.signal) if linear else 1.0,
            nonlinear_signal=np.asarray(p.nonlinear_signal),
            noise=np.asarray(p.noise_sd) if linear else 1.0,
            test_noise=np.asarray(p.test_noise),
        )

    def _points(self, scheme: Scheme) -> tuple[int, ...]:
        """The shape of the results for an ensemble."""
        here = np.broadcast_shapes(self.draws.values.shape[2:], self.problem.shape)
        return common_shape({"the simulation": here, "ensemble": np.shape(scheme.n_members)})

    def _deepened(self, scheme: Scheme) -> SimulatedTerms:
        """The terms of an ensemble, with axes for the numbers of members, and for powers."""
        terms = self.draws if isinstance(scheme, Vote) else self.terms_of(scheme)
        count, draws, *shape = terms.values.shape
        deep = (1,) * (len(self._points(scheme)) - len(shape))
        return replace(terms, values=terms.values.reshape(count, draws, *deep, *shape))

    def _parts(
        self, scheme: Scheme, origin: str = "linear", *, interactions: bool = False
    ) -> Parts:
        """The parts of the squared error of an ensemble, draw by draw."""
        terms, p = self._deepened(scheme), self.problem
        linear, noise = terms.of(origin), terms.noise
        if origin == "directions":
            noise = terms.of("direction_noise")
        members = terms_by_cause(scheme, linear, noise)
        if not p.is_ridge_regression:
            members.shared.bias = _bias(p, linear)
        return combine(
            members,
            None if terms.quadratic is None else terms_by_cause(scheme, terms.quadratic, noise),
            self._amplitudes,
            1 / np.asarray(scheme.n_members),
            scheme.resamples,
            interactions=interactions,
        )

    def _estimates(self, scheme: Scheme, parts: Mapping[str, Value]) -> dict[str, Any]:
        """Estimates of all parts, of one shape."""
        shape = (self.n_data, *self._points(scheme))
        return {
            name: self.estimate(np.array(np.broadcast_to(value, shape)))
            for name, value in parts.items()
        }


def _bias(problem: Problem, t: Products) -> FloatArray:
    """The error of the mean predictor, whose labels are drawn: against the teacher or its sign."""
    signal = np.asarray(problem.signal)
    if problem.task == "regression":
        return np.asarray(signal**2 - 2 * t.overlap + t.apart)
    overlap = t.overlap / np.where(signal > 0, signal, np.inf)  # E |ν| = √(2ρ/π)
    return np.asarray(1 - 2 * math.sqrt(2 / math.pi) * overlap + t.apart)


def jackknife(function: Callable[..., FloatArray], *draws: FloatArray) -> FloatArray:
    """Pseudo-values, one for each draw, of a function of means over draws (the first axis)."""
    count = len(draws[0])
    means = [values.mean(axis=0) for values in draws]
    others = [
        (count * mean - values) / (count - 1) for mean, values in zip(means, draws, strict=True)
    ]
    return np.asarray(count * function(*means) - (count - 1) * function(*others))


# --- comparison with the theory ------------------------------------------------------------------

_SIMULATED = "points: simulation; lines: theory"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TheoryComparison(Shown):
    """A simulated error beside the exact one, part by part, and z, the difference.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> run = dt.simulate(dt.Problem(ridge=0.1), dim=20, n_data=4, n_init=2)
    >>> found = run.compare(dt.exact_error(run.problem))
    >>> found.z["total"] == run.error().total.z_score(found.theory.total)
    True
    """

    simulated: ErrorTerms[Estimate]
    theory: ErrorTerms[Any]
    _about: Content  # of the simulation: its title and settings

    def __post_init__(self) -> None:
        simulated, theory = self.simulated, self.theory
        given: object = theory
        if not isinstance(given, ErrorTerms):
            wanted = "theory must be an ErrorTerms, as of exact_error(sim.problem)"
            raise TypeError(f"{wanted}, got {shown(given)}")
        if theory.shape != simulated.shape:
            raise ValueError(
                "theory must be of the points of the simulation, got shapes "
                f"{theory.shape} and {simulated.shape}"
            )
        common_coordinates("theory and simulation", theory.coordinates, simulated.coordinates)

    @property
    def z(self) -> dict[str, Value]:
        """The differences of all parts and of the total, in standard errors."""
        both = [*(self.simulated.parts.keys() & self.theory.parts.keys()), "total"]
        return {
            name: getattr(self.simulated, name).z_score(getattr(self.theory, name))
            for name in (*self.simulated.names(), "total")
            if name in both
        }

    # --- shown ---

    def _content(self) -> Content:
        table, every = self._table(), np.concatenate([np.ravel(z) for z in self.z.values()])
        most = float(np.max(np.abs(every[np.isfinite(every)]), initial=0.0))
        verdict = f"Simulation and theory differ by at most {most:.1f} standard errors."
        return replace(self._about, lead="", tables=[table], lines=(), notes=(), verdict=verdict)

    def _table(self) -> Table:
        """A row for every point and part."""
        at = varying_parameters(self.simulated, None)
        tables = []
        for part, z in self.z.items():
            columns: list[tuple[Column, Entries]] = [
                (Column(name="part", form="words", printed=False), part),
                (
                    Column(name="label", heading="part", form="words", exported=False),
                    printed_name(part),
                ),
                (Column(name="error", heading="simulated"), getattr(self.simulated, part)),
                (Column(name="theory"), getattr(self.theory, part)),
                (Column(name="z"), z),
            ]
            tables.append(point_table("errors", self.simulated.shape, at, columns))
        rows = [row for rows in zip(*(one.rows for one in tables), strict=True) for row in rows]
        return replace(tables[0], rows=rows, omitted="rows", keys=tables[0].keys + 2)

    def _picture(self) -> _plots.Picture:
        """The simulation as points, or bars, and the theory as lines, or bars below."""
        picture = _plots.error_picture(self.simulated)
        other = _plots.error_picture(self.theory)
        if isinstance(picture, _plots.CurveFamily):
            lines = np.asarray(number_in(self.theory.total))
            return replace(picture, lines=lines, note=f"{picture.note}; {_SIMULATED}")
        if isinstance(picture, _plots.Curves) and isinstance(other, _plots.Curves):
            points = [replace(line, points=True) for line in picture.lines]
            exact = [replace(line, label="") for line in other.lines]
            return replace(picture, lines=[*exact, *points], note=f"{picture.note}; {_SIMULATED}")
        assert isinstance(picture, _plots.Bars)
        assert isinstance(other, _plots.Bars)
        bars = {bar.part: replace(bar, label="theory") for bar in other.rows}
        pairs = [(bar, bars[bar.part]) for bar in picture.rows if bar.part in bars]
        return replace(
            picture,
            rows=[bar for pair in pairs if any(number_in(b.value) for b in pair) for bar in pair],
        )


# --- committees ----------------------------------------------------------------------------------

_TOTAL_ONLY = "parts must be computed by theory: a simulation of members estimates the total alone"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CommitteeSimulation(Shown):
    """A simulated committee at the sizes realized, with every mean product of every draw.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> members = [dt.Member(features_per_dim=2.0, ridge=0.1), dt.Member(ridge=0.1)]
    >>> run = dt.simulate(members, dim=20, n_data=4)
    >>> first = run.error([1.0, 0.0]).total
    >>> bool(first.value == run.pair_errors.value[0, 0])
    True
    """

    members: tuple[Member, ...]
    shared_features: FloatArray  # (K, K) per dimension; the diagonal holds the members' own
    shared_samples: FloatArray  # (K, K)
    signal: float
    noise: float
    dim: int
    model: str
    seed: int
    terms: FloatArray  # (2, draws, K, K), for unit power of the teacher and of the noise

    @property
    def n_data(self) -> int:
        """The number of independent draws."""
        return int(self.terms.shape[1])

    @property
    def draws(self) -> FloatArray:
        """The mean product of the errors of every two members in every draw, (draws, K, K)."""
        return np.asarray(self.signal**2 * self.terms[0] + self.noise**2 * self.terms[1])

    @property
    def pair_errors(self) -> Estimate:
        """E (f* - f_a)(f* - f_b) for every two members, at test points without noise."""
        return Estimate.of(self.draws, key=self._key)

    def error(self, weights: Numeric | None = None) -> ErrorTerms[Estimate]:
        """The test error of the weighted mean of all members.

        The total is estimated, its parts are not.

        Parameters
        ----------
        weights : array_like of shape (K,) or str or None, default: None
            Weights of the members, which add up to 1; None or "equal" for the plain mean.

        Returns
        -------
        ErrorTerms of Estimate
            The total.

        Raises
        ------
        ValueError
            If there is not one weight for each member, or they do not add up to 1.
        TypeError
            If the weights are not numbers.
        """
        count = len(self.members)
        if isinstance(weights, str) and weights != "equal":
            raise ValueError(
                "weights must be numbers or 'equal': the optimal ones are committee(...).weights, "
                f"got {weights!r}"
            )
        if weights is None or isinstance(weights, str):
            given = np.full(count, 1 / count)
        else:
            given = checked_weights(weights, count)
        draws = np.einsum("a,dab,b->d", given, self.draws, given)
        return unsplit_error(Estimate.of(draws, key=self._key), _TOTAL_ONLY)

    @property
    def _key(self) -> Hashable:
        """Equal for simulations of the same random numbers."""
        return ("simulate members", self.model, self.seed, self.n_data)

    # --- shown ---

    def _picture(self) -> _plots.Bars:
        count, errors = len(self.members), self.pair_errors
        bars = [_plots.Bar(label=f"member {k + 1}", value=errors[k, k]) for k in range(count)]
        bars.append(_plots.Bar(label="mean of all", value=self.error().total, part="total"))
        return _plots.Bars(rows=bars, xlabel="squared error")

    def _content(self) -> Content:
        count = len(self.members)
        at = settings_text({"D": self.dim, "F": self.signal, "τ": self.noise})
        names = ("dim", "model", "seed", "n_data", "signal", "noise")
        return replace(
            committee_content(self.error(), np.full(count, 1 / count), self.pair_errors),
            title=f"Simulated squared error ± standard error: {_MODELS[self.model]}, "
            f"{self.n_data} draws\n{at}",
            facts={
                **{name: getattr(self, name) for name in names},
                "settings": [
                    asdict(one) | {"activation": one.moments.name} for one in self.members
                ],
            },
        )
