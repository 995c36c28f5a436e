"""Grids of computations, each cell stored as it finishes; `dt.Sweep` is the one of simulations."""

from doubletrouble.sweep._axes import stored_ensemble as stored_ensemble
from doubletrouble.sweep._export import write as write
from doubletrouble.sweep._grid import Sweep as Sweep
from doubletrouble.sweep._outcome import SweepResult as SweepResult
from doubletrouble.sweep._outcome import SweepRow as SweepRow
from doubletrouble.sweep._outcome import SweepStatus as SweepStatus
from doubletrouble.sweep._simulated import KIND as KIND
from doubletrouble.sweep._simulated import PROBLEM as PROBLEM
from doubletrouble.sweep._simulated import REVISION as REVISION
from doubletrouble.sweep._simulated import from_record as from_record
from doubletrouble.sweep._simulated import simulate_cell as simulate_cell
