"""Where does a learner's test error come from, and what fixes it?

>>> import doubletrouble as dt
>>> problem = dt.Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=1e-5)
>>> round(dt.exact_error(problem, n_members=10).total, 6)
0.87171
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from doubletrouble._version import __version__
from doubletrouble.activations import Activation, activation
from doubletrouble.advice.advise import advise
from doubletrouble.advice.result import Advice
from doubletrouble.clock import time_from, time_to
from doubletrouble.data.dataset import Data
from doubletrouble.data.load import load_data
from doubletrouble.decomposition.predictions import decompose_predictions
from doubletrouble.errors import (
    ConvergenceError,
    DivergenceError,
    DoubleTroubleError,
    FitError,
    MissingExtraError,
    require,
)
from doubletrouble.learners.generator import GeneratorSource
from doubletrouble.learners.plan import plan_repeats
from doubletrouble.learners.pool import PoolSource
from doubletrouble.problems import Learner, Problem, SpectralProblem
from doubletrouble.results import (
    AnovaTerms,
    Committee,
    ErrorTerms,
    Estimate,
    OptimalRidge,
    PsiTerms,
    ResampledErrorTerms,
    StoppingTime,
)
from doubletrouble.ridge import ridge_from, ridge_to
from doubletrouble.simulation.committee import simulate_committee
from doubletrouble.simulation.simulate import simulate
from doubletrouble.sweep.grid import Sweep
from doubletrouble.theory import replica
from doubletrouble.theory.committee import committee
from doubletrouble.theory.error import anova, exact_error
from doubletrouble.theory.filters import Filter
from doubletrouble.theory.flow import gradient_flow
from doubletrouble.theory.optimum import optimal_ridge
from doubletrouble.theory.pair import pair_error, pair_terms
from doubletrouble.theory.psi import psi_terms
from doubletrouble.theory.stopping import best_stopping_time
from doubletrouble.theory.training import training_error

__all__ = [
    "Activation",
    "Advice",
    "AnovaTerms",
    "Committee",
    "ConvergenceError",
    "Data",
    "DivergenceError",
    "DoubleTroubleError",
    "ErrorTerms",
    "Estimate",
    "Filter",
    "FitError",
    "GeneratorSource",
    "Learner",
    "MissingExtraError",
    "OptimalRidge",
    "PoolSource",
    "Problem",
    "PsiTerms",
    "RandomFeatures",
    "RandomFeaturesClassifier",
    "RandomFeaturesRidge",
    "ResampledErrorTerms",
    "SpectralProblem",
    "StoppingTime",
    "Sweep",
    "__version__",
    "activation",
    "advise",
    "anova",
    "best_stopping_time",
    "committee",
    "decompose",
    "decompose_predictions",
    "exact_error",
    "gradient_flow",
    "lazy_curve",
    "lazy_split",
    "load_data",
    "optimal_ridge",
    "pair_error",
    "pair_terms",
    "plan_repeats",
    "psi_terms",
    "replica",
    "ridge_from",
    "ridge_to",
    "simulate",
    "simulate_committee",
    "time_from",
    "time_to",
    "train_lazy",
    "training_error",
]

_LATER = {
    "RandomFeatures": ("doubletrouble.estimators.transformer", "sklearn", "estimators"),
    "RandomFeaturesClassifier": ("doubletrouble.estimators.classifier", "sklearn", "estimators"),
    "RandomFeaturesRidge": ("doubletrouble.estimators.regressor", "sklearn", "estimators"),
    "decompose": ("doubletrouble.learners.decompose", "sqlite3", ""),
    "lazy_curve": ("doubletrouble.sweep.lazy", "torch", "networks"),
    "lazy_split": ("doubletrouble.networks.split", "torch", "networks"),
    "train_lazy": ("doubletrouble.networks.train", "torch", "networks"),
}
"""Names imported when they are first used, since what they need takes a second; and its extra."""

if TYPE_CHECKING:
    from doubletrouble.estimators.classifier import RandomFeaturesClassifier
    from doubletrouble.estimators.regressor import RandomFeaturesRidge
    from doubletrouble.estimators.transformer import RandomFeatures
    from doubletrouble.learners.decompose import decompose
    from doubletrouble.networks.split import lazy_split
    from doubletrouble.networks.train import train_lazy
    from doubletrouble.sweep.lazy import lazy_curve


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, needed, extra = _LATER[name]
    if not _is_there(needed):  # said when it is called: asking whether it exists is no error

        def absent(*_: object, **__: object) -> None:
            require(needed, extra)

        return absent
    return getattr(import_module(home), name)


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # it was put out of reach
        return False


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
