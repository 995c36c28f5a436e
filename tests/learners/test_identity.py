"""Equal names for equal content, and for nothing else."""

import subprocess
import sys
import threading
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import doubletrouble as dt
from doubletrouble.errors import require
from doubletrouble.learners._identity import identity
from tests.learners.known import curved, random_features


def made(code: str, **names: Any) -> Any:
    """What some code makes, with names of its own: the last of them."""
    space: dict[str, Any] = {"__name__": "notebook", "np": np, **names}
    exec(code, space)
    return list(space.values())[-1]


def closure(value: Any) -> Any:
    return lambda X, y, seed: value


KEPT = "from functools import cached_property\n"
ALIKE: dict[str, tuple[Any, Any]] = {
    "closures": (closure(np.arange(3)), closure(np.arange(3))),
    "estimators": (Ridge(alpha=2), Ridge(alpha=2)),
    "partials": (partial(closure, value=1), partial(closure, value=1)),
    "pools": tuple(dt.PoolSource(np.eye(9), np.ones(9), n_train=2) for _ in "12"),  # type: ignore[dict-item]
    "dictionaries": ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    "functions of themselves": (made("f = lambda: f"), made("f = lambda: f")),
}
OTHER: dict[str, tuple[Any, Any]] = {
    "values of a class": (
        made("class C:\n  sizes = (10,)\nc = C()"), made("class C:\n  sizes = (20,)\nc = C()"),
    ),
    "kept results": (
        made(f"{KEPT}class C:\n  @cached_property\n  def a(self): return 1\nc = C()"),
        made(f"{KEPT}class C:\n  @cached_property\n  def a(self): return 2\nc = C()"),
    ),
    "constants": (lambda x: x + 1, lambda x: x + 2),
    "operations": (lambda x: x + 1, lambda x: x - 1),
    "attributes": (lambda x: np.sin(x), lambda x: np.cos(x)),
    "closures": (closure(np.arange(3)), closure(np.arange(3) + 1e-12)),
    "closures of functions": (closure(closure(1)), closure(closure(2))),
    "defaults": (made("f = lambda x, y=1: x"), made("f = lambda x, y=2: x")),
    "keyword defaults": (made("f = lambda *, y=1: y"), made("f = lambda *, y=2: y")),
    "globals": (made("A = 1\nf = lambda: A"), made("A = 2\nf = lambda: A")),
    "globals of functions inside": (
        made("A = 1\ndef f():\n  return lambda: A"), made("A = 2\ndef f():\n  return lambda: A"),
    ),
    "functions called": (
        made("def g(): return 1\ndef f(): return g()"),
        made("def g(): return 2\ndef f(): return g()"),
    ),
    "methods": (
        made("class C:\n  def fit(self): return 1\nc = C()"),
        made("class C:\n  def fit(self): return 2\nc = C()"),
    ),
    "bases": (
        made("class B:\n  def fit(self): return 1\nclass C(B): pass\nc = C()"),
        made("class B:\n  def fit(self): return 2\nclass C(B): pass\nc = C()"),
    ),
    "methods of estimators": (
        made("class C(B):\n  def fit(self): return 1\nc = C()", B=BaseEstimator),
        made("class C(B):\n  def fit(self): return 2\nc = C()", B=BaseEstimator),
    ),
    "bound methods": (
        made("class C:\n  x = 1\n  def fit(self): return self.x\nc = C().fit"),
        made("class C:\n  x = 2\n  def fit(self): return self.x\nc = C().fit"),
    ),
    "partials": (partial(closure, value=1), partial(closure, value=2)),
    "partials of functions": (partial(lambda x: x + 1), partial(lambda x: x + 2)),
    "parameters": (Ridge(alpha=1.0), Ridge(alpha=2.0)),
    "nested parameters": (make_pipeline(Ridge()), make_pipeline(Ridge(alpha=2.0))),
    "estimators": (Ridge(), make_pipeline(Ridge())),
    "nested lists": ([[1], 2], [[1, 2]]),
    "types": (np.zeros(2), np.zeros(2, np.float32)),
    "shapes": (np.zeros((2, 1)), np.zeros((1, 2))),
    "objects": (np.array(["a", None]), np.array(["a", "b"], dtype=object)),
    "sizes": (dt.GeneratorSource(curved, 20), dt.GeneratorSource(curved, 21)),
}  # fmt: skip


@pytest.mark.parametrize("kind", ALIKE)
def test_equal_content(kind: str) -> None:
    one, other = ALIKE[kind]
    assert identity(one) == identity(other)


@pytest.mark.parametrize("kind", OTHER)
def test_other_content(kind: str) -> None:
    one, other = OTHER[kind]
    assert identity(one) == identity(one)
    assert identity(one) != identity(other)


def test_which_of_two_objects_it_is_matters() -> None:
    class Box:
        def __init__(self, content: int) -> None:
            self.content = content

    a, b = Box(1), Box(2)
    assert identity([a, b, a]) != identity([a, b, b])


def test_functions_of_packages_go_by_name() -> None:
    names = []
    for module, name in (("scipy.linalg", "solve"), ("sklearn.base", "clone")):
        function = getattr(require(module, ""), name)
        assert isinstance(function, FunctionType)
        ones = [identity(closure(function)) for _ in range(2)]  # whatever it refers to itself
        assert ones[0] == ones[1]
        names.append(ones[0])
    assert names[0] != names[1]


def test_a_function_that_calls_itself() -> None:
    one, again = (identity(made("def f(n): return n and f(n - 1)")) for _ in range(2))
    assert one == again
    assert one != identity(made("def f(n): return n and f(n - 2)"))


def test_what_has_no_content_must_be_named() -> None:
    with pytest.raises(ValueError, match=r"^name must be given to store fits with a lock, whose"):
        identity(closure(threading.Lock()))


def test_fits_alike_are_changed_by_neither() -> None:
    before = identity(random_features)
    X = np.random.default_rng(0).standard_normal((9, 3))
    random_features(X, X[:, 0], 0)(X)
    assert identity(random_features) == before


ELSEWHERE = """
import numpy as np, pandas, torch
from doubletrouble.learners._identity import identity
junk = [torch.ones(n) for n in range({junk})]
frame = pandas.DataFrame({{"a": [1.0, 2.0], "b": ["x", "y"]}})
fit = lambda x, t=torch.arange(4.0): x in {{"one", "two", "three"}}
print(identity([fit, frame, {{"p", "q", "r"}}, np.eye(2)]))
"""


def test_other_processes_agree() -> None:
    names = {
        subprocess.run(
            [sys.executable, "-c", ELSEWHERE.format(junk=junk)],
            capture_output=True, text=True, check=True,
        ).stdout
        for junk in (0, 9)
    }  # fmt: skip
    assert len(names) == 1


def test_torch_by_name_is_no_tensor() -> None:
    """Modules, classes and open files may have a method `detach`, too."""
    torch = require("torch", "networks")
    network = made("def fit(X, y, seed): return torch.nn.Linear(2, 1)", torch=torch)
    other = made("def fit(X, y, seed): return torch.nn.Linear(3, 1)", torch=torch)
    assert identity(network) != identity(other)
    assert identity(torch.Tensor) == identity(torch.Tensor)
    assert identity(torch.ones(2)) != identity(torch.zeros(2))
