"""Exact theory of random-features ridge regression in the limit N, P, D → ∞."""

from doubletrouble.theory._bootstrap import DISTINCT as DISTINCT
from doubletrouble.theory._committee import Committee as Committee
from doubletrouble.theory._committee import Sharing as Sharing
from doubletrouble.theory._committee import checked_members as checked_members
from doubletrouble.theory._committee import checked_weights as checked_weights
from doubletrouble.theory._committee import committee as committee
from doubletrouble.theory._committee import overlaps as overlaps
from doubletrouble.theory._committee import pair_error as pair_error
from doubletrouble.theory._cross_terms import member_terms as member_terms
from doubletrouble.theory._error import Amplitudes as Amplitudes
from doubletrouble.theory._error import AnyProblem as AnyProblem
from doubletrouble.theory._error import Inputs as Inputs
from doubletrouble.theory._error import anova as anova
from doubletrouble.theory._error import combine as combine
from doubletrouble.theory._error import effective_ridge as effective_ridge
from doubletrouble.theory._error import evaluate as evaluate
from doubletrouble.theory._error import exact_error as exact_error
from doubletrouble.theory._error import has_any_loss as has_any_loss
from doubletrouble.theory._error import psi_terms as psi_terms
from doubletrouble.theory._error import total_error as total_error
from doubletrouble.theory._error import total_of as total_of
from doubletrouble.theory._error import training_error as training_error
from doubletrouble.theory._exponents import Exponents as Exponents
from doubletrouble.theory._exponents import PartExponents as PartExponents
from doubletrouble.theory._exponents import exponents as exponents
from doubletrouble.theory._exponents import has_power_law as has_power_law
from doubletrouble.theory._exponents import mode_exponents as mode_exponents
from doubletrouble.theory._exponents import regimes as regimes
from doubletrouble.theory._fixed_point import FixedPoint as FixedPoint
from doubletrouble.theory._fixed_point import Spectrum as Spectrum
from doubletrouble.theory._fixed_point import mode_sums as mode_sums
from doubletrouble.theory._fixed_point import root_power as root_power
from doubletrouble.theory._fixed_point import spectrum_of as spectrum_of
from doubletrouble.theory._flow import Filter as Filter
from doubletrouble.theory._flow import StoppingTime as StoppingTime
from doubletrouble.theory._flow import best_stopping_time as best_stopping_time
from doubletrouble.theory._flow import gradient_flow as gradient_flow
from doubletrouble.theory._optimum import OptimalRidge as OptimalRidge
from doubletrouble.theory._optimum import error_slopes as error_slopes
from doubletrouble.theory._optimum import optimal_ridge as optimal_ridge

_PUBLIC = (
    "DISTINCT Filter anova best_stopping_time committee effective_ridge error_slopes "
    "exact_error exponents gradient_flow mode_exponents optimal_ridge pair_error psi_terms regimes "
    "training_error"
)


def __dir__() -> list[str]:  # the other names are for the other packages
    return _PUBLIC.split()
