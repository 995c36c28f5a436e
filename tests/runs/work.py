"""The computations of cells in tests."""

import os
import signal
import sqlite3
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Executor, Future
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from doubletrouble.runs import Cell

Row = tuple[str, str, str, bytes]


class AtOnce(Executor):
    """An executor that computes in `submit`."""

    def submit(self, function: Any, /, *arguments: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*arguments, **options))
        return future


def cells(count: int, **others: Any) -> list[Cell]:
    return [Cell.of("test", 1, {"x": x, **others}) for x in range(count)]


def square(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A product of matrices: its last bits depend on the number of threads."""
    rng = np.random.default_rng(parameters["x"])
    matrix = rng.standard_normal((300, 300))
    return {"product": matrix @ matrix.T, "x": parameters["x"]}


def slow(parameters: Mapping[str, Any]) -> dict[str, Any]:
    time.sleep(parameters["seconds"])
    return {"x": parameters["x"]}


def odd_ones_fail(parameters: Mapping[str, Any]) -> dict[str, Any]:
    if parameters["x"] % 2:
        raise ArithmeticError(f"{parameters['x']} is odd")
    return {"x": parameters["x"]}


def fails_without_a_flag(parameters: Mapping[str, Any]) -> dict[str, Any]:
    if parameters["x"] == 1 and not Path(parameters["flag"]).exists():
        raise OSError("not yet")
    return {"x": parameters["x"]}


def waits_from_the_fourth(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Cells that wait for a file, all but the first three."""
    end = time.monotonic() + 300
    while parameters["x"] >= 3 and not Path(parameters["flag"]).exists():
        if time.monotonic() > end:
            raise TimeoutError(parameters["flag"])
        time.sleep(0.02)
    return {"x": parameters["x"]}


def second_dies_once(parameters: Mapping[str, Any]) -> dict[str, Any]:
    flag = Path(parameters["flag"])
    if parameters["x"] == 1 and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"x": parameters["x"]}


def third_always_dies(parameters: Mapping[str, Any]) -> dict[str, Any]:
    if parameters["x"] == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return second_dies_once(parameters)


def dies_while_sending(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A result too long for a pipe, from a process that dies soon."""
    flag = Path(parameters["flag"])
    if parameters["x"] == 1 and not flag.exists():
        flag.touch()
        threading.Thread(target=_die_when_written, daemon=True).start()
    return {"x": np.zeros(2**26 // 8)}


def _die_when_written() -> None:
    time.sleep(0.08)
    os.kill(os.getpid(), signal.SIGKILL)


def leaves(parameters: Mapping[str, Any]) -> dict[str, Any]:
    raise SystemExit(f"leaving at {parameters['x']}")


def environment(parameters: Mapping[str, Any]) -> dict[str, Any]:
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    return {
        "threads": [os.environ.get(name, "") for name in names],
        "pid": os.getpid(),
        "ignores_ctrl_c": signal.getsignal(signal.SIGINT) is signal.SIG_IGN,
    }


def rows(store: Path) -> dict[str, Row]:
    """The columns that are equal in every run."""
    with closing(sqlite3.connect(store)) as database:
        query = "SELECT key, parameters, status, message, result FROM cells"
        return {key: tuple(row) for key, *row in database.execute(query)}
