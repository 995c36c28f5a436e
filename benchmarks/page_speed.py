"""The live page in headless Chromium: a slider, the first sight, and twenty readers at once.

A move is timed in the browser, from the event of the slider to the frame after the plot is drawn.
The first sight is the first contentful paint; the first plot is one that can be hovered over. The
readers are clients that ask for another redraw as soon as they have one, all at the same time.

    python -m benchmarks.page_speed [--moves N] [--loads N] [--clients N] [--seconds S]
"""

import argparse
import json
import os
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from doubletrouble.page.app import ANSWER
from tests.page import chromium
from tests.page.serving import served

MEDIAN, TAIL, PAINT, CROWD = 80, 150, 1500, 500  # milliseconds: what we hold ourselves to
_AREAS = "split=effects&form=areas&y=linear"
VIEWS = {
    "one setting": "",
    "two settings": "?second.ridge=0.1",
    "symmetric areas": f"?{_AREAS}",
    "two settings in symmetric areas": f"?{_AREAS}&second.ridge=0.1",
    "bootstrap": "?scheme=bootstrap&members=5",
    "time": "?along=time&width=1",
    "two settings in time": "?along=time&width=1&second.members=inf",
    "width at a finite time": "?time=10",
}
PLOT = "#plot .js-plotly-plot"
_DRAWN = "#plot .scatterlayer .trace"
_SETTLED = 1000  # milliseconds after loading
_MOVE = f"""async ([id, value]) => {{
  const plot = document.querySelector("{PLOT}"), slider = document.getElementById(id);
  const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
  const drawn = new Promise(done => plot.once("plotly_afterplot", done));
  const start = performance.now();
  own.set.call(slider, value);
  slider.dispatchEvent(new Event("input", {{bubbles: true}}));
  await drawn;
  await new Promise(requestAnimationFrame);
  return performance.now() - start;
}}"""
_WATCH = f"""new MutationObserver(() => {{
  if (!window.firstPlot && document.querySelector("{_DRAWN}"))
    window.firstPlot = performance.now();
}}).observe(document, {{childList: true, subtree: true}});"""
_PAINTED = """() => [performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
                     window.firstPlot]"""


def main(words: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.page_speed")
    parser.add_argument("--moves", type=int, default=100)
    parser.add_argument("--loads", type=int, default=8)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args(words)
    path = chromium.path()
    if path is None:
        print(f"no browser here: {chromium.MISSING}")
        return
    print(f"load of the machine before: {os.getloadavg()[0]:.1f}")
    with served() as address, browser(path) as running:
        for name, query in VIEWS.items():
            times = moves(running, address + query, options.moves)
            report(f"slider to redrawn plot, {name}", times, median=MEDIAN, tail=TAIL)
        paints, plots = first_sights(running, address, options.loads)
        report("first paint", paints, median=PAINT)
        report("first plot", plots)
        question = captured(running, address)
        waits = crowd(address, question, options.clients, options.seconds)
        report(f"{options.clients} readers at once", waits, tail=CROWD)


def report(what: str, times: Sequence[float], median: float = 0, tail: float = 0) -> None:
    """Middle and tail of some times in milliseconds, against what they may be."""
    ordered = sorted(times)
    middle, late = statistics.median(ordered), ordered[max(0, round(0.95 * len(ordered)) - 1)]
    bars = [f" (bar {bar:g})" if bar else "" for bar in (median, tail)]
    print(
        f"{what}: median {middle:.0f} ms{bars[0]}, 95 % {late:.0f} ms{bars[1]}, {len(times)} times"
    )


@contextmanager
def browser(path: str) -> Iterator[Any]:
    """A browser that runs meanwhile."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=chromium.ARGUMENTS)
        yield running
        running.close()


def opened(running: Any, address: str) -> Any:
    """A page in a context of its own, drawn and at rest."""
    page = running.new_context(viewport={"width": 1600, "height": 1000}).new_page()
    page.goto(address)
    page.wait_for_selector(_DRAWN)
    page.wait_for_timeout(_SETTLED)
    return page


def moves(running: Any, address: str, count: int) -> list[float]:
    """Milliseconds from each move of a slider to its plot."""
    page = opened(running, address)
    sliders = ("slider-ridge", "slider-snr", "slider-width", "slider-samples")
    times = []
    for k in range(count):
        times.append(page.evaluate(_MOVE, [sliders[k % len(sliders)], str(5 + k % 100)]))
        page.wait_for_timeout(20)
    page.context.close()
    return times


def first_sights(running: Any, address: str, count: int) -> tuple[list[float], list[float]]:
    """Milliseconds to the first paint and to the first plot, each for a reader who is new."""
    found = []
    for _ in range(count + 1):
        page = running.new_context(viewport={"width": 1600, "height": 1000}).new_page()
        page.add_init_script(_WATCH)
        page.goto(address, wait_until="commit")
        page.wait_for_selector(_DRAWN)
        page.wait_for_function("window.firstPlot")
        found.append(page.evaluate(_PAINTED))
        page.context.close()
    return [paint for paint, _ in found[1:]], [plot for _, plot in found[1:]]  # the server is warm


# --- many readers --------------------------------------------------------------------------------


def captured(running: Any, address: str) -> dict[str, Any]:
    """What a browser posts to have the plot redrawn."""
    page = opened(running, address)
    with page.expect_request(lambda one: one.url.endswith(ANSWER)) as waiting:
        page.locator("#slider-ridge").press("ArrowRight")
    found: dict[str, Any] = waiting.value.post_data_json
    page.context.close()
    return found


def crowd(address: str, question: dict[str, Any], clients: int, seconds: float) -> list[float]:
    """Milliseconds of every answer, with so many clients that ask all the time."""
    times: list[float] = []
    end = time.perf_counter() + seconds

    def ask(number: int) -> None:
        place = number
        while time.perf_counter() < end:
            place = (place + 7) % 120
            times.append(_answered(address, question, place))

    readers = [threading.Thread(target=ask, args=[number]) for number in range(clients)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    return times


def _answered(address: str, question: dict[str, Any], place: int) -> float:
    """Milliseconds of one redraw with the slider somewhere else."""
    body = json.dumps({**question, "changes": [["slider-ridge", str(place)]]})
    start = time.perf_counter()
    connection = HTTPConnection(urlsplit(address).netloc, timeout=60)
    connection.request("POST", ANSWER, body, {"Content-Type": "application/json"})
    got = connection.getresponse()
    data = got.read()
    connection.close()
    if got.status != 200:
        raise RuntimeError(f"the server answered {got.status}: {data[:200]!r}")
    return (time.perf_counter() - start) * 1e3


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
