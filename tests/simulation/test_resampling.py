"""Members that draw samples or features: known answers, and the same by plain linear algebra."""

import math
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.simulation.place import Place
from doubletrouble.simulation.resampling import _Bank, _Samples, n_common
from doubletrouble.simulation.result import RESAMPLED, ErrorEstimates, ResampledErrorEstimates
from doubletrouble.simulation.setting import Resampling, Setting, drawn_data, drawn_features
from tests.simulation.literal import error

PARTS = ("noise", "initialization", "resampling", "sampling", "bias", "bayes", "total")
EVERY: dict[str, Any] = {"schemes": RESAMPLED, "fraction": 0.6, "bank_per_dim": 3.0}


def setting(resampling: Resampling, widths: tuple[float, ...], slope: Any = None) -> Setting:
    return Setting(
        activation=dt.activation("relu"), dim=6, n_samples=9, widths=widths, ridges=(0.3,),
        times=(math.inf, 5.0), divisions=(1,), resampled=(resampling,), n_init=3,
        n_test=0 if slope is None else 7, curved=False, center=True, place=Place(), slope=slope,
    )  # fmt: skip


def response(phi: Any, out: Any, alpha: float, time: float, dim: int) -> Any:
    """What labels become: outputs times weights, by the eigenvalues of the features' side."""
    values, vectors = np.linalg.eigh(phi.T @ phi + alpha * np.eye(phi.shape[1]))
    gain = -np.expm1(-time / dim * values) / values
    return phi @ (vectors * gain) @ vectors.T @ out  # (n, R)


def products(maps: Any, pairs: Any, x: Any) -> tuple[float, float]:
    """Mean Ψ₂ and Ψ₃ over pairs of maps; their keys begin with the data set."""
    teacher, noise = [], []
    for left, right in pairs:
        first, second = x[left[0]].T @ maps[left], x[right[0]].T @ maps[right]
        teacher.append(np.sum(first * second) / x[0].shape[1])
        noise.append(np.sum(maps[left] * maps[right]))
    return float(np.mean(teacher)), float(np.mean(noise))


@pytest.mark.parametrize("scheme", ["subbag", "bootstrap"])
@pytest.mark.parametrize("width", [4, 8, 14])
@pytest.mark.parametrize("model", ["gaussian", "features"])
def test_samples_by_plain_algebra(scheme: str, width: int, model: str) -> None:
    """Rows repeated as often as they were drawn, labels each with a map of its own."""
    from doubletrouble.simulation.features import slope_by_power

    slope = slope_by_power(dt.activation("relu"), 6) if model == "features" else None
    size = 5 if scheme == "subbag" else 9
    at, rng = setting(Resampling(scheme, size), (float(width),), slope), np.random.default_rng(1)
    data, test = drawn_data(at, rng)
    sets = drawn_features(at, data.inputs, test, width, rng)
    one = _Samples(at, at.resampled[0], data, sets, rng)
    one.add(0, width, [[None, None]] * 3)
    for k, time in enumerate((1e9, 5.0)):
        maps = {}
        for j, both in enumerate(one.choices):
            for i, choice in enumerate(both):
                times = np.rint(np.ravel(choice.roots) ** 2).astype(int)
                rows = np.repeat(choice.rows, times)
                for h in (j, (j - 1) % 3):
                    phi = sets[h].train[i][rows, :width]
                    # every set has test outputs of its own, uncorrelated with the others'
                    own = np.zeros((width, 3 * width))
                    own[:, h * width : (h + 1) * width] = sets[h].own * np.eye(width)
                    out = np.concatenate([sets[h].outputs[:width], own], axis=1)
                    found = response(phi, out, size * width * 0.3 / 6, time, 6)
                    full = np.zeros((9, out.shape[1]))
                    np.add.at(full, rows, found)
                    maps[i, j, h] = full
        # (data set, choice, features); first twins have features j, second ones j - 1
        keys = list(maps)
        fair = [
            (a, b) for a in keys for b in keys
            if a[1] != b[1] and (a[2] - a[1]) % 3 == (b[2] - b[1]) % 3
        ]  # fmt: skip
        kinds = {
            "same": [(a, a) for a in keys],
            "twin": [(a, b) for a in keys for b in keys if a[:2] == b[:2] and a != b],
            "other": [(a, b) for a, b in fair if a[0] == b[0]],
            "apart": [(a, b) for a, b in fair if a[0] < b[0]],
        }
        assert all(a[2] != b[2] for a, b in kinds["other"] + kinds["apart"])
        for kind, pairs in kinds.items():
            teacher, noise = products(maps, pairs, data.inputs)
            assert one.terms[f"psi2_{kind}"][0, k] == pytest.approx(teacher, rel=1e-9), kind
            if kind != "apart":
                assert one.terms[f"psi3_{kind}"][0, k] == pytest.approx(noise, rel=1e-9), kind


@pytest.mark.parametrize("width", [4, 14])
def test_a_bank_by_plain_algebra(width: int) -> None:
    """Twins share features, and with them what those have at a test point for themselves."""
    size, rng = width + 3, np.random.default_rng(1)
    at = setting(Resampling("feature_bank", size), (float(width),))
    data, test = drawn_data(at, rng)
    first, again = (np.random.default_rng(7) for _ in range(2))
    bank = _Bank(at, size, data, test, first)
    pools = drawn_features(at, data.inputs, test, 2 * width, again)
    bank.add(0, width, [])
    common = [n_common(width, size, again) for _ in pools]
    assert 0 < min(common) <= max(common) < width
    maps = {}
    for j, (pool, m) in enumerate(zip(pools, common, strict=True)):
        for twin, start in enumerate((0, width - m)):
            part = slice(start, start + width)
            for i in range(2):
                out = np.zeros((2 * width, 6 + 6 * width))
                out[:, :6] = pool.outputs
                out[:, 6 + 2 * width * j : 6 + 2 * width * (j + 1)] = pool.own * np.eye(2 * width)
                phi = pool.train[i][:, part]
                maps[i, j, twin] = response(phi, out[part], 9 * width * 0.3 / 6, 5.0, 6)
    keys = list(maps)
    kinds = {
        "same": [(a, a) for a in keys],
        "twin": [(a, b) for a in keys for b in keys if a[:2] == b[:2] and a != b],
        "other": [(a, b) for a in keys for b in keys
                  if a[0] == b[0] and a[1] != b[1] and a[2] == b[2]],
        "apart": [(a, b) for a in keys for b in keys
                  if a[0] < b[0] and a[1] != b[1] and a[2] == b[2]],
    }  # fmt: skip
    for kind, pairs in kinds.items():
        teacher, noise = products(maps, pairs, data.inputs)
        assert bank.terms[f"psi2_{kind}"][0, 1] == pytest.approx(teacher, rel=1e-9), kind
        if kind != "apart":
            assert bank.terms[f"psi3_{kind}"][0, 1] == pytest.approx(noise, rel=1e-9), kind


@pytest.mark.statistical
@pytest.mark.parametrize("scheme", RESAMPLED)
def test_ensembles_drawn_one_by_one(scheme: str) -> None:
    """Two members, trained and evaluated as a user would, at a size where theory is far off."""
    powers: dict[str, Any] = {"ridge": 0.05, "noise": 0.7}
    options: dict[str, Any] = {"subbag": {"fraction": 0.6}, "feature_bank": {"bank_per_dim": 1.6}}
    own = options.get(scheme, {})
    rng = np.random.default_rng(0)
    sizes: dict[str, Any] = {"dim": 10, "psi1": 1.2, "psi2": 1.5}
    drawn = np.array([error(scheme, 2, rng, **sizes, **powers, **own) for _ in range(1500)])
    literal = dt.Estimate.of(drawn)
    problem = dt.Problem(features_per_dim=1.2, samples_per_dim=1.5, **powers)
    run = dt.simulate(problem, dim=10, n_data=600, n_init=2, schemes=scheme, progress=False, **own)
    ours = run.error(2, scheme).total
    spread = np.hypot(literal.standard_error, ours.standard_error)
    assert abs(literal.value - ours.value) < 5 * spread
    assert abs(literal.value - run.error(1, scheme).total.value) > 10 * spread


def test_all_samples_are_an_ensemble() -> None:
    """Then nothing is left to choose; with two sets of features it is so draw by draw."""
    problem = dt.Problem(features_per_dim=1.5, ridge=0.1, nonlinear_signal=0.5)
    run = dt.simulate(problem, dim=15, n_data=3, n_init=2, schemes="subbag", fraction=1.0)
    for members in (1, 3, math.inf):
        whole, bagged = run.error(members), run.error(members, "subbag")
        assert isinstance(bagged, ResampledErrorEstimates)
        assert bagged.resampling.value == pytest.approx(0.0, abs=1e-12)
        for part in ("noise", "initialization", "sampling", "bias", "bayes", "total"):
            expected = getattr(whole, part).value
            assert getattr(bagged, part).value == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("model", ["gaussian", "features"])
def test_a_bank_of_what_one_member_needs(model: str) -> None:
    """All members have the same features: their number means nothing."""
    problem = dt.Problem(features_per_dim=1.5, ridge=0.1)
    run = dt.simulate(
        problem, dim=12, model=model, n_data=3, n_init=2, schemes="feature_bank", bank_per_dim=1.5
    )
    one, many = run.error(1, "feature_bank"), run.error(math.inf, "feature_bank")
    assert isinstance(one, ResampledErrorEstimates)
    assert one.resampling.value == pytest.approx(0.0, abs=1e-12)
    for part in PARTS:
        assert getattr(many, part).value == pytest.approx(getattr(one, part).value, abs=1e-12)


def test_a_bank_of_any_size() -> None:
    """The larger, the less two members share; an infinite one is an ensemble."""
    rng = np.random.default_rng(0)
    counts = [np.mean([n_common(40, size, rng) for _ in range(300)]) for size in (60, 400, 1e9)]
    np.testing.assert_allclose(counts, [40**2 / 60, 4.0, 0.0], atol=0.5)
    problem = dt.Problem(features_per_dim=1.5, ridge=0.1)
    options: dict[str, Any] = {"dim": 30, "n_data": 30, "n_init": 2, "schemes": "feature_bank"}
    run = dt.simulate(problem, bank_per_dim=math.inf, **options)
    assert run.bank_per_dim == math.inf
    bank, ensemble = run.error(5, "feature_bank"), run.error(5)
    assert isinstance(bank, ResampledErrorEstimates)
    for ours, part in ((bank.resampling, "initialization"), (bank.total, "total")):
        expected = getattr(ensemble, part)
        spread = np.hypot(ours.standard_error, expected.standard_error)
        assert abs(ours.value - expected.value) < 5 * spread
    # independent by construction: nothing is left to the bank
    assert abs(float(bank.initialization.z_score(0.0))) < 5


def test_what_comes_out() -> None:
    problem = dt.Problem(features_per_dim=1.5, samples_per_dim=0.7, ridge=0.1)
    run = dt.simulate(problem, dim=10, n_data=3, n_init=2, **EVERY)
    assert run.fraction == 4 / 7
    assert run.bank_per_dim == 3.0
    for scheme in RESAMPLED:
        found = run.error(4, scheme)
        parts = [getattr(found, part).value for part in PARTS]
        assert sum(parts[:-1]) == pytest.approx(parts[-1])
        lines = str(found).splitlines()
        assert [line.split()[0] for line in lines[-2:]] == ["resampling", "total"]
    assert type(run.error(4)) is ErrorEstimates
    assert run.resampled.keys() == {*RESAMPLED}
    for scheme in ("subbag", "bootstrap"):
        many = run.error(math.inf, scheme)
        assert isinstance(many, ResampledErrorEstimates)
        assert many.resampling.value == many.initialization.value == 0
    with pytest.raises(ValueError, match=r"one more that was simulated \(subbag, .*got 'bag' with"):
        run.error(2, "bag")


def test_a_scheme_draws_the_same_whatever_else_is_asked() -> None:
    problem = dt.Problem(features_per_dim=1.5, ridge=0.1)
    options: dict[str, Any] = {"dim": 10, "n_data": 2, "n_init": 2, "seed": 3}
    every = dt.simulate(problem, **options, **EVERY)
    plain = dt.simulate(problem, **options)
    single = dt.simulate(problem, schemes="bootstrap", **options)
    other = dt.simulate(problem, schemes="bootstrap", **{**options, "seed": 4})
    for name, values in plain.draws.items():
        np.testing.assert_array_equal(every.draws[name], values)
    for name, values in single.resampled["bootstrap"].items():
        np.testing.assert_array_equal(every.resampled["bootstrap"][name], values)
        assert not np.array_equal(other.resampled["bootstrap"][name], values)


@pytest.mark.parametrize("scheme", RESAMPLED)
@pytest.mark.parametrize("model", ["gaussian", "features"])
def test_axes(scheme: str, model: str) -> None:
    """Nested widths, a path of ridges and of times: each point as if simulated by itself."""
    own = {"subbag": {"fraction": 0.5}, "feature_bank": {"bank_per_dim": 4.0}}.get(scheme, {})
    options: dict[str, Any] = {"dim": 12, "model": model, "n_data": 2, "n_init": 2,
                               "schemes": scheme, **own}  # fmt: skip
    problem, widths = dt.Problem(nonlinear_signal=0.5), [2.0, 0.5]
    run = dt.simulate(problem, widths=widths, ridges=[0.1, 1.0], times=[1.0, math.inf], **options)
    assert np.shape(run.error(2, scheme).total.value) == (2, 2, 2)
    ridge = dt.simulate(problem, widths=widths, ridges=[0.1, 1.0], **options)
    for name, values in ridge.resampled[scheme].items():
        np.testing.assert_allclose(run.resampled[scheme][name][..., 1], values, rtol=1e-9)
    wide = dt.simulate(dt.Problem(nonlinear_signal=0.5, ridge=1.0), widths=[2.0, 2.0], **options)
    if scheme != "feature_bank":  # which draws anew how many are common
        for name, values in wide.resampled[scheme].items():
            ours = run.resampled[scheme][name][:, 0, 1, 1]
            np.testing.assert_allclose(ours, values[:, 0], rtol=1e-9)


def test_kernel() -> None:
    """Infinitely many features: nothing to initialize, and all samples are the whole."""
    problem = dt.Problem(features_per_dim=math.inf, ridge=0.1, nonlinear_signal=0.5)
    options: dict[str, Any] = {"dim": 12, "model": "kernel", "n_data": 4, "n_init": 2}
    run = dt.simulate(problem, schemes=("subbag", "bootstrap"), fraction=1.0, **options)
    for part in ("noise", "initialization", "sampling", "bias", "total"):
        expected = getattr(run.error(3), part).value
        got = getattr(run.error(3, "subbag"), part).value
        assert got == pytest.approx(expected, rel=1e-9, abs=1e-12)
    bootstrap = run.error(1, "bootstrap")
    assert isinstance(bootstrap, ResampledErrorEstimates)
    assert bootstrap.initialization.value == 0
    assert bootstrap.resampling.value > 0


@pytest.mark.parametrize("model", ["gaussian", "features"])
def test_torch(model: str) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    problem = dt.Problem(features_per_dim=1.5, ridge=0.1, nonlinear_signal=0.5)
    options: dict[str, Any] = {"dim": 10, "model": model, "n_data": 2, "n_init": 2,
                               "times": [2.0, math.inf], **EVERY}  # fmt: skip
    a, b = (dt.simulate(problem, device=device, **options) for device in ("cpu", "torch"))
    for scheme in RESAMPLED:
        for name, values in a.resampled[scheme].items():
            np.testing.assert_allclose(b.resampled[scheme][name], values, rtol=1e-9, atol=1e-12)
