"""The command diagnose: the error of an estimator on a table by cause, and the remedies."""

import json
import warnings
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from doubletrouble.cli._flags import grouped, option
from doubletrouble.cli._output import note, printable
from doubletrouble.cli._report import Form, Report
from doubletrouble.errors import file_errors, require
from doubletrouble.results import check_level

_CHARTS = (".png", ".pdf", ".svg")
_PARQUET = (".parquet", ".pq")
_SHOWN = 5  # columns in a message
_MOST_CLASSES = 0.5  # the largest share of different values in a column that is not of numbers


@grouped
def diagnose(
    *,
    file: Annotated[Path, typer.Argument(help="The table, .csv or .parquet, with named columns.")],
    target: Annotated[str, option("The column to predict.", "COLUMN")],
    model: Annotated[
        str,
        option("An estimator class, such as sklearn.ensemble.RandomForestRegressor.", "CLASS"),
    ],
    params: Annotated[
        str, option("Its arguments, a JSON object such as '{\"n_estimators\": 50}'.", "JSON")
    ] = "{}",
    alternative: Annotated[
        list[str] | None,
        option(
            "A learner to compare with: NAME=CLASS, 'NAME=CLASS JSON' with its arguments, or "
            "'NAME=JSON', the same class with other arguments. May be repeated.",
            "NAME=CLASS",
        ),
    ] = None,
    groups: Annotated[
        str | None,
        option("A column of groups, which stay together; it is not an input.", "COLUMN"),
    ] = None,
    drop: Annotated[
        list[str] | None, option("A column that is not an input. May be repeated.", "COLUMN")
    ] = None,
    noise: Annotated[
        float | None, option("Standard deviation of the noise of the target, if known.", "NUMBER")
    ] = None,
    seed: Annotated[int, option("Of the order of the rows and of the learner.", "INTEGER")] = 0,
    confidence: Annotated[float, option("Confidence level of the intervals.", "NUMBER")] = 0.9,
    store: Annotated[
        Path | None, option("Store every fit in this SQLite file, and resume from it.", "FILE")
    ] = None,
    workers: Annotated[int | None, option("Processes; none if left out.", "INTEGER")] = None,
    chart: Annotated[
        Path | None,
        option("Write parts, remedies and learning curve to this .png, .pdf or .svg.", "FILE"),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
    form: Form,
) -> None:
    """Print the test error of an estimator by cause, and what each remedy would bring.

    The error is that of the estimator trained on all rows of the table, from 120 fits: the squared
    error, or the Brier score of a classifier. The remedies are averaged seeds, bags, the
    alternatives, and more data. Columns that are not numbers are one-hot encoded.
    """
    check_level("confidence", confidence)
    if chart is not None and chart.suffix.lower() not in _CHARTS:
        raise ValueError(f"chart must end in {', '.join(_CHARTS)}, got {str(chart)!r}")
    learner = _Class.of("model", model).estimator("params", _json_object("params", params))
    others: dict[str, Any] = {}
    for text in alternative or ():
        name, other = _alternative(text, learner)
        if name in others:
            raise ValueError(f"alternative must have a name of its own, got {name!r} twice")
        others[name] = other
    columns = _Columns.of(_table(file), target, groups, drop or ())
    X, encoded = columns.inputs([learner, *others.values()])
    y = columns.labels(learner)

    from doubletrouble.diagnosis import diagnose as run_diagnosis

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # warnings of fits are in the notes
        result = run_diagnosis(
            learner,
            X,
            y,
            alternatives=others,
            groups=columns.groups,
            noise=noise,
            seed=seed,
            store=store,
            workers=workers,
            confidence=confidence,
            progress=not quiet,
        )
    result = replace(result, notes=(*result.notes, *encoded))
    if chart is not None:
        _draw(result, chart)
    frame = result.to_frame()
    rows = frame.astype(object).where(frame.notna(), "").to_dict("list")
    form.show(Report(columns=rows, text=printable(str(result))), json.loads(result.to_json()))


def _draw(result: Any, file: Path) -> None:
    """Write the bars of `plot` and the learning curve below."""
    make = require("matplotlib.figure", "figures").Figure
    figure = make(figsize=(7.5, 8.0), layout="constrained")
    bars, curve = figure.subplots(2, height_ratios=(1.2, 1.0))
    result.plot(bars)
    result.learning_curve().plot(curve)
    with file_errors(file):
        figure.savefig(file, dpi=200)
    note(f"{file} written")


# --- learners ------------------------------------------------------------------------------------


class _Class(NamedTuple):
    """An estimator class and its import path."""

    path: str
    kind: Any

    @classmethod
    def of(cls, name: str, path: str) -> "_Class":
        """Import a class with `fit` and `get_params`."""
        module, dot, attribute = path.strip().rpartition(".")
        if not (module and dot and attribute.isidentifier()):
            raise ValueError(f"{name} must be the import path of a class, got {path!r}")
        try:
            kind = getattr(import_module(module), attribute)
        except (ImportError, AttributeError, ValueError) as error:
            raise ValueError(f"{name} must be importable, got {path!r}: {error}") from error
        if not (isinstance(kind, type) and all(hasattr(kind, n) for n in ("fit", "get_params"))):
            raise ValueError(
                f"{name} must be an estimator class, with fit and get_params, got {path!r}"
            )
        return cls(path, kind)

    def estimator(self, name: str, arguments: dict[str, Any]) -> Any:
        """An estimator with some arguments."""
        try:
            return self.kind(**arguments)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{name} must be arguments of {self.kind.__name__}, got {arguments}: {error}"
            ) from error


def _alternative(text: str, learner: Any) -> tuple[str, Any]:
    """The name and the learner of NAME=CLASS, NAME=CLASS JSON or NAME=JSON."""
    name, equals, rest = (part.strip() for part in text.partition("="))
    path, brace, arguments = rest.partition("{")
    if not (name and equals and rest):
        raise ValueError(f"alternative must be NAME=CLASS or NAME=JSON, got {text!r}")
    given = _json_object("alternative", brace + arguments) if brace else {}
    if path:
        return name, _Class.of("alternative", path).estimator("alternative", given)
    return name, _Class("", type(learner)).estimator(
        "alternative", learner.get_params(deep=False) | given
    )


def _json_object(name: str, text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{name} must be a JSON object, got {text!r}: {error}") from error
    if not isinstance(value, dict):
        raise ValueError(f"{name} must be a JSON object, got {text!r}")
    return value


# --- data ----------------------------------------------------------------------------------------


def _table(file: Path) -> Any:
    """The table of a file, as a DataFrame."""
    pandas = require("pandas", "tables")
    if not file.is_file():
        raise ValueError(f"file must be a table, .csv or .parquet, got {file}, which is no file")
    try:
        if file.suffix.lower() in _PARQUET:
            require("pyarrow", "tables")
            return pandas.read_parquet(file)
        return pandas.read_csv(file)
    except (ValueError, OSError) as error:  # errors of pandas and pyarrow are ValueErrors
        raise ValueError(f"file must be a table, got {file}: {error}") from error


class _Columns(NamedTuple):
    """The inputs, the target and the groups of a table."""

    table: Any
    target: Any
    groups: Any

    @classmethod
    def of(cls, table: Any, target: str, groups: str | None, drop: Any) -> "_Columns":
        """Take the columns of a table, all others of which are inputs."""
        taken = [("target", target), *([] if groups is None else [("groups", groups)])]
        for name, column in [*taken, *(("drop", column) for column in drop)]:
            if column not in table.columns:
                shown = _listed([str(one) for one in table.columns])
                raise ValueError(f"{name} must be one of the columns {shown}, got {column!r}")
        for name, column in taken:
            if count := int(table[column].isna().sum()):
                raise ValueError(
                    f"{name} must have no missing value, got {count} in column {column!r}"
                )
        inputs = table.drop(columns=list({*(column for _, column in taken), *drop}))
        if not inputs.shape[1]:
            raise ValueError(f"file must have columns besides {target!r}, got none")
        if groups is not None and groups == target:
            raise ValueError(f"groups must be another column than the target, got {groups!r}")
        return cls(inputs, table[target], None if groups is None else table[groups].to_numpy())

    def inputs(self, learners: list[Any]) -> tuple[Any, list[str]]:
        """The inputs as numbers, and a note on what is one-hot encoded."""
        pandas, types = require("pandas", "tables"), require("pandas.api.types", "tables")
        table = self.table
        if incomplete := [str(one) for one in table.columns[table.isna().any()]]:
            for learner in learners:
                if not _accepts_missing(learner):
                    raise ValueError(
                        f"file must have no missing values for {type(learner).__name__}, got some "
                        f"in {_listed(incomplete)}"
                    )
        texts = [one for one in table.columns if not types.is_numeric_dtype(table[one])]
        for one in texts:
            if table[one].dtype.kind in "mM":
                raise ValueError(
                    f"file must have columns of numbers or classes, got {table[one].dtype} in "
                    f"{one!r}; leave it out with --drop"
                )
            count, rows = table[one].nunique(), len(table)
            if count > _MOST_CLASSES * rows:
                raise ValueError(
                    f"file must have columns of numbers or classes, got {count} different values "
                    f"in {rows} rows of {one!r}; leave it out with --drop"
                )
        numbers = table.drop(columns=texts).astype(float)
        if not texts:
            return numbers, []
        dummies = [
            pandas.get_dummies(table[[one]], dummy_na=bool(table[one].isna().any()), dtype=float)
            for one in texts
        ]
        encoded = pandas.concat([numbers, *dummies], axis=1)
        count = encoded.shape[1] - numbers.shape[1]
        names = _listed([str(one) for one in texts])
        return encoded, [f"Columns that are not numbers are one-hot encoded, as {count}: {names}."]

    def labels(self, learner: Any) -> Any:
        """The target: numbers, or classes for a classifier."""
        base, types = require("sklearn.base", "estimators"), require("pandas.api.types", "tables")
        if base.is_classifier(learner):
            return self.target.to_numpy()
        if not types.is_numeric_dtype(self.target):
            raise ValueError(
                f"target must be a column of numbers for {type(learner).__name__}, got "
                f"{self.target.dtype} in {self.target.name!r}"
            )
        return self.target.to_numpy(dtype=float)


def _accepts_missing(learner: Any) -> bool:
    """Whether an estimator declares that inputs may be NaN; scikit-learn 1.6 or newer."""
    tags = require("sklearn.utils", "estimators").get_tags(learner)
    return bool(tags.input_tags.allow_nan)


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    return f"{shown}, ... ({len(names)} in all)" if len(names) > _SHOWN else shown
