"""Decompose a learner's test error by cause, and compare the remedies.

>>> import doubletrouble as dt
>>> problem = dt.Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=1e-5)
>>> round(dt.exact_error(problem, 10).total, 6)
0.87171

Names are imported at their first use, so that `import doubletrouble` takes milliseconds.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from doubletrouble._version import __version__ as __version__

if TYPE_CHECKING:
    from doubletrouble import losses as losses
    from doubletrouble import replica as replica
    from doubletrouble.activations import Activation as Activation
    from doubletrouble.activations import activation as activation
    from doubletrouble.advice import Advice as Advice
    from doubletrouble.advice import AdviceOption as AdviceOption
    from doubletrouble.advice import FrontierExponents as FrontierExponents
    from doubletrouble.advice import MarginalValue as MarginalValue
    from doubletrouble.advice import ScalingFrontier as ScalingFrontier
    from doubletrouble.advice import advise as advise
    from doubletrouble.advice import scaling_frontier as scaling_frontier
    from doubletrouble.conventions import convert_ridge as convert_ridge
    from doubletrouble.conventions import convert_time as convert_time
    from doubletrouble.convex import OrderParameters as OrderParameters
    from doubletrouble.convex import order_parameters as order_parameters
    from doubletrouble.convex import separability as separability
    from doubletrouble.costs import Cost as Cost
    from doubletrouble.data import Data as Data
    from doubletrouble.data import load_data as load_data
    from doubletrouble.decomposition import Decomposition as Decomposition
    from doubletrouble.decomposition import DecompositionDifference as DecompositionDifference
    from doubletrouble.decomposition import Design as Design
    from doubletrouble.decomposition import GeneratorSource as GeneratorSource
    from doubletrouble.decomposition import LearnerDecomposition as LearnerDecomposition
    from doubletrouble.decomposition import PoolSource as PoolSource
    from doubletrouble.decomposition import RepeatPlan as RepeatPlan
    from doubletrouble.decomposition import TestSet as TestSet
    from doubletrouble.decomposition import TrainingSet as TrainingSet
    from doubletrouble.decomposition import decompose as decompose
    from doubletrouble.decomposition import (
        decompose_predictions as decompose_predictions,
    )
    from doubletrouble.decomposition import plan_repeats as plan_repeats
    from doubletrouble.diagnosis import Diagnosis as Diagnosis
    from doubletrouble.diagnosis import LearnerComparison as LearnerComparison
    from doubletrouble.diagnosis import LearningCurve as LearningCurve
    from doubletrouble.diagnosis import Remedies as Remedies
    from doubletrouble.diagnosis import Remedy as Remedy
    from doubletrouble.diagnosis import RowErrors as RowErrors
    from doubletrouble.diagnosis import compare as compare
    from doubletrouble.diagnosis import diagnose as diagnose
    from doubletrouble.ensembles import Bootstrap as Bootstrap
    from doubletrouble.ensembles import Divide as Divide
    from doubletrouble.ensembles import Ensemble as Ensemble
    from doubletrouble.ensembles import FeatureBank as FeatureBank
    from doubletrouble.ensembles import Folds as Folds
    from doubletrouble.ensembles import Scheme as Scheme
    from doubletrouble.ensembles import Subsample as Subsample
    from doubletrouble.ensembles import Vote as Vote
    from doubletrouble.errors import ConvergenceError as ConvergenceError
    from doubletrouble.errors import DivergenceError as DivergenceError
    from doubletrouble.errors import DoubleTroubleError as DoubleTroubleError
    from doubletrouble.errors import FitError as FitError
    from doubletrouble.errors import MissingExtraError as MissingExtraError
    from doubletrouble.errors import StoreError as StoreError
    from doubletrouble.estimators import RandomFeatures as RandomFeatures
    from doubletrouble.estimators import (
        RandomFeaturesClassifier as RandomFeaturesClassifier,
    )
    from doubletrouble.estimators import RandomFeaturesRidge as RandomFeaturesRidge
    from doubletrouble.estimators import RidgePath as RidgePath
    from doubletrouble.forecasting import Forecast as Forecast
    from doubletrouble.forecasting import ForecastAdvice as ForecastAdvice
    from doubletrouble.forecasting import ForecastCheck as ForecastCheck
    from doubletrouble.forecasting import ForecastChecks as ForecastChecks
    from doubletrouble.forecasting import ForecastOption as ForecastOption
    from doubletrouble.forecasting import ForecastTerms as ForecastTerms
    from doubletrouble.forecasting import LabelNoise as LabelNoise
    from doubletrouble.forecasting import forecast as forecast
    from doubletrouble.kernels import kernel as kernel
    from doubletrouble.networks import LazyCurve as LazyCurve
    from doubletrouble.networks import LazyRun as LazyRun
    from doubletrouble.networks import LazySplit as LazySplit
    from doubletrouble.networks import TrainingOutcome as TrainingOutcome
    from doubletrouble.networks import lazy_curve as lazy_curve
    from doubletrouble.networks import lazy_split as lazy_split
    from doubletrouble.networks import train_lazy as train_lazy
    from doubletrouble.problems import Member as Member
    from doubletrouble.problems import Mixture as Mixture
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
    from doubletrouble.runs import Cell as Cell
    from doubletrouble.simulation import CommitteeSimulation as CommitteeSimulation
    from doubletrouble.simulation import ConvexSimulation as ConvexSimulation
    from doubletrouble.simulation import DrawnEnsemble as DrawnEnsemble
    from doubletrouble.simulation import Simulation as Simulation
    from doubletrouble.simulation import simulate as simulate
    from doubletrouble.simulation import simulate_committee as simulate_committee
    from doubletrouble.spectra import ExponentialLaw as ExponentialLaw
    from doubletrouble.spectra import PowerLaw as PowerLaw
    from doubletrouble.spectra import SpectralLaw as SpectralLaw
    from doubletrouble.spectra import TwoPowerLaw as TwoPowerLaw
    from doubletrouble.sweep import Sweep as Sweep
    from doubletrouble.sweep import SweepResult as SweepResult
    from doubletrouble.sweep import SweepRow as SweepRow
    from doubletrouble.sweep import SweepStatus as SweepStatus
    from doubletrouble.theory import Calibration as Calibration
    from doubletrouble.theory import Exponents as Exponents
    from doubletrouble.theory import Filter as Filter
    from doubletrouble.theory import PartExponents as PartExponents
    from doubletrouble.theory import anova as anova
    from doubletrouble.theory import best_stopping_time as best_stopping_time
    from doubletrouble.theory import calibration as calibration
    from doubletrouble.theory import committee as committee
    from doubletrouble.theory import effective_ridge as effective_ridge
    from doubletrouble.theory import exact_error as exact_error
    from doubletrouble.theory import exponents as exponents
    from doubletrouble.theory import gradient_flow as gradient_flow
    from doubletrouble.theory import optimal_ridge as optimal_ridge
    from doubletrouble.theory import pair_error as pair_error
    from doubletrouble.theory import psi_terms as psi_terms
    from doubletrouble.theory import training_error as training_error

_HOMES = {
    "activations": "Activation activation",
    "advice": "Advice AdviceOption FrontierExponents MarginalValue ScalingFrontier advise "
    "scaling_frontier",
    "conventions": "convert_ridge convert_time",
    "convex": "OrderParameters order_parameters separability",
    "costs": "Cost",
    "data": "Data load_data",
    "decomposition": "Decomposition DecompositionDifference Design GeneratorSource "
    "LearnerDecomposition PoolSource RepeatPlan TestSet TrainingSet decompose "
    "decompose_predictions plan_repeats",
    "diagnosis": "Diagnosis LearnerComparison LearningCurve Remedies Remedy RowErrors compare "
    "diagnose",
    "ensembles": "Bootstrap Divide Ensemble FeatureBank Folds Scheme Subsample Vote",
    "errors": "ConvergenceError DivergenceError DoubleTroubleError FitError MissingExtraError "
    "StoreError",
    "estimators": "RandomFeatures RandomFeaturesClassifier RandomFeaturesRidge RidgePath",
    "forecasting": "Forecast ForecastAdvice ForecastCheck ForecastChecks ForecastOption "
    "ForecastTerms LabelNoise forecast",
    "kernels": "kernel",
    "networks": "LazyCurve LazyRun LazySplit TrainingOutcome lazy_curve lazy_split train_lazy",
    "problems": "Member Mixture Problem SpectralProblem",
    "replica": "SaddlePoint",
    "results": "AnovaTerms Committee ConfidenceInterval ErrorTerms Estimate OptimalRidge "
    "PsiTerms StoppingTime",
    "runs": "Cell",
    "simulation": "CommitteeSimulation ConvexSimulation DrawnEnsemble Simulation simulate "
    "simulate_committee",
    "spectra": "ExponentialLaw PowerLaw SpectralLaw TwoPowerLaw",
    "sweep": "Sweep SweepResult SweepRow SweepStatus",
    "theory": "Calibration Exponents Filter PartExponents anova best_stopping_time calibration "
    "committee effective_ridge exact_error exponents gradient_flow optimal_ridge pair_error "
    "psi_terms training_error",
}
"""The module of every public name."""

_EXTRAS = {"estimators": ("sklearn", "estimators"), "networks": ("torch", "networks")}
"""Optional dependency of a package, and the extra that installs it."""

_MODULE = {name: module for module, names in _HOMES.items() for name in names.split()}

_MODULES = ("losses", "replica")

__all__ = sorted([*_MODULE, *_MODULES, "__version__"])


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"doubletrouble.{name}")
    if name not in _MODULE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    needed, extra = _EXTRAS.get(_MODULE[name], ("", ""))
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
