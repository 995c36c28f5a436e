"""Make every figure and one page, `index.html`, that shows them and says how to remake them.

The page refers only to files beside it: it can be opened from disk, mailed or put on a server.
"""

import os
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from tqdm import tqdm

from doubletrouble.figures.registry import FIGURES
from doubletrouble.figures.save import FORMATS, save
from doubletrouble.figures.spec import FigureSpec
from doubletrouble.glossary import N_MEMBERS
from doubletrouble.parameters import Parameter, declarations
from doubletrouble.problems import Problem

COMMAND = "python -m doubletrouble.figures --out out"


def write_gallery(
    folder: str | Path,
    figures: Mapping[str, FigureSpec[Any]] = FIGURES,
    *,
    progress: bool = False,
) -> str:
    """Write all figures, their numbers and the page into `folder`; return the page's path.

    `progress=True` shows a bar on stderr. A folder that cannot be used raises `ValueError`.
    """
    place = _usable(folder)
    for spec in tqdm(figures.values(), desc="figures", unit="figure", disable=not progress):
        data = spec.data()
        save(place / spec.name, spec.plot(data), spec.table(data))
    (place / "index.html").write_text(page(figures.values()), encoding="utf-8", newline="\n")
    return os.path.join(folder, "index.html")  # Path would rewrite what the user typed


def page(figures: Iterable[FigureSpec[Any]]) -> str:
    """Return the page as HTML."""
    return _PAGE.substitute(command=escape(COMMAND), figures="\n".join(map(_section, figures)))


def _section(spec: FigureSpec[Any]) -> str:
    """One figure: the picture, what to see in it, its parameters, its files, its source."""
    name = escape(spec.name)
    links = [f'<a href="{name}.{suffix}">{suffix.upper()}</a>' for suffix in FORMATS]
    settings = "\n".join(_setting(*item) for item in spec.arguments.items())
    return _SECTION.substitute(
        name=name,
        title=escape(spec.title),
        alt=escape(spec.alt),
        caption="\n".join(f"<p>{escape(text)}</p>" for text in spec.caption.split("\n")),
        settings=settings,
        links=" · ".join(links),
        source=escape(spec.source),
    )


def _setting(name: str, value: object) -> str:
    """One row of the parameter list, with the symbol and meaning from the declaration."""
    known: dict[str, Parameter] = {**declarations(Problem), "n_members": N_MEMBERS}
    spec = known.get(name) or known.get(name.removesuffix("s"))
    symbol, meaning = (spec.symbol, spec.meaning) if spec else (name.replace("_", " "), "")
    values = value if isinstance(value, list | tuple) else (value,)
    shown = ", ".join(str(v) if isinstance(v, str) else f"{v:g}" for v in values)
    cells = (f"<td>{escape(cell)}</td>" for cell in (symbol, shown, meaning))
    return f"<tr>{''.join(cells)}</tr>"


def _usable(folder: str | Path) -> Path:
    """Make the folder if need be, or say why it cannot hold the gallery."""
    shown, place = os.fspath(folder), Path(folder)
    if not shown:
        raise ValueError("the output folder must have a name, got ''")
    try:
        place.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise ValueError(f"the output folder must be a folder, got the file {shown}") from None
    except OSError as error:
        raise ValueError(f"cannot make the output folder {shown}: {error.strerror}") from error
    if not os.access(place, os.W_OK | os.X_OK):
        raise ValueError(f"the output folder must be writable, got {shown}")
    return place


_SECTION = Template("""\
<section id="$name">
<h2>$title</h2>
<div class="picture" tabindex="0" role="group" aria-label="$title">
<a href="$name.svg"><img src="$name.svg" alt="$alt"></a>
</div>
$caption
<p class="files">Files: $links</p>
<h3>Parameters</h3>
<table>
<tr><th scope="col">Parameter</th><th scope="col">Value</th><th scope="col">Meaning</th></tr>
$settings
</table>
<h3>Remake or change it</h3>
<pre tabindex="0"><code>$source</code></pre>
</section>""")

_PAGE = Template("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>doubletrouble: figures</title>
<style>
:root { --ink: #1b1b1b; --soft: #5a5a5a; --paper: #ffffff; --shade: #f3f4f6; --rule: #d9dce1;
  --link: #005a9c; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --soft: #a8adb5; --paper: #16181c; --shade: #22252b; --rule: #3a3f47;
    --link: #7cc0ff; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 62rem; background: var(--paper);
  color: var(--ink); font: 1.0625rem/1.6 Georgia, "Times New Roman", serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.35rem; line-height: 1.3; margin: 2.5rem 0 1rem; padding-top: 1.5rem;
  border-top: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
p { max-width: 44rem; margin: .75rem 0; }
a { color: var(--link); }
.picture { overflow-x: auto; background: #ffffff; border: 1px solid var(--rule);
  border-radius: 6px; padding: .75rem; }
.picture img { display: block; width: 100%; min-width: 34rem; height: auto; }
pre { overflow-x: auto; background: var(--shade); border-radius: 6px; padding: .75rem 1rem;
  font: .875rem/1.5 ui-monospace, Menlo, Consolas, monospace; }
table { border-collapse: collapse; font-size: .95rem; }
th, td { text-align: left; padding: .2rem 1rem .2rem 0; vertical-align: top;
  border-bottom: 1px solid var(--rule); }
td:nth-child(-n+2) { white-space: nowrap; }
td:nth-child(3) { color: var(--soft); padding-right: 0; }
.files { color: var(--soft); }
</style>
</head>
<body>
<h1>Where does a learner’s test error come from?</h1>
<p>Figures of <cite>Double Trouble in Double Descent: Bias and Variance(s) in the Lazy Regime</cite>
(d’Ascoli, Refinetti, Biroli and Krzakala, 2020), computed afresh. One command remakes them all:</p>
<pre tabindex="0"><code>$command</code></pre>
$figures
</body>
</html>
""")
