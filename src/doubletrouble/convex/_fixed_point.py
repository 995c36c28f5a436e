r"""The order parameters of one member: a fixed point of three scalars.

**Features.** A member with ψ₁ = P/D random features answers the forces on its N training outputs,
which have the mean response v̂, alignment m̂ with the target and power q̂ (`_labels`). With the
moments μ₁, μ⋆ of the activation and the ridge ψ₂λ,

    m = ρ m̂ (uX),    q = ρ m̂² Q(1/ψ₁) + q̂ T(1/ψ₁),    V = (u + μ⋆²/μ₁²) X,    X = μ₁² Y
    u² μ₁²/ψ₁ + u (ω + μ₁² (1 - 1/ψ₁)) = ω,    ω = μ⋆²/ψ₁ + ψ₂λ/v̂,    1/Y = v̂ (ω + u μ₁²/ψ₁)

and, for two members that share a fraction f of their features, with c = f/ψ₁, s = u X v̂ = 1 - u,

    Q(c) = (uX)² + c u² μ₁² Y² (μ₁² u² + μ⋆²)/(1 - c s²)
    T(c) = (uX)² + c Y² (μ₁² u² + μ⋆²)²/(1 - c s²).

All is in units of V: v̂V, m̂V, q̂V² and Y/V are numbers of order one for ridges from 1e-300 to
1e300. Products replace quotients, so that P = ∞, v̂ = 0 (the hinge loss at a huge ridge) and μ₁ = 0
or μ⋆ = 0 are regular.

**Unknowns.** Features and labels are closed by (V, q, a) for margin losses and by (V, R, b) for
residual losses: V is the variance of the cavity output, q its power, a the tangent form of its
correlation with the labels, R the test error and b the intercept. The equations are solved for
log V, log q, log a (log R, b/S) by Newton's method with a Jacobian by differences, on all points of
a block at once. The start is the fixed point of the squared loss, for margin losses on the share of
the samples that act as constraints and after a few damped iterations. Points that do not converge
are continued from a large ridge (the maximum margin from few samples).

**Interpolation.** Near P = N a residual loss with a small ridge has V and R that diverge, and both
equations are differences of nearly equal numbers. With the rank P of the features (D for linear
features with P > D), the share t of the response that labels lose and D₂ of their power
(`Forces.missing`, `missing_power`),

    v̂V = ψ₂ (1 - t),    rank/(v̂V) = (1 + z) D,    T v̂² = (1 - d) rank/D,    E (gV)² = R + τ² - D₂

with z and d sums of positive terms (`_resistance`), the equations are balances of small terms,
log(N/rank) = log(1 + ...), without a difference of numbers of order one.

**Threshold.** At N = N⋆ of separability (`_separability`) the weights of a margin loss diverge as
the ridge vanishes, and rounding determines q. Their direction has a limit, which is set where
|N/N⋆ - 1| < 1e-7, with q = V = ∞.

The setting, random features with convex losses in high dimension, is that of [loureiro2022], with
the ridge λ N/D in place of λ. The closed forms of both sides are derived here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from doubletrouble._numerics import PointArrays, bisected
from doubletrouble.convex._labels import (
    Forces,
    Labels,
    LearningPoints,
    MarginLabels,
    ResidualLabels,
    State,
    wrong_share,
)
from doubletrouble.convex._separability import active_fraction
from doubletrouble.errors import ConvergenceError
from doubletrouble.parameters import BoolArray, FloatArray, Indices, Value

_DAMPED = 4  # iterations before Newton's method
_STEPS = 60  # of Newton's method
_LONGEST = 1.2  # of a step, in logarithms
_BROYDEN = 1e-4  # residual below which Jacobians are updated
_DONE = 3e-14  # residual at which iteration stops
_ACCEPTED = 1e-9  # residual of a solution at the limit of rounding
_STAGES = 40  # of a continuation
_NOISELESS = 1e-24  # relative variance of the noise at the end of a path
_CLOSE = 0.1  # |log(N/rank)| of interpolation
_TINIEST = 5e-324
_RIDGELESS = 1e-200  # ridges that stand for 0
_THRESHOLD = 1e-7  # |N/N⋆ - 1| of the limit N = N⋆
_LARGE = 1e30  # q at N = N⋆, in a unit that stands for infinity
_INFINITE = 1e130


@dataclass(slots=True, kw_only=True)
class Response(PointArrays):
    """The response of the features at a block of points, in units of V."""

    unlearned: FloatArray  # u
    gain: FloatArray  # uX/V
    growth: FloatArray  # (u + μ⋆²/μ₁²) X/V: one at the fixed point
    inverse_features: FloatArray  # 1/ψ₁
    _signal: FloatArray  # μ₁² (uY)² (μ₁² u² + μ⋆²)
    _noise: FloatArray  # (Y (μ₁² u² + μ⋆²))²

    def signal(self, shared: Value = 1.0) -> FloatArray:
        """Q(f/ψ₁) - Q(0): the fluctuation of the learned signal over features shared."""
        c = shared * self.inverse_features
        return c * self._signal / self._rest(c)

    def noise(self, shared: Value = 1.0) -> FloatArray:
        """T(f/ψ₁)."""
        c = shared * self.inverse_features
        return self.gain**2 + c * self._noise / self._rest(c)

    def _rest(self, c: FloatArray) -> FloatArray:
        """1 - c s², without the difference where P and D are equal."""
        return 1 - c + c * self.unlearned * (2 - self.unlearned)


def response(
    linear: float, nonlinear: float, inverse_features: FloatArray, penalty: Value, v: FloatArray
) -> Response:
    """The response to forces of response v̂V; `linear` is μ₁², `nonlinear` μ⋆², `penalty` ψ₂λV."""
    shared = linear * inverse_features * v
    w = nonlinear * inverse_features * v + penalty
    b = w + linear * v * (1 - inverse_features)
    root = np.sqrt(b * b + 4 * w * shared)
    falling = b <= 0
    # two forms of one root; the one that does not subtract
    h = np.where(falling, 4 * w * shared / (root - b + _TINIEST), b + root)
    u = np.where(falling, (root - b) / (2 * shared), 2 * w / h)
    gain = 2 * linear / (h + 2 * shared)
    rest = nonlinear * (h / (w * (h + 2 * shared))) if nonlinear else 0.0
    weight = linear * u * u + nonlinear
    return Response(
        unlearned=u,
        gain=gain,
        growth=gain + rest,
        inverse_features=inverse_features,
        _signal=gain * gain * (weight / linear) if linear else 0.0 * u,
        _noise=(u * gain + rest) ** 2,
    )


@dataclass(slots=True, kw_only=True, frozen=True)
class Equations:
    """The equations of a task, loss and activation; parameters that vary are `LearningPoints`."""

    labels: Labels
    residual: bool  # whether the unknowns are those of a loss of residuals
    classes: bool  # whether labels are ±1
    intercept: bool
    max_margin: bool  # maximum margin: the ridge is only a scale
    linear: float  # μ₁²
    nonlinear: float  # μ⋆²

    def state(self, points: LearningPoints, unknowns: FloatArray) -> State:
        """The unknowns from log V, log q (log R) and log a (b/S)."""
        V, spread = np.exp(unknowns[0]), np.exp(unknowns[1])
        tilt = intercept = np.zeros_like(V)
        if self.residual:
            intercept = unknowns[2] * np.sqrt(spread + points.noise_power)
        elif self.linear:
            tilt = np.exp(unknowns[2])
        return State(V=V, spread=spread, tilt=tilt, intercept=intercept)

    def sides(
        self, points: LearningPoints, unknowns: FloatArray, coarse: bool = False
    ) -> tuple[Forces, Response]:
        """Both sides of the equations."""
        state = self.state(points, unknowns)
        forces = self.labels.forces(points, state, coarse=coarse)
        return forces, self.response(points, state.V, forces.response)

    def response(self, points: LearningPoints, V: FloatArray, v: FloatArray) -> Response:
        """The response of the features to labels of response v̂V."""
        penalty = points.samples * points.ridge * V
        return response(self.linear, self.nonlinear, points.inverse_features, penalty, v)

    def mismatch(
        self, points: LearningPoints, unknowns: FloatArray, coarse: bool = False
    ) -> FloatArray:
        """One iteration of the equations less the unknowns, (3, n).

        Near interpolation it is the logarithm of the ratio of both sides of the balances instead.
        """
        sides = self.sides(points, unknowns, coarse)
        of_task = self._residual_mismatch if self.residual else self._margin_mismatch
        return np.stack(of_task(points, unknowns, *sides))

    def _margin_mismatch(
        self, points: LearningPoints, unknowns: FloatArray, forces: Forces, features: Response
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        m, rho = forces.alignment, points.power
        q_d = rho * (m * features.gain) ** 2
        rest = rho * m * m * features.signal() + forces.power * features.noise()
        spread, third = q_d + rest, -unknowns[2]
        if self.linear:  # a² = m²/(q (ρ+τ²) - m²), without the difference
            across = rho * rest + points.label_noise * spread
            third = 0.5 * np.log(rho * q_d / across) - unknowns[2]
        return np.log(features.growth), np.log(spread) - unknowns[1], third

    def _residual_mismatch(
        self, points: LearningPoints, unknowns: FloatArray, forces: Forces, features: Response
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        m, rho = forces.alignment, points.power
        state = self.state(points, unknowns)
        V, spread, b = state.V, state.spread, state.intercept
        bias = rho * features.unlearned**2 + rho * m * m * features.signal()
        growth = np.log(features.growth)
        power = np.log(bias + forces.power * features.noise()) - unknowns[1]
        near = (np.abs(points.log_load) < _CLOSE) & (forces.missing < 0.5)
        if np.any(near):
            z, d = self._resistance(points, V, forces.response, features)
            load, log_response = points.log_load, np.log1p(-forces.missing)
            balance = _balance(
                np.maximum(-load, 0) - log_response, np.maximum(load, 0), np.log1p(z)
            )
            growth = np.where(near, balance, growth)
            log_kernel = np.log1p(-d) - load - 2 * log_response  # of ψ₂ T
            kernel, complement = np.exp(log_kernel), -np.expm1(log_kernel)
            given = (bias + kernel * (points.noise_power + b * b)) / spread
            missing = kernel * forces.missing_power / spread
            balance = _balance(
                given + np.maximum(-complement, 0), np.maximum(complement, 0), missing
            )
            close = np.maximum(complement, 0) + missing < 0.5
            power = np.where(near & close, balance, power)
        third = -unknowns[2]
        if self.intercept:
            scale, slack = np.sqrt(spread + points.noise_power), V * (points.high - points.low)
            third = forces.mean * (scale + slack) / (scale * slack)
        return growth, power, third

    def _resistance(
        self, points: LearningPoints, V: FloatArray, v: FloatArray, features: Response
    ) -> tuple[FloatArray, FloatArray]:
        """Z and d of the features: what the ridge takes from their first and second moments."""
        linear, u, i = self.linear, features.unlearned, points.inverse_features
        penalty = points.samples * points.ridge * V
        root = (self.nonlinear * i + linear * (1 - i + 2 * i * u)) * v + penalty
        rise = penalty * (1 - u) / root  # du/dlog λ
        weight = linear * u + self.nonlinear
        z = penalty / (i * v * weight)
        dz = z * (1 - linear * rise / weight)
        if not self.nonlinear:  # the rank is D where P > D
            deficient, floor = i < 1, penalty / (linear * v)
            z = np.where(deficient, i * u + floor, z)
            dz = np.where(deficient, i * rise + floor, dz)
        return z, (z * (1 + z) + dz) / (1 + z) ** 2

    def threshold(self, points: LearningPoints) -> tuple[FloatArray, FloatArray, FloatArray]:
        """`active_fraction` of the points: where N = N⋆, and the direction of the weights there."""
        share = 1 / (1 + points.label_noise)
        return active_fraction(
            points.inverse_features, share, points.flips, self.linear, self.nonlinear
        )

    def start(self, points: LearningPoints) -> FloatArray:
        """Unknowns at which the iteration starts, (3, n)."""
        share = 1.0 if self.residual else 0.45  # of samples that act as constraints when P < N
        log_V = self._bisected(
            points,
            lambda V: np.log(self.response(points, V, share * points.samples * V / (1 + V)).growth),
            18,
        )
        unknowns = np.stack([np.clip(log_V, -600.0, 690.0), 0.0 * log_V, 0.0 * log_V])
        near = np.flatnonzero(self.residual & (np.abs(points.log_load) < _CLOSE) & (log_V > 0))
        if not self.residual:  # little information: a is proportional to it
            weak = np.log(points.information) - 0.5 * np.log1p(points.label_noise)
            unknowns[2] = np.minimum(weak, 0.0)
            # outputs are V g with forces g of order one at a large ridge
            unknowns[1] = 0.0 if self.max_margin else np.minimum(2 * unknowns[0], 0.0)
        far = np.setdiff1d(np.arange(points.size), near)
        if far.size:
            some, x = points.take(far), unknowns[:, far]
            for _ in range(_DAMPED):
                change = self.mismatch(some, x, True)
                change = np.where(np.isfinite(change), change, 0.0)
                x = x + np.clip(0.9 * change, -3.0, 3.0)
            unknowns[:, far] = x
        if near.size:
            unknowns[:2, near] = self._near_start(points.take(near))
        return unknowns

    def _near_start(self, points: LearningPoints) -> tuple[FloatArray, FloatArray]:
        """Log V and log R near interpolation."""
        load = points.log_load

        def features(V: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
            v = points.samples * V / (1 + V)
            response = self.response(points, V, v)
            given = (
                points.power * (response.unlearned**2 + response.signal() * v * v)
                + points.noise_power
            )
            return *self._resistance(points, V, v, response), given

        def square(V: FloatArray) -> FloatArray:
            return np.log1p(1 / V) - load - np.log1p(features(V)[0])

        def power(V: FloatArray) -> FloatArray:  # of the squared loss
            _, d, given = features(V)
            return np.log(given) - np.log(-np.expm1(np.log1p(-d) - load))

        log_V = self._bisected(points, square, 24)
        log_R = power(np.exp(log_V))
        if isinstance(self.labels, ResidualLabels) and not self.labels.softness:
            # forces without a quadratic part lose their tails only, beyond β standard deviations:
            # t ~ exp(-β²/2) = z + log(N/rank), and R 2t/β² is what is given, hV = β √R
            slope = np.minimum(-points.low, points.high)

            def tails(V: FloatArray) -> tuple[FloatArray, FloatArray]:
                z, _, given = features(V)
                t = np.maximum(load + np.log1p(z), 1e-300)
                beta = np.sqrt(np.maximum(-2 * np.log(t), 1.0))
                return 2 * t * (slope * V / (beta * beta)) ** 2 / given, slope * V / beta

            other = self._bisected(points, lambda V: -np.log(tails(V)[0]), 24)
            V = np.exp(other)
            spread = 2 * np.log(tails(V)[1])
            # for P > N the tails may be lost already where the squared loss interpolates
            beyond = slope**2 * np.exp(2 * log_V - log_R) > 6 - 2 * np.log(-load)
            narrow = (load + np.log1p(features(V)[0]) < 0.1) & ~((load < 0) & beyond)
            log_V, log_R = np.where(narrow, other, log_V), np.where(narrow, spread, log_R)
        return np.clip(log_V, -600.0, 690.0), np.where(np.isfinite(log_R), log_R, 0.0)

    @staticmethod
    def _bisected(
        points: LearningPoints, function: Callable[[FloatArray], FloatArray], steps: int
    ) -> FloatArray:
        """Log V at which a function of V changes from positive to negative, to 1400/2^steps."""
        # the calls of few points cost more than their arithmetic: more sections at once
        return bisected(
            lambda log_V: np.asarray(function(np.exp(log_V)) > 0),
            np.full(points.size, -700.0),
            np.full(points.size, 700.0),
            steps=steps,
            bits=6 if points.size <= 16 else 1,
        )


def _balance(more: FloatArray, less: FloatArray, missing: FloatArray) -> FloatArray:
    """More - less - lost of positive terms, or the logarithm of the ratio where they are small."""
    less = less + missing
    return np.where(less < 0.5, np.log(more / less), more - less)


@dataclass(slots=True, kw_only=True)
class SolvedPoints(PointArrays):
    """Solved points: the unknowns, both sides, and the order parameters in the block's units."""

    equations: Equations
    points: LearningPoints
    state: State
    forces: Forces
    features: Response

    @property
    def V(self) -> FloatArray:  # noqa: N802
        """The variance of the cavity output."""
        return self.state.V

    @property
    def q_d(self) -> FloatArray:
        """m²/ρ: the power of the mean output, and the overlap of members that share nothing."""
        return self.points.power * (self.forces.alignment * self.features.gain) ** 2

    @property
    def bias(self) -> FloatArray:
        """ρ u²: the bias of residual losses, whose mean output is (1 - u) times the target."""
        return self.points.power * self.features.unlearned**2

    def fluctuation(self, shared_features: Value = 1.0) -> FloatArray:
        """The part of q₁₂ - m²/ρ that comes from shared features alone."""
        m = self.forces.alignment
        return self.points.power * m * m * self.features.signal(shared_features)

    @property
    def excess(self) -> FloatArray:
        """The excess q - m²/ρ over members that share nothing."""
        return self.fluctuation() + self.forces.power * self.features.noise()

    def complement(self, shared_features: FloatArray) -> FloatArray:
        """1 - ψ₂ T(f/ψ₁), near interpolation without the difference."""
        equations, points, features = self.equations, self.points, self.features
        plain = 1 - points.samples * features.noise(shared_features)
        if not equations.residual:
            return plain
        _, d = equations._resistance(points, self.V, self.forces.response, features)
        kernel, exact = np.log1p(-d), shared_features == 1
        if not equations.nonlinear:  # all features have the same span where P > D
            u, c = features.unlearned, shared_features * points.inverse_features
            whole = points.inverse_features <= 1
            of_span = 2 * np.log1p(-u) + np.log1p(c * u * u / features._rest(c))
            kernel, exact = np.where(whole, of_span, kernel), exact | whole
        missing = -np.expm1(kernel - points.log_load - 2 * np.log1p(-self.forces.missing))
        return np.where(
            exact & (np.abs(points.log_load) < _CLOSE) & (self.forces.missing < 0.5), missing, plain
        )

    def training(self) -> tuple[FloatArray, FloatArray]:
        """The error on the training labels (squared residuals, or wrong signs) and the loss."""
        equations, points, q_d, excess = self.equations, self.points, self.q_d, self.excess
        spread = (self.bias if equations.residual else q_d) + excess
        error, loss = equations.labels.training(points, replace(self.state, spread=spread))
        if equations.residual and equations.classes:  # the squared loss
            a = np.sqrt(q_d / (excess + points.label_noise * (q_d + excess)))
            error = wrong_share(points, self.V, np.sqrt(q_d + excess), a)
        error = error if equations.classes else error * points.unit
        return np.maximum(error, 0.0), np.maximum(loss * points.loss_unit, 0.0)


def solve(equations: Equations, points: LearningPoints) -> SolvedPoints:
    """The fixed point at every point, or raise ConvergenceError.

    Points of diverging weights, at the threshold N⋆ of separability, get a `unit` of infinity.
    """
    with np.errstate(all="ignore"):
        unknowns, residual = newton(equations, points, equations.start(points))
        critical = _critical(equations, points, points.ridge < _RIDGELESS)
        failed = np.flatnonzero(~(residual < _ACCEPTED) & ~critical)
        if failed.size:
            unknowns[:, failed], residual[failed] = _continued(equations, points.take(failed))
            critical |= _critical(equations, points, ~(residual < _ACCEPTED))
        residual[critical] = 0.0
        bad = ~(residual < _ACCEPTED)
        if np.any(bad):
            k = int(np.argmax(np.where(np.isnan(residual), np.inf, residual)))
            raise ConvergenceError(
                f"the order parameters did not converge at {int(bad.sum())} of {points.size} "
                f"points, the worst at {_named(equations, points, k)}",
                last=unknowns[:, k],
                residual=float(residual[k]),
            )
        forces, features = equations.sides(points, unknowns)
        state = equations.state(points, unknowns)
        solution = SolvedPoints(
            equations=equations, points=points, state=state, forces=forces, features=features
        )
        if np.any(critical):
            _set_threshold(solution, np.flatnonzero(critical))
    return solution


def _named(equations: Equations, points: LearningPoints, k: int) -> str:
    """The parameters of a point as named numbers, in the units of the problem."""
    root = np.sqrt(points.unit[k])
    scaled = isinstance(equations.labels, ResidualLabels) and not equations.labels.softness
    ridge = points.ridge[k] / (root if scaled else 1.0)
    values = {
        "features_per_dim": 1 / points.inverse_features[k],
        "samples_per_dim": points.samples[k],
        "ridge": 0.0 if ridge < _RIDGELESS else ridge,
    }
    if equations.classes:
        values |= {"flips": points.flips[k], "noise/signal": np.sqrt(points.label_noise[k])}
    else:
        values |= {
            "signal": root * np.sqrt(points.power[k]),
            "noise": root * points.noise_power[k] ** 0.5,
        }
    return ", ".join(f"{name} = {value:.12g}" for name, value in values.items())


def _critical(equations: Equations, points: LearningPoints, among: BoolArray) -> BoolArray:
    """Those points of a margin loss whose N is N⋆, so that small ridges have diverging weights."""
    result = np.zeros(points.size, dtype=bool)
    if not equations.residual and np.any(among):
        index = np.flatnonzero(among)
        fraction, inverse_rank, _ = equations.threshold(points.take(index))
        load = points.samples[index] * fraction * inverse_rank
        result[index] = np.abs(load - 1) < _THRESHOLD
    return result


def _set_threshold(solution: SolvedPoints, index: Indices) -> None:
    """Set points to the limit N = N⋆, ridge 0: a finite direction of infinite weights.

    Margins are negligible there: the forces are -t for t < 0, with V ≫ √q ≫ 1.
    """
    equations, points = solution.equations, solution.points.take(index)
    ones = np.ones(index.size)
    _, _, tangent = equations.threshold(points)
    q, V, a = _LARGE * ones, _LARGE**3 * ones, points.information * tangent
    points.low, points.high = 0 * ones, np.inf * ones
    state = State(V=V, spread=q, tilt=a, intercept=0 * ones)
    forces = MarginLabels(0.0).forces(points, state)
    features = response(
        equations.linear, equations.nonlinear, points.inverse_features, 1e-100, forces.response
    )
    solution.state.put(index, state)
    solution.forces.put(index, forces)
    solution.features.put(index, features)
    solution.points.unit = solution.points.unit.copy()
    solution.points.unit[index] = _INFINITE
    solution.points.limit[index] = True


def newton(
    equations: Equations, points: LearningPoints, unknowns: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Newton's method with backtracking; the unknowns, and the largest residual of each point."""
    unknowns = unknowns.copy()
    current = equations.mismatch(points, unknowns)
    residual = _size(current)
    active = np.flatnonzero(~(residual < _DONE) & np.isfinite(residual))
    jacobians = np.empty((points.size, 3, 3))
    exact = np.ones(points.size, dtype=bool)  # whether the next Jacobian is one by differences
    for _ in range(_STEPS):
        if not active.size:
            break
        some, x, f = points.take(active), unknowns[:, active], current[:, active]
        fresh = np.flatnonzero(exact[active])
        if fresh.size:
            jacobians[active[fresh]] = _jacobian(
                equations, some.take(fresh), x[:, fresh], f[:, fresh]
            )
        jacobian = jacobians[active]
        move = -np.linalg.solve(jacobian, f.T[:, :, None])[:, :, 0].T
        move *= np.minimum(1.0, _LONGEST / np.maximum(np.abs(move).max(axis=0), 1e-300))
        before = residual[active]
        trial = x + move
        value = equations.mismatch(some, trial)
        after = _size(value)
        updated = ~exact[active]
        for _ in range(6):
            worse = np.flatnonzero(~(after < np.maximum(before, 1e-11)) & ~updated)
            if not worse.size:
                break
            move[:, worse] *= 0.3
            trial[:, worse] = x[:, worse] + move[:, worse]
            value[:, worse] = equations.mismatch(some.take(worse), trial[:, worse])
            after[worse] = _size(value[:, worse])
        better = after < before
        chosen = better | (after < 1e-11)
        take = active[chosen]
        unknowns[:, take], current[:, take] = trial[:, chosen], value[:, chosen]
        residual[take] = after[chosen]
        # close to the solution Broyden's update replaces three evaluations, while it converges
        slow = ~(after < 0.03 * before)
        exact[active] = slow | (after > _BROYDEN)
        move, value = move.T, (value - f).T
        defect = value - np.einsum("nij,nj->ni", jacobian, move)
        rank_one = defect[:, :, None] * (move / (move * move).sum(axis=1, keepdims=True))[:, None]
        jacobians[active] = jacobian + rank_one
        # rounding ends the descent: a residual that no longer falls is final
        stuck = ~better | ((after < 1e-12) & (after > 0.1 * before))
        active = active[~(stuck & ~updated) & ~(after < _DONE)]
    return unknowns, residual


def _jacobian(
    equations: Equations, points: LearningPoints, unknowns: FloatArray, current: FloatArray
) -> FloatArray:
    """The Jacobian by differences, (n, 3, 3); minus one where it is singular."""
    n, step = points.size, 1e-7
    tiled = points.take(np.tile(np.arange(n), 3))
    moved = np.concatenate([unknowns + step * np.eye(3)[:, [k]] for k in range(3)], axis=1)
    shifted = equations.mismatch(tiled, moved).reshape(3, 3, n)  # (equation, unknown, point)
    jacobian = np.moveaxis((shifted - current[:, None, :]) / step, -1, 0)
    jacobian[~np.isfinite(jacobian).all(axis=(1, 2))] = -np.eye(3)
    jacobian[np.abs(np.linalg.det(jacobian)) < 1e-280] = -np.eye(3)
    return jacobian


def _size(mismatch: FloatArray) -> FloatArray:
    largest: FloatArray = np.abs(mismatch).max(axis=0)
    return largest


def _continued(equations: Equations, points: LearningPoints) -> tuple[FloatArray, FloatArray]:
    """Points approached along a path from an easier problem, the first path that arrives."""
    paths: dict[str, tuple[FloatArray, FloatArray]] = {
        "ridge": (np.maximum(points.ridge, 3.0), points.ridge)
    }
    if equations.max_margin:
        paths = {
            "samples": (
                np.minimum(points.samples, 0.1 / np.maximum(points.inverse_features, 1.0)),
                points.samples,
            )
        }
    elif equations.residual:
        noise = np.maximum(points.variances, _NOISELESS)
        paths["variances"] = (np.maximum(noise, 1.0), noise)
    unknowns, residual = np.zeros((3, points.size)), np.full(points.size, np.inf)
    if not equations.residual and not equations.max_margin and np.all(points.high > 0):
        # from the maximum margin, the limit of small ridges on separable data
        max_margin = replace(equations, max_margin=True, labels=MarginLabels(0.0))
        ones = np.ones(points.size)
        there, _ = _continued(
            max_margin, replace(points, ridge=ones, low=0 * ones, high=np.inf * ones)
        )
        there[0] -= np.log(points.ridge)
        unknowns, residual = newton(equations, points, there)
    for name, (easy, target) in paths.items():
        left = np.flatnonzero(~(residual < _ACCEPTED))
        if not left.size:
            break
        some, start, end = points.take(left), easy[..., left], target[..., left]
        shares = np.linspace(0.0, 1.0, _STAGES)
        stages = [np.exp((1 - share) * np.log(start) + share * np.log(end)) for share in shares]
        there = before = equations.start(replace(some, **{name: stages[0]}))
        for value in stages:
            guess = there if name == "samples" else 2 * there - before
            solved, misfit = newton(equations, replace(some, **{name: value}), guess)
            failed = ~(misfit < _ACCEPTED)
            if np.any(failed):
                again, _ = newton(equations, replace(some, **{name: value}), there)
                solved[:, failed] = again[:, failed]
            there, before = solved, there
        unknowns[:, left], residual[left] = newton(equations, some, there)
    return unknowns, residual
