"""The exact error after changes of features, models, ridge or data, and the best allocation."""

from doubletrouble.advice._advise import advise as advise
from doubletrouble.advice._frontier import FrontierExponents as FrontierExponents
from doubletrouble.advice._frontier import ScalingFrontier as ScalingFrontier
from doubletrouble.advice._frontier import scaling_frontier as scaling_frontier
from doubletrouble.advice._options import AdviceOption as AdviceOption
from doubletrouble.advice._result import Advice as Advice
from doubletrouble.advice._result import MarginalValue as MarginalValue
