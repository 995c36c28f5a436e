"""What training leaves of one network."""

from dataclasses import dataclass

from doubletrouble.parameters import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """One trained network."""

    scores: FloatArray  # (T,): half the difference of the outputs at the test inputs
    train_error: float  # share of training samples on the wrong side
    train_loss: float  # not divided by α²
    displacement: float  # α |θ - θ₀|
    steps: int
    status: str  # why it stopped: see `progress`
