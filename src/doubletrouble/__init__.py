"""Where does a learner's test error come from, and what fixes it?

>>> import doubletrouble as dt
>>> problem = dt.Problem(features_per_dim=2.0, samples_per_dim=1.0, ridge=1e-5)
>>> round(dt.exact_error(problem, n_members=10).total, 6)
0.87171
"""

from doubletrouble._version import __version__
from doubletrouble.activations import Activation, activation
from doubletrouble.errors import ConvergenceError, DoubleTroubleError, MissingExtraError
from doubletrouble.problems import Problem, SpectralProblem
from doubletrouble.results import AnovaTerms, ErrorTerms, Estimate, OptimalRidge, PsiTerms
from doubletrouble.ridge import ridge_from, ridge_to
from doubletrouble.simulation.simulate import simulate
from doubletrouble.sweep.grid import Sweep
from doubletrouble.theory import replica
from doubletrouble.theory.error import anova, exact_error
from doubletrouble.theory.optimum import optimal_ridge
from doubletrouble.theory.psi import psi_terms
from doubletrouble.theory.training import training_error

__all__ = [
    "Activation",
    "AnovaTerms",
    "ConvergenceError",
    "DoubleTroubleError",
    "ErrorTerms",
    "Estimate",
    "MissingExtraError",
    "OptimalRidge",
    "Problem",
    "PsiTerms",
    "SpectralProblem",
    "Sweep",
    "__version__",
    "activation",
    "anova",
    "exact_error",
    "optimal_ridge",
    "psi_terms",
    "replica",
    "ridge_from",
    "ridge_to",
    "simulate",
    "training_error",
]
