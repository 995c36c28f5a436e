"""Training: results do not depend on the batches, memory is limited, and options are validated."""

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import doubletrouble as dt
from doubletrouble.networks import Training, train_lazy
from doubletrouble.networks._device import TorchDevice
from doubletrouble.networks._network import EVERY, Architecture, NetworkMember
from doubletrouble.networks._program import Program
from doubletrouble.networks._training import (
    TrainingTask,
    network_bytes,
    plan_batches,
    sample_blocks,
    train_members,
)
from doubletrouble.results import LazyRun
from tests.networks.literal import DIM, small_data
from tests.selection import full_beyond_cases

N = 10
DATA = small_data(N, pool=2)
CPU = TorchDevice.of("cpu", "float64")
OPTIONS: dict[str, Any] = {
    "width": 6,
    "depth": 3,
    "laziness": 10.0,
    "ensemble": 5,
    "max_steps": 30,
    "device": "cpu",
    "dtype": "float64",
}
ONE = network_bytes(Architecture(dim=DIM, width=6, depth=3), N, CPU)


def task_of(members: list[NetworkMember]) -> TrainingTask:
    return TrainingTask(
        members=members,
        x=DATA.x_train[None],
        y=DATA.y_train[None],
        x_test=DATA.x_test,
        depth=3,
        training=Training(max_steps=30),
        device=CPU,
    )


def assert_same(a: LazyRun, b: LazyRun) -> None:
    """Two runs agree to rounding."""
    np.testing.assert_allclose(a.predictions, b.predictions, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(a.steps, b.steps)
    assert a.status == b.status
    for name in ("train_error", "train_loss", "displacement"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-8, atol=1e-12)


# --- the results do not depend on the batches ----------------------------------------------------


@pytest.mark.parametrize(
    ("laziness", "loss", "memory"),
    full_beyond_cases(
        [
            (1.0, "hinge", 1.0),
            (math.inf, "squared", ONE / 3),
            (1.0, "squared", ONE),
            (math.inf, "hinge", 2.5 * ONE),
        ],
        itertools.product((1.0, math.inf), ("hinge", "squared"), (1.0, ONE / 3, ONE, 2.5 * ONE)),
    ),
)
def test_memory_does_not_change_results(laziness: float, loss: str, memory: float) -> None:
    options = {**OPTIONS, "laziness": laziness, "loss": loss, "max_steps": 12}
    options["optimizer"] = "adam"
    assert_same(train_lazy(DATA, **options), train_lazy(DATA, memory=memory, **options))


@pytest.mark.parametrize(
    ("optimizer", "laziness"),
    full_beyond_cases(
        [("gd", 3.0), ("sgd", math.inf)], itertools.product(("gd", "sgd"), (3.0, math.inf))
    ),
)
def test_memory_does_not_change_results_of_gradient_descent(
    optimizer: str, laziness: float
) -> None:
    options = {**OPTIONS, "laziness": laziness, "loss": "squared", "max_steps": 12}
    options["optimizer"] = optimizer
    options["batch_size"] = 7 if optimizer == "sgd" else None
    assert_same(train_lazy(DATA, **options), train_lazy(DATA, memory=1, **options))


def test_members_trained_together_and_alone_agree() -> None:
    members = [
        NetworkMember(width=width, laziness=alpha, number=k)
        for width, k in ((2, 0), (5, 0), (5, 1))
        for alpha in (0.5, math.inf)
    ]
    together = train_members(task_of(members), progress=False)
    for member, outcome in zip(members, together, strict=True):
        (alone,) = train_members(task_of([member]), progress=False)
        np.testing.assert_allclose(outcome.scores, alone.scores, rtol=1e-9, atol=1e-9)
        assert (outcome.steps, outcome.status) == (alone.steps, alone.status)
        assert outcome.train_loss == pytest.approx(alone.train_loss, rel=1e-8, abs=1e-12)


def test_member_does_not_depend_on_the_size_of_its_ensemble() -> None:
    small, large = (train_lazy(DATA, **{**OPTIONS, "ensemble": n}) for n in (2, 6))
    np.testing.assert_allclose(large.predictions[:2], small.predictions, rtol=1e-9, atol=1e-9)
    assert np.abs(large.predictions[0] - large.predictions[1]).max() > 1e-3
    other = train_lazy(DATA, **{**OPTIONS, "ensemble": 2, "seed": 1})
    assert np.abs(other.predictions - small.predictions).max(axis=1).min() > 1e-3


def test_threads_do_not_change_results() -> None:
    alone = train_lazy(DATA, **OPTIONS)
    torch.set_num_threads(2)  # until the end of this test
    assert_same(train_lazy(DATA, **OPTIONS), alone)
    assert torch.get_num_threads() == 2


# --- batches and memory --------------------------------------------------------------------------


def test_batches_fit_and_contain_every_member_once() -> None:
    members = [
        NetworkMember(width=width, laziness=alpha, number=k)
        for width in (6, 3)
        for alpha in (1.0, math.inf)
        for k in range(4)
    ]
    for share in (0.01, 0.5, 1, 2.5, 100):
        batches = plan_batches(task_of(members), memory=share * ONE)
        assert sorted(k for batch in batches for k in batch.indices) == list(range(len(members)))
        for batch in batches:
            assert [members[k] for k in batch.indices] == list(batch.members)
            assert len(batch.indices) == 1 or batch.bytes <= share * ONE
            assert batch.architecture.width == max(member.width for member in batch.members)
            assert len({math.isinf(member.laziness) for member in batch.members}) == 1
            assert [k for block in batch.blocks for k in range(N)[block]] == list(range(N))
        assert (max(len(batch.blocks) for batch in batches) > 1) == (share < 1)


def test_blocks_contain_every_sample_once() -> None:
    for n, count in itertools.product((1, 2, 5, 9, 20), (1, 2, 4, 32)):
        blocks = sample_blocks(n, count)
        assert blocks == (EVERY,) or count > 1
        assert [k for block in blocks for k in range(n)[block]] == list(range(n)), (n, count)
        assert len(blocks) <= count


NO_MEMORY = [
    torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB\nGPU 0 has 1 GiB"),
    RuntimeError("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory"),
    MemoryError(),
]


@pytest.mark.parametrize(
    ("when", "error"), list(zip(["__init__", "_step", "scores"], NO_MEMORY, strict=True))
)
def test_out_of_memory_names_the_argument(
    monkeypatch: pytest.MonkeyPatch, when: str, error: Exception
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise error

    monkeypatch.setattr(Program, when, fails)
    with pytest.raises(MemoryError, match=r"^memory must be smaller than 1e\+06 bytes") as caught:
        train_lazy(DATA, memory=1e6, **OPTIONS)
    assert "\n" not in str(caught.value)
    assert caught.value.__context__ is None  # a traceback would hold the tensors


def out_of_memory(*_: Any) -> None:
    raise torch.OutOfMemoryError("CUDA out of memory")


def test_out_of_memory_saves_finished_networks_and_complete_batches(tmp_path: Path) -> None:
    """The first batch is complete, the second one has made steps, the third one fails."""
    path, options = tmp_path / "run", {**OPTIONS, "loss": "logistic", "patience": 10}
    expected = train_lazy(DATA, **options)
    step, steps = Program._step, [0]

    def counted(program: Program) -> None:
        steps[0] += 1
        if steps[0] == fails_at:
            raise torch.OutOfMemoryError("CUDA out of memory")
        step(program)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Program, "_step", counted)
        fails_at = 45  # of 30 steps for each of five batches
        with pytest.raises(MemoryError, match="memory"):
            train_lazy(DATA, memory=ONE, store=path, **options)
        fails_at, steps[0] = 0, 0
        assert_same(train_lazy(DATA, memory=ONE, store=path, **options), expected)
        assert steps[0] == 4 * 30


def test_out_of_memory_of_one_batch_saves_the_others(tmp_path: Path) -> None:
    path, options = tmp_path / "run", {**OPTIONS, "loss": "logistic", "patience": 10}
    expected = train_lazy(DATA, **options)
    torch.set_num_threads(2)  # two batches at a time
    step, made = Program._step, {0: 0, 3: 0}  # by the first member of a batch

    def counted(program: Program) -> None:
        first = program.indices[0]
        made[first] += 1
        if first == 0 and made[0] == fails_at:
            raise torch.OutOfMemoryError("CUDA out of memory")
        step(program)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Program, "_step", counted)
        fails_at = 15
        with pytest.raises(MemoryError, match="memory"):
            train_lazy(DATA, store=path, **options)
        fails_at, before, made[0], made[3] = -1, made[3], 0, 0
        assert_same(train_lazy(DATA, store=path, **options), expected)
        assert before > 0
        assert made == {0: 30, 3: 30 - before}


def test_out_of_memory_in_predictions_does_not_repeat_steps(tmp_path: Path) -> None:
    path, options = tmp_path / "run", {**OPTIONS, "loss": "logistic", "patience": 10}
    expected = train_lazy(DATA, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Program, "scores", out_of_memory)
        with pytest.raises(MemoryError, match="memory"):
            train_lazy(DATA, store=path, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Program, "_step", out_of_memory)
        assert_same(train_lazy(DATA, store=path, **options), expected)


def test_other_errors_are_raised_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    monkeypatch.setattr(Program, "advance", fails)
    with pytest.raises(RuntimeError, match="mat1"):
        train_lazy(DATA, **OPTIONS)


def test_tangent_kernel_beyond_the_memory_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 1e12")

    monkeypatch.setattr("doubletrouble.networks._training.solved", fails)
    with pytest.raises(MemoryError, match=r"^the tangent kernel of 10 samples"):
        train_lazy(DATA, **{**OPTIONS, "laziness": math.inf, "loss": "squared"})


# --- validation ----------------------------------------------------------------------------------

COMMON: list[dict[str, Any]] = [
    *({"width": w} for w in (0, 1.5, True, "a", None, [4, 8])),
    *({"laziness": a} for a in (0, math.nan, -math.inf, "x")),
    *({"depth": depth} for depth in (1, 2.5)),
    *({"loss": loss} for loss in ("l1", None)),
    {"optimizer": "rmsprop"},
    *({"batch_size": size, "optimizer": "sgd"} for size in (None, 0)),
    {"batch_size": 5},
    *({"learning_rate": rate} for rate in (0, math.inf)),
    *({"max_steps": n} for n in (0, 1.5, True)),
    {"patience": 0},
    *({"tolerance": tolerance} for tolerance in (-1, math.nan)),
    *({"seed": seed} for seed in (-1, 0.5, 2**32)),
    {"dtype": "float16"},
    {"device": "abacus"},
    {"memory": -1},
    {"laziness": 10, "optimizer": "exact", "loss": "squared"},
    {"loss": "hinge", "optimizer": "exact"},
]
ENSEMBLE: list[dict[str, Any]] = [{"ensemble": k} for k in (0, 1.5, dt.Divide(2))]
INVALID: dict[Callable[..., Any], list[dict[str, Any]]] = {
    dt.train_lazy: [*COMMON, *ENSEMBLE, {"laziness": 1e5}],
    dt.lazy_split: [
        *COMMON,
        *({name: 0} for name in ("n_init", "n_noise")),
        *({"n_data": n} for n in (1, 3)),
        {"noise": -1},
        {"noise": 0.5, "loss": "hinge"},
        {"flips": 1.5},
    ],
    dt.lazy_curve: [
        *(case for case in COMMON if "width" not in case),
        *ENSEMBLE,
        *({"widths": widths} for widths in ([], [4, 4], [4, 0], [2.5])),
        *({"laziness": alphas} for alphas in ([], [1, -1])),
    ],
}


def no_training(*_: Any, **__: Any) -> None:
    raise AssertionError("trained")


@pytest.mark.parametrize("call", INVALID)
def test_invalid_options_are_named_and_no_file_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[..., Any]
) -> None:
    """The first option of a case is the invalid one."""
    monkeypatch.setattr(Program, "__init__", no_training)
    options: dict[str, Any] = {"depth": 3, "loss": "hinge", "max_steps": 5, "device": "cpu"}
    if call is dt.lazy_split:
        options |= {"n_data": 2, "n_init": 2}
    for case in INVALID[call]:
        name = next(iter(case))
        try:
            call(DATA, store=tmp_path / "run", **{**options, **case})
        except (ValueError, TypeError) as error:
            message = str(error)
        else:
            message = "accepted"
        assert message.startswith(f"{name} must "), (case, message)
        assert "\n" not in message
        assert not list(tmp_path.iterdir())
    with pytest.raises(TypeError, match="data must be a Data"):
        call(np.zeros((3, 2)))
    with pytest.raises(TypeError, match="momentum"):
        call(DATA, momentum=0.9)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_missing_gpu_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^device must be .*, got 'cuda': .*") as caught:
        dt.train_lazy(DATA, device="cuda")
    assert "\n" not in str(caught.value)


def test_float64_allows_larger_laziness() -> None:
    assert train_lazy(DATA, **{**OPTIONS, "laziness": 1e5, "ensemble": 1}).n_members == 1


def test_numpy_numbers_are_python_numbers_in_settings(tmp_path: Path) -> None:
    options: dict[str, Any] = {
        "width": np.int64(4),
        "depth": np.int32(3),
        "laziness": np.float32(2.0),
        "max_steps": np.int64(5),
        "learning_rate": np.float32(0.125),
        "seed": np.uint8(3),
        "ensemble": np.int16(2),
        "patience": np.int64(4),
    }
    plain = {name: value.item() for name, value in options.items()}
    common: dict[str, Any] = {"device": "cpu", "store": tmp_path / "run"}
    first = train_lazy(DATA, **common, **options)
    again = train_lazy(DATA, **common, **plain)
    np.testing.assert_array_equal(first.predictions, again.predictions)
    assert first.settings == again.settings
    assert {type(value) for value in first.settings.values()} <= {int, float, str, type(None)}


def test_settings_have_defaults_resolved() -> None:
    run = train_lazy(DATA, width=3, ensemble=2, max_steps=4, device="cpu", seed=5)
    assert (run.width, run.laziness, run.n_members) == (3, 100.0, 2)
    assert run.settings == {
        "depth": 5,
        "seed": 5,
        "dtype": "float32",
        "data": "small",
        "loss": "hinge",
        "optimizer": "adam",
        "learning_rate": 0.1,
        "max_steps": 4,
        "patience": 100,
        "tolerance": 1e-3,
        "batch_size": None,
    }
