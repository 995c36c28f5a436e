"""Random features with any convex loss: order parameters, errors, separability and fits."""

from doubletrouble.convex._calibration import Calibration as Calibration
from doubletrouble.convex._calibration import calibration as calibration
from doubletrouble.convex._error import ClassMeasure as ClassMeasure
from doubletrouble.convex._error import ConvexMembers as ConvexMembers
from doubletrouble.convex._error import best_ridge as best_ridge
from doubletrouble.convex._error import total_error as total_error
from doubletrouble.convex._error import training_parts as training_parts
from doubletrouble.convex._fits import LinearFit as LinearFit
from doubletrouble.convex._fits import LinearModel as LinearModel
from doubletrouble.convex._order_parameters import OrderParameters as OrderParameters
from doubletrouble.convex._order_parameters import order_parameters as order_parameters
from doubletrouble.convex._separability import separability as separability
from doubletrouble.convex._separability import threshold_ratio as threshold_ratio


def __dir__() -> list[str]:  # the other names are for the other packages
    return [
        "LinearFit",
        "LinearModel",
        "calibration",
        "order_parameters",
        "separability",
        "threshold_ratio",
    ]
