"""How far a simulation is."""

from collections.abc import Iterable, Iterator

from doubletrouble.simulation._place import Item


def shown(items: Iterator[Item], count: int, progress: bool, *, unit: str) -> Iterable[Item]:
    """The items, with a progress bar on a terminal where they take more than two seconds."""
    from tqdm import tqdm

    quiet = None if progress else True  # None: where there is no terminal
    found: Iterable[Item] = tqdm(
        items, total=count, desc="simulate", unit=unit, delay=2, disable=quiet
    )
    return found
