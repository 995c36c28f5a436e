"""lazy_split: the array of predictions, the parts of the error, and their limits."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt
from doubletrouble.errors import DivergenceError, SweepInterrupted
from doubletrouble.networks import LazySplit, lazy_split, train_lazy
from doubletrouble.networks._misclassification import ensemble_error, error_rate, vote_error
from tests.networks.literal import small_data

DATA = small_data(12, 30, pool=4)
OPTIONS: dict[str, Any] = {
    "n_data": 4,
    "n_init": 3,
    "width": 8,
    "depth": 3,
    "device": "cpu",
    "dtype": "float64",
    "progress": False,
}
EXACT: dict[str, Any] = {**OPTIONS, "laziness": math.inf}


def test_without_noise_predictions_are_those_of_train_lazy() -> None:
    options = {**OPTIONS, "laziness": 5.0, "max_steps": 40, "loss": "hinge"}
    split = lazy_split(DATA, **options)
    assert split.predictions.shape == (4, 1, 3, 30)
    assert split.train_error.shape == (4, 1, 3)
    del options["n_data"], options["n_init"]
    for d, block in enumerate(DATA.blocks(4)):
        run = train_lazy(block, ensemble=3, **options)
        np.testing.assert_allclose(split.predictions[d, 0], run.predictions, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(split.train_error[d, 0], run.train_error)


def test_parts_sum_to_the_squared_error() -> None:
    split = lazy_split(DATA, noise=0.5, n_noise=3, **EXACT)
    assert split.predictions.shape == (4, 3, 3, 30)
    direct = ((split.predictions - DATA.y_test) ** 2).mean()
    averaged = ((split.predictions.mean(axis=2) - DATA.y_test) ** 2).mean()
    for K, expected in ((1, direct), (3, averaged)):
        error = split.error(K)
        assert float(error.total) == pytest.approx(expected)
        assert sum(map(float, error.parts.values())) == pytest.approx(expected)
        assert error.parts == split.squared.error(dt.Ensemble(K)).parts
    scores = split.predictions
    for ensemble, rates in (
        (1, error_rate(scores, DATA.y_test)),
        (3, ensemble_error(scores, DATA.y_test)),
        (dt.Vote(3), vote_error(scores, DATA.y_test)),
    ):
        terms = split.error(ensemble, measure="zero_one")
        assert float(terms.total) == pytest.approx(np.mean(rates), rel=1e-13)
        assert terms.parts == {}
    rates = error_rate(scores, DATA.y_test).mean(axis=1)  # (data, init)
    each = {d: np.delete(rates, d, axis=0).mean() for d in range(4)}
    jackknife = math.sqrt(3 / 4 * sum((value - rates.mean()) ** 2 for value in each.values()))
    assert split.error(1, measure="zero_one").total.standard_error >= jackknife * (1 - 1e-12)
    whole = (
        split.error(3, measure="zero_one").total - split.error(dt.Vote(3), measure="zero_one").total
    )
    apart = ensemble_error(scores, DATA.y_test) - np.asarray(vote_error(scores, DATA.y_test))
    expected = apart.mean(axis=1).std(ddof=1) / 2  # over 4 data sets, paired
    assert whole.standard_error == pytest.approx(expected)


def test_noise_part_is_quadratic_in_the_noise() -> None:
    """The predictions of the exact solution are linear in the labels."""
    result = {sigma: lazy_split(DATA, noise=sigma, n_noise=3, **EXACT) for sigma in (0.5, 1.0)}
    values = [result[sigma].error().noise.value for sigma in (0.5, 1.0)]
    assert min(values) > 0
    assert values[1] == pytest.approx(4 * values[0], rel=1e-6)
    alike = result[0.5].predictions
    steps = np.diff(result[1.0].predictions, axis=1) / np.diff(alike, axis=1)
    np.testing.assert_allclose(steps, 2, rtol=1e-5)
    without = lazy_split(DATA, noise=0.0, n_noise=3, **EXACT)
    assert without.predictions.shape[1] == 1
    assert without.squared.notes[0].startswith("No label noise")
    assert not any(note.startswith("One noise draw") for note in without.squared.notes)
    assert "No label noise" not in str(result[1.0])
    one_draw = lazy_split(DATA, noise=0.5, n_noise=1, **EXACT).squared.notes
    assert one_draw[0].startswith("One noise draw for each data set")
    assert without.error().noise.value == 0
    tiny = lazy_split(DATA, noise=1e-6, n_noise=3, **EXACT).error().noise
    assert tiny.value == pytest.approx(0, abs=1e-9)


def test_label_noise_does_not_depend_on_initializations() -> None:
    """It depends on the seed only."""

    def noisy(**changed: Any) -> LazySplit:
        return lazy_split(DATA, noise=0.5, **{**EXACT, **changed})

    a, b = noisy(n_init=2), noisy(n_init=3)
    np.testing.assert_allclose(a.predictions, b.predictions[:, :, :2], rtol=1e-8, atol=1e-8)
    assert np.abs(noisy(seed=1).predictions - b.predictions).max() > 1e-2


def test_flips_are_label_noise() -> None:
    options = {**OPTIONS, "laziness": 5.0, "max_steps": 30, "loss": "hinge", "n_noise": 2}
    split = lazy_split(DATA, flips=0.3, **options)
    assert split.predictions.shape == (4, 2, 3, 30)
    assert np.abs(np.diff(split.predictions, axis=1)).max() > 1e-2
    assert split.settings["flips"] == 0.3
    # every label flipped: the exact solution is that of the other sign
    opposite = lazy_split(DATA, flips=1.0, **EXACT)
    plain = lazy_split(DATA, **EXACT)
    np.testing.assert_allclose(opposite.predictions[:, :1], -plain.predictions, rtol=1e-9)
    assert opposite.error().noise.value == pytest.approx(0, abs=1e-12)


def test_other_schemes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^ensemble must .*LazySplit"):
        lazy_split(DATA, **EXACT).error(dt.Divide(2))


def test_measures_are_validated() -> None:
    split = lazy_split(DATA, **EXACT)
    measure: Any = "classification"
    with pytest.raises(ValueError, match=r"^measure must be one of squared, zero_one, got"):
        split.error(1, measure=measure)
    with pytest.raises(ValueError, match=r"^measure must be zero_one for Vote\(3\), got 'sq"):
        split.error(dt.Vote(3))
    with pytest.raises(ValueError, match=r"^ensemble must be in \[1, 3\].* got 4"):
        split.error(4, measure="zero_one")
    assert split.error(4).total.value > 0  # extrapolated


def test_split_continues_from_its_store(tmp_path: Path) -> None:
    options: dict[str, Any] = {**OPTIONS, "laziness": 5.0, "max_steps": 20, "noise": 0.2}
    first = lazy_split(DATA, store=tmp_path / "split", **options)
    again = lazy_split(DATA, store=tmp_path / "split", **options)
    np.testing.assert_array_equal(first.predictions, again.predictions)
    assert [p.name for p in tmp_path.iterdir()] == ["split"]


def test_other_losses_have_a_note_on_squared_errors() -> None:
    options: dict[str, Any] = {**OPTIONS, "laziness": 5.0, "max_steps": 10}
    hinge, squared = (lazy_split(DATA, loss=loss, **options) for loss in ("hinge", "squared"))
    assert "squared errors may be large" in " ".join(str(hinge).split())
    rates = json.loads(hinge.to_json())["error_rate"]
    assert rates[0]["error"] == hinge.error(1, measure="zero_one").total.value
    assert "may be large" not in str(squared)
    assert hinge.settings["optimizer"] == "adam"
    assert hinge.settings["learning_rate"] == 0.1
    assert hinge.settings["patience"] == 100


def test_interrupted_split_names_its_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: Any, store: Path | None, **__: Any) -> None:
        if store is not None and store.name == "written":
            store.write_bytes(b"")
        raise KeyboardInterrupt

    monkeypatch.setattr("doubletrouble.networks._split.train_members", stop)
    with pytest.raises(SweepInterrupted, match=r"^interrupted.* in .*written"):
        lazy_split(DATA, store=tmp_path / "written", **OPTIONS)
    for store in (None, tmp_path / "absent"):
        with pytest.raises(KeyboardInterrupt) as error:
            lazy_split(DATA, store=store, **OPTIONS)
        assert not isinstance(error.value, SweepInterrupted)


def test_diverged_networks_are_refused() -> None:
    with pytest.raises(DivergenceError, match=r"^8 of 8 networks diverged.* \[0, 0, 0\], \[0, 0,"):
        lazy_split(
            small_data(pool=2),
            n_data=2,
            n_init=2,
            noise=0.5,
            learning_rate=1e4,
            laziness=10,
            optimizer="gd",
            width=6,
            depth=3,
            max_steps=150,
            device="cpu",
            progress=False,
        )
