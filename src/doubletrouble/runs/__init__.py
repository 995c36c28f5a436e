"""The engine of long computations: a store for results, executors for the work, and progress."""

from doubletrouble.runs._cells import DONE as DONE
from doubletrouble.runs._cells import FAILED as FAILED
from doubletrouble.runs._cells import Cell as Cell
from doubletrouble.runs._cells import CellOutcome as CellOutcome
from doubletrouble.runs._cells import Record as Record
from doubletrouble.runs._cells import canonical as canonical
from doubletrouble.runs._cells import decode as decode
from doubletrouble.runs._cells import digest as digest
from doubletrouble.runs._cells import encode as encode
from doubletrouble.runs._executors import Executor as Executor
from doubletrouble.runs._executors import Start as Start
from doubletrouble.runs._executors import ThisProcess as ThisProcess
from doubletrouble.runs._executors import Work as Work
from doubletrouble.runs._executors import backend as backend
from doubletrouble.runs._executors import one_thread as one_thread
from doubletrouble.runs._executors import run_cells as run_cells
from doubletrouble.runs._progress import ProgressBar as ProgressBar
from doubletrouble.runs._progress import progress_bar as progress_bar
from doubletrouble.runs._store import Store as Store
from doubletrouble.runs._store import store_path as store_path
