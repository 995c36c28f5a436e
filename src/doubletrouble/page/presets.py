"""Settings of the figures, as addresses: what a preset shows is what its link would."""

from typing import NamedTuple


class Preset(NamedTuple):
    """One figure as far as a page with two plots can show it."""

    title: str
    query: str


PRESETS = {
    "term-by-term": Preset(
        "At P = N noise and initialization diverge, the others bend", "width=1"
    ),
    "decomposition": Preset("Two troubles at the peak, with little and more ridge",
                            "second.ridge=0.1"),
    "double-descent": Preset("One model, and infinitely many", "snr=10&second.members=inf"),
    "multiple-k-decomposition": Preset("Ten models average the peak away",
                                       "members=10&second.members=1"),
    "ensemble-vs-overparametrize": Preset(
        "Two models, or one twice as wide",
        "along=samples&per=D&width=0.5&snr=10&members=2&second.width=1&second.members=1",
    ),
    "ensemble-vs-regularize": Preset(
        "The more models, the smaller the best ridge",
        "along=ridge&per=D&width=2&snr=10&second.members=10",
    ),
    "asymptotics": Preset("Far beyond P = N: noise, sampling and bias stay", "width=100"),
    "divide-and-conquer": Preset(
        "Dividing the data, or not", "members=2&scheme=divide&second.scheme=ensemble"
    ),
    "under-or-over": Preset(
        "Many models like fewer features than samples", "members=100&second.members=2"
    ),
    "anova": Preset("Only interactions diverge", "split=effects"),
    "ensemble-or-regularize-map": Preset(
        "Where a good ridge beats infinitely many models",
        "along=ridge&width=10&second.members=inf",
    ),
    "bagging": Preset(
        "Noisy data: each model draws half of them, or sees all",
        "members=10&scheme=subsample&second.scheme=ensemble",
    ),
    "equivalences": Preset(
        "Infinitely many models: fewer features act as more ridge",
        "along=ridge&width=inf&members=inf&second.width=0.8",
    ),
    "training-time": Preset(
        "Waiting builds the peak at P = N, averaging undoes it",
        "along=time&width=1&ridge=0&second.members=inf",
    ),
}  # fmt: skip
"""By the name of the figure."""
