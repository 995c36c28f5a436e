"""Images to train networks on, as two classes, and arrays of one's own; `dt.load_data` loads."""

from doubletrouble.data._dataset import Data as Data
from doubletrouble.data._dataset import as_data as as_data
from doubletrouble.data._labels import PARITY as PARITY
from doubletrouble.data._load import NAMES as NAMES
from doubletrouble.data._load import load_data as load_data
from doubletrouble.data._projection import SCALINGS as SCALINGS
