"""Properties of the whole repository: light import, public names, references, memory."""

import ast
import inspect
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, assert_type, get_args, get_type_hints

import numpy as np

import doubletrouble as dt
from doubletrouble import results
from doubletrouble._sweep_table import SweepRow
from doubletrouble.forecasting import Forecast
from doubletrouble.theory import psi_terms

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PYTHON = [
    *SOURCES,
    *sorted((ROOT / "tests").rglob("*.py")),
    *sorted((ROOT / "benchmarks").rglob("*.py")),
    *sorted((ROOT / "conformance").rglob("*.py")),
]
INTERNAL = {  # the bookkeeping behind results, in attributes that users do not read
    *(
        "Draws",
        "DrawnEnsemble",
        "InputMap",
        "MeanOfDraws",
        "Products",
        "Poles",
        "PosteriorDraws",
    ),
    *(
        "Statistic",
        "Alternative",
        "Extrapolation",
        "Measurement",
    ),
    *("LossCurve", "Measurements", "RowMultipliers", "WindowDesign", "WindowFit"),
    "Loss",  # in the public module losses
}
PUBLIC: dict[str, Any] = {name: getattr(dt, name) for name in dt.__all__}
PUBLIC |= {  # and the types of results
    name: found
    for name in dir(results)
    if name[0].isupper() and inspect.isclass(found := getattr(results, name))
    if found.__module__.startswith("doubletrouble") and name not in INTERNAL
}
HEAVY = (
    "torch",
    "matplotlib",
    "sklearn",
    "flask",
    "waitress",
    "scipy.optimize",
    "scipy.integrate",
    "sqlite3",
    "dask",
    "distributed",
    "pandas",
    "pyarrow",
    "typer",
    "rich",
)
LABEL = re.compile(r"\[([a-z]+\d{4}[a-z]?)\]")
DEFINED = re.compile(r"^- \*\*\[([a-z]+\d{4}[a-z]?)\]\*\*", re.MULTILINE)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


# --- import and public names ---------------------------------------------------------------------


def test_import_and_scalar_theory_need_no_heavy_module() -> None:
    code = f"""
import sys, doubletrouble as dt
assert not set({HEAVY!r}) & set(sys.modules), "import"
problem = dt.Problem(activation="tanh")
dt.exact_error(problem), dt.anova(problem), dt.training_error(problem)
assert not set({HEAVY!r}) & set(sys.modules), "theory"
"""
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


def test_names_without_their_extra_are_hidden_and_raise() -> None:
    code = """
import sys
sys.modules["torch"] = sys.modules["sklearn"] = None
import inspect, pydoc, doubletrouble as dt
from doubletrouble import results
inspect.getmembers(dt), inspect.getmembers(results), pydoc.render_doc(dt)
from doubletrouble import *
for owner, name, package in (
    (dt, "RandomFeaturesRidge", "sklearn"),
    (dt, "train_lazy", "torch"),
    (results, "LazyRun", "torch"),
):
    assert name not in dir(owner), name
    try:
        getattr(owner, name)
    except dt.MissingExtraError as error:
        assert str(error).startswith(f"{package} is needed: pip install 'doubletrouble["), error
    else:
        raise AssertionError(name)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


def test_public_names_are_those_of_dir() -> None:
    assert sorted(dt.__all__) == dir(dt)
    assert set(dt.__all__) >= {"exact_error", "simulate", "decompose", "diagnose", "forecast"}
    for name in ("psi_terms", "Diagnosis"):  # of a specialist, and of a result
        assert not hasattr(dt, name)
    assert not hasattr(results, "unknown")


def test_results_have_their_types_for_type_checkers() -> None:
    assert_type(results.Forecast, type[Forecast])
    assert_type(results.SweepRow, type[SweepRow])
    assert results.Forecast is Forecast


def classes_in(hint: Any) -> Iterator[str]:
    """Names of the classes of this package in a type hint."""
    if inspect.isclass(hint) and hint.__module__.startswith("doubletrouble"):
        yield hint.__name__
    for argument in get_args(hint):
        yield from classes_in(argument)


def test_types_that_public_names_return_are_public() -> None:
    def hints(owner: Any) -> dict[str, Any]:
        return get_type_hints(owner, localns=PUBLIC)

    returned: dict[str, Any] = {}
    for name, found in PUBLIC.items():
        if inspect.isfunction(found):
            returned[name] = hints(found)["return"]
        elif inspect.isclass(found):
            attributes = hints(found).items()
            returned |= {f"{name}.{key}": hint for key, hint in attributes if key[0] != "_"}
            for key, member in inspect.getmembers_static(found):
                function = getattr(member, "fget", getattr(member, "func", member))
                function = getattr(function, "__func__", function)
                if key[0] != "_" and inspect.isfunction(function):
                    returned[f"{name}.{key}"] = hints(function).get("return")
    hidden = {
        owner: kind
        for owner, hint in returned.items()
        for kind in classes_in(hint)
        if kind not in PUBLIC.keys() | INTERNAL
    }
    assert hidden == {}


def test_public_names_and_their_methods_have_a_docstring() -> None:
    for name in sorted(PUBLIC.keys() - {"__version__"}):
        found = PUBLIC[name]
        text = vars(found).get("__doc__") or found.__doc__
        assert (text or "").strip(), name
        assert not text.startswith(f"{name}("), name  # the default docstring of a dataclass
        for key, member in inspect.getmembers(found) if inspect.isclass(found) else ():
            ours = not key.startswith("_") and key not in dir(Exception)
            if ours and (callable(member) or isinstance(member, property)):
                assert inspect.getdoc(member), f"{name}.{key}"


def test_version_has_three_numbers() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", dt.__version__)


# --- references ----------------------------------------------------------------------------------


def test_every_reference_label_is_defined_once() -> None:
    defined = DEFINED.findall((ROOT / "REFERENCES.md").read_text(encoding="utf-8"))
    used: dict[str, set[str]] = {}
    scripts = sorted((ROOT / "src/doubletrouble/page/static").glob("*.js"))
    for path in [*SOURCES, *scripts, *sorted((ROOT / "docs").rglob("*.md"))]:
        for label in LABEL.findall(path.read_text(encoding="utf-8")):
            used.setdefault(label, set()).add(relative(path))
    assert "dascoli2020" in used
    assert {label: sorted(places) for label, places in used.items() if label not in defined} == {}
    assert len(defined) == len(set(defined))


# --- files ---------------------------------------------------------------------------------------


def test_a_class_name_has_one_meaning() -> None:
    names = [
        node.name
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_packages_import_the_entries_of_other_packages() -> None:
    """Modules of another package are private."""
    source = ROOT / "src" / "doubletrouble"
    inner = re.compile(r"from doubletrouble\.(\w+)\.\w+ import|from doubletrouble\.(\w+) import _")
    for path in source.glob("*/*.py"):
        for match in inner.finditer(path.read_text(encoding="utf-8")):
            package = match[1] or match[2]
            assert package == path.parent.name, f"{path.name}: {match[0]}"


def test_modules_are_listed_for_contributors() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## Where things live")[2].partition("\nThe layers")[0]
    tables = [
        {
            name
            for row in re.findall(r"^\| (`.*?) \|", part, re.M)
            for name in re.findall(r"`(\w+)`", row)
        }
        for part in re.split(r"^\| (?:module|package) \| content \|$", section, flags=re.M)[1:]
    ]
    source = ROOT / "src" / "doubletrouble"
    modules, packages, theory = (
        {path.stem for path in found} - {"__init__", "__main__", "_version"}
        for found in (
            source.glob("*.py"),
            (path for path in source.iterdir() if (path / "__init__.py").exists()),
            (source / "theory").glob("*.py"),
        )
    )
    assert tables == [modules, packages, theory]


def test_no_module_reads_outside_the_package() -> None:
    outside = [
        relative(path)
        for path in SOURCES
        if re.search(r"parents\[[3-9]\]", path.read_text(encoding="utf-8"))
    ]
    assert outside == []


def test_modules_are_named_after_a_concept() -> None:
    vague = {"utils", "util", "misc", "helpers", "helper", "common", "base2"}
    assert [relative(p) for p in PYTHON if p.stem in vague or p.parent.name in vague] == []


def test_no_file_has_a_path_of_one_machine() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    )
    names = [name for name in listed.stdout.split("\0") if name]
    assert "pyproject.toml" in names
    folders = [f"{ROOT}/", "/" + "tmp/", "/" + "home/", "/" + "root/"]
    found = []
    for name in names:
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            found += [f"{name}: {folder}" for folder in folders if folder.encode() in content]
    assert found == []


# --- memory --------------------------------------------------------------------------------------

POINTS = 2_000_000
MEGABYTE = 2**20


def overhead(call: Callable[[], Any]) -> float:
    """Peak memory of a call beyond the arrays it returns, in MB."""
    tracemalloc.start()
    try:
        result = call()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    parts = result.parts if hasattr(result, "parts") else vars(result)
    arrays = [part for part in parts.values() if isinstance(part, np.ndarray)]
    assert all(array.size == POINTS for array in arrays)
    return float(peak - sum(array.nbytes for array in arrays)) / MEGABYTE


def test_memory_beyond_the_results_is_one_block() -> None:
    sizes = np.geomspace(1e-3, 1e3, POINTS)
    line = dt.Problem(features_per_dim=sizes, samples_per_dim=sizes[::-1])
    assert overhead(lambda: dt.exact_error(line, 3)) < 64


def test_broadcast_grids_need_no_memory_beyond_a_block() -> None:
    grid = dt.Problem(
        features_per_dim=np.geomspace(1e-3, 1e3, 2000)[:, None],
        samples_per_dim=np.geomspace(1e-3, 1e3, 1000),
    )
    members = np.arange(1, 1001)
    assert overhead(lambda: dt.exact_error(grid, dt.Divide(members))) < 64
    assert overhead(lambda: psi_terms(grid)) < 64
