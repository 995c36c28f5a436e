"""Any learner of yours: its error by cause, from fits on data sets, noise and seeds of its own."""

from doubletrouble.learners._decompose import LearnerDecomposition as LearnerDecomposition
from doubletrouble.learners._decompose import decompose as decompose
from doubletrouble.learners._generator import GeneratorSource as GeneratorSource
from doubletrouble.learners._plan import RepeatPlan as RepeatPlan
from doubletrouble.learners._plan import plan_repeats as plan_repeats
from doubletrouble.learners._pool import PoolSource as PoolSource
from doubletrouble.learners._samples import TestSet as TestSet
from doubletrouble.learners._samples import TrainingSet as TrainingSet
