r"""The best P, N, K and ridge for a budget of operations, over many budgets.

At given degrees of freedom z of the fit the sums over modes are known, and the ridge follows from
the sizes, (1 - z/P)(1 - z/N) = r y(z): no equation has to be solved. The search is over the
ratios P/z and N/z, both at least 1 (one of them is 1 where the ridge is 0), and over K; the budget
then determines z. The sums are interpolated in a table along log z for the search; the errors of
the result are those of `exact_error`.

**Asymptotically** P, N, K and z are powers of the budget C, and so are the parts of the error
(`theory._exponents`). The largest s with an error of C^-s is the solution of a linear program in
these exponents: with p, n, k and ζ those of P, N, K and z,

    s ≤ b ζ,    s ≤ p + k - (1-c) ζ,    s ≤ n - ζ (with noise),    ζ ≤ p,    ζ ≤ n,
    k + n + p + min(n, p) ≤ 1    (a direct solver; k + n + p ≤ 1 with an iterative one).

For a direct solver, noise and a source above 1/2 it has s = b/(3 + 2b - c) with ensembles,
K ~ z^(b-c), and b/(3 + 3b - 2c) with one model: ensembles are cheaper there. In the other cases one
model has the same exponent.
"""

from __future__ import annotations  # help() then shows the alias Numeric

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble import _plots
from doubletrouble._display import (
    Column,
    Content,
    Entries,
    Quantity,
    Shown,
    point_table,
    quantity_table,
)
from doubletrouble._numbers import plain, power, whole
from doubletrouble._numerics import bisected
from doubletrouble.costs import Cost
from doubletrouble.ensembles import Ensemble
from doubletrouble.glossary import COMPUTE, MAX_MEMBERS, MAX_SAMPLES, symbol
from doubletrouble.options import removed
from doubletrouble.parameters import FloatArray, Numeric, Value, checked, number
from doubletrouble.problems import SpectralProblem
from doubletrouble.results import ErrorTerms
from doubletrouble.theory import (
    Amplitudes,
    FixedPoint,
    exact_error,
    has_power_law,
    member_terms,
    mode_exponents,
    mode_sums,
    optimal_ridge,
    root_power,
    spectrum_of,
    total_error,
)

CostLike: TypeAlias = Cost | Callable[[FloatArray, FloatArray, FloatArray], npt.ArrayLike]
"""A `Cost`, or a function of P, N and K (arrays) that increases with each of them."""

_SOFT = "#999999"  # the line of one model
_MEMBERS = 2.0 ** np.arange(0, 41, 2)
_FINEST = 1e-4  # of the distance of P/z and N/z from 1
_COARSE = np.arange(0.0, 46.0, 1.5)  # in t, with P/z = 1 + _FINEST sinh(t): up to 1e15
_FINE = np.linspace(-1.0, 1.0, 7)
_STAGES = 14  # of finer and finer grids
_ROUNDS = 12  # of numbers of models
_TOLERANCE = 1e-7  # relative difference of errors that count as equal
_NEGLIGIBLE = 1e-4  # gain for which an ensemble is not worth its models
# weight of k beside s in the linear program: of equal s, the fewest models; above its tolerance
_FEWEST = 1e-5
_ROUNDING = 1e-12  # of whole numbers and budgets
_NEARBY = np.array([0.5, 0.7, 0.85, 1.0, 1.15, 1.4, 2.0])  # sizes tried, relative to the best
_STEPS = np.arange(-2.0, 3.0)  # and by counts
_LEAST = 1e-6  # degrees of freedom
_PER_DECADE = 24  # nodes of the table
_NEWTON = 20  # steps for the size that uses a budget; then it is bisected
_SLOPE_STEP = 1e-3  # of log z, for the slope of the cost


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FrontierExponents(Shown):
    """Powers of the budget: of the error, and of P, N and K; floats, or arrays over budgets."""

    total: Value  # of the total error
    n_features: Value  # of P
    n_samples: Value  # of N
    n_members: Value  # of K
    compute: FloatArray | None = None  # the budgets of arrays

    def _content(self) -> Content:
        exponents = [
            Quantity(name=name, value=value, heading=_heading(name), form="exponent")
            for name, value in self.by_name.items()
        ]
        if np.ndim(self.total):
            first, last = (power(float(end)) for end in np.ravel(self.total)[[0, -1]])
            verdict = (
                f"The error changes as C^{first} at the first budget, and C^{last} at the last."
            )
        else:
            verdict = f"For a budget C: {self._in_words()}."
        return Content(
            tables=[quantity_table("exponents", exponents, self._budgets)], verdict=verdict
        )

    @property
    def by_name(self) -> dict[str, Value]:
        """The exponents by the names of what they are of."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "compute"}

    @property
    def _budgets(self) -> dict[str, FloatArray]:
        return {} if self.compute is None else {"compute": self.compute}

    def _picture(self) -> _plots.Picture:
        powers = {_heading(name): value for name, value in self.by_name.items()}
        return _plots.quantity_picture(powers, "power of the budget", self._budgets, signed=True)

    def _in_words(self) -> str:
        powers = [f"{_heading(name)} ~ C^{power(float(one))}" for name, one in self.by_name.items()]
        return ", ".join(powers)


def _heading(name: str) -> str:
    return "error" if name == "total" else symbol(name)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ScalingFrontier(Shown):
    """The best sizes and ridge at each budget, and the error by cause; arrays over budgets."""

    problem: SpectralProblem  # the spectrum, target and noise
    cost: CostLike  # the operations for P, N and K
    compute: FloatArray  # the budgets
    n_features: FloatArray  # the best P
    n_samples: FloatArray  # the best N
    n_members: FloatArray  # the best K
    gram_ridge: FloatArray  # the best ridge δ
    error: ErrorTerms[Value]  # the error at these sizes
    one_model: ScalingFrontier | None = None  # the frontier for K = 1; None where this is it
    asymptotic: FrontierExponents | None = None  # for large budgets; None where no law is known

    @property
    def gain(self) -> FloatArray:
        """The share of the error of one model that the best ensemble removes, at equal cost."""
        if self.one_model is None:
            return np.zeros_like(self.compute)
        totals = (np.ravel(one.error.total).tolist() for one in (self, self.one_model))
        gains = [removed(many, one) for many, one in zip(*totals, strict=True)]
        return np.maximum(gains, 0.0)  # below 0 by rounding where both are one model

    @property
    def exponents(self) -> FrontierExponents | None:
        """Local powers of the budgets, by central differences; None of a single budget."""
        if self.compute.size < 2:
            return None

        def slope(values: Value) -> FloatArray:
            with np.errstate(all="ignore"):
                slopes = np.gradient(np.log(values), np.log(self.compute))
            return np.where(np.isinf(values), 0.0, slopes)

        return FrontierExponents(
            total=slope(self.error.total),
            n_features=slope(self.n_features),
            n_samples=slope(self.n_samples),
            n_members=slope(self.n_members),
            compute=self.compute,
        )

    def _content(self) -> Content:
        columns: list[tuple[Column, Entries]] = [
            (Column(name=name, form="count"), getattr(self, name))
            for name in ("n_features", "n_samples", "n_members", "gram_ridge")
        ]
        columns += [(Column(name=k, printed=False), part) for k, part in self.error.parts.items()]
        columns.append((Column(name="total", heading="error"), self.error.total))
        verdict = f"The error is {plain(float(np.ravel(self.error.total)[-1]))} at the most"
        verdict += f" operations, with K = {whole(float(self.n_members[-1]))}."
        if self.one_model is not None:
            one = Column(name="one_model_total", heading="one model")
            columns.append((one, self.one_model.error.total))
            columns.append((Column(name="gain", form="gain", exported=False), self.gain))
        if self.asymptotic is not None:
            verdict += f" For large budgets C: {self.asymptotic._in_words()}."
        budgets = {"compute": self.compute}
        return Content(
            title="The best features P, samples N and models K for each budget of operations",
            tables=[point_table("budgets", self.compute.shape, budgets, columns)],
            verdict=verdict,
            facts={} if self.asymptotic is None else {"exponents": self.asymptotic.by_name},
        )

    def _picture(self) -> _plots.Picture:
        picture = _plots.error_picture(self.error, {"compute": self.compute})
        if self.one_model is None or not np.any(self.n_members > 1):
            return picture
        assert isinstance(picture, _plots.Curves)
        total = np.asarray(self.one_model.error.total)
        line = _plots.Curve(label="one model", y=total, dotted=True, color=_SOFT)
        return replace(picture, lines=[*picture.lines, line], xlabel="operations")


def scaling_frontier(
    problem: SpectralProblem,
    compute: Numeric,
    *,
    cost: CostLike | None = None,
    max_n_samples: float = math.inf,
    max_n_members: float = math.inf,
) -> ScalingFrontier:
    """Return the best P, N, K and ridge at each budget of operations, and the error by cause.

    Parameters
    ----------
    problem : SpectralProblem
        The spectrum, target and noise, of one problem; its sizes and ridge are ignored.
    compute : float or array_like
        Budgets, finite numbers from 1 along one axis, in the operations that `cost` counts.
    cost : Cost or callable or None, default: None
        Operations for (P, N, K), which must increase with each of them: a `Cost`, or a function of
        arrays. Default: `Cost()`, the work of direct solvers.
    max_n_samples : float, default: inf
        The samples there are, from 1: N is at most this.
    max_n_members : int, default: inf
        K is at most this, from 1.

    Returns
    -------
    ScalingFrontier
        Arrays over the budgets: whole numbers P, N and K, the ridge, the error by cause, and the
        same for one model.

    Raises
    ------
    ValueError
        If a budget does not pay for one feature and one sample, the cost does not limit N, or a
        number is outside its domain.
    TypeError
        If `problem` is not a single `SpectralProblem`, or `cost` not a function of arrays.
    ConvergenceError
        If a solver stops before its tolerance.

    Examples
    --------
    >>> import doubletrouble as dt
    >>> law = dt.PowerLaw(capacity=1.5, source=0.8)
    >>> problem = dt.SpectralProblem.from_law(law, n_samples=1e9, noise=0.1)
    >>> frontier = dt.scaling_frontier(problem, compute=[1e12, 1e24])
    >>> print(frontier)
    The best features P, samples N and models K for each budget of operations
    compute       P         N      K  gram ridge     error  one model  gain
      1e+12     353  9.91e+04     81           0  3.22e-05   8.52e-05  +62%
      1e+24  29,356  2.95e+11  3,937           0  8.72e-10   7.69e-09  +89%
    The error is 8.72e-10 at the most operations, with K = 3,937. For large budgets
    C: error ~ C^-0.381, P ~ C^0.159, N ~ C^0.540, K ~ C^0.143.
    """
    if not isinstance(problem, SpectralProblem):
        raise TypeError(f"problem must be a SpectralProblem, got {type(problem).__name__}")
    if problem.shape:
        raise TypeError(f"problem must be a single one, got one of shape {problem.shape}")
    budgets = np.atleast_1d(np.asarray(checked("compute", compute, COMPUTE)))
    if budgets.ndim != 1 or np.isinf(budgets).any():
        raise ValueError(f"compute must be finite numbers along one axis, got {compute!r}")
    cost = Cost() if cost is None else cost
    most_samples = number("max_n_samples", max_n_samples, MAX_SAMPLES)
    most_members = number("max_n_members", max_n_members, MAX_MEMBERS)
    search = _Search(problem, budgets, cost, most_samples)
    one = search.whole(
        search.best(np.ones((budgets.size, 1))).take(np.zeros(budgets.size, np.intp))
    )
    best = search.whole(search.best_members(most_members)).unless_negligible(one)
    return replace(
        search.frontier(best, many=math.isinf(most_members)),
        one_model=search.frontier(one, many=False),
    )


def _checked_cost(cost: CostLike) -> Callable[[Value, Value, Value], Value]:
    """A function of arrays; raise TypeError if it is not."""
    if not callable(cost):
        raise TypeError(f"cost must be a Cost or a function of P, N and K, got {cost!r}")
    if isinstance(cost, Cost):
        return cost
    sizes = np.array([1.0, 2.0])
    try:
        values = np.asarray(cost(sizes, sizes, np.ones(2)))
    except Exception as error:
        raise TypeError(
            "cost must be a function of arrays of P, N and K (with np.minimum in place of min), "
            f"got {cost!r}, which raises {type(error).__name__}: {error}"
        ) from error
    if values.shape != (2,) or values.dtype.kind not in "iuf" or not np.all(values >= 0):
        raise TypeError(f"cost must return numbers for arrays of P, N and K, got {values!r}")

    def of_arrays(*given: Value) -> FloatArray:
        arrays = np.broadcast_arrays(*(np.asarray(size, dtype=np.float64) for size in given))
        return np.asarray(cost(*arrays), dtype=np.float64)

    return of_arrays


# --- search --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sizes:
    """Sizes P, N and K with the degrees of freedom z, or the ridge, and the total error there."""

    n_features: FloatArray
    n_samples: FloatArray
    n_members: FloatArray
    error: FloatArray
    degrees: FloatArray
    gram_ridge: FloatArray | float = 0.0

    def take(self, index: npt.NDArray[np.intp]) -> _Sizes:
        """One of the entries along the last axis, for each budget."""
        values = {
            f.name: np.broadcast_to(getattr(self, f.name), self.error.shape) for f in fields(self)
        }
        chosen = {
            k: np.take_along_axis(v, index[..., None], axis=-1)[..., 0] for k, v in values.items()
        }
        return _Sizes(**chosen)

    def unless_negligible(self, other: _Sizes) -> _Sizes:
        """These sizes, or others where these are not better by more than a negligible gain."""
        better = self.error < other.error * (1 - _NEGLIGIBLE)
        names = [f.name for f in fields(self)]
        return _Sizes(**{k: np.where(better, getattr(self, k), getattr(other, k)) for k in names})


class _Search:
    """The best sizes within budgets, for one spectrum and one cost."""

    def __init__(
        self, problem: SpectralProblem, compute: FloatArray, cost: CostLike, max_n_samples: float
    ) -> None:
        self.problem, self.compute, self.max_n_samples = problem, compute, max_n_samples
        self.given, self.cost = cost, _checked_cost(cost)
        cost = self.cost
        least, most = float(compute.min()), float(compute.max())
        if not cost(1.0, 1.0, 1.0) <= least:
            raise ValueError(
                "compute must pay for one feature, sample and model, "
                f"{cost(1.0, 1.0, 1.0):g} operations, got {least:g}"
            )
        if not math.isfinite(max_n_samples) and not cost(1.0, 1e3 * least, 1.0) > least:
            raise ValueError(
                "cost must grow with the number of samples without max_n_samples, got "
                f"{self.given!r}"
            )
        largest = float(np.exp(self._log_size(1.0, 1.0, 1.0, np.asarray(most))))
        if not math.isfinite(largest):
            largest = max_n_samples
        self.table = _SumsTable(problem, largest)

    def _log_size(self, a: Value, b: Value, n_members: Value, compute: Value) -> FloatArray:
        """Log z at which a z features and b z samples use the budget."""

        def excess(x: FloatArray) -> FloatArray:
            z = np.exp(x)
            return np.log(self.cost(a * z, b * z, n_members)) - np.log(compute)

        shape = np.broadcast_shapes(*map(np.shape, (a, b, n_members, compute)))
        x = np.zeros(shape)
        for _ in range(_NEWTON):
            here = excess(x)
            slope = (excess(x + _SLOPE_STEP) - here) / _SLOPE_STEP
            step = np.clip(here / np.clip(slope, 0.5, 4.0), -40.0, 40.0)
            x = x - step
            if np.all(np.abs(step) < 1e-10):
                return x
        # costs of unusual powers
        return np.log(self._most(lambda z: self.cost(a * z, b * z, n_members), shape, compute))

    def _at(self, t: FloatArray, u: FloatArray, n_members: FloatArray, compute: float) -> _Sizes:
        """The sizes at P/z = 1 + ε sinh t, N/z = 1 + ε sinh u, and the error there."""
        beyond_a, beyond_b = _FINEST * np.sinh(t), _FINEST * np.sinh(u)
        with np.errstate(all="ignore"):
            z = np.exp(self._log_size(1 + beyond_a, 1 + beyond_b, n_members, compute))
            if math.isfinite(self.max_n_samples):
                capped = (1 + beyond_b) * z > self.max_n_samples
                if np.any(capped):
                    # all samples there are: the budget is left for P, and t is the distance of z
                    # from the smaller size
                    N = self.max_n_samples
                    P = self._most(
                        lambda p: self.cost(p, N, n_members), np.shape(n_members), compute
                    )
                    small = np.minimum(P, N)
                    z = np.where(capped, small / (1 + beyond_a), z)
                    beyond_b = np.where(capped, N / z - 1, beyond_b)
                    beyond_a = np.where(capped, P / z - 1, beyond_a)
            sizes = _Sizes(
                n_features=(1 + beyond_a) * z,
                n_samples=(1 + beyond_b) * z,
                n_members=np.broadcast_to(n_members, z.shape),
                degrees=z,
                error=self.table.error(z, beyond_a, beyond_b, n_members),
            )
        few = (sizes.n_features < 1) | (sizes.n_samples < 1)
        return replace(sizes, error=np.where(few, np.inf, sizes.error))

    def _most(
        self, cost: Callable[[FloatArray], Value], shape: tuple[int, ...], compute: Value
    ) -> FloatArray:
        """The largest size at which a cost is within the budget, by bisection of its logarithm."""
        low, high = np.full(shape, -20.0), np.full(shape, 115.0)  # up to 1e50
        log_size = bisected(lambda x: np.asarray(cost(np.exp(x)) <= compute), low, high)
        return np.asarray(np.exp(log_size))

    def best(self, n_members: FloatArray) -> _Sizes:
        """The least error over P, N and the ridge, for each budget and number of models."""
        rows = [
            self._best(row, budget) for row, budget in zip(n_members, self.compute, strict=True)
        ]
        names = [f.name for f in fields(_Sizes)]
        return _Sizes(**{name: np.stack([getattr(row, name) for row in rows]) for name in names})

    def _best(self, n_members: FloatArray, compute: float) -> _Sizes:
        K = n_members[:, None, None]
        t, u = np.broadcast_arrays(_COARSE[:, None], _COARSE[None, :], np.zeros(K.shape))[:2]
        rows, reach = np.arange(n_members.size), float(_COARSE[1])
        for stage in range(_STAGES):
            sizes = self._at(t, u, K, compute)
            i = np.argmin(sizes.error.reshape(n_members.size, -1), axis=1)

            def chosen(
                values: FloatArray,
                shape: tuple[int, ...] = sizes.error.shape,
                i: npt.NDArray[np.intp] = i,
            ) -> FloatArray:
                return np.broadcast_to(values, shape).reshape(n_members.size, -1)[rows, i]

            if stage == _STAGES - 1:
                break
            t = np.maximum(chosen(t)[:, None, None] + reach * _FINE[:, None], 0.0)
            u = np.maximum(chosen(u)[:, None, None] + reach * _FINE[None, :], 0.0)
            reach /= 2.5
        return _Sizes(**{f.name: chosen(getattr(sizes, f.name)) for f in fields(_Sizes)})

    def best_members(self, most: float) -> _Sizes:
        """The least error over K, too; the fewest models of those that are as good."""
        grid = _MEMBERS
        if math.isfinite(most):
            grid = np.append(_MEMBERS[most > _MEMBERS], most)
        elif math.isfinite(self.cost(1.0, 1.0, math.inf)):
            grid = np.array([1.0, math.inf])
        K = np.tile(self._full_rounds(grid, most), (self.compute.size, 1))
        found = self.best(K)
        for _ in range(_ROUNDS):
            i = _first_minimum(found.error)
            low, high = (
                np.take_along_axis(
                    found.n_members, np.clip(i + k, 0, K.shape[1] - 1)[:, None], axis=1
                )
                for k in (-1, 1)
            )
            if np.isinf(high).any() or np.all(high - low <= 2):
                break
            between = low * (high / low) ** np.linspace(0.0, 1.0, 9)
            K = self._full_rounds(np.rint(between), most)
            found = self.best(K)
        return found.take(_first_minimum(found.error))

    def _full_rounds(self, n_members: npt.NDArray[np.floating], most: float) -> FloatArray:
        """Numbers of models for which no worker is idle in the last round."""
        workers = float(np.asarray(self.cost.workers)) if isinstance(self.cost, Cost) else 1.0
        if math.isinf(workers):
            return np.asarray(n_members)
        return np.asarray(np.minimum(np.ceil(n_members / workers) * workers, most))

    def whole(self, found: _Sizes) -> _Sizes:
        """The best whole numbers of features and samples near sizes, with their best ridge.

        Among the P is the rank of a finite list, where the error without ridge has a kink that the
        smooth search misses.
        """
        K, z = found.n_members[:, None], found.degrees[:, None]
        known = np.isfinite(found.error)
        P, N = (np.where(known, v, 1.0)[:, None] for v in (found.n_features, found.n_samples))
        rank = math.ceil(self.table.spectrum.rank) if self.table.spectrum.rank < math.inf else 1
        P = np.maximum(np.concatenate([_near(P), np.full_like(P, rank)], axis=1), 1.0)
        N = np.clip(_near(N), 1.0, self.max_n_samples)
        budget = self.compute[:, None]
        # the largest N for each P, and the largest P for each N
        most_N = self._most(lambda n: self.cost(P, n, K), P.shape, budget)
        most_P = self._most(lambda p: self.cost(p, N, K), N.shape, budget)
        P, N = (
            np.concatenate(both, axis=1)
            for both in ((P, _whole(most_P)), (_whole(np.minimum(most_N, self.max_n_samples)), N))
        )
        unused = np.maximum(1 - z / P, 0.0) * np.maximum(1 - z / N, 0.0)
        ridge = self.table.own_ridge(unused, z, N)
        none = self.problem._least_ridge(P, N)  # 0, where the law allows it
        ridges = np.stack([np.maximum(ridge, none), none])
        at = replace(self.problem, n_features=P, n_samples=N, gram_ridge=ridges)
        error = np.asarray(exact_error(at, Ensemble(K)).total).min(axis=0)
        error = np.where(self.cost(P, N, K) <= budget * (1 + _ROUNDING), error, np.inf)
        sizes = _Sizes(
            n_features=P,
            n_samples=N,
            n_members=np.broadcast_to(K, P.shape),
            error=error,
            degrees=0 * P,
        ).take(np.argmin(error, axis=1))
        at = replace(
            self.problem, n_features=sizes.n_features, n_samples=sizes.n_samples, gram_ridge=1.0
        )
        best = optimal_ridge(at, Ensemble(sizes.n_members))
        least = np.where(np.isfinite(sizes.error), best.error.total, np.inf)
        return replace(sizes, gram_ridge=np.asarray(best.gram_ridge), error=least)

    def frontier(self, sizes: _Sizes, *, many: bool) -> ScalingFrontier:
        """The frontier at these sizes, with exact errors by cause."""
        at = replace(
            self.problem,
            n_features=sizes.n_features,
            n_samples=sizes.n_samples,
            gram_ridge=sizes.gram_ridge,
        )
        return ScalingFrontier(
            problem=self.problem,
            cost=self.given,
            compute=self.compute,
            n_features=sizes.n_features,
            n_samples=sizes.n_samples,
            n_members=sizes.n_members,
            gram_ridge=np.asarray(sizes.gram_ridge),
            error=exact_error(at, Ensemble(sizes.n_members)),
            asymptotic=self._asymptotic(many=many),
        )

    def _asymptotic(self, *, many: bool) -> FrontierExponents | None:
        """The solution of the linear program above with the fewest models; None without a law."""
        cost = self.cost
        if (
            not isinstance(cost, Cost)
            or math.isfinite(self.max_n_samples)
            or not has_power_law(self.problem)
            or np.any(self.problem.nonlinear_signal)  # errors that no budget removes
            or np.any(self.problem.test_noise)
        ):
            return None
        from scipy.optimize import linprog  # takes 0.3 s to import

        _, b, c = map(float, mode_exponents(self.problem.law, math.inf))
        parallel = cost.workers == math.inf
        solutions: list[Any] = []
        for smaller in (0, 1):  # P or N is the smaller size
            training = [1.0, 1.0, 0.0 if parallel else 1.0, 0.0, 0.0]  # of p, n, k, ζ, s
            if not cost.steps:
                training[smaller] += 1.0
            order = [1.0, -1.0] if smaller == 0 else [-1.0, 1.0]
            rows = [
                training,
                [*order, 0.0, 0.0, 0.0],
                [-1.0, 0.0, 0.0, 1.0, 0.0],
                [0.0, -1.0, 0.0, 1.0, 0.0],
                [0.0, 0.0, 0.0, -b, 1.0],
                [-1.0, 0.0, -1.0, 1 - c, 1.0],
            ]
            if np.any(self.problem.noise_sd):
                rows.append([0.0, -1.0, 0.0, 1.0, 1.0])
            limits = [1.0, *(0.0 for _ in rows[1:])]
            bounds = [(0.0, 0.0 if k == 2 and not many else None) for k in range(5)]
            objective = [0.0, 0.0, _FEWEST, 0.0, -1.0]
            solutions.append(linprog(objective, A_ub=rows, b_ub=limits, bounds=bounds))
        p, n, k, _, s = map(float, min(solutions, key=lambda one: float(one.fun)).x)
        if many and parallel:
            k = math.inf  # further models cost nothing
        return FrontierExponents(total=-s, n_features=p, n_samples=n, n_members=k)


def _near(size: FloatArray) -> FloatArray:
    """Whole numbers near sizes, (n, 1), along a second axis."""
    return np.concatenate([np.floor(size * _NEARBY), np.floor(size) + _STEPS], axis=1)


def _whole(size: FloatArray) -> FloatArray:
    """The whole numbers below sizes, at least 1."""
    return np.asarray(np.maximum(np.floor(size * (1 + _ROUNDING)), 1.0))


def _first_minimum(error: FloatArray) -> npt.NDArray[np.intp]:
    """The first entry of each row that equals the least up to the accuracy of the search."""
    least = error.min(axis=1, keepdims=True)
    return np.asarray(np.argmax(error <= least * (1 + _TOLERANCE), axis=1))


class _SumsTable:
    """Sums over modes along the degrees of freedom z, interpolated in logarithms."""

    def __init__(self, problem: SpectralProblem, largest: float) -> None:
        from scipy.interpolate import CubicSpline  # takes 0.2 s to import

        # a positive ridge: the sums do not depend on it, and steep laws need one at large sizes
        problem = replace(problem, n_features=largest, n_samples=largest, gram_ridge=1.0)
        self.problem, self.spectrum = problem, spectrum_of(problem)
        sums = mode_sums(self.spectrum, _LEAST, largest, _PER_DECADE)
        self._ends = math.log(sums.degrees[0]), math.log(sums.degrees[-1])
        self._spline = CubicSpline(
            np.log(sums.degrees),
            np.log(np.stack([sums.inverse_ridge, sums.gap, sums.bias, sums.crossed], axis=-1)),
        )
        self._amplitudes = Amplitudes(
            signal=root_power(problem),
            nonlinear_signal=float(np.asarray(problem.nonlinear_signal)),
            noise=float(np.asarray(problem.noise_sd)),
            test_noise=float(np.asarray(problem.test_noise)),
        )

    def own_ridge(self, unused: FloatArray, z: FloatArray, samples: FloatArray) -> FloatArray:
        """The ridge δ with the product of unused fractions, at z."""
        y = np.exp(self._spline(np.log(z))[..., 0])
        return np.asarray(self.spectrum.own_ridge(unused / y, samples))

    def error(
        self, z: FloatArray, beyond_a: FloatArray, beyond_b: FloatArray, n_members: FloatArray
    ) -> FloatArray:
        """The total error of K models with P = (1 + a) z and N = (1 + b) z."""
        x = np.log(z)
        outside = ~((x >= self._ends[0]) & (x <= self._ends[1]))
        logs = self._spline(np.where(outside, self._ends[0], x))
        gap, bias, crossed = (np.exp(logs[..., k]) for k in (1, 2, 3))
        P, N = (1 + beyond_a) * z, (1 + beyond_b) * z
        unknown = np.full_like(gap, np.nan)  # of the largest level: no part depends on it
        point = FixedPoint(
            features=P,
            samples=N,
            learnability=unknown,
            unlearned=unknown,
            bias=bias,
            crossed=crossed,
            unused_features=beyond_a / (1 + beyond_a),
            unused_samples=beyond_b / (1 + beyond_b),
            gap_per_feature=gap / P,
            gap_per_sample=gap / N,
            second_per_sample=(z - gap) / N,
            tail=unknown,
        )
        terms = member_terms(point, self.spectrum, 0.0, 1.0)
        total = total_error(terms, terms.unlearned(), self._amplitudes, 1 / n_members)
        return np.where(outside | np.isnan(total), np.inf, total)
