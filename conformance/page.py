"""The page: the paper's settings, then members beyond them, then other losses."""

from pathlib import Path

TITLES = {"beyond": "## Beyond the paper", "losses": "## Other losses"}
"""Parts of the page after the first, `curves`, in their order, by their first lines."""


def parts(page: Path) -> dict[str, str]:
    """The parts of a page that was written before."""
    rest = "\n" + (page.read_text(encoding="utf-8") if page.is_file() else "")
    texts = {}
    for name, title in reversed(TITLES.items()):
        rest, found, text = rest.partition(f"\n{title}\n")
        texts[name] = f"{title}\n{text}" if found else ""
    texts["curves"] = rest.removeprefix("\n")
    return {name: texts[name].rstrip("\n") + "\n" for name in ("curves", *TITLES)}


def write(page: Path, part: str, text: str) -> None:
    """Write one part, and leave the others as they are."""
    texts = parts(page) | {part: text}
    page.write_text("\n".join(one for one in texts.values() if one.strip()), encoding="utf-8")
