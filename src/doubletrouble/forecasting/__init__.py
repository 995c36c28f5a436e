"""Forecast the error of random features on a data set, before any model is trained.

Symbols of all modules, as in docs/forecast.md:

    n, N   rows of the data set, and of a training set        D   dimensions of the inputs
    P, K   random features of a model, models averaged        λ   the paper's ridge, δ = λ N/D
    Γ      Gram matrix of the rows, with eigenvalues d        k_x = k(x, x_i), the kernel of a new x
    κ, G   ridge on Γ, and G = (Γ + κ)⁻¹                      τ   energy, of a row or of a feature
    g      ridge on the eigenvalues ℓ of the kernel over the distribution of the inputs
"""

from doubletrouble.forecasting._checks import ForecastCheck as ForecastCheck
from doubletrouble.forecasting._checks import ForecastChecks as ForecastChecks
from doubletrouble.forecasting._forecast import forecast as forecast
from doubletrouble.forecasting._forecast import standardized as standardized
from doubletrouble.forecasting._result import DEFAULT_RIDGE as DEFAULT_RIDGE
from doubletrouble.forecasting._result import Forecast as Forecast
from doubletrouble.forecasting._uncertainty import LabelNoise as LabelNoise
