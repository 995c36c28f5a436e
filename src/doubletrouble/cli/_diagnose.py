"""The command diagnose: the error of an estimator on a table by cause, and the gain of options."""

import json
import warnings
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast, get_args

from doubletrouble._numbers import CONFIDENCE
from doubletrouble.cli._flags import Quiet, grouped, option
from doubletrouble.cli._output import check_chart, new_chart, write_chart
from doubletrouble.cli._report import Form
from doubletrouble.cli._tables import TableFlags
from doubletrouble.errors import require
from doubletrouble.losses import LearnerMeasure
from doubletrouble.parameters import check_level


@grouped
def diagnose(
    *,
    data: TableFlags,
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
    measure: Annotated[
        str,
        option(
            "Of a classifier: 'squared', the Brier score by cause; 'log', the cross-entropy; or "
            "'zero_one', the error rate.",
            choices=get_args(LearnerMeasure),
        ),
    ] = "squared",
    noise: Annotated[
        float | None, option("Standard deviation of the noise of the target, if known.", "NUMBER")
    ] = None,
    seed: Annotated[int, option("Of the order of the rows and of the learner.", "INTEGER")] = 0,
    confidence: Annotated[
        float, option("Confidence level of the intervals.", "NUMBER")
    ] = CONFIDENCE,
    store: Annotated[
        Path | None, option("Store every fit in this SQLite file, and resume from it.", "FILE")
    ] = None,
    workers: Annotated[int | None, option("Processes; none if left out.", "INTEGER")] = None,
    chart: Annotated[
        Path | None,
        option("Write parts, options and learning curve to this .png, .pdf or .svg.", "FILE"),
    ] = None,
    quiet: Quiet = False,
    form: Form,
) -> None:
    """Print the test error of an estimator by cause, and the gain of each option.

    The error is that of the estimator trained on all rows of the table, from 120 fits: the squared
    error, or the Brier score of a classifier. The options are averaged seeds, bags, the
    alternatives, and more data.
    """
    check_level("confidence", confidence)
    check_chart(chart)
    learner = _Class.of("model", model).estimator("params", _json_object("params", params))
    others: dict[str, Any] = {}
    for text in alternative or ():
        name, other = _alternative(text, learner)
        if name in others:
            raise ValueError(f"alternative must have a name of its own, got {name!r} twice")
        others[name] = other
    is_classifier = require("sklearn.base", "estimators").is_classifier(learner)
    accepted = all(_accepts_missing(one) for one in (learner, *others.values()))
    rows = data.rows(missing_inputs=accepted, text_targets=is_classifier)

    from doubletrouble.learners import diagnose as run_diagnosis

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # warnings of fits are in the notes
        result = run_diagnosis(
            learner,
            rows.inputs,
            rows.labels,
            alternatives=others,
            groups=rows.groups,
            noise=noise,
            measure=cast("LearnerMeasure", measure),
            seed=seed,
            store=store,
            workers=workers,
            confidence=confidence,
            progress=not quiet,
        )
    result = replace(result, notes=(*result.notes, *rows.notes))
    if chart is not None:
        figure = new_chart(height=8.0)
        bars, curve = figure.subplots(2, height_ratios=(1.2, 1.0))
        result.plot(bars)
        result.learning_curve().plot(curve)
        write_chart(figure, chart)
    form.show(result)


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


def _accepts_missing(learner: Any) -> bool:
    """Whether an estimator declares that inputs may be NaN; scikit-learn 1.6 or newer."""
    tags = require("sklearn.utils", "estimators").get_tags(learner)
    return bool(tags.input_tags.allow_nan)
