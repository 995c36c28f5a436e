"""Finite-size simulation of random-features ridge regression, with standard errors."""

from doubletrouble.simulation._cells import KIND as KIND
from doubletrouble.simulation._cells import PROBLEM as PROBLEM
from doubletrouble.simulation._cells import REVISION as REVISION
from doubletrouble.simulation._cells import ensemble_of as ensemble_of
from doubletrouble.simulation._cells import from_record as from_record
from doubletrouble.simulation._cells import problem_of as problem_of
from doubletrouble.simulation._cells import simulate_cell as simulate_cell
from doubletrouble.simulation._cells import stored_ensemble as stored_ensemble
from doubletrouble.simulation._cells import stored_problem as stored_problem
from doubletrouble.simulation._devices import DTYPES as DTYPES
from doubletrouble.simulation._devices import Dtype as Dtype
from doubletrouble.simulation._devices import device_named as device_named
from doubletrouble.simulation._pairs import Products as Products
from doubletrouble.simulation._pairs import SimulatedTerms as SimulatedTerms
from doubletrouble.simulation._plan import MODELS as MODELS
from doubletrouble.simulation._plan import TESTS as TESTS
from doubletrouble.simulation._plan import Ensembles as Ensembles
from doubletrouble.simulation._plan import Model as Model
from doubletrouble.simulation._plan import TestAverage as TestAverage
from doubletrouble.simulation._plan import plan as plan
from doubletrouble.simulation._plan import single_ensemble as single_ensemble
from doubletrouble.simulation._result import CommitteeSimulation as CommitteeSimulation
from doubletrouble.simulation._result import DrawnEnsemble as DrawnEnsemble
from doubletrouble.simulation._result import Simulation as Simulation
from doubletrouble.simulation._result import TheoryComparison as TheoryComparison
from doubletrouble.simulation._simulate import simulate as simulate
