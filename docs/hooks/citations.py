"""Link citations such as [mei2019] to the page of references, which is made of REFERENCES.md."""

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

REFERENCES = Path(__file__).parents[2] / "REFERENCES.md"
_ENTRY = re.compile(r"^- \*\*\[([a-z]+)(\d{4})\]\*\* (.*?)(?=\. \*)", re.MULTILINE | re.DOTALL)
_ARXIV = re.compile(r"arXiv:(\d{4}\.\d{4,5}(?:v\d+)?)")
_LABEL = re.compile(r"^- \*\*\[(\w+)\]\*\*", re.MULTILINE)
_FENCED = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)


def cited_names(references: str) -> dict[str, str]:
    """The authors and year of each label.

    >>> cited_names("- **[mei2019]** S. Mei, A. Montanari. *The error.* 2019.")
    {'mei2019': 'Mei and Montanari 2019'}
    """
    names = {}
    for key, year, authors in _ENTRY.findall(references):
        people = [re.sub(r"^(?:\S+\. )+", "", name.strip()) for name in authors.split(",")]
        who = " and ".join(people) if len(people) < 3 else f"{people[0]} et al."
        names[key + year] = f"{who} {year}"
    return names


NAMES = cited_names(REFERENCES.read_text(encoding="utf-8"))
_LABELS = "|".join(NAMES)
_CITATION = re.compile(rf"`\[({_LABELS})\]`|`[^`\n]*`|\[({_LABELS})\](?![(:\[])")


def linked(markdown: str) -> str:
    """Replace the labels outside of code by links with the authors and the year."""

    def link(match: re.Match[str]) -> str:
        label = match[1] or match[2]
        return f"[{NAMES[label]}][{label}]" if label else match[0]

    parts = _FENCED.split(markdown)
    parts[::2] = [_CITATION.sub(link, part) for part in parts[::2]]
    return "".join(parts)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page of references, with an anchor for each entry."""

    def entry(match: re.Match[str]) -> str:
        label = match[1]
        return f"- [](){{ #{label} }}**{NAMES[label]}** (`[{label}]`)"

    text = REFERENCES.read_text(encoding="utf-8").replace("[docs/errata.md](docs/", "[errata](")
    text = _LABEL.sub(entry, text)
    text = _ARXIV.sub(r"[arXiv:\1](https://arxiv.org/abs/\1)", text)
    files.append(File.generated(config, "references.md", content=text))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Link the citations of a page."""
    return markdown if page.file.src_uri == "references.md" else linked(markdown)
