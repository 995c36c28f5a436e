"""Words and colours of errors and their parts, in tables, figures and on the page.

The colours are those of Okabe and Ito, which colour-blind readers can distinguish. On a dark
background the blue is the lighter of their two, and the other colours are lighter.
"""

from typing import NamedTuple

BLACK, GREY = "#000000", "#7F7F7F"
VERMILION, ORANGE = "#D55E00", "#E69F00"
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

DARKER = {
    **{PAPER["light"][name]: PAPER["dark"][name] for name in PAPER["light"]},
    BLACK: CAUSES["dark"]["total"],
    VERMILION: CAUSES["dark"]["noise"],
    GREEN: CAUSES["dark"]["sampling"],
    PURPLE: CAUSES["dark"]["bias"],
    BROWN: CAUSES["dark"]["resampling"],
    BLUE: _DARK_BLUE,
}
"""Colours on a dark background, by those on a light one; others are the same on both."""

HATCHES = {
    "noise": "",
    "initialization": "////",
    "sampling": "....",
    "bias": "\\\\\\\\",
    "resampling": "xxxx",
    "bayes": "----",
}
"""Hatches of areas of these parts, which differ in grey print, too."""

_LEFT, _RIGHT, _FLAT, _UPRIGHT = (
    f"repeating-linear-gradient({angle}deg,#fff6 0 1px,#0000 1px {width}px)"
    for angle, width in ((45, 5), (-45, 5), (0, 4), (90, 4))
)
_DOTS = "radial-gradient(#fff8 20%,#0000 22%) 0 0/5px 5px"

STRIPES = {
    "initialization": _LEFT,
    "sampling": _DOTS,
    "bias": _RIGHT,
    "resampling": f"{_LEFT},{_RIGHT}",
    "bayes": _FLAT,
    "initialization_sampling": f"{_LEFT},{_DOTS}",
    "noise_sampling": _UPRIGHT,
    "noise_initialization_sampling": f"{_FLAT},{_UPRIGHT}",
}
"""The same as CSS backgrounds, and those of effects."""

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


class Part(NamedTuple):
    """The words for a part of an error."""

    label: str  # in legends
    name: str  # in tables, messages and notes
    meaning: str
    in_sentences: str = ""  # "51% of the error is …"; "" for the name


PART_WORDS = {
    "total": Part("Total", "total", "the expected squared error on new data"),
    "noise": Part(
        "Noise",
        "noise",
        "variance over the noise on the training labels",
        "variance by noise in the training labels",
    ),
    "initialization": Part(
        "Initialization",
        "initialization",
        "variance over the random features",
        "variance over initializations",
    ),
    "sampling": Part(
        "Sampling",
        "sampling",
        "variance over the choice of the training inputs",
        "variance over training samples",
    ),
    "bias": Part("Bias", "bias", "error of the average over all models and data sets"),
    "bayes": Part(
        "Noise floor",
        "noise floor",
        "the label noise of the test data, which no model removes",
        "the noise floor of test labels",
    ),
    "resampling": Part(
        "Resampling",
        "resampling",
        "variance over the samples or features that each model draws",
        "variance over resampled members",
    ),
    "initialization_sampling": Part(
        "Init. × sampling",
        "initialization × sampling",
        "what random features and training inputs cause only together",
    ),
    "noise_sampling": Part(
        "Noise × sampling",
        "noise × sampling",
        "what label noise and training inputs cause only together",
    ),
    "noise_initialization_sampling": Part(
        "Noise × init. × sampling",
        "noise × initialization × sampling",
        "what all three cause only together",
    ),
}
"""The words for the parts of both splits."""

EXACT, WITHHELD = "exact", "withheld"
MEASURED, PAIRED, INTERPOLATED = "measured", "measured, paired", "measured, interpolated"
LAW, REST = "overlap law", "total less the others"
GIVEN, NO_SEED = "given", "seeds have no effect"
FORECAST = "forecast"  # from the rows of a data set: printed beside others only
EXTRAPOLATED = "extrapolated"  # beyond what was measured
"""How an error, or a part of one, is known: its `status`."""


OTHER_CAUSES = "contains other causes in one error than in the other"
"""Why a part of two errors has no difference."""


def printed_name(part: str) -> str:
    """The name of a part in tables.

    >>> printed_name("bayes"), printed_name("noise_initialization")
    ('noise floor', 'noise × initialization')
    """
    return PART_WORDS[part].name if part in PART_WORDS else part.replace("_", " × ")


def in_sentences(part: str) -> str:
    """What a part is, after "51% of the error is".

    >>> in_sentences("sampling"), in_sentences("bias")
    ('variance over training samples', 'bias')
    """
    words = PART_WORDS.get(part)
    return words.in_sentences if words and words.in_sentences else printed_name(part)
