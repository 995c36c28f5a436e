"""The page in a browser: what is on it, and what a hand does there."""

from base64 import b64decode
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from playwright.sync_api import Locator, Page, TimeoutError

from doubletrouble.page import address
from doubletrouble.page.curves import curves
from doubletrouble.page.kinds import ChoiceField
from doubletrouble.page.plot import encoded
from doubletrouble.page.setting import PageView
from doubletrouble.palette import LABELS
from doubletrouble.parameters import FloatArray

PATIENCE = 15_000  # milliseconds
PLOT = "#plot .js-plotly-plot"
_DRAWN = f"""() => {{
  const plot = document.querySelector("{PLOT}");
  const traces = (plot && plot.calcdata || []).map(points => points[0].trace._input);
  const lines = traces.filter(t => t.mode.startsWith("lines") && !/^Total, /.test(t.name));
  const rings = traces.filter(t => t.hoverinfo === "skip");
  return [lines.map(t => [t.name, t.x.bdata, t.customdata.bdata]), rings.map(t => t.x[0])];
}}"""
_IS_DRAWN = f"""expected => !document.body.classList.contains("asking")
  && JSON.stringify(({_DRAWN})()) === JSON.stringify(expected)"""
_SAYS = """([name, words]) =>
  document.getElementById(name)?.textContent.replace(/\\s+/g, " ").includes(words)"""
_LOOKS = 30  # milliseconds from one look to the next
Drawn = list[list[Any]]
"""Name, x and values of each line, as they were sent; and where the rings are."""


class Shown:
    """The page as it is shown."""

    def __init__(self, page: Page, home: str) -> None:
        self.page, self.home = page, home
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("response", lambda got: self._note(got.status >= 400, f"{got.status} {got.url}"))
        page.on("console", lambda got: self._note(got.type in ("error", "warning"), got.text))

    def _note(self, bad: bool, words: str) -> None:
        self.complaints += [words] * bad

    def check_quiet(self) -> None:
        """Nothing was asked of another host, and nothing went wrong unseen."""
        asked = {
            urlsplit(url)[:2] for url in self.requests if not url.startswith(("data:", "blob:"))
        }
        assert asked <= {urlsplit(self.home)[:2]}
        assert self.complaints == []
        self.requests.clear()

    def open(self, query: str = "") -> None:
        """Load the page with an address, until it is drawn."""
        self.page.goto(self.home + (query and f"?{query}"))
        self.page.wait_for_selector(f"{PLOT} .scatterlayer .trace")

    def go(self, query: str) -> None:
        """Follow a link without loading, and wait until all is shown."""
        self.page.evaluate(
            "to => { history.pushState(null, '', to); dispatchEvent(new Event('popstate')); }",
            f"/?{query}" if query else "/",
        )
        self.shows(address.read(query)[0])

    @property
    def query(self) -> str:
        """What the address says."""
        found: str = self.page.evaluate("location.search.slice(1)")
        return found

    def by_id(self, name: str) -> Locator:
        """An element."""
        return self.page.locator(f"[id='{name}']")

    def text(self, name: str) -> str:
        """The words of an element."""
        return self.by_id(name).inner_text()

    # --- what a hand does ------------------------------------------------------------------------

    def type(self, name: str, text: str) -> None:
        """Type into the box of a field."""
        box = self.by_id(f"box-{name}")
        box.fill(text)
        box.press("Enter")

    def choose(self, field: ChoiceField, value: str) -> None:
        """Take one of the choices of a field."""
        if field.opens:
            self.open_list(f"choice-{field.name}", field.choices[value])
            return
        self.by_id(f"choice-{field.name}").get_by_text(field.choices[value], exact=True).click()

    def open_list(self, name: str, option: str) -> None:
        """Take an option of a list that opens."""
        self.by_id(name).select_option(label=option)

    def slide(self, name: str, places: list[int]) -> None:
        """Drag a slider over some places as fast as can be."""
        self.by_id(f"slider-{name}").evaluate(
            """(slider, places) => {
              const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value");
              for (const place of places) {
                own.set.call(slider, String(place));
                slider.dispatchEvent(new Event("input", {bubbles: true}));
              }
            }""",
            places,
        )

    # --- what is seen ----------------------------------------------------------------------------

    def shows(self, view: PageView, *, settled: bool = False) -> None:
        """Wait until the curves are those of a view, to the last bit; and its address, if asked."""
        expected = _expected(view)
        try:
            self.page.wait_for_function(_IS_DRAWN, arg=expected, polling=_LOOKS, timeout=PATIENCE)
        except TimeoutError:
            assert self.page.evaluate(_DRAWN) == expected
        if settled:
            self.addressed(address.write(view))

    def addressed(self, query: str) -> None:
        """Wait until the address is a query."""
        try:
            self.page.wait_for_function(
                "query => location.search.slice(1) === query",
                arg=query,
                polling=_LOOKS,
                timeout=PATIENCE,
            )
        except TimeoutError:
            assert self.query == query

    def rests(self) -> None:
        """Wait until nothing is asked any more, and the address is that of what is shown."""
        self.page.wait_for_function(
            "!/asking|moving/.test(document.body.className)", polling=_LOOKS, timeout=PATIENCE
        )

    def says(self, name: str, words: str) -> None:
        """Wait until an element says some words."""
        try:
            self.page.wait_for_function(
                _SAYS, arg=[name, " ".join(words.split())], polling=_LOOKS, timeout=PATIENCE
            )
        except TimeoutError:
            assert words in self.text(name)

    def curve(self, name: str, of: str = "customdata") -> FloatArray:
        """The numbers of one line as they were sent."""
        lines: list[list[str]] = self.page.evaluate(_DRAWN)[0]
        found = {line[0]: line[1:] for line in lines}[LABELS[name]]
        return np.frombuffer(b64decode(found[of == "customdata"]))

    def figure(self, path: str) -> Any:
        """Something of the plot, as Plotly has it."""
        return self.page.evaluate(f"document.querySelector('{PLOT}').{path}")

    def lines(self) -> list[dict[str, Any]]:
        """The curves, as they are drawn."""
        return [trace for trace in self.figure("data") if trace["mode"].startswith("lines")]

    def points(self) -> list[dict[str, Any]]:
        """The simulated points, as they are drawn."""
        return [trace for trace in self.figure("data") if "error_y" in trace]

    def rings(self) -> list[dict[str, Any]]:
        """The marks where the sliders stand."""
        return [trace for trace in self.figure("data") if trace.get("hoverinfo") == "skip"]


def _expected(view: PageView) -> Drawn:
    """The lines of a plot, in the order in which they are drawn."""
    lines, marks = [], []
    for setting in view.settings:
        found = curves(view, setting)
        names = list(found.parts)[:: -1 if view.form == "areas" else 1]
        for name, values in [*((n, found.parts[n]) for n in names), ("total", found.total)]:
            lines.append([LABELS[name], encoded(found.x)["bdata"], encoded(values)["bdata"]])
        left, right = view.range()
        marks.append(min(max(found.mark, left), right))
    return [lines, marks]
