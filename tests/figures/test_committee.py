"""The figure on committees: best weights, and their gain."""

from typing import Any

import numpy as np
import pytest

from doubletrouble.figures._committee import FIGURE, CommitteeWeights, _along, errors
from doubletrouble.figures._settings import DrawSettings
from doubletrouble.problems import Member
from doubletrouble.simulation import simulate


@pytest.fixture(scope="module")
def voters() -> CommitteeWeights:
    return FIGURE.compute(snr_range=(0.5, 10.0, 21), dim=20, n_data=2)


def test_member_at_the_threshold_has_weight_zero(voters: CommitteeWeights) -> None:
    at = int(np.flatnonzero(voters.ratios == 1.0)[0])
    for weights in voters.by_snr.values():
        assert weights[at] == 0
        assert weights.sum() == pytest.approx(1.0)
    without, *with_penalty = (weights[at] for weights in voters.by_ridge.values())
    assert without == 0
    assert 0.02 < with_penalty[0] < with_penalty[1]


def test_weights_of_narrow_members_depend_on_the_noise(voters: CommitteeWeights) -> None:
    ends = {snr: (w[0], w[-1]) for snr, w in voters.by_snr.items()}
    assert ends[1.0] == pytest.approx((0.228, 0.283), abs=1e-3)
    assert ends[10.0] == pytest.approx((-0.096, 0.601), abs=1e-3)
    _, _, penalized = voters.by_ridge.values()
    assert penalized[0] < 0.3 * ends[1.0][0]


def test_best_weights_are_better_than_equal_weights_and_the_best_member(
    voters: CommitteeWeights,
) -> None:
    equal, single, best = (voters.gain.line(k).y for k in ("equal", "single", "optimal"))
    assert np.all(best < 0.86 * np.minimum(equal, single))
    assert equal[-1] > 1.2 * single[-1]  # clean labels
    middle = int(np.argmin(np.abs(voters.gain.lines[0].x - 1)))
    assert equal[middle] < 0.9 * single[middle]
    team = [Member(features_per_dim=w, samples_per_dim=1.0, ridge=1e-3) for w in voters.ratios]
    result = errors(team, np.array([1.0, 10.0]))
    np.testing.assert_allclose(result["optimal"], [0.7332, 0.3460], atol=6e-5)
    np.testing.assert_allclose(result["equal"], [0.8994, 0.4971], atol=6e-5)


def test_simulations_at_every_noise_follow_from_one() -> None:
    team = [Member(features_per_dim=w, samples_per_dim=1.0, ridge=0.01) for w in (0.5, 2.0)]
    size: dict[str, Any] = {"dim": 20, "n_data": 3, "seed": 0}
    (derived,) = _along(team, np.array([2.0]), DrawSettings(**size))
    direct = simulate(team, signal=1.0, noise=0.5, progress=False, **size)
    np.testing.assert_allclose(derived.draws, direct.draws, rtol=1e-12)
    assert derived.noise == direct.noise
    assert derived.members == direct.members
