"""What one member is fitted to: inputs, labels and weights, and how they are centred."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from doubletrouble.estimators._feature_map import RealArray
from doubletrouble.parameters import FloatArray

IndexArray: TypeAlias = npt.NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Rows of positive weight; `intercept`: whether a constant is fitted beside the features."""

    inputs: RealArray  # (N, D)
    labels: FloatArray  # (N, T)
    weights: FloatArray | None  # (N,); None: all one
    intercept: bool

    @property
    def size(self) -> int:
        """N."""
        return int(self.inputs.shape[0])

    @cached_property
    def weight(self) -> float:
        """W = Σ w, which counts for N."""
        return float(self.size if self.weights is None else self.weights.sum())

    @cached_property
    def roots(self) -> FloatArray | None:
        """√w: rows multiplied by it need no other weights."""
        return None if self.weights is None else np.sqrt(self.weights)

    @cached_property
    def label_mean(self) -> FloatArray:
        """What is subtracted from the labels, (T,): zeros without an intercept."""
        if not self.intercept:
            return np.zeros(self.labels.shape[1])
        return np.asarray(np.average(self.labels, axis=0, weights=self.weights))

    @cached_property
    def targets(self) -> FloatArray:
        """Labels, centred and weighted."""
        shifted = self.labels - self.label_mean
        return shifted if self.roots is None else shifted * self.roots[:, None]

    @property
    def constant(self) -> FloatArray | None:
        """The unit vector of the intercept among the weighted rows, or None."""
        if not self.intercept:
            return None
        roots = np.ones(self.size) if self.roots is None else self.roots
        return np.asarray(roots / np.sqrt(self.weight))

    def mean_of(self, z: RealArray) -> FloatArray:
        """The weighted mean of the features of these rows, (P,)."""
        if self.weights is None:
            # in float64 whatever z is: NumPy would add up float32 in float32
            return np.asarray(z.mean(axis=0, dtype=np.float64))
        return np.asarray(np.average(z, axis=0, weights=self.weights))

    def prepared(self, z: RealArray, mean: RealArray) -> FloatArray:
        """Features of these rows in float64, less their mean, weighted; z may be overwritten."""
        z = np.asarray(z, dtype=np.float64)
        if self.intercept:
            z -= mean
        if self.roots is not None:
            z *= self.roots[:, None]
        return z

    def rows(self, part: slice | IndexArray) -> Sample:
        """Some of the rows."""
        return Sample(
            inputs=self.inputs[part],
            labels=self.labels[part],
            weights=None if self.weights is None else self.weights[part],
            intercept=self.intercept,
        )

    def counted(self, counts: npt.NDArray[np.int64]) -> MemberSample:
        """The rows that a member draws, each as often as `counts` has it.

        Consecutive rows are a slice, which is not copied.
        """
        drawn = np.flatnonzero(counts)
        first, last = int(drawn[0]), int(drawn[-1])
        rows = slice(first, last + 1) if last - first + 1 == drawn.size else drawn
        part = self.rows(rows)
        if np.all(counts[drawn] == 1):
            return MemberSample(rows=rows, sample=part)
        weights = counts[drawn].astype(np.float64)
        weights = weights if part.weights is None else weights * part.weights
        return MemberSample(rows=rows, sample=replace(part, weights=weights))


@dataclass(frozen=True, kw_only=True)
class MemberSample:
    """What one member of an ensemble is fitted to, and which rows of all these are."""

    rows: slice | IndexArray
    sample: Sample
