"""The paper's figures and some beyond it: data, drawing, files, and a gallery page.

Only the drawing needs matplotlib (the extra `figures`); the data functions do not, except that of
`forecast`, which has data sets and estimators of scikit-learn.

>>> from doubletrouble.figures import decomposition_data
>>> small, large = decomposition_data(ratios=[0.5, 1.0, 2.0])
>>> small.constant("ridge"), [round(float(v), 2) for v in small.line("total").y]
(1e-05, [2.35, 103.15, 2.17])
"""

from doubletrouble.figures._decomposition import decomposition_data
from doubletrouble.figures._figure import PRESETS, FigureSpec, PresetName, WrittenFigure
from doubletrouble.figures._gallery import FIGURES, make_figure, parameter_rows, write_gallery
from doubletrouble.figures._panel import Line, PanelTable

__all__ = [
    "FIGURES",
    "PRESETS",
    "FigureSpec",
    "Line",
    "PanelTable",
    "PresetName",
    "WrittenFigure",
    "decomposition_data",
    "make_figure",
    "parameter_rows",
    "write_gallery",
]
