"""What to change: width, ensemble size, ridge, or the amount of data."""

from doubletrouble.advice._advise import advise as advise
from doubletrouble.advice._cost import COSTS as COSTS
from doubletrouble.advice._cost import check_cost as check_cost
from doubletrouble.advice._cost import training_cost as training_cost
from doubletrouble.advice._cost import widest as widest
from doubletrouble.advice._drawing import SIZE as SIZE
from doubletrouble.advice._marginal import MarginalValue as MarginalValue
from doubletrouble.advice._meaning import meaning as meaning
from doubletrouble.advice._option import AdviceOption as AdviceOption
from doubletrouble.advice._result import Advice as Advice
from doubletrouble.advice._table import is_cut as is_cut
from doubletrouble.advice._table import lengths as lengths
from doubletrouble.advice._table import longest as longest
from doubletrouble.advice._table import ratio as ratio
from doubletrouble.advice._units import Units as Units
from doubletrouble.advice._words import MEANINGS as MEANINGS
from doubletrouble.advice._words import said as said
from doubletrouble.advice._words import share as share
