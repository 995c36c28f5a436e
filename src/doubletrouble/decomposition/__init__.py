"""The error of any learner by cause: from its predictions, or from fits on data of a source."""

from doubletrouble.decomposition._classification import ensemble_error as ensemble_error
from doubletrouble.decomposition._classification import error_rate as error_rate
from doubletrouble.decomposition._classification import grouped as grouped
from doubletrouble.decomposition._classification import vote_error as vote_error
from doubletrouble.decomposition._components import Statistic as Statistic
from doubletrouble.decomposition._components import digest as digest
from doubletrouble.decomposition._decompose import decompose as decompose
from doubletrouble.decomposition._design import Design as Design
from doubletrouble.decomposition._fitting import FitWarning as FitWarning
from doubletrouble.decomposition._fitting import Learner as Learner
from doubletrouble.decomposition._fitting import TaskName as TaskName
from doubletrouble.decomposition._fitting import checked_predictions as checked_predictions
from doubletrouble.decomposition._fitting import listed_failures as listed_failures
from doubletrouble.decomposition._fitting import recorded_warnings as recorded_warnings
from doubletrouble.decomposition._fitting import summarized_warnings as summarized_warnings
from doubletrouble.decomposition._losses import MEASURE_LABELS as MEASURE_LABELS
from doubletrouble.decomposition._losses import LearnerMeasure as LearnerMeasure
from doubletrouble.decomposition._losses import zero_one_loss as zero_one_loss
from doubletrouble.decomposition._plan import RepeatPlan as RepeatPlan
from doubletrouble.decomposition._plan import plan_repeats as plan_repeats
from doubletrouble.decomposition._predictions import check_option as check_option
from doubletrouble.decomposition._predictions import decompose_predictions as decompose_predictions
from doubletrouble.decomposition._result import Decomposition as Decomposition
from doubletrouble.decomposition._result import LearnerDecomposition as LearnerDecomposition
from doubletrouble.decomposition._running import content_hash as content_hash
from doubletrouble.decomposition._running import data_hash as data_hash
from doubletrouble.decomposition._running import run_fits as run_fits
from doubletrouble.decomposition._sources import DataSource as DataSource
from doubletrouble.decomposition._sources import GeneratorSource as GeneratorSource
from doubletrouble.decomposition._sources import Labels as Labels
from doubletrouble.decomposition._sources import PoolSource as PoolSource
from doubletrouble.decomposition._sources import TestSet as TestSet
from doubletrouble.decomposition._sources import TrainingSet as TrainingSet
from doubletrouble.decomposition._sources import as_inputs as as_inputs
from doubletrouble.decomposition._sources import as_labels as as_labels
from doubletrouble.decomposition._sources import generator as generator
from doubletrouble.decomposition._sources import one_hot as one_hot
from doubletrouble.decomposition._sources import take_rows as take_rows

# TRANSITION: deleted with the plots that import them
COLORS: dict[str, tuple[str, str]] = {}


def draw_bars(*_: object) -> None:  # noqa: D103
    raise NotImplementedError
