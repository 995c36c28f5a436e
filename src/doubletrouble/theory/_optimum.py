r"""The ridge of least test error, and derivatives of the error by the sizes P and N.

**Optimal ridge.** As a function of the ridge the error R is smooth, with its minima at 0, at inf or
where the derivative changes sign from minus to plus (a measured spectrum may have several; all
between nodes half a decade apart are compared). The derivative comes from the error formulas
themselves by a complex step along log y (`FixedPoint.stepped`): it has no truncation error and
stays finite at ridge 0, where its sign decides whether any positive ridge reduces the error.

Known results: infinitely many members, with σ² = τ² + F⋆², are best at

    λ = (μ₁² σ²/F² - μ⋆²) (1 - ψ₁*/ψ₁)/ψ₂ when both brackets are positive, else 0,

ψ₁* being the P/D at which the best ridge is 0, where they are the best linear predictor; without
a signal to learn (F = 0 or μ₁ = 0) the best ridge is inf.

**Derivatives by size.** Move log P by dx and log N by dw in (1 - z/P)(1 - z/N) = r y, with
d log r = -κ dw: the ridge of an isotropic problem does not change (κ = 0), and δ/N of a measured
spectrum falls (κ = 1). With A, B the unused fractions, e = z - Q and J = AB + B e/P + A e/N,

    J d log y = B (z/P) dx + A (z/N + κ B) dw
    J dA = A (B + e/N) (z/P) dx - (e/P) A (z/N + κ B) dw
    J dB = B ((e/P + A (1-κ)) (z/N) + κ A Q/N) dw - (e/N) B (z/P) dx

and J itself, the determinant that vanishes at P = N without ridge, changes by

    J dJ = (z/P) (AB (B + e/N) + g e/N) dx
         + ((z/N) (AB (A + e/P) - g e/P) - κ AB (B e/P + A e/N + 2 (e/P)(e/N))) dw
         + J (A d(e/N) + B d(e/P)),       g = A e/N - B e/P = (e/N)(1 - N/P).

In this form no terms cancel near P = N, where g is as accurate as P - N.

Without ridge and tail, P and N that reach the number of modes d learn all of them in full. The
error is then that of linear regression, (σ² + ρ) d/(N - d) + ρ with ρ the power outside the modes:
it does not depend on P, and diverges at N = d, or (σ² + ρ = 0) has a kink there.

**Limits of accuracy.** With a ridge, the derivative of 1 - Q/N of a saturated learner is subject to
rounding: a linear network at exactly N = D has 6 digits at λ = 1e-20, and none at 1e-300.
"""

from __future__ import annotations  # help() then shows the alias Numeric

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from doubletrouble import _plots
from doubletrouble._display import Content, Shown, error_verdict, solved_content
from doubletrouble._numbers import whole
from doubletrouble._numerics import crossings, limit_value
from doubletrouble.ensembles import EnsembleLike, MemberTerms, Scheme, as_ensemble
from doubletrouble.errors import ConvergenceError
from doubletrouble.estimates import ByValue
from doubletrouble.losses import Measure
from doubletrouble.parameters import FloatArray, Indices, Numbers, Parts, Value, as_value
from doubletrouble.problems import Problem
from doubletrouble.results import ErrorTerms
from doubletrouble.theory._bootstrap import DISTINCT, bootstrap
from doubletrouble.theory._cross_terms import member_terms
from doubletrouble.theory._error import (
    AnyProblem,
    Inputs,
    checked_measure,
    evaluate,
    exact_error,
    has_any_loss,
    member_fixed_point,
    on_flat_points,
    total_error,
    total_of,
)
from doubletrouble.theory._fixed_point import NO_SAMPLES, FixedPoint, Moves, Spectrum

_LOG_STEP = 1e-3  # of central differences
_STEP = 1e-20  # the imaginary step along -log y, which rises with log r: its square is negligible
# Nodes at which the derivative is evaluated first, in units of the kernel's total weight; the ends
# are equal to 0 and inf to rounding.
_SMALLEST = 1e-250
_NODES = np.concatenate([[0.0, 1e-200], np.geomspace(1e-24, 1e24, 97), [1e240]])


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class OptimalRidge(ByValue, Shown):
    """The ridge of least total test error, and the error there.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> print(dt.optimal_ridge(dt.Problem(features_per_dim=10.0, noise=0.5)))
    part             error  share
    noise           0.117     25%
    initialization  0.0444     9%
    sampling        0.0858    18%
    bias            0.226     48%
    noise floor     0          0%
    total           0.473
    The best ridge is 0.0154. 48% of the error is bias.
    """

    error: ErrorTerms[Value]  # at this ridge
    # λ of a `Problem`, 0 and inf are possible; None of others
    ridge: Value = None  # type: ignore[assignment]
    # δ of a `SpectralProblem`; None of a `Problem`
    gram_ridge: Value = None  # type: ignore[assignment]

    @property
    def name(self) -> str:
        """Which of the two ridges it is."""
        return "ridge" if self.gram_ridge is None else "gram_ridge"

    @property
    def value(self) -> Value:
        """The ridge of either kind of problem."""
        ridge: Value = getattr(self, self.name)
        return ridge

    def _content(self) -> Content:
        name, value, verdict = self.name, self.value, ""
        if not self.error.shape:
            verdict = f"The best {name} is {whole(float(value))}. {error_verdict(self.error)}"
        return solved_content(self.error, name, value, verdict)

    def _picture(self) -> _plots.Picture:
        return _plots.error_picture(self.error, without(self.error.coordinates, self.name))


def without(coordinates: Mapping[str, Value], solved: str) -> dict[str, Value]:
    """The coordinates but for a parameter that is solved for, unless it is the only one."""
    given = {name: value for name, value in coordinates.items() if name != solved}
    return given or dict(coordinates)


def optimal_ridge(
    problem: AnyProblem, ensemble: EnsembleLike = 1, measure: Measure | None = None
) -> OptimalRidge:
    """Return the ridge that minimizes the total test error of an ensemble, and the error there.

    Parameters
    ----------
    problem : Problem or SpectralProblem
        An isotropic problem, or one with a known spectrum; its fields may be arrays. Its own ridge
        has no effect.
    ensemble : int or array_like or Scheme, default: 1
        A number of models K, or any ensemble of `exact_error` except `Vote`.
    measure : None or "zero_one" or "zero_one_noisy" or "squared" or "log", default: None
        The error that is minimized, as for `exact_error`: "squared" for regression, by default
        "zero_one" for classification.

    Returns
    -------
    OptimalRidge
        The `ridge` for a `Problem`, the `gram_ridge` for a `SpectralProblem`, and the error there.
        Both 0 (minimum norm) and inf (predict zero) are possible.

    Raises
    ------
    ValueError
        For an ensemble or a measure that is not supported for the problem, shapes that do not
        broadcast, or the loss "max_margin", which does not depend on the ridge.
    TypeError
        If an argument is not of the type above.
    ConvergenceError
        If a solver stops before its tolerance.

    Notes
    -----
    For losses other than the squared loss of regression the minimum is one of ridges from 1e-10 to
    1e8, to about seven digits; at the ends it is 0 or inf (1e-10 for the logistic loss on separable
    data).

    Examples
    --------
    >>> import doubletrouble as dt
    >>> best = dt.optimal_ridge(dt.Problem(features_per_dim=10.0, samples_per_dim=1.0))
    >>> round(best.ridge, 4), round(best.error.total, 4)
    (0.2222, 0.6661)
    >>> dt.optimal_ridge(dt.Problem(noise=0.1), float("inf")).ridge
    0.0
    """
    scheme = as_ensemble(ensemble, "optimal_ridge")
    name = checked_measure(problem, measure)
    if has_any_loss(problem):
        from doubletrouble.convex import best_ridge

        ridge = as_value(best_ridge(problem, scheme, name))
    else:
        ridge = evaluate(problem, scheme, _best_ridges, block=4096)["ridge"]
    if isinstance(problem, Problem):
        there = replace(problem, ridge=ridge)
        return OptimalRidge(ridge=ridge, error=exact_error(there, scheme, measure))
    error = exact_error(replace(problem, gram_ridge=ridge), scheme)
    return OptimalRidge(gram_ridge=ridge, error=error)


@on_flat_points
def _best_ridges(spectrum: Spectrum, scheme: Scheme, at: Inputs) -> Parts:
    return {"ridge": best_ridges(spectrum, scheme, at)}


def best_ridges(spectrum: Spectrum, scheme: Scheme, at: Inputs) -> FloatArray:
    """The best ridge of each point of a flat block."""
    index = np.arange(at.features.size)
    nodes = np.repeat(_NODES, index.size)
    risk, slope = (
        v.reshape(_NODES.size, -1)
        for v in _risk(spectrum, scheme, at, nodes, np.tile(index, _NODES.size))
    )
    # a minimum lies at 0 if the slope is positive there, and wherever it turns positive
    at_zero = slope[0] >= 0
    cells, inside = np.nonzero((slope[:-1] < 0) & (slope[1:] >= 0))
    best, least = np.where(at_zero, 0.0, np.inf), np.where(at_zero, risk[0], np.inf)
    if inside.size:
        low, high = np.log(np.maximum(_NODES[cells], _SMALLEST)), np.log(_NODES[cells + 1])
        minima = np.exp(
            crossings(
                lambda x, i: _risk(spectrum, scheme, at, np.exp(x), inside[i])[1],
                low,
                high,
                slope[cells, inside],
                slope[cells + 1, inside],
            )
        )
        risks, slopes = _risk(spectrum, scheme, at, minima, inside)
        if not np.isfinite(risks).all():
            raise ConvergenceError(
                "the error at the best ridge must be finite",
                last=minima,
                residual=float(np.max(np.abs(slopes))),
            )
        for i, ridge, value in zip(inside, minima, risks, strict=True):
            if value < least[i]:
                best[i], least[i] = ridge, value
    # where powers differ by more than 150 decades derivatives underflow: a node may then be better
    node = np.argmin(risk, axis=0)
    better = risk[node, index] < (1 - 1e-6) * least
    best = np.where(better & (np.isfinite(least) | (node < _NODES.size - 1)), _NODES[node], best)
    # ridge 0 of a saturated learner is a limit; where it diverges, a tiny ridge replaces it
    samples, _ = at.member_samples()
    if np.any(spectrum.saturated(at.features, samples)):
        point, g = member_fixed_point(spectrum, scheme, at, np.zeros_like(best))
        terms = member_terms(point, spectrum, at.shared_features, g)
        best = np.where((best == 0) & np.isinf(_total(at, terms)), _SMALLEST, best)
    best[samples < NO_SAMPLES] = 0.0  # without data the error does not depend on the ridge
    best[at.signal * spectrum.learnable == 0] = np.inf
    return np.asarray(spectrum.own_ridge(best, at.samples))


def _total(at: Inputs, terms: MemberTerms) -> FloatArray:
    """The error of the ensemble without the Bayes error."""
    return total_error(terms, terms.unlearned(), at, 1 / at.n_members)


def _risk(
    spectrum: Spectrum, scheme: Scheme, at: Inputs, ridge: FloatArray, index: Indices
) -> tuple[FloatArray, FloatArray]:
    """The test error at ridge r, and its derivative by the ridge up to a positive factor."""
    at = at.take(index)
    samples, surplus = at.member_samples()
    samples = np.where(samples < NO_SAMPLES, 1.0, samples)
    distinct = samples * (DISTINCT if scheme.with_replacement else 1.0)
    saturated = spectrum.saturated(at.features, distinct)
    ridge = np.where(saturated, np.maximum(ridge, _SMALLEST), ridge)
    if scheme.with_replacement:
        step = np.full_like(at.features, _STEP)
        bag = bootstrap(spectrum, at.features, samples, ridge, log_step=step)
        point = replace(bag.point, limit=np.zeros(step.shape, dtype=bool))
        g = bag.shared_samples
    else:
        point, g = spectrum.solve(at.features, samples, surplus, ridge), at.shared_samples
        point = point.stepped(spectrum, _step(point, at))
    risk = _total(at, member_terms(point, spectrum, at.shared_features, g))
    slope = -risk.imag / _STEP
    # at P = N the ridgeless error of finitely many members is infinite
    peak = ~np.isfinite(slope) | ~np.isfinite(risk.real)
    return np.where(peak, np.inf, risk.real), np.where(peak, -np.inf, slope)


def _step(point: FixedPoint, at: Inputs) -> FloatArray:
    """The step, smaller near P = N at a small ridge, where unused fractions set the scale."""
    unused = (
        point.unused_features / point.gap_per_feature + point.unused_samples / point.gap_per_sample
    )
    # infinitely many members have a peak in their shared terms only
    apart = (1 - at.shared_features) + (1 - at.shared_samples)
    return _STEP * np.fmin(np.where(np.isinf(at.n_members), unused + apart, unused), 1.0)


# --- derivatives by size -------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Slopes:
    """The derivatives of the total test error, in the problem's units of P and N."""

    by_n_features: Value  # ∂R/∂P, with P the features of every model
    by_n_samples: Value  # ∂R/∂N


@dataclass(slots=True, kw_only=True)
class _Moves(Moves):
    """Derivatives along log P or log N."""

    joint: FloatArray  # J, by the unused fractions alone


def error_slopes(
    problem: AnyProblem, ensemble: EnsembleLike = 1, measure: Measure | None = None
) -> Slopes:
    """Return the derivatives of the total test error by P and by N, at fixed ridge.

    Where the error is infinite (P = N without ridge) both derivatives are -inf; for a linear
    network at N = D without ridge that by features is 0. At a kink (infinitely many models at P =
    N, linear networks at P = D and N = D) they are right derivatives. With losses other than the
    squared loss of regression they are central differences, to about six digits.

    >>> from doubletrouble import Problem
    >>> slopes = error_slopes(Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=0.1))
    >>> round(slopes.by_n_features, 6), round(slopes.by_n_samples, 6)
    (-0.169236, -0.350184)
    """
    scheme = as_ensemble(ensemble, "advise")
    if has_any_loss(problem):
        P, N = np.asarray(problem.features_per_dim), np.asarray(problem.samples_per_dim)

        def by_features(features: FloatArray) -> FloatArray:
            return total_of(replace(problem, features_per_dim=features), scheme, measure)

        def by_samples(samples: FloatArray) -> FloatArray:
            return total_of(replace(problem, samples_per_dim=samples), scheme, measure)

        return Slopes(
            by_n_features=_central_difference(by_features, P),
            by_n_samples=_central_difference(by_samples, N),
        )
    return Slopes(**evaluate(problem, scheme, _slope_parts))


def _central_difference(total: Callable[[FloatArray], FloatArray], size: FloatArray) -> Value:
    """The derivative of the error by a size, from two values at a small distance in its log."""
    up, down = (total(size * factor) for factor in (math.exp(_LOG_STEP), math.exp(-_LOG_STEP)))
    with np.errstate(invalid="ignore"):
        slope = np.where(np.isinf(total(size)), -np.inf, (up - down) / (2 * _LOG_STEP * size))
        slope = np.where(np.isinf(size), 0.0, slope)
    return as_value(slope)


def moved_member_terms(
    spectrum: Spectrum, at: Inputs
) -> tuple[FixedPoint, dict[str, tuple[MemberTerms, FloatArray]]]:
    """The fixed point of one member, and its terms after complex steps of log N and log P.

    With each comes its step: imaginary parts are derivatives times the step.
    """
    samples, surplus = at.member_samples()
    ridge = spectrum.scaled_ridge(at.ridge, at.samples)
    point = spectrum.fixed_point(at.features, samples, surplus, ridge)
    by_P, by_N = _moves(point, surplus, float(spectrum.ridge_falls_with_samples))
    moved = {}
    for name, moves in (("by_n_samples", by_N), ("by_n_features", by_P)):
        there, joint, step = _moved(spectrum, point, moves)
        moved[name] = member_terms(there, spectrum, 0.0, at.shared_samples, joint), step
    return point, moved


@on_flat_points
def _slope_parts(spectrum: Spectrum, scheme: Scheme, at: Inputs) -> Parts:
    point, moved = moved_member_terms(spectrum, at)
    full = spectrum.complete(
        at.features, point.samples, spectrum.scaled_ridge(at.ridge, at.samples)
    )
    corner = full & (point.samples == spectrum.rank)

    def slope(name: str, size: FloatArray) -> tuple[FloatArray, FloatArray]:
        terms, step = moved[name]
        risk = _total(at, terms)
        # limits are taken of the sum, whose terms may be complex
        value, total = risk.imag / step, risk.real
        value, total = (limit_value(v, point.limit) for v in (value, total))
        diverges = ~np.isfinite(total) | ~np.isfinite(value)
        return np.where(np.isinf(size), 0.0, np.where(diverges, -np.inf, value / size)), total

    by_features, total = slope("by_n_features", at.features)
    by_samples, _ = slope("by_n_samples", at.samples)
    # where every mode is learned, features have no effect, and samples remove a divergence
    useless = full & (np.isinf(total) | np.isfinite(by_features))
    by_features = np.where(useless, 0.0, by_features)
    by_samples = np.where(corner & np.isfinite(by_samples), 0.0, by_samples)
    return {"by_n_features": by_features, "by_n_samples": by_samples}


def _moves(point: FixedPoint, surplus: FloatArray, falls: float) -> tuple[_Moves, _Moves]:
    """The derivatives above, by log P and by log N; `falls` is κ."""
    A, B = point.unused_features, point.unused_samples
    e_P, e_N, Q_N = point.gap_per_feature, point.gap_per_sample, point.second_per_sample
    z_N = e_N + Q_N
    z_P = np.where(e_N > 0, e_P / e_N, 0.0) * z_N
    g = e_N * np.where(np.isinf(point.features), 1.0, surplus / point.features)
    J = point.joint
    peak = J == 0  # P = N, no ridge: with more of either, the other one is the smaller size
    J = np.where(peak, 1.0, J)
    x, w = z_P / J, (z_N + falls * B) / J
    by_P = _Moves(
        y=B * x,
        unused_features=np.where(peak, z_P, A * (B + e_N) * x),
        unused_samples=-e_N * B * x,
        joint=(A * B * (B + e_N) + e_N * g) * x,
        features=1.0,
    )
    by_N = _Moves(
        y=A * w,
        unused_features=-e_P * A * w,
        unused_samples=np.where(
            peak, z_N, B * (((e_P + A * (1 - falls)) * z_N + falls * A * Q_N) / J)
        ),
        joint=z_N * ((A * B * (A + e_P) - e_P * g) / J)
        - falls * A * B * ((B * e_P + A * e_N + 2 * e_P * e_N) / J),
        samples=1.0,
    )
    return by_P, by_N


def _moved(
    spectrum: Spectrum, point: FixedPoint, moves: _Moves
) -> tuple[FixedPoint, Numbers, FloatArray]:
    """The fixed point and J after a complex step, and the step."""
    J = point.joint
    # near P = N at a small ridge J varies fastest: the step is small on that scale
    step = _STEP / np.fmax(np.abs(moves.joint) / J, 1.0)
    there = point.moved(spectrum, step, moves)
    by_sample = point.unused_features * there.gap_per_sample.imag
    by_feature = point.unused_samples * there.gap_per_feature.imag
    joint = J + 1j * (step * moves.joint + by_sample + by_feature)
    return replace(there, limit=np.zeros(np.shape(point.limit), dtype=bool)), joint, step
