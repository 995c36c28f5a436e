"""The live page in headless Chromium: slider to painted figure, first paint, size.

Every main slider is moved 50 times; a move is measured from the event to the end of the frame that
draws it. The first paint and the time until the page is usable are those of an empty cache at
5 Mbit/s, from a plain file server.
"""

from typing import Any

import numpy as np

from doubletrouble.page._declarations import STATIC
from tests.page import chromium
from tests.page.serving import file_server

MOVES = 50
VIEWS = {
    "one setting": "view=explore",
    "two settings": "view=explore&second.ridge=0.1",
    "two settings, bootstrap": "view=explore&scheme=bootstrap&n_members=10&second.n_members=2",
}
SLIDERS = ("features_per_sample", "n_members", "ridge", "snr")
_MOVE = """async ([id, count]) => {
  const slider = document.getElementById(id);
  const times = [];
  for (let i = 0; i < count; i++) {
    await new Promise((done) => setTimeout(done, 40));
    slider.valueAsNumber = (slider.valueAsNumber + 7) % Number(slider.max);
    const start = performance.now();
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    const painted = new MessageChannel();
    await new Promise((done) => {
      painted.port1.onmessage = done;
      requestAnimationFrame(() => painted.port2.postMessage(0)); // after this frame is painted
    });
    times.push(performance.now() - start);
  }
  return times;
}"""
_USABLE = """() => new Promise((done) => {
  const check = () => document.documentElement.classList.contains("ready")
    ? done(performance.now()) : requestAnimationFrame(check);
  check();
})"""


def main() -> None:
    """Measure and print everything."""
    path = chromium.path()
    if path is None:
        print(f"skipped: {chromium.MISSING}")
        return
    from playwright.sync_api import sync_playwright

    size = sum(file.stat().st_size for file in STATIC.iterdir())
    print(f"{size / 1000:.0f} kB in {len(list(STATIC.iterdir()))} files")
    with file_server() as base, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=chromium.ARGUMENTS)
        for name, query in VIEWS.items():
            print(f"{name}: {_moves(browser, f'{base}?{query}')}")
        print(f"empty cache at 5 Mbit/s: {_first_load(browser, base)}")
        browser.close()


def _moves(browser: Any, address: str) -> str:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(address)
    page.wait_for_selector("html.ready")
    page.evaluate(_MOVE, [f"set-first-{SLIDERS[0]}-slider", 10])
    times = [
        time
        for name in SLIDERS
        for time in page.evaluate(_MOVE, [f"set-first-{name}-slider", MOVES])
    ]
    page.close()
    return f"median {np.median(times):.1f} ms, 95% {np.quantile(times, 0.95):.1f} ms a move"


def _first_load(browser: Any, address: str) -> str:
    paints, usable = [], []
    for _ in range(5):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        session = context.new_cdp_session(page)
        session.send("Network.enable")
        rate = {"latency": 20, "downloadThroughput": 625_000, "uploadThroughput": 625_000}
        session.send("Network.emulateNetworkConditions", {"offline": False, **rate})
        page.goto(address, wait_until="commit")
        usable.append(page.evaluate(_USABLE))
        entry = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"
        paints.append(page.evaluate(entry))
        context.close()
    return f"first paint {np.median(paints):.0f} ms, usable {np.median(usable):.0f} ms"


if __name__ == "__main__":
    main()
