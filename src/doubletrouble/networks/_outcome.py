"""What training leaves of one network."""

from dataclasses import dataclass

from doubletrouble.parameters import FloatArray

STATUSES = ("zero", "converged", "exact", "max_steps", "diverged")
"""Why a network stopped: its loss is zero, no longer falls, or least; the limit; no finite loss."""

FITTED = STATUSES[:3]
"""Those with nothing left to learn."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingOutcome:
    """One trained network."""

    scores: FloatArray  # (T,): half the difference of the outputs at the test inputs
    train_error: float  # share of training samples on the wrong side
    train_loss: float  # not divided by α²
    displacement: float  # α |θ - θ₀|
    steps: int
    status: str  # why it stopped: see `progress`
