"""Where the error of any learner comes from, told from its predictions alone."""

from doubletrouble.decomposition._classification import ensemble_error as ensemble_error
from doubletrouble.decomposition._classification import error_rate as error_rate
from doubletrouble.decomposition._classification import grouped as grouped
from doubletrouble.decomposition._classification import vote_error as vote_error
from doubletrouble.decomposition._design import Design as Design
from doubletrouble.decomposition._drawing import COLORS as COLORS
from doubletrouble.decomposition._jackknife import Statistic as Statistic
from doubletrouble.decomposition._jackknife import Variances as Variances
from doubletrouble.decomposition._jackknife import digest as digest
from doubletrouble.decomposition._jackknife import weighted_sum as weighted_sum
from doubletrouble.decomposition._predictions import decompose_predictions as decompose_predictions
from doubletrouble.decomposition._products import LARGEST as LARGEST
from doubletrouble.decomposition._result import Decomposition as Decomposition
