"""The error of any learner by cause, and the gain of each change."""

from doubletrouble.learners._comparison import LearnerComparison as LearnerComparison
from doubletrouble.learners._curves import LearningCurve as LearningCurve
from doubletrouble.learners._decompose import decompose as decompose
from doubletrouble.learners._decomposition import Decomposition as Decomposition
from doubletrouble.learners._decomposition import LearnerDecomposition as LearnerDecomposition
from doubletrouble.learners._decomposition import RepeatPlan as RepeatPlan
from doubletrouble.learners._decomposition import plan_repeats as plan_repeats
from doubletrouble.learners._design import Design as Design
from doubletrouble.learners._diagnose import compare as compare
from doubletrouble.learners._diagnose import diagnose as diagnose
from doubletrouble.learners._diagnosis import Diagnosis as Diagnosis
from doubletrouble.learners._predictions import decompose_predictions as decompose_predictions
from doubletrouble.learners._sources import DataSource as DataSource
from doubletrouble.learners._sources import GeneratorSource as GeneratorSource
from doubletrouble.learners._sources import PoolSource as PoolSource
from doubletrouble.learners._sources import TestSet as TestSet
from doubletrouble.learners._sources import TrainingSet as TrainingSet
