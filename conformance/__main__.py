"""Compare theory and simulation on every curve of the list, and write the page."""

import argparse
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from tqdm import tqdm

from conformance.cases import CURVES, Curve
from conformance.compare import LIMIT, Row, compared
from conformance.report import report


def main(arguments: list[str]) -> int:
    """Simulate every curve for every seed and write the report; 1 if any point disagrees."""
    parser = argparse.ArgumentParser(prog="python -m conformance", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds, from 0 (default 1)")
    parser.add_argument("--workers", type=int, default=2, help="processes (default 2)")
    page = Path("docs/conformance.md")
    parser.add_argument("--out", type=Path, default=page, help=f"the page to write ({page})")
    chosen = parser.parse_args(arguments)
    for name in ("seeds", "workers"):
        if getattr(chosen, name) < 1:
            parser.error(f"{name} must be at least 1, got {getattr(chosen, name)}")
    jobs = [(curve, seed) for seed in range(chosen.seeds) for curve in CURVES]
    found: dict[tuple[Curve, int], list[Row]] = {}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(chosen.workers, mp_context=context) as pool:
        futures = {pool.submit(compared, *job): job for job in jobs}
        for done in tqdm(as_completed(futures), total=len(jobs), unit="curve"):
            found[futures[done]] = done.result()
            worst = _write(found, chosen.out)
    print(f"{chosen.out}: largest |z| {worst:.2f}")
    return 0 if worst < LIMIT else 1


def _write(found: dict[tuple[Curve, int], list[Row]], out: Path) -> float:
    """Write what is known of the seeds that are complete; return the largest |z| of them."""
    seeds = {s for _, s in found if all((curve, s) in found for curve in CURVES)}
    if not seeds:
        return 0.0
    text, worst = report({key: rows for key, rows in found.items() if key[1] in seeds})
    out.write_text(text, encoding="utf-8")
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
