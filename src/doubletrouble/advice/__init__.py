"""The exact error after changes of features, models, ridge or data, and the best allocation."""

from doubletrouble.advice._advise import advise as advise
from doubletrouble.advice._advise import advise_problem as advise_problem
from doubletrouble.advice._advise import best_allocation as best_allocation
from doubletrouble.advice._frontier import FrontierExponents as FrontierExponents
from doubletrouble.advice._frontier import ScalingFrontier as ScalingFrontier
from doubletrouble.advice._frontier import scaling_frontier as scaling_frontier
from doubletrouble.advice._marginal import MarginalValue as MarginalValue
from doubletrouble.advice._marginal import marginal_value as marginal_value
