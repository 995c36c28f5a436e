r"""Fits of a linear model to labels, for every loss of `losses`.

With features φ_μ (N × P), labels y and weights w of the samples, the weights a and, where one is
fitted, the intercept b minimize

    Σ_μ w_μ ℓ(y_μ, f_μ) + (alpha/2) |a|²,        f_μ = φ_μ·a + b,        alpha = N P λ/D

In this convention the squared loss is [dascoli2020] Eq. (4). At the minimum a = Φᵀ γ with the dual
coefficients γ_μ = -w_μ ∂ℓ/∂f / alpha, so that f = K γ + b with K = Φ Φᵀ, and Σ γ = 0 with an
intercept. Every method below takes steps (K + diag d)⁻¹ r, solved on the smaller side:
N × N, or P × P by the identity of Woodbury.

**Losses of the clip family** (all but the logistic loss). A margin loss of labels ±1 is a function
of y (y - f): with e = y - f for all, and the bounds l, h of the slope exchanged in sign where
y = -1, the dual problem is a quadratic program in a box,

    maximize  Σ y γ - γᵀ (K + alpha c/w) γ/2    over    w l/alpha ≤ γ ≤ w h/alpha    [Σ γ = 0]

It is solved by a primal-dual interior-point method with predictor and corrector ([mehrotra1992]),
and the result refined by steps in which the coefficients at their bounds are held fixed. Of a
feasible γ

    gap = Σ_μ w ℓ(e) + c (alpha γ)²/(2w) - alpha γ e ≥ 0

is the distance of the objective from its minimum, at most: a sum without cancellation.

**Maximum margin**: the vector of least norm |Φᵀ γ| in the convex hull of the rows y φ (y γ ≥ 0,
Σ y γ = 1) is the margin, and a = Φᵀ γ/|Φᵀ γ|². Every γ in this set bounds the margin of all weights
from above: where |Φᵀ γ| = 0, the data are not separable.

**Logistic loss**: Newton's method with the slopes W = w σ (1 - σ), (K + alpha/W) γ + b = f + G/W,
where G = -w ∂ℓ/∂f, and backtracking. Its gap is |Φᵀ (G - alpha γ)|²/(2 alpha).

**Small alpha.** alpha = 0 is the limit alpha → 0. Where residuals can be zero, it is the
interpolation of least norm for every residual loss, and the maximum margin for hinge and squared
hinge. The logistic loss has no minimum on separable data. Below 1e-8 of the mean diagonal entry of
K, where the objective of such fits is smaller than the rounding of its terms, the limit is the fit
if it is feasible for alpha and its residuals alpha c γ are negligible. Where there is no such
limit, smaller alpha are replaced by this value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble._ridge import Modes
from doubletrouble.errors import ConvergenceError, DivergenceError
from doubletrouble.losses import Logistic, Loss, LossLike, MaxMargin, Squared, loss
from doubletrouble.parameters import FloatArray, refuse

TOLERANCE = 1e-9
"""Largest duality gap of a fit, relative to the objective."""

_LIMIT = 1e-8  # alpha of the limit alpha → 0, relative to the mean diagonal entry of K
_SEPARATED = 1e-7  # least margin, relative to the largest |φ|
_STEPS, _POLISHING = 100, 12
_AIM = 1e-11  # relative gap at which the interior-point method stops
_ROUNDING = 1e-15  # of the mean diagonal entry of K: least d
_FLAT = 1e-9  # slope of the objective in the weights, relative to its largest term
_SHORT = 0.995  # of the step to the nearest bound
_PATIENCE = 10  # steps without a gap of half the size
_SIDE = np.array([[1.0], [-1.0]])  # of the lower and the upper bounds

Solver: TypeAlias = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
"""γ and a for right-hand sides r (N, k) and o (P, k); o is empty, (0, k), in models without a."""

Gap: TypeAlias = Callable[["_Iterate"], float]
"""The gap of an iterate relative to the objective."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearFit:
    """A fit, and its certificate: `gap` is the duality gap relative to the objective."""

    weights: FloatArray | None  # a, (P,); None for a model of which only K is known
    dual: FloatArray  # γ, (N,): a = Φᵀ γ
    intercept: float
    outputs: FloatArray  # f at the samples, (N,)
    gap: float


class _Iterate(NamedTuple):
    """Dual coefficients, and the multipliers of their equations, of a program in a box."""

    gamma: FloatArray
    nu: FloatArray
    gap: float = np.inf
    weights: FloatArray | None = None


class LinearModel:
    """Outputs linear in features of N samples, or in a kernel of which K is given."""

    def __init__(self, features: FloatArray | None = None, gram: FloatArray | None = None) -> None:
        if features is None and gram is None:
            raise TypeError("features or gram must be given, got neither")
        self.features = None if features is None else np.asarray(features, dtype=np.float64)
        self.gram = gram
        if self.features is not None and gram is None:
            n, p = self.features.shape
            if p >= n:
                self.gram = self.features @ self.features.T
        if self.gram is not None:
            self.diagonal = np.diagonal(self.gram)
        else:
            assert self.features is not None
            self.diagonal = np.einsum("ij,ij->i", self.features, self.features)
        self.scale = float(np.mean(self.diagonal)) or 1.0

    @property
    def phi(self) -> FloatArray | None:
        """The features of a model without K, whose weights are unknowns of their own."""
        return self.features if self.gram is None else None

    def fit(
        self,
        labels: npt.ArrayLike,
        loss_like: LossLike,
        alpha: float,
        *,
        sample_weight: npt.ArrayLike | None = None,
        intercept: bool | None = None,
    ) -> LinearFit:
        """The minimum for labels (N,); the intercept is that of the loss unless given.

        Raises DivergenceError where there is none, and ConvergenceError if it is not reached.

        >>> model = LinearModel(np.array([[1.0, 0.0], [0.0, 2.0]]))
        >>> model.fit([1, -1], "max_margin", 0.0).weights
        array([ 1. , -0.5])
        """
        y, kind = np.asarray(labels, dtype=np.float64), loss(loss_like)
        w = np.ones_like(y) if sample_weight is None else np.asarray(sample_weight, np.float64)
        for name, values in (("labels", y), ("sample_weight", w)):
            if values.shape != self.diagonal.shape:
                raise ValueError(
                    f"{name} must have shape {self.diagonal.shape}, got {values.shape}"
                )
        if not 0 <= alpha < np.inf:
            raise ValueError(f"alpha must be in [0, inf), got {alpha!r}")
        refuse("sample_weight", w, ~(w > 0), "positive")
        if kind.margin:
            refuse("labels", y, np.abs(y) != 1, f"-1 or 1 for loss {kind!s}")
        with_intercept = kind.intercept if intercept is None else intercept
        with np.errstate(all="ignore"):
            fit = self._minimum(y, kind, float(alpha), w, with_intercept)
            if not fit.gap <= TOLERANCE and self.gram is not None and self.features is not None:
                primal, basis = self._primal
                fit = primal._minimum(y, kind, float(alpha), w, with_intercept)
                assert fit.weights is not None
                fit = replace(fit, weights=basis @ fit.weights)
        if not fit.gap <= TOLERANCE:
            raise ConvergenceError(
                f"the gap of a fit must be at most {TOLERANCE:g}, got {fit.gap:.1e} for loss "
                f"{kind!s} and alpha = {alpha:g}",
                last=fit.dual,
                residual=fit.gap,
            )
        return fit

    def _fit(
        self,
        dual: FloatArray,
        intercept: float = 0.0,
        gap: float = 0.0,
        weights: FloatArray | None = None,
    ) -> LinearFit:
        """A fit; `weights` where they have more digits than Φᵀ γ."""
        if weights is None and self.features is not None:
            weights = self.features.T @ dual
        outputs = self.outputs(dual, weights) + intercept
        return LinearFit(weights=weights, dual=dual, intercept=intercept, outputs=outputs, gap=gap)

    def _minimum(
        self, y: FloatArray, kind: Loss, alpha: float, w: FloatArray, intercept: bool
    ) -> LinearFit:
        if kind.margin and intercept and abs(float(np.sum(y))) == len(y):
            if isinstance(kind, Logistic):
                raise ValueError(
                    "labels must have both classes for the logistic loss with an intercept, which "
                    f"diverges otherwise, got {y[0]:g} alone"
                )
            return self._fit(np.zeros(len(y)), float(y[0]))
        if isinstance(kind, MaxMargin):
            return self._max_margin(y, intercept)
        least = _LIMIT * self.scale
        if isinstance(kind, Logistic):
            fit = self._newton(y, alpha or least, w, intercept)
            if alpha == 0 and np.all(y * fit.outputs > 0):
                raise DivergenceError(
                    "alpha must be positive for the logistic loss on data that are linearly "
                    "separable, where weights diverge without a penalty, got 0: the limit of "
                    "their direction is that of losses.MaxMargin()"
                )
            return fit
        if alpha < least:
            limit = self._limit(y, kind, w, intercept)
            if limit is None:
                alpha = least
            elif _is_minimum(limit, y, kind, alpha, w):
                return limit
        return self._clipped(y, kind, alpha, w, intercept)

    def _limit(self, y: FloatArray, kind: Loss, w: FloatArray, intercept: bool) -> LinearFit | None:
        """The fit as alpha → 0 where residuals can be zero, or None."""
        if kind.margin:
            try:
                return self._max_margin(y, intercept)
            except DivergenceError:  # not separable: a minimum exists without a penalty
                return None
        fit = self._least_norm(y, w, intercept)
        residual = float(np.linalg.norm(y - fit.outputs))
        largest = TOLERANCE * max(float(np.linalg.norm(y)), 1e-300)
        return fit if isinstance(kind, Squared) or residual <= largest else None

    # --- linear algebra on the smaller side ---

    def outputs(self, dual: FloatArray, weights: FloatArray | None = None) -> FloatArray:
        """The outputs at the samples, by the weights where they are given."""
        if weights is None or self.features is None:
            return self.times(dual)
        return np.asarray(self.features @ weights)

    def times(self, v: FloatArray) -> FloatArray:
        """K v."""
        if self.gram is not None:
            return np.asarray(self.gram @ v)
        assert self.features is not None
        return np.asarray(self.features @ (self.features.T @ v))

    @cached_property
    def _primal(self) -> tuple[LinearModel, FloatArray]:
        """The same model by weights of at most N features, and the basis of these.

        Weights are differences of much larger terms γ where alpha is small or rows are equal: a
        model without K has them as unknowns of their own.
        """
        assert self.features is not None
        basis, triangle = np.linalg.qr(self.features.T)
        model = LinearModel(np.ascontiguousarray(triangle.T))
        model.gram = None
        return model, basis

    def solver(self, d: FloatArray) -> Solver:
        """The solution of a - Φᵀ γ = o and Φ a + diag d γ = r; without a, of K γ + diag d γ = r."""
        from scipy.linalg import cho_factor, cho_solve

        d = np.maximum(d, _ROUNDING * self.scale)
        phi = self.phi
        if phi is None:
            assert self.gram is not None
            matrix = self.gram.copy()
            matrix.flat[:: len(d) + 1] += d
        else:
            scaled = phi / np.sqrt(d)[:, None]
            matrix = scaled.T @ scaled
            matrix.flat[:: len(matrix) + 1] += 1.0
        if not np.isfinite(matrix).all():
            raise np.linalg.LinAlgError("overflow")
        lift = 0.0
        while True:
            try:
                factor = cho_factor(matrix.T, check_finite=False)
                break
            except np.linalg.LinAlgError:  # a small eigenvalue is negative by rounding
                step = max(9 * lift, len(d) * _ROUNDING * float(matrix.diagonal().max()))
                matrix.flat[:: len(matrix) + 1] += step
                lift += step

        def solve(r: FloatArray, o: FloatArray) -> tuple[FloatArray, FloatArray]:
            if phi is None:
                return np.asarray(cho_solve(factor, r, check_finite=False)), o
            a = cho_solve(factor, phi.T @ (r / d[:, None]) + o, check_finite=False)
            return np.asarray((r - phi @ a) / d[:, None]), np.asarray(a)

        return solve

    def sub_gram(self, rows: npt.NDArray[np.intp]) -> FloatArray:
        """K of some of the samples."""
        if self.gram is not None:
            return np.asarray(self.gram[np.ix_(rows, rows)])
        assert self.features is not None
        part = self.features[rows]
        return np.asarray(part @ part.T)

    def _least_norm(self, y: FloatArray, w: FloatArray, intercept: bool) -> LinearFit:
        """The weighted least-squares fit of least norm."""
        root = np.sqrt(w)
        constant = root / np.linalg.norm(root) if intercept else np.zeros(len(y))

        def centred(v: FloatArray) -> FloatArray:
            scaled = (v.T * root).T
            return np.asarray(scaled - np.multiply.outer(constant, constant @ scaled))

        if self.phi is not None:
            a = np.linalg.lstsq(centred(self.phi), centred(y), rcond=None)[0]
            dual: FloatArray = np.asarray(np.linalg.lstsq(self.phi.T, a, rcond=None)[0], np.float64)
            f: FloatArray = np.asarray(self.phi @ a, np.float64)
        else:
            assert self.gram is not None
            inner = centred(centred(self.gram).T)
            dual = centred(Modes.of_rows(inner, centred(y)[:, None]).dual(0.0)[:, 0])
            f = self.gram @ dual
        return self._fit(dual, float(np.average(y - f, weights=w)) if intercept else 0.0)

    # --- losses of the clip family ---

    def _clipped(
        self, y: FloatArray, kind: Loss, alpha: float, w: FloatArray, intercept: bool
    ) -> LinearFit:
        ends = np.stack([side * w / alpha for side in kind.slopes])  # l and h
        if kind.margin:
            ends = np.where(y > 0, ends, -ends[::-1])
        program = _BoxProgram(
            model=self,
            target=y,
            curvature=alpha * kind.softness / w,
            low=ends[0],
            high=ends[1],
            equations=np.ones((int(intercept), len(y))),
            values=np.zeros(int(intercept)),
        )

        # residuals of an interpolation are rounding, of the size of the labels
        rounding = 1e-5 * float(w @ kind.value(y, 0 * y))

        def gap(at: _Iterate) -> float:
            f = self.outputs(at.gamma, at.weights)
            b = -float(at.nu[0]) if intercept else 0.0
            G, norm, off = alpha * at.gamma, float(at.gamma @ f), 0.0
            if at.weights is not None and self.features is not None:
                rest = alpha * at.weights - self.features.T @ G
                norm, off = float(at.weights @ at.weights), float(rest @ rest) / (2 * alpha)
            cost = w * kind.value(y, f + b)
            curved = kind.softness * G * G / (2 * w)
            off += float(np.sum(cost + curved - G * (y - f - b))) + abs(b * float(np.sum(G)))
            objective = float(np.sum(cost)) + alpha / 2 * norm
            return max(off, 0.0) / max(objective + rounding, 1e-300)

        found = program.solution(gap)
        b = -float(found.nu[0]) if intercept else 0.0
        return self._fit(found.gamma, b, found.gap, found.weights)

    def _max_margin(self, y: FloatArray, intercept: bool) -> LinearFit:
        n, infinite = len(y), np.full(len(y), np.inf)
        equations = np.stack([y, np.ones(n)])[: 1 + intercept]
        program = _BoxProgram(
            model=self,
            target=np.zeros(n),
            curvature=np.zeros(n),
            low=np.where(y > 0, 0.0, -infinite),
            high=np.where(y > 0, infinite, 0.0),
            equations=equations,
            values=np.array([1.0, 0.0])[: 1 + intercept],
        )
        least = (_SEPARATED**2) * float(np.max(self.diagonal))

        def gap(at: _Iterate) -> float:
            f = self.outputs(at.gamma, at.weights)
            square = float(at.gamma @ f)  # at least margin²
            if square <= least:
                return 0.0
            b = -float(at.nu[1]) if intercept else 0.0
            margin = float(np.min(y * (f + b)))  # times |Φᵀ γ|
            off = abs(float(y @ at.gamma) - 1) + abs(b * float(np.sum(at.gamma))) / square
            return max(square / margin - 1, 0.0) + off if margin > 0 else np.inf

        found = program.solution(gap)
        square = float(found.gamma @ self.outputs(found.gamma, found.weights))
        if square <= least:
            raise DivergenceError(
                "labels must be linearly separable by the features for loss max_margin, got data "
                f"of margin at most {np.sqrt(max(square, 0.0)):.1e} (features of size "
                f"{np.sqrt(np.max(self.diagonal)):.1e}): no weights separate them"
            )
        b = -float(found.nu[1]) / square if intercept else 0.0
        a = None if found.weights is None else found.weights / square
        return self._fit(found.gamma / square, b, found.gap, a)

    # --- the logistic loss ---

    def _newton(self, y: FloatArray, alpha: float, w: FloatArray, intercept: bool) -> LinearFit:
        """Newton's method in γ or, in models without K, in the weights a."""
        phi = self.phi
        outputs = self.times if phi is None else phi.__matmul__
        coef = np.zeros(len(y) if phi is None else phi.shape[1])
        f, b = np.zeros(len(y)), 0.0  # f without b

        def objective(f: FloatArray, coef: FloatArray, b: float) -> float:
            norm = float(coef @ (f if phi is None else coef))
            return float(w @ np.logaddexp(0.0, -y * (f + b))) + alpha / 2 * norm

        value, relative, G = objective(f, coef, b), np.inf, w * y
        for _ in range(_STEPS):
            share = 1 / (1 + np.exp(np.clip(y * (f + b), -700, 700)))  # σ(-y f)
            G, W = w * y * share, np.maximum(w * share * (1 - share), 1e-280)
            rest = G - alpha * coef if phi is None else phi.T @ G - alpha * coef
            square = float(rest @ self.times(rest)) if phi is None else float(rest @ rest)
            off = abs(b * float(np.sum(G))) if intercept else 0.0
            before, relative = relative, (max(square, 0.0) / (2 * alpha) + off) / max(value, 1e-300)
            # for a large alpha the objective is that of weights 0 to rounding: their slope decides
            force = float(G @ self.times(G)) if phi is None else float(np.sum((phi.T @ G) ** 2))
            steep = max(square, 0.0) > _FLAT**2 * force
            if relative <= TOLERANCE and (
                relative > 0.1 * before or (relative <= _AIM / 100 and not steep)
            ):
                break
            step, step_b = (
                self._dual_step(f + b, G, W, alpha, intercept)
                if phi is None
                else _primal_step(phi, rest, G, W, alpha, intercept)
            )
            if phi is None:
                step, step_b = step - coef, step_b - b
            step_f = outputs(step)
            slope = alpha * float(coef @ (step_f if phi is None else step))
            slope -= float(G @ (step_f + step_b))
            size = 1.0
            while size > 1e-10:
                moved = (f + size * step_f, coef + size * step, b + size * step_b)
                # differences of objectives are rounding near the minimum
                if (least := objective(*moved)) <= value * (1 + 1e-14) + 1e-4 * size * slope:
                    break
                size /= 2
            else:
                break  # the objective is the minimum up to rounding
            (f, coef, b), value = moved, least
        if phi is None:
            return self._fit(coef, b, relative)
        return self._fit(G / alpha, b, relative, coef)

    def _dual_step(
        self, f: FloatArray, G: FloatArray, W: FloatArray, alpha: float, intercept: bool
    ) -> tuple[FloatArray, float]:
        """The next γ and b: (K + alpha/W) γ + b = f + G/W, Σ γ = 0."""
        columns = np.stack([f + G / W, np.ones_like(f)], axis=1)[:, : 1 + intercept]
        solved, _ = self.solver(alpha / W)(columns, np.zeros((0, 1 + intercept)))
        if not intercept:
            return solved[:, 0], 0.0
        b = float(np.sum(solved[:, 0]) / np.sum(solved[:, 1]))
        return solved[:, 0] - b * solved[:, 1], b


def _is_minimum(fit: LinearFit, y: FloatArray, kind: Loss, alpha: float, w: FloatArray) -> bool:
    """Whether a fit without residuals is that for alpha: feasible, up to negligible residuals."""
    if isinstance(kind, Squared) and alpha > 0:
        return False  # solved directly
    slope = alpha * fit.dual / w
    low, high = kind.slopes
    bounded = y * slope if kind.margin else slope
    inside = np.all((bounded >= low * (1 + TOLERANCE)) & (bounded <= high))
    size = 1.0 if kind.margin else float(np.abs(y).max())
    return bool(inside and kind.softness * float(np.abs(slope).max()) <= TOLERANCE * size)


def _primal_step(
    phi: FloatArray, rest: FloatArray, G: FloatArray, W: FloatArray, alpha: float, intercept: bool
) -> tuple[FloatArray, float]:
    """The step of a and b, by the Hessian Φᵀ W Φ + alpha."""
    scaled = phi * np.sqrt(W)[:, None]
    if not intercept:
        matrix = scaled.T @ scaled
        matrix.flat[:: len(rest) + 1] += alpha
        return np.asarray(np.linalg.solve(matrix, rest)), 0.0
    root = np.sqrt(W)
    centre = scaled.T @ root / float(np.sum(W))  # the weighted mean of the features
    scaled -= np.multiply.outer(root, centre)
    matrix = scaled.T @ scaled
    matrix.flat[:: len(rest) + 1] += alpha
    total = float(np.sum(G))
    step: FloatArray = np.asarray(np.linalg.solve(matrix, rest - centre * total))
    return step, total / float(np.sum(W)) - float(centre @ step)


@dataclass(kw_only=True, eq=False)
class _BoxProgram:
    """Maximize target·γ - γᵀ (K + curvature) γ/2 over low ≤ γ ≤ high and equations γ = values."""

    model: LinearModel
    target: FloatArray  # (N,)
    curvature: FloatArray  # (N,)
    low: FloatArray  # (N,)
    high: FloatArray  # (N,)
    equations: FloatArray  # (k, N)
    values: FloatArray  # (k,)

    def times(self, v: FloatArray) -> FloatArray:
        """(K + curvature) v."""
        return self.model.times(v) + self.curvature * v

    def solution(self, gap: Gap) -> _Iterate:
        """γ, the multipliers of the equations and, in models without K, the weights."""
        ends = np.stack([self.low, self.high])
        finite = np.isfinite(ends)
        inside = np.minimum((self.high - self.low) / 2, 1 / self.model.scale)
        gamma = np.clip(0.0, self.low + inside, self.high - inside)
        nu, a = np.zeros(len(self.values)), self._weights(gamma)
        residual = self._residual(gamma, nu, a)
        size = float(np.mean(np.abs(residual))) or 1.0
        z = np.where(finite, np.maximum(-_SIDE * residual, 0.0) + size, 0.0)
        count, polished, recent = int(finite.sum()), 1e-5, [np.inf] * _PATIENCE
        best, held = _Iterate(gamma, nu, np.inf, a), np.zeros_like(finite)
        for _ in range(_STEPS):
            s = np.where(finite, _SIDE * (gamma - ends), 1.0)
            relative = gap(_Iterate(gamma, nu, np.inf, a))
            if relative < best.gap:
                best, held = _Iterate(gamma, nu, relative, a), _at_bounds(gamma, s, z)
            recent = [*recent[1:], relative]
            if relative <= polished:  # the bounds that hold may be known already
                best = self._polished(best, held, gap)
                polished = min(polished, relative) / 100
            if best.gap <= _AIM or (best.gap < 1e-3 and min(recent) > 0.5 * recent[0]):
                break
            mu = float(np.sum(z * s * finite)) / max(count, 1)
            try:
                solve = self._newton_solver((z / s).sum(axis=0), gamma, nu, a)
            except np.linalg.LinAlgError:
                break
            step, step_nu, step_a = solve(np.zeros_like(gamma))
            length = 1.0
            if count:  # without bounds, one linear equation
                step_z = np.where(finite, -z * _SIDE * step / s - z, 0.0)
                length = min(_length(s, _SIDE * step, finite), _length(z, step_z, finite))
                ahead = (s + length * _SIDE * step) * (z + length * step_z)
                ratio = float(np.sum(ahead * finite)) / count / mu
                centre = np.where(finite, ratio**3 * mu - _SIDE * step * step_z, 0.0)
                step, step_nu, step_a = solve((_SIDE * (centre / s)).sum(axis=0))
                step_z = np.where(finite, (centre - z * _SIDE * step) / s - z, 0.0)
                length = min(_length(s, _SIDE * step, finite), _length(z, step_z, finite))
                length *= _SHORT
                z = z + length * step_z
            gamma, nu = gamma + length * step, nu + length * step_nu
            a = None if a is None else a + length * step_a
            if not np.isfinite(gamma).all():
                break
        if best.gap > _AIM:
            best = self._polished(best, held, gap, precise=True)
        return best

    def _weights(self, gamma: FloatArray) -> FloatArray | None:
        """The weights, in models without K."""
        phi = self.model.phi
        return None if phi is None else phi.T @ gamma

    def _residual(self, gamma: FloatArray, nu: FloatArray, a: FloatArray | None) -> FloatArray:
        """The gradient of the objective, without the bounds."""
        f = self.model.outputs(gamma, a)
        return np.asarray(self.target + nu @ self.equations - f - self.curvature * gamma)

    def _newton_solver(
        self, theta: FloatArray, gamma: FloatArray, nu: FloatArray, a: FloatArray | None
    ) -> Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray]]:
        """Steps of γ, the multipliers and a, for terms added to the gradient."""
        solve, k = self.model.solver(self.curvature + theta), len(self.values)
        residual, off = self._residual(gamma, nu, a), self.values - self.equations @ gamma
        weights = self._weights(gamma)
        shift = np.zeros(0) if a is None or weights is None else weights - a
        across, across_a = solve(self.equations.T, np.zeros((len(shift), k)))
        inner = self.equations @ across

        def steps(added: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
            first, first_a = solve((residual + added)[:, None], shift[:, None])
            step_nu: FloatArray = np.asarray(
                np.linalg.solve(inner, off - self.equations @ first[:, 0])
            )
            return first[:, 0] + across @ step_nu, step_nu, first_a[:, 0] + across_a @ step_nu

        return steps

    def _polished(
        self, best: _Iterate, held: npt.NDArray[np.bool_], gap: Gap, *, precise: bool = False
    ) -> _Iterate:
        """The solution with some coefficients held at their bounds, (2, N), corrected in turn.

        The equations for the others are those of γ or, `precise`, of γ and the weights.
        """
        ends = np.stack([self.low, self.high])
        for _ in range(_POLISHING):
            free = np.flatnonzero(~held.any(axis=0))
            fixed = np.where(held[0], self.low, np.where(held[1], self.high, 0.0))
            try:
                gamma, nu, a = (self._precise if precise else self._with_fixed)(fixed, free)
            except np.linalg.LinAlgError:
                break
            residual = self._residual(gamma, nu, a)
            new = _Iterate(np.clip(gamma, self.low, self.high), nu, np.inf, a)
            relative = gap(new)
            if relative < best.gap:
                best = new._replace(gap=relative)
            kept = held & (_SIDE * residual <= 0)
            held, before = np.where(held.any(axis=0), kept, _SIDE * (gamma - ends) < 0), held
            if best.gap <= _AIM or np.array_equal(before, held):
                break
        return best

    def _with_fixed(
        self, fixed: FloatArray, free: npt.NDArray[np.intp]
    ) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """The solution for the free coefficients and the multipliers."""
        n, k = free.size, len(self.values)
        inner, equations = self.model.sub_gram(free), self.equations[:, free]
        inner.flat[:: n + 1] += self.curvature[free]
        matrix = np.block([[inner, -equations.T], [equations, np.zeros((k, k))]])
        off = self.values - self.equations @ fixed
        right = np.concatenate([(self.target - self.times(fixed))[free], off])
        solved = np.linalg.solve(matrix, right)
        gamma = fixed.copy()
        gamma[free] = solved[:n]
        return gamma, solved[n:], None

    def _precise(
        self, fixed: FloatArray, free: npt.NDArray[np.intp]
    ) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        """The same, with the weights as further unknowns."""
        phi = self.model.phi
        if phi is None:
            return self._with_fixed(fixed, free)
        # γ in units of its size: pivots are then chosen among the features
        bounds = np.abs(np.concatenate([self.low, self.high]))
        unit = float(np.max(bounds, initial=0.0, where=np.isfinite(bounds))) or 1.0
        p, n, k = phi.shape[1], free.size, len(self.values)
        inner, equations, none = unit * self.curvature[free], self.equations[:, free], np.zeros
        if n > p:
            inner = inner + n * _ROUNDING * np.sqrt(self.model.scale)
        matrix = np.block(
            [
                [np.eye(p) / unit, -phi[free].T, none((p, k))],
                [phi[free], np.diag(inner), -equations.T],
                [none((k, p)), equations, none((k, k))],
            ]
        )
        off = self.values - self.equations @ fixed
        right = np.concatenate([phi.T @ fixed / unit, self.target[free], off / unit])
        solved = _least_solution(matrix, right)
        gamma = fixed.copy()
        gamma[free] = unit * solved[p : p + n]
        return gamma, solved[p + n :], solved[:p]


def _least_solution(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """The solution of linear equations, of least norm where the matrix is singular."""
    try:
        return np.asarray(np.linalg.solve(matrix, right))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0])


def _at_bounds(gamma: FloatArray, s: FloatArray, z: FloatArray) -> npt.NDArray[np.bool_]:
    """The bounds that hold, (2, N): distances s are small, multipliers z are not."""
    return np.asarray(z * np.mean(np.abs(gamma)) > s * np.mean(z))


def _length(values: FloatArray, steps: FloatArray, finite: npt.NDArray[np.bool_]) -> float:
    """The longest step that leaves all values positive, at most 1/_SHORT."""
    down = finite & (steps < 0)
    return float(np.min(-values[down] / steps[down], initial=1 / _SHORT))
