"""Forecasts of tables for the page, each in a process of its own.

A server holds the newest few tables, and one forecast of each: the process reads the inputs and
labels from its standard input, computes the forecast, and then answers questions. It is killed when
the forecast is cancelled, when another one of the table is started, and when the table is released.
"""

import json
import math
import os
import queue
import secrets
import threading
import warnings
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from typing import IO, Any, Self

import numpy as np

from doubletrouble import __version__, glossary
from doubletrouble._display import Json, content_of, printed_json
from doubletrouble.activations import NAMES
from doubletrouble.forecasting import Forecast, forecast
from doubletrouble.page._processes import Worker, exit_when_closed, run, write
from doubletrouble.page._settings import json_number
from doubletrouble.parameters import FloatArray, check_choice
from doubletrouble.tables import (
    Columns,
    TableRows,
    first_text,
    has_few_classes,
    left_out,
    read_csv,
)

MOST_BYTES = 20_000_000  # of a table
_MOST_COLUMNS = 2000
MOST_TABLES = 2
MOST_ROWS = 2000  # more are sub-sampled
MOST_WAITING = 2  # questions to one forecast
_LEAST_SHARE, _LARGEST_SHARE = 0.2, 5.0  # N, in multiples of the rows
_FEWEST, _MOST, _COUNT = 0.1, 20.0, 90  # P of the curve, in multiples of the rows
_SEED = 0  # of the choice of rows


# --- what is forecast ----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class ForecastChoice:
    """The columns of a table that are used, and how."""

    columns: Columns
    noise: float | None = None
    scale: bool = True
    fit_intercept: bool = True
    activation: str = "relu"
    drop_missing: bool = False

    @classmethod
    def from_json(cls, given: object, table: Any) -> Self:
        """Validate a choice of the browser."""
        names = {f.name for f in fields(cls)} - {"columns"}
        choice = _named_values("choice", given, names | {"target", "inputs", "groups"})
        flags = {}
        for name in ("scale", "fit_intercept", "drop_missing"):
            flags[name] = choice.get(name, getattr(cls, name))
            if not isinstance(flags[name], bool):
                raise ValueError(f"{name} must be true or false, got {flags[name]!r:.60}")
        activation = choice.get("activation", cls.activation)
        check_choice("activation", activation, NAMES)
        inputs, groups, noise = choice.get("inputs"), choice.get("groups"), choice.get("noise")
        if not isinstance(inputs, list) or not inputs:
            raise ValueError(f"inputs must be one column or more, got {inputs!r:.60}")
        chosen = {_column("inputs", one, table) for one in inputs}
        return cls(
            columns=Columns(
                table=table,
                targets=[_column("target", choice.get("target"), table)],
                inputs=[name for name in table if name in chosen],
                groups=None if groups is None else _column("groups", groups, table),
                encoded=[name for name in table if name in chosen and first_text(table[name])],
            ),
            noise=None if noise is None else json_number("noise", noise, glossary.NOISE),
            activation=activation,
            **flags,
        )

    def rows(self) -> TableRows:
        """The inputs, labels and groups, with notes."""
        found = self.columns.rows(drop_missing=self.drop_missing)
        count = len(found.labels)
        if count > MOST_ROWS:
            note = (
                f"{MOST_ROWS} of {count} rows are used, chosen at random; dt.forecast in Python "
                "takes more."
            )
            rows, groups = sampled_rows(count), found.groups
            found = TableRows(
                inputs=found.inputs.iloc[rows],
                labels=found.labels.iloc[rows],
                groups=None if groups is None else groups.iloc[rows],
                notes=(*found.notes, note),
            )
        return found

    def script(self, file: str, setting: "ForecastSetting") -> str:
        """Python lines that compute the forecast of a file and its curve."""
        table, inputs, groups = self.columns.table, self.columns.inputs, self.columns.groups
        (target,) = self.columns.targets
        others = [name for name in table if name not in inputs]
        options, defaults = [repr(file)], ("sep=','", "decimal='.'")
        options += [f"{name}={value!r}" for name, value in table.attrs.items()]
        options = [option for option in options if option not in defaults]
        names = ("scale", "fit_intercept", "activation")
        arguments = [f"{name}={getattr(self, name)!r}" for name in names]
        arguments += [f"noise={self.noise!r}"] * (self.noise is not None)
        needed = ["*inputs", repr(target)]
        if groups is not None:
            arguments.append(f"groups=table[{groups!r}]")
            needed.append(repr(groups))
        n_rows = len(table)
        lines = [
            f"# A forecast of doubletrouble {__version__}",
            "import matplotlib.pyplot as plt",
            "import numpy as np",
            "import pandas as pd",
            "",
            "import doubletrouble as dt",
            "",
            f"table = pd.read_csv({', '.join(options)})",
            f"inputs = {inputs!r}"
            if len(inputs) <= len(others)
            else f"inputs = table.columns.drop({others!r})",
        ]
        used = [*inputs, *self.columns.complete]
        if incomplete := int(table[used].isna().any(axis=1).sum()):
            lines.append(f"table = table.dropna(subset=[{', '.join(needed)}])")
            n_rows -= incomplete
        if n_rows > MOST_ROWS:
            drawn = f"np.random.default_rng({_SEED}).choice(len(table), {MOST_ROWS}, replace=False)"
            lines += [f"rows = {drawn}", "table = table.iloc[np.sort(rows)]"]
            n_rows = MOST_ROWS
        X = "table[inputs]"
        if self.columns.encoded:
            X = f"pd.get_dummies({X}, columns={self.columns.encoded!r}, dtype=float)"
        lines.append(f"X, y = {X}.to_numpy(float), table[{target!r}].to_numpy(float)")
        low, high = _code(_FEWEST * n_rows), _code(_MOST * n_rows)
        values = (setting.n_features, setting.ridge, setting.n_members, setting.n_samples)
        P, ridge, K, N = map(_code, values)
        model = f"ridge={ridge}, ensemble={K}, n_samples={N}"
        lines += [
            f"f = dt.forecast(X, y, {', '.join(arguments)})",
            "print(f)",
            "",
            f"n_features = np.geomspace({low}, {high}, {_COUNT})",
            f"n_features = np.unique(np.append(n_features, {N}))  # and the peak",
            f"curve = f.error(n_features=n_features, {model})",
            "print(curve.to_frame())",
            f"print(f.error(n_features={P}, {model}))",
            f"print(f.advise(n_features={P}, {model}))",
            "curve.plot()",
            "plt.show()",
        ]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True, kw_only=True)
class ForecastSetting:
    """The model of a question."""

    n_features: float
    ridge: float
    n_members: float
    n_samples: float

    @property
    def arguments(self) -> Json:
        """The arguments of `Forecast.error`."""
        values = asdict(self)
        return {"ensemble": values.pop("n_members"), **values}

    @classmethod
    def from_json(cls, given: object, n_rows: int) -> Self:
        """Validate a setting of the browser, for a forecast from some rows."""
        names = {f.name for f in fields(cls)}
        setting = _named_values("setting", given, names)
        if missing := names - setting.keys():
            raise ValueError(f"setting must have a value of {min(missing)}, got none")
        rows = replace(
            glossary.ROWS,
            low=max(float(math.floor(_LEAST_SHARE * n_rows)), glossary.ROWS.low),
            high=_LARGEST_SHARE * n_rows,
            whole=True,
        )
        return cls(
            n_features=json_number(
                "n_features", setting["n_features"], replace(glossary.RANDOM_FEATURES, high=1e9)
            ),
            ridge=json_number("ridge", setting["ridge"], glossary.RIDGE),
            n_members=json_number("n_members", setting["n_members"], glossary.N_MEMBERS),
            n_samples=json_number("n_samples", setting["n_samples"], rows),
        )


def _code(value: float) -> str:
    """A number as Python has it."""
    return "np.inf" if math.isinf(value) else repr(int(value) if value == int(value) else value)


def sampled_rows(n_rows: int) -> Any:
    """The rows that are used, in their order."""
    if n_rows <= MOST_ROWS:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(_SEED).choice(n_rows, MOST_ROWS, replace=False))


def _named_values(name: str, given: object, names: set[str]) -> Mapping[str, Any]:
    """A JSON object with some names only."""
    if not isinstance(given, dict):
        raise ValueError(f"{name} must be a JSON object, got {given!r:.60}")
    if unknown := sorted(given.keys() - names):
        expected = ", ".join(sorted(names))
        raise ValueError(f"{name} must have names among {expected}, got {unknown[0]!r:.60}")
    return given


def _column(name: str, index: object, table: Any) -> str:
    """The name of a column of which the browser sends the number."""
    if type(index) is not int or not 0 <= index < len(table.columns):
        raise ValueError(f"{name} must be the number of a column, got {index!r:.60}")
    return str(table.columns[index])


def _described(table: Any) -> Json:
    """What the page shows of a table; the target is the last column of numbers that differ."""
    columns = []
    for name, values in table.items():
        text, holes = first_text(values), values.isna()
        encodes = text and has_few_classes(values)
        columns.append(
            {
                "name": name,
                "numeric": not text,
                "classes": values.nunique() if encodes else 0,
                "remark": left_out(values) or (text and f"not numbers: {text}"),
                "missing": int(holes.sum()),
                "first_missing": holes.idxmax() if holes.any() else "",
            }
        )
    suitable = [k for k, column in enumerate(columns) if not column["remark"]]
    target = suitable[-1] if suitable else None
    return {"rows": len(table), "columns": columns, "target": target}


# --- one forecast in its process -----------------------------------------------------------------


def main(given: IO[bytes]) -> None:
    """Compute the forecast of the arrays on standard input, and answer questions about it."""
    options = json.loads(given.readline())
    rows, columns = options.pop("shape")
    inputs = _read_floats(given, rows * columns).reshape(rows, columns)
    labels = _read_floats(given, rows)
    groups = _read_floats(given, rows) if options.pop("grouped") else None
    questions: queue.Queue[Json] = queue.Queue()
    exit_when_closed(given, questions.put)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # it is in the notes
            result = forecast(inputs, labels, groups=groups, progress=False, **options)
    except (ValueError, TypeError) as error:
        write({"message": str(error)})
        return
    write(_summary(result))
    while True:
        write(_answer(result, **questions.get()))


def _read_floats(given: IO[bytes], count: int) -> FloatArray:
    return np.frombuffer(given.read(8 * count), dtype=np.float64)


def _summary(result: Forecast) -> Json:
    """What does not depend on the model."""
    return {
        "n_samples": result.n_samples,
        "baseline": result.baseline,
        "printed": printed_json(content_of(result)),
        "feature_range": [_FEWEST * result.n_samples, _MOST * result.n_samples],
        "sample_range": [
            math.floor(_LEAST_SHARE * result.n_samples),
            _LARGEST_SHARE * result.n_samples,
        ],
    }


def _answer(result: Forecast, kind: str, setting: Mapping[str, float]) -> Json:
    """The curve and the split of a model, or the advice on it."""
    model = ForecastSetting(**setting)
    try:
        return _errors(result, model) if kind == "error" else _advice(result, model)
    except ValueError as error:
        return {"message": str(error)}


def curve_features(n_rows: int, n_samples: float) -> FloatArray:
    """P of the curve, with the peak."""
    grid = np.geomspace(_FEWEST * n_rows, _MOST * n_rows, _COUNT)
    return np.unique(np.append(grid, n_samples))


def _errors(result: Forecast, model: ForecastSetting) -> Json:
    P = curve_features(result.n_samples, model.n_samples)
    present = model.arguments
    curve = present | {"n_features": P}
    terms, here = result.error(**curve), result.error(**present)
    one, many = (result.error(**curve | {"ensemble": K}).total for K in (1, math.inf))
    return {
        "n_features": P.tolist(),
        "parts": {name: np.asarray(part.value).tolist() for name, part in terms.parts.items()},
        "total": np.asarray(terms.total.value).tolist(),
        "standard_error": np.asarray(terms.total.standard_error).tolist(),
        "extrapolated": np.asarray(terms.extrapolated).tolist(),
        "one_model": np.asarray(one.value).tolist(),
        "infinite_models": np.asarray(many.value).tolist(),
        "here": {
            "total": float(here.total.value),
            "printed": printed_json(content_of(here)),
        },
    }


def _advice(result: Forecast, model: ForecastSetting) -> Json:
    advice = result.advise(**model.arguments)
    ridge = advice["best ridge"].setting["ridge"]
    return {**printed_json(content_of(advice)), "best_ridge": ridge}


# --- all forecasts of a server -------------------------------------------------------------------


@dataclass(kw_only=True, eq=False)
class _Computation:
    """The process of a forecast."""

    choice: ForecastChoice
    worker: Worker
    notes: tuple[str, ...]
    status: str = "running"  # then ready, failed or cancelled
    message: str = ""
    summary: Json = field(default_factory=dict)
    waiting: int = 0
    pipes: threading.Lock = field(default_factory=threading.Lock)  # held for each question

    def start(self, rows: TableRows) -> Json:
        """The answer to the arrays; empty if the process has ended."""
        options = {
            "shape": rows.inputs.shape,
            "grouped": rows.groups is not None,
            "scale": self.choice.scale,
            "fit_intercept": self.choice.fit_intercept,
            "activation": self.choice.activation,
            "noise": self.choice.noise,
        }
        arrays = [rows.inputs, rows.labels]
        if rows.groups is not None:
            arrays.append(np.unique(rows.groups, return_inverse=True)[1])
        return self._answer(options, *(np.asarray(one, dtype=float).tobytes() for one in arrays))

    def ask(self, question: Mapping[str, Any]) -> Json:
        """The answer to a question."""
        with self.pipes:
            answer = self._answer(question)
        if not answer:
            raise ValueError("forecast must be running, got one that has ended: start it again")
        return answer

    def _answer(self, request: Mapping[str, Any], *arrays: bytes) -> Json:
        with suppress(OSError, ValueError):  # ValueError: the pipe is closed
            self.worker.send(request, *arrays)
            return next(self.worker.answers(), {})
        return {}

    def to_json(self) -> Json:
        return {
            "status": self.status,
            "message": self.message,
            "summary": self.summary,
            "notes": list(self.notes),
        }


@dataclass(kw_only=True, eq=False)
class _Loaded:
    """A table and its forecast."""

    table: Any  # a frame of `read_csv`
    computation: _Computation | None = None


class Forecasts:
    """The tables of a server and their forecasts: the newest few."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reading = threading.Lock()
        self._known: OrderedDict[str, _Loaded] = OrderedDict()
        self._closed = False

    def load(self, content: bytes) -> Json:
        """Read a table; the oldest is released where there are too many."""
        if not self._reading.acquire(blocking=False):
            raise ValueError("tables must be read one at a time, got a second: wait")
        try:
            table = read_csv(content, _MOST_COLUMNS)
            described = _described(table)
        finally:
            self._reading.release()
        key = secrets.token_urlsafe(16)
        with self._lock:
            self._check_open()
            self._known[key] = _Loaded(table=table)
            while len(self._known) > MOST_TABLES:
                self._end(self._known.popitem(last=False)[1])
        return {"data": key, **described}

    def start(self, key: object, given: object) -> Json:
        """Start the forecast of a table, in place of an earlier one."""
        table = self._loaded(key).table
        choice = ForecastChoice.from_json(given, table)
        rows = choice.rows()
        with self._lock:
            self._check_open()
            loaded = self._held(key)
            self._end(loaded)
            worker = Worker(__name__, threads=max(1, (os.cpu_count() or 1) - 1))  # one is spared
            one = _Computation(choice=choice, worker=worker, notes=rows.notes)
            loaded.computation = one
        threading.Thread(target=self._follow, args=(one, rows), daemon=True).start()
        return self.status(key)

    def status(self, key: object) -> Json:
        """How far the forecast of a table is."""
        with self._lock:
            one = self._held(key).computation
            return one.to_json() if one else {"status": "none"}

    def cancel(self, key: object) -> Json:
        """Stop the forecast of a table."""
        with self._lock:
            self._end(self._held(key))
        return self.status(key)

    def release(self, key: object) -> Json:
        """Forget a table and its forecast."""
        with self._lock:
            if isinstance(key, str) and key in self._known:
                self._end(self._known.pop(key))
        return {"status": "none"}

    def ask(self, key: object, kind: str, given: object) -> Json:
        """The curve and the split at a setting ("error"), or the advice on it ("advice")."""
        with self._lock:
            one = self._ready(key)
            setting = ForecastSetting.from_json(given, one.summary["n_samples"])
            if one.waiting >= MOST_WAITING:
                raise ValueError(
                    f"questions must be at most {MOST_WAITING} at a time, got one more: wait"
                )
            one.waiting += 1
        try:
            answer = one.ask({"kind": kind, "setting": vars(setting)})
        finally:
            with self._lock:
                one.waiting -= 1
        if "message" in answer:
            raise ValueError(answer["message"])
        return answer

    def script(self, key: object, given: object, file: object) -> Json:
        """Python lines of the forecast of a table."""
        if not isinstance(file, str) or len(file) > 1000:
            raise ValueError(f"file must be the name of a file, got {file!r:.60}")
        with self._lock:
            one = self._ready(key)
            setting = ForecastSetting.from_json(given, one.summary["n_samples"])
            return {"python": one.choice.script(file, setting)}

    def close(self) -> None:
        """Forget all tables."""
        with self._lock:
            self._closed = True
            for loaded in self._known.values():
                self._end(loaded)
            self._known.clear()

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("server must be running, got one that stops")

    def _loaded(self, key: object) -> _Loaded:
        with self._lock:
            return self._held(key)

    def _held(self, key: object) -> _Loaded:
        """A table; the lock is held."""
        if not isinstance(key, str) or key not in self._known:
            raise ValueError("data must be a table that the server holds, got none: load it again")
        self._known.move_to_end(key)
        return self._known[key]

    def _ready(self, key: object) -> _Computation:
        one = self._held(key).computation
        if one is None or one.status != "ready":
            state = "none" if one is None else one.status
            raise ValueError(f"forecast must be ready, got {state}")
        return one

    def _end(self, loaded: _Loaded) -> None:
        """Kill the process of a forecast; the lock is held."""
        one = loaded.computation
        if one and one.status in ("running", "ready"):
            one.status = "cancelled"
            one.worker.process.kill()

    def _follow(self, one: _Computation, rows: TableRows) -> None:
        """Collect the summary of a forecast, and close its pipes at its end."""
        summary = one.start(rows)
        del rows
        with self._lock:
            if one.status == "running" and summary:
                failed = "message" in summary
                one.status = "failed" if failed else "ready"
                one.message = summary.pop("message", "")
                one.summary = summary
        one.worker.process.wait()
        with one.pipes:
            ended = one.worker.close()
        with self._lock:
            if one.status in ("running", "ready"):
                one.status, one.message = "failed", ended


if __name__ == "__main__":
    run(main)
