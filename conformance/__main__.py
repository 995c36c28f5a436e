"""Compare theory and simulation on every curve and case of the lists, and write what is found."""

import argparse
import multiprocessing
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from conformance.beyond import BEYOND
from conformance.cases import CURVES
from conformance.compare import compared
from conformance.losses import PROBLEMS, of_problem
from conformance.page import MEASURED, write
from conformance.report import Report, report
from conformance.report_beyond import compared_beyond, report_beyond
from conformance.report_losses import report_losses

Found = dict[tuple[Any, int], list[Any]]


class Part(NamedTuple):
    """One part of the page."""

    cases: Sequence[Any]
    compared: Callable[[Any, int], list[Any]]
    report: Callable[[Mapping[tuple[Any, int], list[Any]]], Report]


PARTS = {
    "curves": Part(CURVES, compared, report),
    "beyond": Part(BEYOND, compared_beyond, report_beyond),
    "losses": Part(range(len(PROBLEMS)), of_problem, report_losses),
}


def main(arguments: list[str]) -> int:
    """Simulate every case for every seed and write the report.

    1 if any point disagrees, or a negative control goes unnoticed.
    """
    parser = argparse.ArgumentParser(prog="python -m conformance", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds, from 0 (default 1)")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--part", choices=(*PARTS, "all"), default="all", help="of the page")
    parser.add_argument(
        "--out", type=Path, default=MEASURED, help="a folder (conformance/measured)"
    )
    chosen = parser.parse_args(arguments)
    for name in ("seeds", "workers"):
        if getattr(chosen, name) < 1:
            parser.error(f"{name} must be at least 1, got {getattr(chosen, name)}")
    code = 0
    for name in PARTS:
        if chosen.part in (name, "all"):
            made = _made(name, chosen.seeds, chosen.workers, chosen.out)
            print(f"{chosen.out}, {name}: largest |z| {made.worst:.2f}")
            if not made.noticed:
                print(f"{chosen.out}, {name}: a negative control went unnoticed")
            code = code if made.agrees and made.noticed else 1
    return code


def _made(name: str, seeds: int, workers: int, out: Path) -> Report:
    """Make one part of the page, which grows seed by seed."""
    part = PARTS[name]
    jobs = [(case, seed) for seed in range(seeds) for case in part.cases]
    found: Found = {}
    made, context = None, multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        futures = {pool.submit(part.compared, *job): job for job in jobs}
        for done in tqdm(as_completed(futures), total=len(jobs), unit="case"):
            found[futures[done]] = done.result()
            made = _written(name, found, out)
    assert made is not None  # the last seed is complete
    return made


def _written(name: str, found: Found, out: Path) -> Report | None:
    """Write what is known of the seeds that are complete; nothing while none is."""
    part = PARTS[name]
    seeds = {s for _, s in found if all((case, s) in found for case in part.cases)}
    if not seeds:
        return None
    made = part.report({key: rows for key, rows in found.items() if key[1] in seeds})
    write(name, made.text, out)
    return made


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
