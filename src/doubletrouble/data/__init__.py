"""Images to train networks on, as two classes, and user arrays; `dt.load_data` loads them."""

from doubletrouble.data._dataset import Data as Data
from doubletrouble.data._dataset import as_data as as_data
from doubletrouble.data._formats import DataError as DataError
from doubletrouble.data._load import NAMES as NAMES
from doubletrouble.data._load import load_data as load_data
from doubletrouble.data._projection import PARITY as PARITY
from doubletrouble.data._projection import SCALINGS as SCALINGS
