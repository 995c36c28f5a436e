"""The paper's figures: data first, then drawing, then files and a gallery to open.

Only the drawing needs matplotlib (the extra `figures`); the data functions do not.

>>> from doubletrouble.figures import decomposition_data
>>> small, large = decomposition_data(ratios=[0.5, 1.0, 2.0])
>>> small.ridge, [round(float(v), 2) for v in small.line("total").y]
(1e-05, [2.35, 103.15, 2.17])
"""

from doubletrouble.figures.decomposition import decomposition_data
from doubletrouble.figures.gallery import write_gallery
from doubletrouble.figures.make import make_figure
from doubletrouble.figures.registry import FIGURES
from doubletrouble.figures.save import save

__all__ = ["FIGURES", "decomposition_data", "make_figure", "save", "write_gallery"]
