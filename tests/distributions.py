"""Check the distributions that `make package` has built: `python -m tests.distributions dist`."""

import email
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = "src/doubletrouble/"
SDIST = (  # and whole folders
    *("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md"),
    *("REFERENCES.md", "constraints.txt", "constraints-oldest.txt", "mkdocs.yml", "pyproject.toml"),
    *("benchmarks/", "conformance/", "docs/", "tests/", SOURCE),
)
CODE = re.compile(r"^( *)```.*?^\1```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
TARGET = re.compile(r'\]\(([^)\s]+)|^\[[^]]+\]: (\S+)|(?:src|srcset|href)="([^"]+)"', re.MULTILINE)


def targets(markdown: str) -> list[str]:
    """Links and images of some Markdown."""
    return ["".join(groups) for groups in TARGET.findall(CODE.sub("", markdown))]


def relative_targets(markdown: str) -> list[str]:
    """Links and images that are broken on a package index."""
    return [link for link in targets(markdown) if not re.match(r"https?://|mailto:|#", link)]


def tracked() -> set[str]:
    """The files of the repository; those of the folder, if it is not one."""
    if not (ROOT / ".git").exists():
        return {path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if path.is_file()}
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return set(done.stdout.split("\0")) - {""}


def check_sdist(path: Path) -> None:
    """The sdist has the files of the repository."""
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()} - {"", "PKG-INFO"}
    missing = [name for name in SDIST if not any(found.startswith(name) for found in names)]
    assert not missing, f"{path.name} lacks {missing}"
    if (ROOT / ".git").exists():
        other = sorted(names ^ tracked())
        assert not other, f"{path.name} and the files that git tracks differ in {other}"


def check_wheel(path: Path) -> None:
    """The wheel has the package with its data, and no other file; its links are absolute."""
    with zipfile.ZipFile(path) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        (metadata,) = (name for name in archive.namelist() if name.endswith("/METADATA"))
        message = email.message_from_bytes(archive.read(metadata))
    source = {name.removeprefix("src/") for name in tracked() if name.startswith(SOURCE)}
    source = {name for name in source if "__pycache__" not in name}
    assert "doubletrouble/py.typed" in source
    assert names == source, f"{path.name} and {SOURCE} differ in {sorted(names ^ source)}"
    description = message.get_payload(decode=True)
    assert isinstance(description, bytes)
    relative = relative_targets(description.decode())
    assert not relative, f"the description in {path.name} has relative links: {relative}"


def check_install(path: Path) -> None:
    """The wheel works in an empty environment, without any extra."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        program = Path(folder) / "bin"
        command = [str(program / "python"), "-m", "pip", "install", "--quiet", str(path.resolve())]
        subprocess.run(command, check=True)
        code = (
            "import doubletrouble as dt; print(dt.__version__, dt.exact_error(dt.Problem()).total)"
        )
        subprocess.run([str(program / "python"), "-c", code], cwd=folder, check=True)
        done = subprocess.run(
            [str(program / "doubletrouble"), "--help"], capture_output=True, text=True, check=False
        )
        needs = "typer is needed: pip install 'doubletrouble[cli]'"
        assert (done.returncode, done.stderr.strip()) == (2, needs), done.stderr


def main(folder: str) -> None:
    """Check the sdist and the wheel in a folder."""
    (sdist,), (wheel,) = Path(folder).glob("*.tar.gz"), Path(folder).glob("*.whl")
    check_sdist(sdist)
    check_wheel(wheel)
    check_install(wheel)


if __name__ == "__main__":
    main(sys.argv[1])
