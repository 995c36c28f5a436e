"""Random features with any convex loss: order parameters, overlaps, separability and fits."""

from doubletrouble.convex._fits import LinearFit as LinearFit
from doubletrouble.convex._fits import LinearModel as LinearModel
from doubletrouble.convex._labels import gaussian_mean as gaussian_mean
from doubletrouble.convex._measures import ClassMeasure as ClassMeasure
from doubletrouble.convex._measures import mean_slope as mean_slope
from doubletrouble.convex._order_parameters import OrderParameters as OrderParameters
from doubletrouble.convex._order_parameters import order_parameters as order_parameters
from doubletrouble.convex._order_parameters import solved as solved
from doubletrouble.convex._separability import separability as separability
from doubletrouble.convex._separability import threshold_ratio as threshold_ratio


def __dir__() -> list[str]:  # the other names are for the other packages
    return ["LinearFit", "LinearModel", "order_parameters", "separability", "threshold_ratio"]
