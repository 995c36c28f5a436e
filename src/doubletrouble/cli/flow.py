"""Training time: the test error along gradient flow, and when to stop."""

from collections.abc import Mapping
from typing import Any

from doubletrouble.cli.flags import ENSEMBLE, FORMS, PROBLEM, SPECS, flag, number, takes
from doubletrouble.cli.question import Question
from doubletrouble.cli.report import parts
from doubletrouble.conventions import CLOCKS, time_from, time_to
from doubletrouble.theory import best_stopping_time, gradient_flow

_TIMES = "{:g}:{:g}:log:9".format(*SPECS["times"].typical)
_CLOCKS = tuple(clock for clock in CLOCKS if clock != "gram")  # that of a measured spectrum
_RATIO = ("mean", "half_mean")  # clocks that go by N/D alone
_CLOCK = flag(
    "clock", str, "time is steps × learning rate on this loss: 'mean', 'half_mean', 'sum' or "
    "'half_sum' of the squared errors; without, the unit above", choices=_CLOCKS, metavar="NAME",
)  # fmt: skip


@takes(*PROBLEM, *ENSEMBLE, number("times", default=_TIMES), _CLOCK, *FORMS)
def flow(**given: Any) -> None:
    """Print the exact test error at each time of training, split by cause.

    Models start at zero weights a and descend the squared loss by gradient flow, da/dt = (Φᵀ (y -
    Φ a) - alpha a)/D with alpha = N P λ/D, for N samples of P features Φ. What is fitted decays as
    exp(-t x) along an eigenvalue x of Φᵀ Φ/D. At t = 0 nothing is learned, and at inf it is the
    ridge fit.
    """
    if given["times"] is None:
        given["times"] = _TIMES
    asked = Question.of(given)
    times: Any = asked.given("times")
    if given["clock"]:
        times = time_from(given["clock"], times, **_sizes(asked, given["clock"]))
    ensemble = asked.ensemble
    found = gradient_flow(asked.problem, times, ensemble)
    report = asked.report("Test error along gradient flow", parts(found, ensemble), str(found))
    report.show(json=given["json"], csv=given["csv"])


@takes(*PROBLEM, *ENSEMBLE, _CLOCK, *FORMS)
def stopping(**given: Any) -> None:
    """Print the time t at which to stop training, the error there, and that of the best ridge.

    Time is that of the command flow: da/dt = (Φᵀ (y - Φ a) - alpha a)/D with alpha = N P λ/D. Both
    0 (do not train) and inf (train to the end) are answers. The best ridge is trained to the end.
    """
    asked = Question.of(given)
    ensemble = asked.ensemble
    found = best_stopping_time(asked.problem, ensemble)
    time = found.time
    if given["clock"]:
        time = time_to(given["clock"], time, **_sizes(asked, given["clock"]))
    other = found.optimal_ridge
    best = {"best_ridge": other.ridge, "best_ridge_total": other.error.total}
    summary = "" if asked.varying else (
        f"{'best time t':<16} {time:12.6g}\n{found.error}\n\n"
        f"{'best λ instead':<16} {best['best_ridge']:12.6g}\n"
        f"{'total there':<16} {best['best_ridge_total']:12.6g}"
    )  # fmt: skip
    results = {"time": time} | parts(found.error, ensemble) | best
    report = asked.report("Test error at the best time to stop", results, summary)
    report.show(json=given["json"], csv=given["csv"])


def _sizes(asked: Question, clock: str) -> Mapping[str, Any]:
    """N and D, as far as a clock needs them."""
    if clock not in _CLOCKS:
        raise ValueError(f"clock must be one of {', '.join(_CLOCKS)}, got {clock!r}")
    if "dim" in asked.axes:
        return {name: asked.given(name) for name in ("n_samples", "dim")}
    if clock not in _RATIO:
        raise ValueError(
            f"clock must be {' or '.join(_RATIO)} where n_features, n_samples and dim are not "
            f"given, got {clock!r}"
        )
    return {"n_samples": asked.given("samples_per_dim"), "dim": 1.0}
