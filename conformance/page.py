"""The page: theory and simulation in the paper's settings, then beyond them."""

from pathlib import Path

BEYOND = "## Beyond the paper"


def parts(page: Path) -> tuple[str, str]:
    """The two parts of a page that was written before."""
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    first, found, second = text.partition(f"\n{BEYOND}\n")
    return first.rstrip("\n") + "\n", f"{BEYOND}\n{second}" if found else ""


def write(page: Path, first: str | None = None, second: str | None = None) -> None:
    """Write one part, and leave the other as it is."""
    before = parts(page)
    texts = [old if new is None else new for old, new in zip(before, (first, second), strict=True)]
    page.write_text("\n".join(text for text in texts if text.strip()), encoding="utf-8")
