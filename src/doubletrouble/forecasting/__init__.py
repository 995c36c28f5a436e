"""Forecast the error of random features on a data set, before any model is trained."""

from doubletrouble.forecasting._advice import ForecastAdvice as ForecastAdvice
from doubletrouble.forecasting._advice import ForecastOption as ForecastOption
from doubletrouble.forecasting._checks import ForecastCheck as ForecastCheck
from doubletrouble.forecasting._checks import ForecastChecks as ForecastChecks
from doubletrouble.forecasting._forecast import forecast as forecast
from doubletrouble.forecasting._result import DEFAULT_RIDGE as DEFAULT_RIDGE
from doubletrouble.forecasting._result import Forecast as Forecast
from doubletrouble.forecasting._result import LabelNoise as LabelNoise
from doubletrouble.forecasting._terms import ForecastTerms as ForecastTerms
