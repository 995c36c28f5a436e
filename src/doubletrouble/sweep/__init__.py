"""Grids of simulations, each cell stored as it finishes."""

from doubletrouble.sweep._simulated import KIND as KIND
from doubletrouble.sweep._simulated import PROBLEM as PROBLEM
from doubletrouble.sweep._simulated import REVISION as REVISION
from doubletrouble.sweep._simulated import from_record as from_record
from doubletrouble.sweep._simulated import simulate_cell as simulate_cell
from doubletrouble.sweep._simulated import stored_ensemble as stored_ensemble
from doubletrouble.sweep._sweep import Sweep as Sweep
from doubletrouble.sweep._sweep import SweepResult as SweepResult
from doubletrouble.sweep._sweep import SweepStatus as SweepStatus
from doubletrouble.sweep._table import SweepRow as SweepRow
from doubletrouble.sweep._table import write as write
