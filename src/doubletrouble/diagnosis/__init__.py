"""The error of a learner at the size of the data by cause, and the gain of each option."""

from doubletrouble.diagnosis._diagnose import compare as compare
from doubletrouble.diagnosis._diagnose import diagnose as diagnose
from doubletrouble.diagnosis._result import Diagnosis as Diagnosis
from doubletrouble.diagnosis._result import LearnerComparison as LearnerComparison
from doubletrouble.diagnosis._result import LearningCurve as LearningCurve
from doubletrouble.results import RowErrors as RowErrors
