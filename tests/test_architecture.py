"""What holds for the whole repository: light import, public names, references, sizes, memory."""

import inspect
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import doubletrouble as dt

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PYTHON = [
    *SOURCES,
    *sorted((ROOT / "tests").rglob("*.py")),
    *sorted((ROOT / "benchmarks").rglob("*.py")),
    *sorted((ROOT / "conformance").rglob("*.py")),
]
PUBLIC = {
    "Activation", "Advice", "AnovaTerms", "Committee", "ConvergenceError", "Data",
    "DivergenceError", "DoubleTroubleError", "ErrorTerms", "Estimate", "Filter", "FitError",
    "GeneratorSource", "Learner", "MissingExtraError", "OptimalRidge", "PoolSource", "Problem",
    "PsiTerms", "RandomFeatures", "RandomFeaturesClassifier", "RandomFeaturesRidge",
    "ResampledErrorTerms", "SpectralProblem", "StoppingTime", "Sweep", "__version__",
    "activation", "advise", "anova", "best_stopping_time", "committee", "decompose",
    "decompose_predictions", "exact_error", "gradient_flow", "lazy_curve", "lazy_split",
    "load_data", "optimal_ridge", "pair_error", "pair_terms", "plan_repeats", "psi_terms",
    "replica", "ridge_from", "ridge_to", "simulate", "simulate_committee", "time_from", "time_to",
    "train_lazy", "training_error",
}  # fmt: skip
HEAVY = (
    "torch", "matplotlib", "sklearn", "dash", "scipy.optimize", "scipy.integrate", "sqlite3",
    "dask", "distributed", "pandas", "pyarrow", "typer", "rich",
)  # fmt: skip
LABEL = re.compile(r"\[([a-z]+\d{4}[a-z]?)\]")
DEFINED = re.compile(r"^- \*\*\[([a-z]+\d{4}[a-z]?)\]\*\*", re.MULTILINE)


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


# --- import and public names ---------------------------------------------------------------------


def test_import_is_light() -> None:
    code = f"import sys, doubletrouble; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_scalar_theory_needs_no_heavy_module_either() -> None:
    code = (
        "import sys, doubletrouble as dt; problem = dt.Problem(activation='tanh');"
        "dt.exact_error(problem); dt.psi_terms(problem); dt.anova(problem);"
        "dt.training_error(problem);"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_public_names_are_the_written_ones() -> None:
    assert set(dt.__all__) == PUBLIC
    assert len(dt.__all__) == len(PUBLIC)


@pytest.mark.parametrize("name", sorted(PUBLIC - {"__version__"}))
def test_public_names_have_their_own_docstring(name: str) -> None:
    text = vars(getattr(dt, name)).get("__doc__") or getattr(dt, name).__doc__
    assert isinstance(text, str)
    assert text.strip()
    assert not text.startswith(f"{name}(")  # what a dataclass writes when nobody else does


@pytest.mark.parametrize("kind", [v for v in vars(dt).values() if inspect.isclass(v)])
def test_methods_of_public_classes_have_a_docstring(kind: type) -> None:
    ours = {
        name: member
        for name, member in inspect.getmembers(kind)
        if not name.startswith("_")
        and name not in dir(Exception)
        and (callable(member) or isinstance(member, property))
    }
    assert [name for name, member in ours.items() if not (member.__doc__ or "").strip()] == []


def test_the_version_is_a_version() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", dt.__version__)


# --- references ----------------------------------------------------------------------------------


def test_every_reference_label_is_defined_once() -> None:
    defined = DEFINED.findall((ROOT / "REFERENCES.md").read_text(encoding="utf-8"))
    used: dict[str, set[str]] = {}
    for path in [*SOURCES, *sorted((ROOT / "docs").rglob("*.md"))]:
        for label in LABEL.findall(path.read_text(encoding="utf-8")):
            used.setdefault(label, set()).add(relative(path))
    assert "dascoli2020" in used
    assert {label: sorted(places) for label, places in used.items() if label not in defined} == {}
    assert len(defined) == len(set(defined))


# --- files ---------------------------------------------------------------------------------------


def test_files_stay_short() -> None:
    lengths = {relative(p): len(p.read_text(encoding="utf-8").splitlines()) for p in PYTHON}
    assert len(lengths) > 20
    assert {name: n for name, n in lengths.items() if n > 300} == {}


def test_modules_are_named_after_a_concept() -> None:
    vague = {"utils", "util", "misc", "helpers", "helper", "common", "base2"}
    assert [relative(p) for p in PYTHON if p.stem in vague or p.parent.name in vague] == []


def test_no_text_mentions_a_machines_folders() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    names = [name for name in listed.stdout.split("\0") if name]
    assert "pyproject.toml" in names
    folders = ["/" + "work/", "/" + "tmp/", "/" + "home/", "/" + "root/"]
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
    arrays = [getattr(result, f.name) for f in fields(result)]
    assert all(array.size == POINTS for array in arrays)
    return float(peak - sum(array.nbytes for array in arrays)) / MEGABYTE


def test_memory_beyond_the_results_is_one_block() -> None:
    sizes = np.geomspace(1e-3, 1e3, POINTS)
    line = dt.Problem(features_per_dim=sizes, samples_per_dim=sizes[::-1])
    assert overhead(lambda: dt.exact_error(line, n_members=3)) < 64


def test_memory_of_a_broadcast_grid() -> None:
    grid = dt.Problem(
        features_per_dim=np.geomspace(1e-3, 1e3, 2000)[:, None],
        samples_per_dim=np.geomspace(1e-3, 1e3, 1000),
    )
    members = np.arange(1, 1001)
    assert overhead(lambda: dt.exact_error(grid, members, "divide")) < 64
    assert overhead(lambda: dt.psi_terms(grid)) < 64
