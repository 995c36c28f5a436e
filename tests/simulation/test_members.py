"""Members that draw samples or features: known answers, and the same by plain linear algebra."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.ensembles import SCHEMES, Scheme
from doubletrouble.parameters import IntArray
from doubletrouble.simulation import plan
from doubletrouble.simulation._draws import draw_data, draw_features
from doubletrouble.simulation._learners import Block, FeatureFits, n_common, scheme_members
from doubletrouble.simulation._plan import SimulationPlan
from doubletrouble.simulation._simulate import block_terms
from tests.simulation.literal import errors

PARTS = ("noise", "initialization", "resampling", "sampling", "bias", "bayes", "total")
EVERY: tuple[Scheme, ...] = (
    dt.Subsample(2, fraction=0.6),
    dt.Bootstrap(2),
    dt.FeatureBank(2, bank_per_dim=3.0),
)


def planned(scheme: Scheme, width: int, model: Any) -> SimulationPlan:
    """D = 6, N = 9, three sets of features, at the end of time and at time 5."""
    return plan(
        dt.Problem(features_per_dim=width / 6, samples_per_dim=1.5, ridge=0.3),
        dim=6,
        model=model,
        n_data=2,
        n_init=3,
        ensembles=scheme,
        seed=0,
        test="auto" if model == "gaussian" else "sample",
        center=True,
        dtype="float64",
        times=[math.inf, 5.0],
    ).runs[0]


def response(phi: Any, out: Any, alpha: float, time: float, dim: int) -> Any:
    """The map from labels to outputs, by the eigenvalues of the features' side."""
    values, vectors = np.linalg.eigh(phi.T @ phi + alpha * np.eye(phi.shape[1]))
    gain = -np.expm1(-time / dim * values) / values
    return phi @ (vectors * gain) @ vectors.T @ out  # (n, R)


def terms_of(fits: FeatureFits, block: Block, k: int) -> dt.results.SimulatedTerms:
    """Every term of the k-th of two fits."""
    fits.grow(0)
    return dt.results.SimulatedTerms(
        origins=("linear", "noise"), values=block_terms(fits, block, 2)[:, k]
    )


def products(maps: Any, pairs: Any, x: Any) -> tuple[float, float]:
    """Mean Ψ₂ and Ψ₃ over pairs of maps; their keys begin with the data set."""
    teacher, noise = [], []
    for left, right in pairs:
        first, second = x[left[0]].T @ maps[left], x[right[0]].T @ maps[right]
        teacher.append(np.sum(first * second) / x[0].shape[1])
        noise.append(np.sum(maps[left] * maps[right]))
    return float(np.mean(teacher)), float(np.mean(noise))


@pytest.mark.parametrize("scheme", [dt.Subsample(fraction=5 / 9), dt.Bootstrap()], ids=repr)
@pytest.mark.parametrize("width", [4, 8, 14])
@pytest.mark.parametrize("model", ["gaussian", "features"])
def test_terms_of_drawn_samples_equal_plain_algebra(scheme: Scheme, width: int, model: str) -> None:
    """Rows are repeated as often as they were drawn, and each label has a map of its own."""
    size = 9 if scheme.with_replacement else 5
    at, rng = planned(scheme, width, model), np.random.default_rng(1)
    data, test = draw_data(at, rng)
    sets = draw_features(at, data.inputs, test, width, rng)
    (block,) = scheme_members(at, 1, data, 3, rng)[0]
    for k, time in enumerate((1e9, 5.0)):
        terms = terms_of(FeatureFits(at, sets), block, k)
        maps = {}
        for j, twins in enumerate(block.groups):
            assert [one.features for one in twins] == [j, (j - 1) % 3]
            for i, choice in enumerate(twins[0].samples):
                drawn, roots = np.asarray(choice.rows), np.ravel(np.asarray(choice.roots))
                rows = np.repeat(drawn, np.rint(roots**2).astype(int))
                for h in (j, (j - 1) % 3):
                    phi = sets[h].train[i][rows, :width]
                    # every set has test outputs of its own, uncorrelated with the others'
                    own = np.zeros((width, 3 * width))
                    own[:, h * width : (h + 1) * width] = sets[h].own * np.eye(width)
                    out = np.concatenate([sets[h].outputs[:width], own], axis=1)
                    result = response(phi, out, size * width * 0.3 / 6, time, 6)
                    full = np.zeros((9, out.shape[1]))
                    np.add.at(full, rows, result)
                    maps[i, j, h] = full
        # (data set, choice, features); first twins have features j, second ones j - 1
        keys = list(maps)
        fair = [
            (a, b)
            for a in keys
            for b in keys
            if a[1] != b[1] and (a[2] - a[1]) % 3 == (b[2] - b[1]) % 3
        ]
        kinds = {
            "same": [(a, a) for a in keys],
            "twin": [(a, b) for a in keys for b in keys if a[:2] == b[:2] and a != b],
            "other": [(a, b) for a, b in fair if a[0] == b[0]],
            "apart": [(a, b) for a, b in fair if a[0] < b[0]],
            "features": [(a, b) for a in keys for b in keys if a[1:] == b[1:] and a[0] < b[0]],
        }
        assert all(a[2] != b[2] for a, b in kinds["other"] + kinds["apart"])
        for kind, pairs in kinds.items():
            teacher, noise = products(maps, pairs, data.inputs)
            assert getattr(terms.linear, kind) == pytest.approx(teacher, rel=1e-9), kind
            if kind not in ("apart", "features"):
                assert getattr(terms.noise, kind) == pytest.approx(noise, rel=1e-9), kind


@pytest.mark.parametrize("width", [4, 14])
def test_terms_of_a_bank_equal_plain_algebra(width: int) -> None:
    """Twins share features, and the parts of these at a test point that are their own."""
    size, rng = width + 3, np.random.default_rng(1)
    scheme = dt.FeatureBank(bank_per_dim=size / 6)
    at = planned(scheme, width, "gaussian")
    data, test = draw_data(at, rng)
    first, again = (np.random.default_rng(7) for _ in range(2))
    pools = draw_features(at, data.inputs, test, 2 * width, again)
    draw_features(at, data.inputs, test, 2 * width, first)
    (block,) = scheme_members(at, 1, data, 3, first)[0]
    terms = terms_of(FeatureFits(at, pools, banks=True), block, 1)
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
        "other": [
            (a, b) for a in keys for b in keys if a[0] == b[0] and a[1] != b[1] and a[2] == b[2]
        ],
        "apart": [
            (a, b) for a in keys for b in keys if a[0] < b[0] and a[1] != b[1] and a[2] == b[2]
        ],
    }
    for kind, pairs in kinds.items():
        teacher, noise = products(maps, pairs, data.inputs)
        assert getattr(terms.linear, kind) == pytest.approx(teacher, rel=1e-9), kind
        if kind != "apart":
            assert getattr(terms.noise, kind) == pytest.approx(noise, rel=1e-9), kind


@pytest.mark.statistical
def test_ensembles_equal_plain_sampling() -> None:
    """The size is one at which the theory is far off."""
    powers: dict[str, Any] = {"ridge": 0.05, "noise": 0.7}
    sizes: dict[str, Any] = {"dim": 10, "psi1": 1.2, "psi2": 1.5}
    problem = dt.Problem(features_per_dim=1.2, samples_per_dim=1.5, **powers)
    ensembles = (*EVERY[:2], dt.FeatureBank(2, bank_per_dim=1.6))
    run = dt.simulate(problem, dim=10, n_data=300, n_init=2, ensembles=ensembles, progress=False)
    for ensemble in ensembles:
        literal = dt.Estimate.of(errors(ensemble, 2000, **sizes, **powers))
        ours, single = run.error(ensemble).total, run.error(replace(ensemble, n_members=1)).total
        assert abs(float((ours - literal).z_score(0.0))) < 5, ensemble
        assert abs(float((single - literal).z_score(0.0))) > 10, ensemble


def test_a_subsample_of_all_samples_is_an_ensemble() -> None:
    """The resampling part is zero."""
    problem = dt.Problem(features_per_dim=1.5, ridge=0.1, nonlinear_signal=0.5)
    all_data = dt.Subsample(fraction=1.0)
    run = dt.simulate(problem, dim=15, n_data=3, n_init=2, ensembles=all_data)
    for members in (1, 3, math.inf):
        whole, bagged = run.error(members), run.error(dt.Subsample(members, fraction=1.0))
        assert bagged.resampling.value == pytest.approx(0.0, abs=1e-12)
        for part in ("noise", "initialization", "sampling", "bias", "bayes", "total"):
            expected = getattr(whole, part).value
            assert getattr(bagged, part).value == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("model", ["gaussian", "features"])
def test_a_bank_of_p_features_has_no_resampling(model: Any) -> None:
    """All members have the same features: their number has no effect."""
    problem = dt.Problem(features_per_dim=1.5, ridge=0.1)
    bank = dt.FeatureBank(1, bank_per_dim=1.5)
    run = dt.simulate(problem, dim=12, model=model, n_data=3, n_init=2, ensembles=bank)
    one, many = run.error(bank), run.error(replace(bank, n_members=math.inf))
    assert one.resampling.value == pytest.approx(0.0, abs=1e-12)
    for part in PARTS:
        assert getattr(many, part).value == pytest.approx(getattr(one, part).value, abs=1e-12)


def test_larger_banks_share_fewer_features() -> None:
    """Members of an infinite bank are an ensemble."""
    rng = np.random.default_rng(0)
    counts = [np.mean([n_common(40, size, rng) for _ in range(300)]) for size in (60, 400, 1e9)]
    np.testing.assert_allclose(counts, [40**2 / 60, 4.0, 0.0], atol=0.5)
    problem = dt.Problem(features_per_dim=1.5, ridge=0.1)
    infinite = dt.FeatureBank(5, bank_per_dim=math.inf)
    run = dt.simulate(problem, dim=30, n_data=30, n_init=2, ensembles=infinite)
    assert run.realized(infinite) == infinite
    bank, ensemble = run.error(infinite), run.error(5)
    for ours, expected in (
        (bank.resampling, ensemble.initialization),
        (bank.total, ensemble.total),
    ):
        assert abs(float((ours - expected).z_score(0.0))) < 5
    # members of an infinite bank are independent
    assert abs(float(bank.initialization.z_score(0.0))) < 5


def test_parts_sum_to_total_at_realized_sizes() -> None:
    problem = dt.Problem(features_per_dim=1.5, samples_per_dim=0.7, ridge=0.1)
    run = dt.simulate(problem, dim=10, n_data=3, n_init=2, ensembles=EVERY)
    assert run.ensembles == EVERY
    assert run.realized(dt.Subsample(4, fraction=0.6)) == dt.Subsample(4, fraction=4 / 7)
    assert run.realized(EVERY[2]) == EVERY[2]
    assert run.realized(7) == dt.Ensemble(7)
    for scheme in EVERY:
        four, many = (replace(scheme, n_members=k) for k in (4, math.inf))
        result = run.error(four)
        assert run.error(run.realized(four)) == result
        assert result.total.value == pytest.approx(
            sum(float(part) for part in result.parts.values())
        )
        lines = str(result).splitlines()
        assert [line.split()[0] for line in lines[-3:-1]] == ["resampling", "total"]
        assert run.error(many).resampling.value == 0
        theory = dt.exact_error(run.problem, run.realized(four))
        assert list(theory.parts) == list(result.parts)
    assert "resampling" not in run.error(4).parts


def test_several_schemes_of_one_simulation_equal_single_simulations() -> None:
    """Smaller subsamples have larger errors, by a paired difference."""
    problem = dt.Problem(features_per_dim=1.5, ridge=0.1)
    options: dict[str, Any] = {"dim": 20, "n_data": 20, "n_init": 2}
    drawn: list[Scheme] = [dt.Subsample(5, fraction=f) for f in (0.3, 0.6, 0.9)]
    drawn += [dt.FeatureBank(5, bank_per_dim=b) for b in (1.5, 6.0)]
    drawn += [dt.Divide(2), dt.Divide(3)]
    run = dt.simulate(problem, ensembles=[*drawn, dt.Subsample(7, fraction=0.6)], **options)
    assert run.ensembles == tuple(drawn)
    for ensemble in drawn:
        alone = dt.simulate(problem, ensembles=ensemble, **options)
        assert alone.error(ensemble) == run.error(ensemble)
    for less, more in ((drawn[0], drawn[1]), (drawn[1], drawn[2])):
        gain = run.error(less).total - run.error(more).total
        assert float(gain.z_score(0.0)) > 5
    for ensemble in drawn:  # roughly the theory: D is small
        expected = dt.exact_error(run.problem, run.realized(ensemble)).total
        assert run.error(ensemble).total.value == pytest.approx(expected, rel=0.1)


def test_draws_of_a_scheme_do_not_depend_on_others() -> None:
    problem, bootstrap = dt.Problem(features_per_dim=1.5, ridge=0.1), dt.Bootstrap()
    options: dict[str, Any] = {"dim": 10, "n_data": 2, "n_init": 2, "seed": 3}
    every = dt.simulate(problem, ensembles=EVERY, **options)
    plain = dt.simulate(problem, **options)
    other = dt.simulate(problem, ensembles=bootstrap, **{**options, "seed": 4})
    for name, values in plain.draws.named().items():
        np.testing.assert_array_equal(every.draws.named()[name], values)
    single = dt.simulate(problem, ensembles=bootstrap, **options).terms_of(bootstrap).named()
    for name, values in single.items():
        np.testing.assert_array_equal(every.terms_of(bootstrap).named()[name], values)
        assert not np.array_equal(other.terms_of(bootstrap).named()[name], values)


@pytest.mark.parametrize("scheme", EVERY, ids=repr)
@pytest.mark.parametrize("model", ["gaussian", "features"])
def test_points_of_a_curve_equal_single_points(scheme: Scheme, model: str) -> None:
    options: dict[str, Any] = {
        "dim": 12,
        "model": model,
        "n_data": 2,
        "n_init": 2,
        "ensembles": scheme,
    }
    problem = dt.Problem(features_per_dim=[[2.0], [0.5]], ridge=[0.1, 1.0], nonlinear_signal=0.5)
    run = dt.simulate(problem, times=[1.0, math.inf], **options)
    assert np.shape(run.error(scheme).total.value) == (2, 2, 2)
    path = dt.simulate(problem, **options)
    for name, values in path.terms_of(scheme).named().items():
        np.testing.assert_allclose(run.terms_of(scheme).named()[name][..., 1], values, rtol=1e-9)
    wide = dt.simulate(replace(problem, features_per_dim=[2.0, 2.0], ridge=1.0), **options)
    for name, values in wide.terms_of(scheme).named().items():
        np.testing.assert_array_equal(values[:, 0], values[:, 1])
        if not scheme.shares_features:  # for which the number of common ones is drawn for each P
            ours = run.terms_of(scheme).named()[name][:, 0, 1, 1]
            np.testing.assert_allclose(ours, values[:, 0], rtol=1e-9)


def test_kernel_has_no_initialization() -> None:
    """A subsample of all samples is an ensemble on all of the data."""
    problem = dt.Problem(features_per_dim=math.inf, ridge=0.1, nonlinear_signal=0.5)
    options: dict[str, Any] = {"dim": 12, "model": "kernel", "n_data": 4, "n_init": 2}
    whole, bootstrap = dt.Subsample(3, fraction=1.0), dt.Bootstrap(1)
    run = dt.simulate(problem, ensembles=[whole, bootstrap], **options)
    for part in ("noise", "initialization", "sampling", "bias", "total"):
        expected = getattr(run.error(3), part).value
        got = getattr(run.error(whole), part).value
        assert got == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert run.error(bootstrap).initialization.value == 0
    assert run.error(bootstrap).resampling.value > 0


@pytest.mark.parametrize("model", ["gaussian", "features"])
def test_torch_agrees_with_numpy(model: str) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    problem = dt.Problem(features_per_dim=1.5, ridge=0.1, nonlinear_signal=0.5)
    options: dict[str, Any] = {
        "dim": 10,
        "model": model,
        "n_data": 2,
        "n_init": 2,
        "times": [2.0, math.inf],
        "ensembles": EVERY,
    }
    a, b = (dt.simulate(problem, device=device, **options) for device in ("cpu", "torch"))
    for scheme in EVERY:
        for name, values in a.terms_of(scheme).named().items():
            np.testing.assert_allclose(
                b.terms_of(scheme).named()[name], values, rtol=1e-9, atol=1e-12
            )


# --- schemes defined by the user -----------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class LeaveOut(Scheme):
    """K models, each without one of K parts of the samples."""

    summary = "{K} models, each without one of {K} parts"
    any_size = False

    def __post_init__(self) -> None:
        super().__post_init__()
        K = float(np.asarray(self.n_members))
        self._set(sample_share=(K - 1, K), shared_samples=(K - 2) / (K - 1) if K > 1 else 0.0)

    def draw_samples(self, n_samples: int, count: int, rng: np.random.Generator) -> IntArray:
        K = int(np.asarray(self.n_members))
        part = np.arange(n_samples) * K // n_samples
        left_out = rng.permutation(K)[:count]
        mixed = rng.permutation(part)
        return np.asarray(mixed[None, :] != left_out[:, None], dtype=np.int64)


del SCHEMES[LeaveOut.name]  # for these tests alone


@pytest.mark.parametrize(("model", "width"), [("features", 0.6), ("kernel", math.inf)])
def test_user_scheme_with_draws_agrees_with_theory(model: Any, width: float) -> None:
    """Errors at D and 2D are extrapolated in 1/D; another scheme disagrees."""
    problem = dt.Problem(features_per_dim=width, samples_per_dim=2.0, ridge=0.05, noise=0.5)
    ensemble, control = LeaveOut(3), dt.Ensemble(3)
    small, large = (
        dt.simulate(
            problem,
            dim=dim,
            n_data=draws,
            n_init=4,
            model=model,
            ensembles=ensemble,
            seed=dim,
            progress=False,
        ).error(ensemble)
        for dim, draws in ((30, 80), (60, 40))
    )
    theory, wrong = dt.exact_error(problem, ensemble), dt.exact_error(problem, control)
    assert list(small.parts) == list(theory.parts)
    off = []
    for name in ("noise", "initialization", "sampling", "bias", "total"):
        if model == "kernel" and name == "initialization":
            assert large.initialization.value == theory.initialization == 0
            continue
        limit = 2 * getattr(large, name) - getattr(small, name)
        assert abs(float(limit.z_score(getattr(theory, name)))) < 5, name
        off.append(abs(float(limit.z_score(getattr(wrong, name)))))
    assert max(off) > 10


def test_schemes_whose_shares_depend_on_members_have_the_drawn_numbers_only() -> None:
    """N need not be a multiple of K."""
    problem = dt.Problem(features_per_dim=1.5, samples_per_dim=1.1, ridge=0.1)
    options: dict[str, Any] = {"dim": 10, "n_data": 2, "n_init": 5}
    run = dt.simulate(problem, ensembles=[LeaveOut(2), LeaveOut(3)], **options)
    assert run.error(LeaveOut(2)).total.value != run.error(LeaveOut(3)).total.value
    with pytest.raises(ValueError, match=r"^ensemble must .*LeaveOut\(3\)"):
        run.error(LeaveOut(4))
    for members in (1, 12, math.inf):
        with pytest.raises(ValueError, match=r"^n_members must"):
            dt.simulate(problem, ensembles=LeaveOut(members), **options)


@dataclass(frozen=True, eq=False, repr=False)
class Overlapping(Scheme):
    """K models, any two of which have 0.4 of their features in common."""

    summary = "{K} models, 0.4 of the features in common"
    shares_features = True

    def shared_features(self, problem: Any) -> float:
        return 0.4


@dataclass(frozen=True, eq=False, repr=False)
class Halves(Scheme):
    """K disjoint parts of half of the samples."""

    summary = "{K} disjoint parts of half of the samples"
    any_size = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(sample_share=(0.5, self.n_members), shared_samples=0.0)

    def draw_samples(self, n_samples: int, count: int, rng: np.random.Generator) -> IntArray:
        size = n_samples // 2 // int(np.asarray(self.n_members))
        rows = rng.permutation(n_samples)[: count * size].reshape(count, size)
        counts = np.zeros((count, n_samples), dtype=np.int64)
        np.put_along_axis(counts, rows, 1, axis=1)
        return counts


@dataclass(frozen=True, eq=False, repr=False)
class Parts(dt.Divide):
    """K disjoint parts, as `Divide`."""


@dataclass(frozen=True, eq=False, repr=False)
class Every(Scheme):
    """K models on all of the samples."""


@dataclass(frozen=True, eq=False, repr=False)
class Wrong(dt.Subsample):
    """A fraction of the samples, with draws of all of them."""

    def draw_samples(self, n_samples: int, count: int, rng: np.random.Generator) -> IntArray:
        return np.ones((count, n_samples), dtype=np.int64)


@dataclass(frozen=True, eq=False, repr=False)
class Undrawn(dt.Subsample):
    """Drawn for one member only."""

    def draw_samples(self, n_samples: int, count: int, rng: np.random.Generator) -> IntArray:
        return np.ones(n_samples, dtype=np.int64)


for kind in (Overlapping, Halves, Parts, Every, Wrong, Undrawn):
    del SCHEMES[kind.name]


@pytest.mark.statistical
@pytest.mark.parametrize("ensemble", [Overlapping(3), Halves(3)], ids=repr)
def test_user_scheme_with_shares_agrees_with_theory(ensemble: Scheme) -> None:
    """Errors at D and 2D are extrapolated in 1/D; P/k is no whole number."""
    problem = dt.Problem(features_per_dim=0.5, samples_per_dim=2.0, ridge=0.05, noise=0.5)
    small, large = (
        dt.simulate(
            problem, dim=dim, n_data=draws, n_init=4, ensembles=ensemble, seed=dim, progress=False
        ).error(ensemble)
        for dim, draws in ((30, 80), (60, 40))
    )
    theory, wrong = dt.exact_error(problem, ensemble), dt.exact_error(problem, 3)
    assert list(small.parts) == list(theory.parts)
    off = []
    for name in ("noise", "initialization", "sampling", "bias", "total"):
        limit = 2 * getattr(large, name) - getattr(small, name)
        assert abs(float(limit.z_score(getattr(theory, name)))) < 5, name
        off.append(abs(float(limit.z_score(getattr(wrong, name)))))
    assert max(off) > 8


def test_fractional_banks_have_the_exact_mean_of_common_features() -> None:
    rng = np.random.default_rng(0)
    for size in (12.5, 10.1):
        drawn = dt.Estimate.of([n_common(10, size, rng) for _ in range(4000)])
        assert abs(float(drawn.z_score(100 / size))) < 5


def test_schemes_of_equal_shares_have_equal_errors() -> None:
    """The shares decide, not the class."""
    problem = dt.Problem(features_per_dim=1.5, ridge=0.1)
    options: dict[str, Any] = {"dim": 11, "n_data": 3, "n_init": 2}
    run = dt.simulate(problem, ensembles=[dt.Divide(3), Parts(3), Every(2)], **options)
    assert run.ensembles == (dt.Divide(3), Parts(3))
    assert run.error(Parts(3)).parts == run.error(dt.Divide(3)).parts
    assert run.error(Every(2)).parts == run.error(2).parts
    assert run.realized(Every(5)) == Every(5)
    none = dt.simulate(problem, ensembles=Parts(math.inf), **options).error(Parts(math.inf))
    assert float(none.bias) == 1


@pytest.mark.parametrize("model", ["gaussian", "kernel"])
def test_draws_must_match_the_shares(model: Any) -> None:
    width = math.inf if model == "kernel" else 1.5
    problem = dt.Problem(features_per_dim=width, ridge=0.1)
    options: dict[str, Any] = {"dim": 10, "n_data": 2, "n_init": 2, "model": model}
    for scheme, name in (
        (Wrong(2, fraction=0.5), "draw_samples must return rows that sum to 5"),
        (Undrawn(2, fraction=0.5), "draw_samples must return whole numbers"),
        (Halves(8), "ensembles must"),
    ):
        with pytest.raises(ValueError, match=f"^{name}"):
            dt.simulate(problem, ensembles=scheme, **options)
