"""Models with any convex loss: fits at finite size."""

from doubletrouble.convex._fits import LinearFit as LinearFit
from doubletrouble.convex._fits import LinearModel as LinearModel
