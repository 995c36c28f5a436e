"""Random-features learners with the interface of scikit-learn. Needs scikit-learn."""

from doubletrouble.estimators._classifier import (
    RandomFeaturesClassifier as RandomFeaturesClassifier,
)
from doubletrouble.estimators._features import RandomFeatures as RandomFeatures
from doubletrouble.estimators._members import RidgePath as RidgePath
from doubletrouble.estimators._regressor import RandomFeaturesRidge as RandomFeaturesRidge
