"""How long `advise` takes on random problems, and how far its allocations are from brute force."""

import time

import numpy as np

import doubletrouble as dt
from doubletrouble.advice import advise_problem
from doubletrouble.costs import COSTS
from doubletrouble.ensembles import named_ensemble
from doubletrouble.options import BEST, BEST_AT_THIS_RIDGE
from tests.advice.brute_force import least, least_at_this_ridge, random_problem, sizes

PROBLEMS = 50
WAYS = [(s, c) for s in ("ensemble", "divide") for c in COSTS]


def main() -> None:
    dt.advise(dt.Problem())  # imports
    for spectral, count in ((False, PROBLEMS), (True, PROBLEMS // 5)):
        seconds, fixed, free = [], [], []
        for seed in range(count):
            problem, budget = random_problem(np.random.default_rng(seed), spectral=spectral)
            scheme, cost = WAYS[seed % 4]
            if cost == "training":
                budget *= sizes(problem)[1] ** 2
            start = time.perf_counter()
            result = advise_problem(problem, named_ensemble(scheme), budget=budget, cost=cost)
            seconds.append(time.perf_counter() - start)
            fixed_ridge, any_ridge = (
                min(brute(problem, budget, kind, cost) for kind in ("ensemble", "divide"))
                for brute in (least_at_this_ridge, least)
            )
            fixed.append(result[BEST_AT_THIS_RIDGE].total - fixed_ridge)
            free.append(result[BEST].total - any_ridge)
        kind = "measured spectra" if spectral else "isotropic problems"
        print(
            f"{count} {kind}: median {1e3 * np.median(seconds):.0f} ms, "
            f"longest {1e3 * max(seconds):.0f} ms"
        )
        for name, above in (("fixed λ", fixed), ("free λ", free)):
            print(f"  {name}: {min(above):.1e} to {max(above):.1e} above brute force")


if __name__ == "__main__":
    main()
