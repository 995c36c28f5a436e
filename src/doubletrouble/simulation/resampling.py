r"""Members that draw from a common set: samples of the data set, or features of a bank.

- *subbag*: each member has n of the N samples, without replacement, and alpha = n P λ/D.
- *bootstrap*: N of the N with replacement. A sample drawn w times is one of weight w, whose row of
  features and label are multiplied by √w; alpha = N P λ/D.
- *feature_bank*: P of the B features of a bank, without replacement.

Maps are of all N labels, with zeros for those a member does not have, so that maps of members with
different samples can be multiplied.

**Which learners.** For samples, choice j is given to the features j and j - 1: twins. Of all first
twins, no two share a choice or features, nor do any two second ones, also where J = 2. A bank need
not be drawn as a whole: features are alike, so two choices from it are P features each of which
m are common, with m of the hypergeometric distribution.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from array_api_compat import array_namespace

from doubletrouble.sharing import RESAMPLED
from doubletrouble.simulation.features import Features
from doubletrouble.simulation.learner import Fit, Learner, Sums, learner
from doubletrouble.simulation.place import Array
from doubletrouble.simulation.result import PAIRED, PAIRED_CURVED
from doubletrouble.simulation.setting import Resampling, Setting, Table, drawn_features
from doubletrouble.simulation.terms import Data
from doubletrouble.simulation.twins import Twins, twin_terms

_LARGEST_DRAW = 10**9  # beyond, NumPy has no hypergeometric numbers


class Scheme(Protocol):
    """One scheme of one draw, taken in width by width."""

    terms: Table

    def add(self, w: int, width: int, sums: Sequence[Sequence[Sums | None]]) -> None:
        """Fit and multiply all learners of the w-th width."""


def members(
    at: Setting, data: Data, test: Array | None, sets: Sequence[Features], rng: np.random.Generator
) -> dict[str, Scheme]:
    """Every scheme that is asked for; what one draws does not depend on the others."""
    apart = generators(rng)
    return {
        one.scheme: _Bank(at, one.size, data, test, apart[one.scheme])
        if one.scheme == "feature_bank"
        else _Samples(at, one, data, sets, apart[one.scheme])
        for one in at.resampled
    }


def generators(rng: np.random.Generator) -> dict[str, np.random.Generator]:
    """One for each scheme."""
    return dict(zip(RESAMPLED, rng.spawn(len(RESAMPLED)), strict=True))


def paired_zeros(at: Setting) -> Table:
    """Terms to add to."""
    return at.zeros(PAIRED + PAIRED_CURVED if at.curved else PAIRED)


# --- samples -------------------------------------------------------------------------------------


class Choice(NamedTuple):
    """Some samples, and the roots of their weights."""

    rows: Array  # (n,) whole numbers
    roots: Array  # (n, 1)
    back: Array  # (N,): where each of the N samples is in `rows`; n: nowhere

    def weighted(self, values: Array) -> Array:
        """What a member makes of one number, or several, a sample."""
        return self.roots * values[self.rows]

    def embedded(self, response: Array) -> Array:
        """A map of the labels chosen as one of all labels."""
        xp = array_namespace(response)
        rows = xp.concat([self.roots * response, 0 * response[:1]], axis=0)
        return rows[self.back]


def chosen(one: Resampling, at: Setting, rng: np.random.Generator, like: Array) -> Choice:
    """The samples of one member."""
    total, size = at.n_samples, int(one.size)
    if one.scheme == "bootstrap":
        counts = rng.multinomial(size, np.full(total, 1 / total))
    else:
        counts = np.zeros(total, dtype=np.int64)
        counts[rng.permutation(total)[:size]] = 1
    rows = np.flatnonzero(counts)
    back = np.full(total, rows.size)
    back[rows] = np.arange(rows.size)
    xp = array_namespace(like)
    rows_there, back_there = (xp.asarray(v, device=like.device) for v in (rows, back))
    return Choice(rows_there, at.place.put(np.sqrt(counts[rows]))[:, None], back_there)


class _Chosen(NamedTuple):
    """A learner on some samples."""

    inner: Learner
    choice: Choice

    def respond(self, fit: Fit) -> Array:
        return self.choice.embedded(self.inner.respond(fit))


class _Samples:
    """Members with samples of their own."""

    def __init__(
        self, at: Setting, one: Resampling, data: Data, sets: Sequence[Features],
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        self.at, self.size, self.data, self.sets = at, int(one.size), data, sets
        self.choices = [[chosen(one, at, rng, data.inputs[i]) for i in range(2)] for _ in sets]
        self.terms = paired_zeros(at)

    def add(self, w: int, width: int, sums: Sequence[Sequence[Sums | None]]) -> None:
        fits = self.at.fits(self.size, width)

        def both(features: int, choices: Sequence[Choice]) -> tuple[_Chosen, _Chosen]:
            one, grown = self.sets[features], sums[features]
            first, second = (
                _Chosen(_fitted(one, i, width, choices[i], fits, grown[i]), choices[i])
                for i in range(2)
            )
            return first, second

        pairs = [Twins(both(j, own), both(j - 1, own)) for j, own in enumerate(self.choices)]
        n_shared = self.sets[0].outputs.shape[1]
        for k, fit in enumerate(fits):
            for name, value in twin_terms(pairs, self.data, fit, n_shared).items():
                self.terms[name][w, k] = value


def _fitted(
    one: Features, i: int, width: int, choice: Choice, fits: Sequence[Fit], sums: Sums | None
) -> Learner:
    """The learner of one feature set on the samples chosen from data set i."""
    rows, roots = choice.rows, choice.roots
    if sums is not None:
        gram = sums.gram[rows][:, rows] * (roots * roots.T)
        sums = Sums(gram, choice.weighted(sums.reached))
    phi = choice.weighted(one.train[i][:, :width])
    return learner(phi, one.outputs[:width, :], one.own, fits, sums)


# --- features ------------------------------------------------------------------------------------


class _Bank:
    """Members with features of their own from a bank."""

    def __init__(
        self, at: Setting, size: float, data: Data, test: Array | None, rng: np.random.Generator
    ) -> None:
        self.at, self.size, self.data, self.rng = at, size, data, rng
        self.pools = drawn_features(at, data.inputs, test, 2 * int(at.widths[-1]), rng)
        self.terms = paired_zeros(at)

    def add(self, w: int, width: int, sums: Sequence[Sequence[Sums | None]]) -> None:
        fits = self.at.fits(self.at.n_samples, width)
        pairs = []
        for pool in self.pools:
            common = n_common(width, self.size, self.rng)
            first, second = (
                (_of_bank(pool, 0, start, width, fits), _of_bank(pool, 1, start, width, fits))
                for start in (0, width - common)
            )
            pairs.append(Twins(first, second, common))
        n_shared = self.pools[0].outputs.shape[1]
        for k, fit in enumerate(fits):
            for name, value in twin_terms(pairs, self.data, fit, n_shared).items():
                self.terms[name][w, k] = value


def n_common(width: int, size: float, rng: np.random.Generator) -> int:
    """How many features two choices of `width` from a bank have in common.

    >>> n_common(5, 5, np.random.default_rng(0)), n_common(5, np.inf, np.random.default_rng(0))
    (5, 0)
    """
    if size < _LARGEST_DRAW:
        return int(rng.hypergeometric(width, int(size) - width, width))
    return int(rng.binomial(width, width / size))


def _of_bank(pool: Features, i: int, start: int, width: int, fits: Sequence[Fit]) -> Learner:
    """The learner of some features of a bank on data set i."""
    part = slice(start, start + width)
    return learner(pool.train[i][:, part], pool.outputs[part, :], pool.own, fits)
