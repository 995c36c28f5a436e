"""Metadata of the package, its environments and its CI: what is written in several files agrees."""

import re
import subprocess
import sys
import tomllib
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from ruamel.yaml import YAML

import doubletrouble as dt
from tests.distributions import CODE, ROOT, relative_targets, targets

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
URLS = PROJECT["project"]["urls"]


def read_yaml(name: str) -> Any:
    return YAML(typ="safe").load(ROOT / name)


def pinned(name: str) -> dict[str, str]:
    """The versions of a file of constraints, by the name of the package."""
    lines = re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / name).read_text(encoding="utf-8"), re.M)
    return {package.lower(): version for package, version in lines}


# --- metadata ------------------------------------------------------------------------------------


def test_citation_has_the_version_addresses_and_date_of_the_package() -> None:
    citation = read_yaml("CITATION.cff")
    assert citation["version"] == dt.__version__
    assert citation["license"] == PROJECT["project"]["license"]
    assert citation["repository-code"] == URLS["Repository"]
    assert citation["url"] == URLS["Documentation"]
    (paper,) = citation["references"]
    names = [author["family-names"] for author in paper["authors"]]
    assert names == ["d'Ascoli", "Refinetti", "Biroli", "Krzakala"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, date = re.findall(r"^## (\S+) \((.+)\)$", changes, re.MULTILINE)[0]
    assert version == dt.__version__
    assert date == str(citation.get("date-released", "unreleased"))


def test_site_has_the_addresses_of_the_package() -> None:
    lines = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").splitlines()
    assert f"site_url: {URLS['Documentation']}" in lines
    assert f"repo_url: {URLS['Repository']}" in lines


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        ("github-workflows", ".github/workflows/*.yml"),
        ("github-actions", ".github/actions/*/action.yml"),
        ("github-issue-forms", ".github/ISSUE_TEMPLATE/[!c]*.yml"),
        ("github-issue-config", ".github/ISSUE_TEMPLATE/config.yml"),
        ("dependabot", ".github/dependabot.yml"),
        ("citation-file-format", "CITATION.cff"),
    ],
)
def test_file_has_the_form_of_its_schema(schema: str, names: str) -> None:
    files = [str(path) for path in ROOT.glob(names)]
    assert files
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    done = subprocess.run([*command, *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


# --- the README on a package index ---------------------------------------------------------------


def described(text: str) -> str:
    """A text with the substitutions of pyproject.toml, as the build applies them."""
    hook = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    for rule in hook["substitutions"]:
        new = rule["replacement"].replace("$HFPR_VERSION", dt.__version__)
        text = re.sub(rule["pattern"], new, text)
    return text


def test_description_has_no_relative_link_and_the_code_of_the_readme() -> None:
    assert relative_targets(README)
    description = described(README)
    assert relative_targets(description) == []
    fences = [match[0] for match in CODE.finditer(README)]
    assert [match[0] for match in CODE.finditer(description)] == fences


SITE = URLS["Documentation"]
FILES = f"{URLS['Repository']}/blob/v{dt.__version__}/"
RAW = f"{URLS['Repository']}/v{dt.__version__}/".replace("github", "raw.githubusercontent", 1)


def test_links_of_the_readme_and_of_the_description_are_the_same_files() -> None:
    for link, address in zip(targets(README), targets(described(README)), strict=True):
        path = re.sub(rf"^{re.escape(SITE)}([^#]+)\.html", r"docs/\1.md", address)
        assert path.removeprefix(FILES).removeprefix(RAW) == link
        assert (ROOT / link.partition("#")[0]).exists(), link


def test_links_of_every_form_become_absolute() -> None:
    text = (
        '![a\nb](docs/a.png) [![c](docs/c.png)](docs/c.md#d) <img src="docs/e.png" alt="">\n'
        '<a href="docs/f/g.md">f</a> [h](LICENSE) [i](#j) [k](https://example.org/docs/k.md)\n'
        "[l]: docs/l.md\n"
    )
    assert targets(described(text)) == [
        f"{RAW}docs/a.png", f"{RAW}docs/c.png", f"{SITE}c.html#d",
        f"{RAW}docs/e.png", f"{SITE}f/g.html", f"{FILES}LICENSE", "#j",
        "https://example.org/docs/k.md", f"{SITE}l.html",
    ]  # fmt: skip


# --- versions ------------------------------------------------------------------------------------


def lowest() -> dict[str, Version]:
    """The lowest versions of what the package and its extras need."""
    extras = PROJECT["project"]["optional-dependencies"].values()
    texts = [text for extra in extras for text in extra]
    found: dict[str, Version] = {}
    for requirement in map(Requirement, [*PROJECT["project"]["dependencies"], *texts]):
        (bound,) = requirement.specifier
        assert bound.operator == ">="
        version = Version(bound.version)
        assert found.setdefault(requirement.name, version) == version, requirement.name
    return found


def test_oldest_versions_are_the_lower_bounds() -> None:
    versions = pinned("constraints-oldest.txt")
    for name, version in lowest().items():
        assert Version(versions[name]) == version, name
    newer = pinned("constraints.txt")
    for name in versions.keys() & newer.keys() - lowest().keys() - {"distributed"}:
        assert versions[name] == newer[name]


def test_every_group_is_installed_by_a_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    used = re.findall(r"^[\w-]+:.*\$\(VENV\)/\.installed-(\w+)", makefile, re.M)
    assert set(used) == set(PROJECT["dependency-groups"])


def test_hooks_of_pre_commit_have_the_versions_of_the_tests() -> None:
    versions = pinned("constraints.txt")
    (repository,) = read_yaml(".pre-commit-config.yaml")["repos"]
    for hook in repository["hooks"]:
        for text in hook["additional_dependencies"]:
            name, _, version = text.partition("==")
            assert version == versions[name], hook["id"]
