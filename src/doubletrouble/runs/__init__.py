"""The engine of long computations: a store for results, executors for the work, and progress."""

from doubletrouble.runs._attempt import Work as Work
from doubletrouble.runs._attempt import attempt as attempt
from doubletrouble.runs._cell import Cell as Cell
from doubletrouble.runs._cell import canonical as canonical
from doubletrouble.runs._cell import digest as digest
from doubletrouble.runs._executors import check_place as check_place
from doubletrouble.runs._record import Record as Record
from doubletrouble.runs._record import decode as decode
from doubletrouble.runs._record import encode as encode
from doubletrouble.runs._runner import run_cells as run_cells
from doubletrouble.runs._store import DONE as DONE
from doubletrouble.runs._store import FAILED as FAILED
from doubletrouble.runs._store import CellOutcome as CellOutcome
from doubletrouble.runs._store import Store as Store
