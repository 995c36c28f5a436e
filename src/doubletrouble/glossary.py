"""Declarations of all parameters: symbol, meaning, domain and typical range.

Validation, command-line flags, sliders of the page, property tests and documentation read them.
"""

from typing import Any

from doubletrouble.parameters import Parameter

# Sizes at these bounds are equal to their limits; the squares of amplitudes must not overflow.
_SIZE: dict[str, Any] = {"low": 1e-50, "high": 1e50}
_AMPLITUDE: dict[str, Any] = {"high": 1e150, "typical": (0.0, 2.0)}

FEATURES_PER_DIM = Parameter(
    symbol="P/D",
    meaning="random features per input dimension; `math.inf` is the kernel limit",
    typical=(0.1, 10.0),
    or_inf=True,
    **_SIZE,
)
SAMPLES_PER_DIM = Parameter(
    symbol="N/D", meaning="training samples per input dimension", typical=(0.1, 10.0), **_SIZE
)
FEATURES_PER_SAMPLE = Parameter(
    symbol="P/N",
    meaning="random features per training sample; `math.inf` is the kernel limit",
    typical=(0.1, 100.0),
    or_inf=True,
    **_SIZE,
)
RIDGE = Parameter(
    symbol="λ",
    meaning="ridge penalty; 0 is the minimum-norm limit, `math.inf` predicts zero",
    typical=(1e-5, 10.0),
)
SIGNAL = Parameter(symbol="F", meaning="norm of the linear teacher", **_AMPLITUDE)
NOISE = Parameter(
    symbol="τ", meaning="standard deviation of the noise on training labels", **_AMPLITUDE
)
SNR = Parameter(
    symbol="F/τ",
    meaning="signal-to-noise ratio; `math.inf` is no label noise",
    typical=(0.1, 10.0),
    low=1e-6,
    high=1e6,
    or_inf=True,
)
NONLINEAR_SIGNAL = Parameter(
    symbol="F⋆",
    meaning="root power of the part of the teacher that cannot be learned",
    **_AMPLITUDE,
)
TEST_NOISE = Parameter(
    symbol="τ̃", meaning="standard deviation of the noise on test labels", **_AMPLITUDE
)
FLIPS = Parameter(
    symbol="p",
    meaning="probability that a training label of a class is flipped",
    typical=(0.0, 0.4),
    high=0.5,
)
MIXTURE_WEIGHT = Parameter(
    symbol="w", meaning="share of one component of the label noise", typical=(0.0, 1.0), high=1.0
)
HUBER_DELTA = Parameter(
    symbol="δ",
    meaning="residual beyond which the Huber loss is linear",
    typical=(0.1, 3.0),
    low=1e-150,
    high=1e150,
)
QUANTILE_LEVEL = Parameter(
    symbol="t",
    meaning="level of the quantile that the quantile loss fits",
    typical=(0.05, 0.95),
    low=1e-15,
    high=1 - 1e-15,
    open_low=True,
    open_high=True,
)
N_MEMBERS = Parameter(
    symbol="K",
    meaning="models averaged; `math.inf` is allowed",
    typical=(1, 100),
    low=1.0,
    whole=True,
)

N_FEATURES = Parameter(
    symbol="P",
    meaning="random features; `math.inf` is the kernel limit",
    typical=(10.0, 1e4),
    or_inf=True,
    **_SIZE,
)
N_SAMPLES = Parameter(symbol="N", meaning="training samples", typical=(10.0, 1e4), **_SIZE)
RANDOM_FEATURES = Parameter(
    symbol="P",
    meaning="random features of each model; `math.inf` is kernel ridge regression",
    typical=(10.0, 1e4),
    low=1.0,
    high=1e15,
    or_inf=True,
)
ROWS = Parameter(
    symbol="N", meaning="rows of the training set", typical=(20.0, 1e4), low=5.0, high=1e12
)
DIM = Parameter(symbol="D", meaning="input dimensions", typical=(10.0, 1e4), **_SIZE)
WHOLE_DIM = Parameter(
    symbol="D", meaning="input dimensions", typical=(10.0, 1e4), low=1, high=1e7, whole=True
)
BUDGET = Parameter(
    symbol="C",
    meaning="total cost of the models: features P·K, or operations of training",
    typical=(0.1, 100.0),
    low=1e-40,
)

FRACTION = Parameter(
    symbol="η",
    meaning="share of the samples that each member draws, without replacement",
    typical=(0.1, 1.0),
    low=5e-324,
    high=1.0,
    open_low=True,
)
BANK_PER_DIM = Parameter(
    symbol="B/D",
    meaning="features per dimension in the bank that members choose from",
    typical=(1.0, 20.0),
    or_inf=True,
    **_SIZE,
)
N_BANK = Parameter(
    symbol="B",
    meaning="features in the bank that members choose from",
    typical=(10.0, 1e4),
    or_inf=True,
    **_SIZE,
)
SHARED_FEATURES = Parameter(
    symbol="P_ab/D",
    meaning="random features that two members share, per dimension (counts for a spectrum)",
    typical=(0.0, 10.0),
    or_inf=True,
)
SHARED_SAMPLES = Parameter(
    symbol="N_ab/D",
    meaning="training samples that two members share, per dimension (counts for a spectrum)",
    typical=(0.0, 10.0),
)
WEIGHT = Parameter(
    symbol="w",
    meaning="weight of a member of a committee; all add up to 1",
    typical=(-1.0, 1.0),
    low=-1e50,
    high=1e50,
)
TIME = Parameter(
    symbol="t",
    meaning="time of training by gradient flow; `math.inf` is the end",
    typical=(1e-2, 1e6),
    high=1e150,
    or_inf=True,
)

EIGENVALUES = Parameter(
    symbol="l", meaning="eigenvalues of the kernel", typical=(0.0, 1.0), high=1e150
)
TAIL = Parameter(
    symbol="t",
    meaning="total weight of infinitely many tiny eigenvalues",
    typical=(0.0, 1.0),
    high=1e150,
)
TARGET_POWERS = Parameter(
    symbol="v²", meaning="power of the target on each eigenfunction", typical=(0.0, 1.0), high=1e300
)
MULTIPLICITIES = Parameter(
    symbol="m",
    meaning="modes of each eigenvalue; non-integer numbers are allowed",
    typical=(1.0, 100.0),
    low=1e-150,
    high=1e150,
)
LEVEL_ERROR = Parameter(
    symbol="ε",
    meaning="relative error of sums over modes: a bound for a list, an estimate for a law",
    typical=(0.0, 1e-9),
)
CAPACITY = Parameter(
    symbol="α",
    meaning="exponent of a power law: eigenvalues are i^-α",
    typical=(1.1, 3.0),
    low=1e-2,
    high=100.0,
)
LATER_CAPACITY = Parameter(
    symbol="α'",
    meaning="exponent beyond the knee: eigenvalues are in proportion to i^-α'",
    typical=(1.1, 3.0),
    low=1e-2,
    high=100.0,
)
SOURCE = Parameter(
    symbol="r",
    meaning="source exponent: the target has the power l^(2r)/i on mode i",
    typical=(0.1, 2.0),
    low=1e-3,
    high=100.0,
)
SCALE = Parameter(
    symbol="s",
    meaning="scale of an exponential law: eigenvalues are exp(-i/s)",
    typical=(1.0, 100.0),
    low=1e-2,
    high=1e50,
)
KNEE = Parameter(
    symbol="i₀",
    meaning="rank at which the exponent of a law changes",
    typical=(10.0, 1e4),
    low=1.0,
    high=1e50,
)
N_MODES = Parameter(
    symbol="M",
    meaning="modes of a law; `math.inf` is allowed",
    typical=(10.0, 1e6),
    low=1.0,
    high=1e100,
    or_inf=True,
    whole=True,
)
GRAM_RIDGE = Parameter(
    symbol="δ",
    meaning="ridge on the Gram matrix of features/√P; 0 is the minimum-norm limit",
    typical=(1e-5, 10.0),
)

WIDTH = Parameter(
    symbol="w",
    meaning="nodes of every hidden layer of a network",
    typical=(2, 2048),
    low=1,
    high=1e5,
    whole=True,
)
DEPTH = Parameter(
    symbol="L", meaning="linear layers of a network", typical=(2, 8), low=2, high=100, whole=True
)
LAZINESS = Parameter(
    symbol="α",
    meaning="scale of a network's output; `math.inf` is the network linearized at initialization",
    typical=(1.0, 100.0),
    low=1e-6,
    high=1e6,
    or_inf=True,
)
LEARNING_RATE = Parameter(
    symbol="η", meaning="step size of training", typical=(1e-3, 1.0), low=1e-12, high=1e12
)
LABEL_FLIPS = Parameter(
    symbol="p", meaning="share of training labels that are flipped", typical=(0.0, 0.4), high=1.0
)
TOLERANCE = Parameter(
    symbol="ε",
    meaning="share by which the loss must fall within a window of steps for training to go on",
    typical=(1e-4, 1e-2),
    high=1.0,
)
MEMORY = Parameter(
    symbol="B", meaning="bytes that a batch of networks may take", typical=(1e8, 1e10)
)

SOLVER_STEPS = Parameter(
    symbol="T", meaning="iterations of an iterative solver; 0 is a direct one", typical=(0.0, 1e4)
)
PREDICTIONS = Parameter(
    symbol="n", meaning="predictions that are made with trained models", typical=(0.0, 1e12)
)
SAMPLE_PRICE = Parameter(
    symbol="c", meaning="price of one labelled sample, in operations", typical=(0.0, 1e12)
)
WORKERS = Parameter(
    symbol="W",
    meaning="models trained at the same time; `math.inf` for all",
    typical=(1.0, 100.0),
    low=1.0,
    whole=True,
)
COMPUTE = Parameter(
    symbol="C", meaning="operations of training and predicting", typical=(1e12, 1e24), low=1.0
)
MAX_SAMPLES = Parameter(symbol="N", meaning="most samples there are", typical=(1e3, 1e12), low=1.0)
MAX_MEMBERS = Parameter(
    symbol="K", meaning="most models; `math.inf` is allowed", typical=(1, 1e4), low=1.0, whole=True
)

# --- print and plots ---

_IN_WORDS = ("MEMORY", "PREDICTIONS", "SAMPLE_PRICE", "WORKERS")  # no formula has them
_SYMBOLS = {
    name.lower(): spec.symbol
    for name, spec in list(globals().items())
    if isinstance(spec, Parameter) and name not in _IN_WORDS
} | {"noise_sd": NOISE.symbol, "times": TIME.symbol, "activation": "σ"}
_HEADINGS = (
    "features_per_dim",
    "samples_per_dim",
    "n_features",
    "n_samples",
    "n_members",
    "ridge",
    "noise_sd",
)
"""Columns with a symbol as their heading; "noise", for one, is a part of the error, too."""
_WORDS = {
    "features_per_dim": "features per dimension",
    "samples_per_dim": "samples per dimension",
    "features_per_sample": "features per sample",
    "n_features": "features",
    "n_samples": "training samples",
    "n_members": "models",
    "dim": "input dimensions",
    "ridge": "ridge",
    "gram_ridge": "ridge",
    "signal": "signal",
    "noise": "label noise",
    "noise_sd": "label noise",
    "test_noise": "noise of test labels",
    "nonlinear_signal": "nonlinear signal",
    "snr": "signal-to-noise ratio",
    "flips": "flipped labels",
    "time": "time",
    "compute": "operations",
    "fraction": "share of the samples",
}


def symbol(name: str) -> str:
    """The symbol of a parameter; the words of another name.

    >>> symbol("features_per_dim"), symbol("noise"), symbol("n_data")
    ('P/D', 'τ', 'n data')
    """
    return _SYMBOLS.get(name, name.replace("_", " "))


def heading(name: str) -> str:
    """The heading of a column: a symbol, or words.

    >>> heading("features_per_dim"), heading("noise"), heading("n_data")
    ('P/D', 'noise', 'n data')
    """
    return symbol(name) if name in _HEADINGS else name.replace("_", " ")


def axis_label(name: str) -> str:
    """The label of an axis along a parameter: words and the paper's symbol.

    >>> axis_label("features_per_dim"), axis_label("width")
    ('features per dimension P/D', 'width')
    """
    return f"{_WORDS[name]} {symbol(name)}" if name in _WORDS else name.replace("_", " ")
