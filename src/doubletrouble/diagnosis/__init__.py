"""The error of a learner at the size of the data by cause, and the gain of each option."""

from doubletrouble.diagnosis._comparison import LearnerComparison as LearnerComparison
from doubletrouble.diagnosis._curve import LearningCurve as LearningCurve
from doubletrouble.diagnosis._diagnose import compare as compare
from doubletrouble.diagnosis._diagnose import diagnose as diagnose
from doubletrouble.diagnosis._result import Diagnosis as Diagnosis
from doubletrouble.results import RowErrors as RowErrors
