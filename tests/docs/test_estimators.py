"""The examples of docs/estimators.md run, and print the output on the page."""

import inspect
from pathlib import Path

import pytest

import doubletrouble as dt
from tests.docs.pages import compared, text_of

PAGE = "estimators.md"


def test_examples_print_the_output_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert compared(PAGE) == 8
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "estimator", [dt.RandomFeatures, dt.RandomFeaturesRidge, dt.RandomFeaturesClassifier]
)
def test_every_parameter_is_documented(estimator: type) -> None:
    text = text_of(PAGE)
    assert f"`dt.{estimator.__name__}`" in text
    names = set(inspect.signature(estimator).parameters)
    assert [name for name in names if name not in text] == []
