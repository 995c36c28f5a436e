"""Labels and colours of the parts of an error, in figures and on the page.

The colours are those of Okabe and Ito, which colour-blind readers can distinguish. On a dark
background the blue is the lighter of their two, and the other colours are lighter.
"""

BLACK, GREY = "#000000", "#7F7F7F"
VERMILION, ORANGE, YELLOW = "#D55E00", "#E69F00", "#F0E442"
BLUE, SKY = "#0072B2", "#56B4E9"
GREEN, PURPLE = "#009E73", "#CC79A7"
BROWN = "#7A4B00"  # an addition, darker than all of them

_DARK_VERMILION, _DARK_BLUE = "#F0782A", "#4A90D9"

PAPER = {
    "light": {"ink": "#1b1b1b", "soft": "#565b62", "paper": "#ffffff", "rule": "#d9dce1"},
    "dark": {"ink": "#e8e8e8", "soft": "#aab0b8", "paper": "#16181c", "rule": "#3a3f47"},
}
"""Background, text (`ink`), secondary text (`soft`) and grid lines (`rule`), by theme."""

CAUSES = {
    "light": {
        "total": BLACK,
        "noise": VERMILION,
        "initialization": BLUE,
        "sampling": GREEN,
        "bias": PURPLE,
        "resampling": BROWN,
        "bayes": "#8A8F98",
    },
    "dark": {
        "total": "#F2F2F2",
        "noise": _DARK_VERMILION,
        "initialization": SKY,
        "sampling": "#20B58C",
        "bias": "#DD94BC",
        "resampling": "#F2C14E",
        "bayes": "#9BA1AB",
    },
}
"""Colours of the parts of the sequential split, by theme."""

HATCHES = {
    "noise": "",
    "initialization": "////",
    "sampling": "....",
    "bias": "\\\\\\\\",
    "resampling": "xxxx",
    "bayes": "----",
}
"""Hatches of areas of these parts, which differ in grey print, too."""

EFFECTS = {
    "light": CAUSES["light"]
    | {
        "initialization": SKY,
        "initialization_sampling": BLUE,
        "noise_sampling": ORANGE,
        "noise_initialization_sampling": VERMILION,
    },
    "dark": CAUSES["dark"]
    | {
        "initialization_sampling": _DARK_BLUE,
        "noise_sampling": "#F2C14E",
        "noise_initialization_sampling": _DARK_VERMILION,
    },
}
"""Colours of the parts of the symmetric split, by theme."""

LABELS = {
    "total": "Total",
    "noise": "Noise",
    "initialization": "Initialization",
    "sampling": "Sampling",
    "bias": "Bias",
    "bayes": "Noise floor",
    "resampling": "Resampling",
    "initialization_sampling": "Init. × sampling",
    "noise_sampling": "Noise × sampling",
    "noise_initialization_sampling": "Noise × init. × sampling",
}
"""Labels of the parts of both splits."""

NOISE_FLOOR = "noise floor"
"""The name of the part `bayes` where it is printed."""

IN_SENTENCES = {
    "noise": "variance by noise in the training labels",
    "initialization": "variance over initializations",
    "sampling": "variance over training samples",
    "resampling": "variance over resampled members",
    "bayes": "the noise floor of test labels",
}
"""Causes in sentences; others have their names."""

EXTRAPOLATED = "extrapolated"
"""The status of an error beyond what was measured."""

FORECAST = "forecast"
"""The status of an error that follows from the rows of a data set: printed beside others only."""


def printed_name(name: str) -> str:
    """The name of a part in tables."""
    return NOISE_FLOOR if name == "bayes" else name
