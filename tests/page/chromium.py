"""The system's Chromium, and how it is started without a screen."""

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip


def path() -> str | None:
    """Where it is, if it is."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


MISSING = f"none of {', '.join(NAMES)} is on the PATH"
