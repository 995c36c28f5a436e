"""The error of any learner by cause: from its predictions, or from fits on data of a source."""

from doubletrouble.decomposition._classification import ensemble_error as ensemble_error
from doubletrouble.decomposition._classification import error_rate as error_rate
from doubletrouble.decomposition._classification import grouped as grouped
from doubletrouble.decomposition._classification import vote_error as vote_error
from doubletrouble.decomposition._components import Statistic as Statistic
from doubletrouble.decomposition._components import digest as digest
from doubletrouble.decomposition._decompose import decompose as decompose
from doubletrouble.decomposition._design import Design as Design
from doubletrouble.decomposition._plan import RepeatPlan as RepeatPlan
from doubletrouble.decomposition._plan import plan_repeats as plan_repeats
from doubletrouble.decomposition._predictions import decompose_predictions as decompose_predictions
from doubletrouble.decomposition._result import COLORS as COLORS
from doubletrouble.decomposition._result import Decomposition as Decomposition
from doubletrouble.decomposition._result import DecompositionDifference as DecompositionDifference
from doubletrouble.decomposition._result import LearnerDecomposition as LearnerDecomposition
from doubletrouble.decomposition._sources import DataSource as DataSource
from doubletrouble.decomposition._sources import GeneratorSource as GeneratorSource
from doubletrouble.decomposition._sources import PoolSource as PoolSource
from doubletrouble.decomposition._sources import TestSet as TestSet
from doubletrouble.decomposition._sources import TrainingSet as TrainingSet
from doubletrouble.decomposition._sources import generator as generator
