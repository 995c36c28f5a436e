"""Exact theory of random-features ridge regression in the limit N, P, D → ∞."""

from doubletrouble.theory._bootstrap import DISTINCT as DISTINCT
from doubletrouble.theory._calibration import Calibration as Calibration
from doubletrouble.theory._calibration import calibration as calibration
from doubletrouble.theory._committee import committee as committee
from doubletrouble.theory._committee import pair_error as pair_error
from doubletrouble.theory._committee import pair_terms as pair_terms
from doubletrouble.theory._error import MEASURES as MEASURES
from doubletrouble.theory._error import AnyProblem as AnyProblem
from doubletrouble.theory._error import Inputs as Inputs
from doubletrouble.theory._error import Measure as Measure
from doubletrouble.theory._error import anova as anova
from doubletrouble.theory._error import effective_ridge as effective_ridge
from doubletrouble.theory._error import evaluate as evaluate
from doubletrouble.theory._error import exact_error as exact_error
from doubletrouble.theory._error import has_any_loss as has_any_loss
from doubletrouble.theory._error import psi_terms as psi_terms
from doubletrouble.theory._error import total_of as total_of
from doubletrouble.theory._error import training_error as training_error
from doubletrouble.theory._filters import Filter as Filter
from doubletrouble.theory._fixed_point import Spectrum as Spectrum
from doubletrouble.theory._fixed_point import spectrum_of as spectrum_of
from doubletrouble.theory._gradient_flow import best_stopping_time as best_stopping_time
from doubletrouble.theory._gradient_flow import gradient_flow as gradient_flow
from doubletrouble.theory._optimum import error_slopes as error_slopes
from doubletrouble.theory._optimum import optimal_ridge as optimal_ridge
