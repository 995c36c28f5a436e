"""Where does a learner's test error come from, and what fixes it?

>>> import doubletrouble as dt
>>> problem = dt.Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=1e-5)
>>> round(dt.exact_error(problem, 10).total, 6)
0.87171

Names are imported when they are first used, so that `import doubletrouble` takes milliseconds.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from doubletrouble._version import __version__ as __version__

if TYPE_CHECKING:
    from doubletrouble import replica as replica
    from doubletrouble.activations import Activation as Activation
    from doubletrouble.activations import activation as activation
    from doubletrouble.advice.advise import advise as advise
    from doubletrouble.advice.marginal import MarginalValue as MarginalValue
    from doubletrouble.advice.option import AdviceOption as AdviceOption
    from doubletrouble.advice.result import Advice as Advice
    from doubletrouble.clock import time_from as time_from
    from doubletrouble.clock import time_to as time_to
    from doubletrouble.data.dataset import Data as Data
    from doubletrouble.data.load import load_data as load_data
    from doubletrouble.decomposition.design import Design as Design
    from doubletrouble.decomposition.predictions import (
        decompose_predictions as decompose_predictions,
    )
    from doubletrouble.decomposition.result import Decomposition as Decomposition
    from doubletrouble.ensembles import Bootstrap as Bootstrap
    from doubletrouble.ensembles import Divide as Divide
    from doubletrouble.ensembles import Ensemble as Ensemble
    from doubletrouble.ensembles import FeatureBank as FeatureBank
    from doubletrouble.ensembles import Folds as Folds
    from doubletrouble.ensembles import Scheme as Scheme
    from doubletrouble.ensembles import Subsample as Subsample
    from doubletrouble.errors import ConvergenceError as ConvergenceError
    from doubletrouble.errors import DivergenceError as DivergenceError
    from doubletrouble.errors import DoubleTroubleError as DoubleTroubleError
    from doubletrouble.errors import FitError as FitError
    from doubletrouble.errors import MissingExtraError as MissingExtraError
    from doubletrouble.errors import StoreError as StoreError
    from doubletrouble.estimators.classifier import (
        RandomFeaturesClassifier as RandomFeaturesClassifier,
    )
    from doubletrouble.estimators.path import RidgePath as RidgePath
    from doubletrouble.estimators.regressor import RandomFeaturesRidge as RandomFeaturesRidge
    from doubletrouble.estimators.transformer import RandomFeatures as RandomFeatures
    from doubletrouble.kernels import kernel as kernel
    from doubletrouble.learners.decompose import LearnerDecomposition as LearnerDecomposition
    from doubletrouble.learners.decompose import decompose as decompose
    from doubletrouble.learners.generator import GeneratorSource as GeneratorSource
    from doubletrouble.learners.plan import RepeatPlan as RepeatPlan
    from doubletrouble.learners.plan import plan_repeats as plan_repeats
    from doubletrouble.learners.pool import PoolSource as PoolSource
    from doubletrouble.learners.samples import TestSet as TestSet
    from doubletrouble.learners.samples import TrainingSet as TrainingSet
    from doubletrouble.networks.outcome import TrainingOutcome as TrainingOutcome
    from doubletrouble.networks.result import LazyRun as LazyRun
    from doubletrouble.networks.split import LazySplit as LazySplit
    from doubletrouble.networks.split import lazy_split as lazy_split
    from doubletrouble.networks.train import train_lazy as train_lazy
    from doubletrouble.problems import Member as Member
    from doubletrouble.problems import Problem as Problem
    from doubletrouble.problems import SpectralProblem as SpectralProblem
    from doubletrouble.replica import SaddlePoint as SaddlePoint
    from doubletrouble.results import AnovaTerms as AnovaTerms
    from doubletrouble.results import Committee as Committee
    from doubletrouble.results import ConfidenceInterval as ConfidenceInterval
    from doubletrouble.results import ErrorTerms as ErrorTerms
    from doubletrouble.results import Estimate as Estimate
    from doubletrouble.results import OptimalRidge as OptimalRidge
    from doubletrouble.results import PsiTerms as PsiTerms
    from doubletrouble.results import StoppingTime as StoppingTime
    from doubletrouble.ridge import ridge_from as ridge_from
    from doubletrouble.ridge import ridge_to as ridge_to
    from doubletrouble.simulation.committee import CommitteeSimulation as CommitteeSimulation
    from doubletrouble.simulation.committee import simulate_committee as simulate_committee
    from doubletrouble.simulation.result import DrawnEnsemble as DrawnEnsemble
    from doubletrouble.simulation.result import Simulation as Simulation
    from doubletrouble.simulation.simulate import simulate as simulate
    from doubletrouble.sweep.cell import Cell as Cell
    from doubletrouble.sweep.grid import Sweep as Sweep
    from doubletrouble.sweep.lazy import LazyCurve as LazyCurve
    from doubletrouble.sweep.lazy import lazy_curve as lazy_curve
    from doubletrouble.sweep.outcome import SweepResult as SweepResult
    from doubletrouble.sweep.outcome import SweepRow as SweepRow
    from doubletrouble.sweep.outcome import SweepStatus as SweepStatus
    from doubletrouble.theory._committee import committee as committee
    from doubletrouble.theory._committee import pair_error as pair_error
    from doubletrouble.theory._committee import pair_terms as pair_terms
    from doubletrouble.theory._error import anova as anova
    from doubletrouble.theory._error import effective_ridge as effective_ridge
    from doubletrouble.theory._error import exact_error as exact_error
    from doubletrouble.theory._error import psi_terms as psi_terms
    from doubletrouble.theory._error import training_error as training_error
    from doubletrouble.theory._filters import Filter as Filter
    from doubletrouble.theory._gradient_flow import best_stopping_time as best_stopping_time
    from doubletrouble.theory._gradient_flow import gradient_flow as gradient_flow
    from doubletrouble.theory._optimum import optimal_ridge as optimal_ridge

_HOMES = {
    "activations": "Activation activation",
    "advice.advise": "advise",
    "advice.marginal": "MarginalValue",
    "advice.option": "AdviceOption",
    "advice.result": "Advice",
    "clock": "time_from time_to",
    "data.dataset": "Data",
    "data.load": "load_data",
    "decomposition.design": "Design",
    "decomposition.predictions": "decompose_predictions",
    "decomposition.result": "Decomposition",
    "ensembles": "Bootstrap Divide Ensemble FeatureBank Folds Scheme Subsample",
    "errors": "ConvergenceError DivergenceError DoubleTroubleError FitError MissingExtraError "
    "StoreError",
    "estimators.classifier": "RandomFeaturesClassifier",
    "estimators.path": "RidgePath",
    "estimators.regressor": "RandomFeaturesRidge",
    "estimators.transformer": "RandomFeatures",
    "kernels": "kernel",
    "learners.decompose": "LearnerDecomposition decompose",
    "learners.generator": "GeneratorSource",
    "learners.plan": "RepeatPlan plan_repeats",
    "learners.pool": "PoolSource",
    "learners.samples": "TestSet TrainingSet",
    "networks.outcome": "TrainingOutcome",
    "networks.result": "LazyRun",
    "networks.split": "LazySplit lazy_split",
    "networks.train": "train_lazy",
    "problems": "Member Problem SpectralProblem",
    "replica": "SaddlePoint",
    "results": "AnovaTerms Committee ConfidenceInterval ErrorTerms Estimate OptimalRidge PsiTerms "
    "StoppingTime",
    "ridge": "ridge_from ridge_to",
    "simulation.committee": "CommitteeSimulation simulate_committee",
    "simulation.result": "DrawnEnsemble Simulation",
    "simulation.simulate": "simulate",
    "sweep.cell": "Cell",
    "sweep.grid": "Sweep",
    "sweep.lazy": "LazyCurve lazy_curve",
    "sweep.outcome": "SweepResult SweepRow SweepStatus",
    "theory._committee": "committee pair_error pair_terms",
    "theory._error": "anova effective_ridge exact_error psi_terms training_error",
    "theory._filters": "Filter",
    "theory._gradient_flow": "best_stopping_time gradient_flow",
    "theory._optimum": "optimal_ridge",
}
"""The module of every public name."""

_EXTRAS = {"estimators": ("sklearn", "estimators"), "networks": ("torch", "networks")}
"""The package that a folder needs, and the extra that brings it."""

_MODULE = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = sorted([*_MODULE, "__version__", "replica"])


def __getattr__(name: str) -> Any:
    if name == "replica":
        return import_module("doubletrouble.replica")
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    folder = "networks" if name.startswith(("Lazy", "lazy")) else _MODULE[name].split(".")[0]
    needed, extra = _EXTRAS.get(folder, ("", ""))
    if needed and not _is_installed(needed):
        value = _placeholder(name, needed, extra)
    else:
        value = getattr(import_module(f"doubletrouble.{_MODULE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ValueError:  # its entry in sys.modules is None
        return False


class _Placeholder(type):
    """Metaclass of a class whose optional package is not installed: its use calls `_refuse`."""

    _refuse: Callable[[], Any]

    def __init__(cls, name: str, bases: tuple[type, ...], own: dict[str, Any]) -> None:
        super().__init__(name, bases, own)
        if bases:
            cls._refuse()

    def __call__(cls, *_: object, **__: object) -> Any:
        return cls._refuse()

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):  # queries of inspect, pydoc, copy and IPython
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        return cls._refuse()


def _placeholder(name: str, module: str, extra: str) -> Any:
    """Return a class or a function of this name; every use of it raises MissingExtraError."""
    from doubletrouble.errors import require

    def refuse(*_: object, **__: object) -> Any:
        require(module, extra)

    text = f"Needs {module}: pip install 'doubletrouble[{extra}]'."
    if name[0].isupper():
        own = {"_refuse": staticmethod(refuse), "__doc__": text, "__module__": __name__}
        return _Placeholder(name, (), own)
    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__, refuse.__module__ = text, __name__
    return refuse
