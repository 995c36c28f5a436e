r"""The test error along gradient flow: descent epoch by epoch, split by cause.

What gradient flow has learned at time t is a combination of ridge fits with complex ridges, with
the same weights for all times (`contour`). The variance parts of the error are bilinear in the
predictor, so each is a double sum of the parts of two learners that share features and data but not
the ridge (`meeting`), and the bias is that of the combined mean student:

    V(t) = Σ_jk w_j w_k V(a_j, a_k),        ρ(t) = Σ_i v_i² (Σ_j w_j M_ij)².

With a ridge λ > 0, flow descends the penalized loss and ends at the ridge fit: λ is added to every
complex ridge. [bodin2021] has the same dynamics by linear pencils and double contour integrals.

**Time** is that of `clock`: da/dt = (Φᵀ (y - Φ a) - alpha a)/D, from a = 0. The features of a
`SpectralProblem` are divided by √P, and its time is da/dt = Φᵀ (y - Φ a/√P)/√P - δ a.
"""

from __future__ import annotations  # help() then shows Numeric, not what it stands for

from dataclasses import fields

import numpy as np

from doubletrouble.glossary import TIME
from doubletrouble.parameters import FloatArray, Numeric, checked, common_shape, whole_number
from doubletrouble.results import ErrorTerms
from doubletrouble.theory.balance import Balance
from doubletrouble.theory.blocks import blockwise
from doubletrouble.theory.complex_ridge import along
from doubletrouble.theory.contour import Poles, exponential_poles
from doubletrouble.theory.error import causes
from doubletrouble.theory.evaluate import Weights, combined
from doubletrouble.theory.filters import Filter
from doubletrouble.theory.meeting import Parts, Shares, meet, parts
from doubletrouble.theory.modes import Modes
from doubletrouble.theory.points import AnyProblem, Point, prepare
from doubletrouble.theory.split import Split, split_at

_ERRORTERMS = tuple(f.name for f in fields(ErrorTerms))
_POINTS = 4096  # in a block: some hundred complex arrays of this length are alive
_NO_TIME = 1e-150  # in units of the fastest mode: nothing is learned, to the last digit
_SLOWEST = 1e-290  # the smallest complex ridge that can be handled


def gradient_flow(
    problem: AnyProblem, times: Numeric, n_members: Numeric = 1, *, n_poles: int = 20,
    filter: Filter | None = None,
) -> ErrorTerms:  # fmt: skip
    """Return the exact test error of K averaged models at each time of their training, by cause.

    Training is gradient flow from zero weights, da/dt = (Φᵀ (y - Φ a) - alpha a)/D with
    alpha = N P λ/D (`time_from` converts steps × learning rate to this time; a `SpectralProblem`
    has its own unit, "gram"). `times` broadcast with the problem's fields and `n_members`; time 0
    is the zero predictor and `math.inf` the ridge fit. With infinitely many features
    every time after 0 is the end. `n_poles` is the number of complex ridges: the
    error of the sum falls by a factor of 3.9 with each. With a `filter`, what is learned of an
    eigenvalue x at time t is that of the filter instead of 1 - e⁻ᵗˣ (and `n_poles` is its own).

    >>> from doubletrouble import Problem
    >>> problem = Problem(features_per_dim=1.0, samples_per_dim=1.0, ridge=0.0, noise=0.5)
    >>> gradient_flow(problem, [0.0, 10.0, 1000.0]).total.round(4)
    array([1.    , 1.0279, 6.833 ])
    """
    modes, point, shape = prepare(problem, n_members, "ensemble")
    time = checked("times", times, TIME)
    count = whole_number("n_poles", n_poles, 4, 65)
    if count % 2:
        raise ValueError(f"n_poles must be even, as poles come in pairs, got {n_poles}")
    if not (filter is None or isinstance(filter, Filter)):
        raise TypeError(f"filter must be a Filter, got {type(filter).__name__}")
    poles = exponential_poles(count) if filter is None else filter.poles

    def kernel(*values: FloatArray) -> tuple[FloatArray, ...]:
        arrays = np.broadcast_arrays(*values)
        flat = [np.asarray(v, dtype=np.float64).reshape(-1) for v in arrays]
        found = _errors(modes, Point(*flat[:-1]), flat[-1], poles)
        return tuple(v.reshape(arrays[0].shape) for v in found)

    whole = common_shape({"the problem and n_members": shape, "times": time})
    block = max(1, _POINTS // modes.cost)
    found = blockwise(kernel, (*point, time), whole, block=block)
    return ErrorTerms(**dict(zip(_ERRORTERMS, found, strict=True)))


def _errors(
    modes: Modes, point: Point, time: FloatArray, poles: Poles
) -> tuple[FloatArray, ...]:  # fmt: skip
    """Every part of the error at every point of a flat block; the Bayes error last."""
    ridge = modes.scaled_ridge(point.ridge, point.samples)
    pace = modes.paced(time, point.features, point.samples)  # what a pole of one is as a ridge
    begun = (pace < 1 / _NO_TIME) & (ridge < 1 / _NO_TIME) & (modes.rank > 0)
    done = np.isinf(time) | (pace == 0) | (ridge > poles.ending * pace)
    pace = np.maximum(pace, _SLOWEST)
    found = np.zeros((len(Parts._fields), time.size))
    found[0] = 1.0  # the zero predictor misses everything
    for which, at in ((begun & done, None), (begun & ~done, poles)):
        index = np.flatnonzero(which)
        if index.size:
            sizes = (point.features[index], point.samples[index])
            if at is None:
                spare = sizes[0] - sizes[1]
                ended = split_at(modes, *sizes, spare, ridge[index])
                found[:, index] = _ended(ended, 2 * float(np.sum(poles.weights).real))
            else:
                found[:, index] = _filtered(modes, *sizes, ridge[index], pace[index], at)
    weights = Weights.of(point, "ensemble")
    return (*combined(causes, Parts(*found), weights), point.test_noise**2)


def _ended(fit: Split, share: float) -> Parts:
    """The parts of the fit itself; `share` is how much of it a filter reaches in the end."""
    # the bias of a part s of the mean student: Σ v² (1 - s L)²
    missed = fit.missed + (1 - share) * (2 * fit.overlap - (1 + share) * fit.square)
    variances = (getattr(fit, name) for name in Parts._fields[1:])
    if share == 1:
        return Parts(fit.missed, *variances)
    return Parts(missed, *(share**2 * value for value in variances))


def _filtered(
    modes: Modes, features: FloatArray, samples: FloatArray, ridge: FloatArray, pace: FloatArray,
    poles: Poles,
) -> Parts:  # fmt: skip
    """The parts of unit power of what is learned with these poles."""
    ridges = [ridge + pole * pace for pole in poles.ridges]
    fits = list(along(modes, features, samples, ridges))
    one = np.ones_like(features)
    shares = Shares(features, samples, one, one)
    missed = np.asarray(1 - 2 * np.sum(poles.weights).real)  # where the filter does not end at one
    sums = np.zeros((len(Parts._fields) - 1, features.size))
    for j, (a, v) in enumerate(zip(fits, poles.weights, strict=True)):
        missed = missed + 2 * (v * a.missed).real
        for b, w in zip(fits[j:], poles.weights[j:], strict=True):
            times = 2.0 if b is a else 4.0  # and the conjugates, and the order of the two
            for other, weight in ((b, w), (Balance(*map(np.conj, b)), np.conj(w))):
                found = parts(meet(a, other, modes, shares))
                for total, value in zip(sums, found[1:], strict=True):
                    total += times * (v * weight * value).real
    return Parts(modes.weigh(missed**2), *np.maximum(sums, 0.0))  # what rounding left of a zero
