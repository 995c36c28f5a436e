"""Downloads: whole and verified, or a sentence and nothing left behind. The server is our own."""

import errno
import fcntl
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from doubletrouble.data import _download as download
from doubletrouble.data import load_data
from doubletrouble.data._errors import DataError
from doubletrouble.data._sources import CIFAR10, MNIST, SOURCES
from tests.data import files as make
from tests.data.files import Server, contents, originals, serving, write

FILES = make.packed(make.mnist_files())
FIRST, SECOND = list(FILES)[:2]
ARCHIVE = {"cifar-10-binary.tar.gz": make.tar(make.cifar_binary(), "cifar-10-batches-bin")}
SMALL: dict[str, Any] = {"pca": None, "n_train": 20}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serving() as found:
        found.files |= FILES | ARCHIVE
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        monkeypatch.delenv("DOUBLETROUBLE_DATA", raising=False)
        known = ((MNIST, FILES), (CIFAR10, ARCHIVE))
        for source, files in known:
            here = replace(source, url=found.url, files=originals(files), others=())
            monkeypatch.setitem(SOURCES, source.name, here)
        yield found


def failed(name: str, folder: Path) -> str:
    """The sentence, after making sure that the folder is as it was."""
    before = contents(folder)
    with pytest.raises(DataError) as caught:
        load_data(name, folder=folder, **SMALL)
    assert contents(folder) == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- what works ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "place", "files"), [("mnist", "mnist", FILES), ("cifar10", "cifar10", ARCHIVE)]
)
def test_a_set_is_downloaded_once_with_progress(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    name: str, place: str, files: dict[str, bytes],
) -> None:  # fmt: skip
    first = load_data(name, folder=tmp_path, **SMALL)
    assert first.settings["source"] == "original files"
    said = capsys.readouterr()
    assert said.out == ""
    for file in files:
        assert file in said.err
        assert "100%" in said.err
    expected = {place: b"a folder"} | {f"{place}/{file}": files[file] for file in files}
    assert contents(tmp_path) == expected
    assert server.asked == list(files)
    again = load_data(name, folder=tmp_path, **SMALL)
    assert again.fingerprint == first.fingerprint
    assert server.asked == list(files)
    assert capsys.readouterr().err == ""


def test_without_a_folder_the_cache_is_filled(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("DOUBLETROUBLE_DATA", str(write(tmp_path / "named", {})))
    load_data("mnist", **SMALL)
    assert contents(tmp_path / "named") == {}
    assert (tmp_path / "cache" / "doubletrouble" / "mnist" / FIRST).read_bytes() == FILES[FIRST]
    load_data("mnist", download=False, **SMALL)


def test_only_what_is_missing_is_fetched(server: Server, tmp_path: Path) -> None:
    write(tmp_path, {name: content for name, content in FILES.items() if name != SECOND})
    load_data("mnist", folder=tmp_path, **SMALL)
    assert server.asked == [SECOND]
    assert (tmp_path / "mnist" / SECOND).read_bytes() == FILES[SECOND]


def test_an_incomplete_folder_of_cifar_is_left_alone(server: Server, tmp_path: Path) -> None:
    write(tmp_path / "cifar-10-batches-bin", {"test_batch.bin": b"x"})
    assert load_data("cifar10", folder=tmp_path, **SMALL).name == "cifar10"
    assert server.asked == list(ARCHIVE)


def test_a_chunked_answer_is_good(server: Server, tmp_path: Path) -> None:
    server.chunked |= set(FILES)
    load_data("mnist", folder=tmp_path, **SMALL)
    assert contents(tmp_path / "mnist") == FILES


def test_files_are_as_readable_as_any_other(server: Server, tmp_path: Path) -> None:
    load_data("mnist", folder=tmp_path, **SMALL)
    (tmp_path / "plain").write_bytes(b"")
    assert (tmp_path / "mnist" / FIRST).stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_nothing_is_asked_with_download_false(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="downloads are switched off"):
        load_data("mnist", folder=tmp_path, download=False, **SMALL)
    assert server.asked == []


# --- what does not -------------------------------------------------------------------------------


def test_no_network(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(*_: Any, **__: Any) -> None:
        raise urllib.error.URLError(socket.gaierror(-2, "Name or service not known"))

    monkeypatch.setattr(urllib.request, "urlopen", offline)
    assert failed("mnist", tmp_path) == (
        f"cannot download {server.url}{FIRST}: no network, or no server there "
        f"(Name or service not known); or put {', '.join(FILES)} into {tmp_path / 'mnist'}"
    )
    write(tmp_path / "cifar-10-batches-bin", {"test_batch.bin": b"x"})
    missing = ", ".join(f"data_batch_{i}.bin" for i in range(1, 6))
    assert failed("cifar10", tmp_path).endswith(
        f"; or put cifar-10-binary.tar.gz into {tmp_path / 'cifar10'} ({missing} are missing there)"
    )


def test_nobody_listens(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/"
    monkeypatch.setitem(SOURCES, "mnist", replace(SOURCES["mnist"], url=url))
    assert "(Connection refused); or put" in failed("mnist", tmp_path)


def test_a_server_that_is_silent(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        monkeypatch.setitem(SOURCES, "mnist", replace(SOURCES["mnist"], url=url))
        assert "timed out" in failed("mnist", tmp_path)


def test_no_such_file(server: Server, tmp_path: Path) -> None:
    del server.files[FIRST]
    sentence = failed("mnist", tmp_path)
    assert f"cannot download {server.url}{FIRST}: the server answers 404 Not Found" in sentence


@pytest.mark.parametrize("chunked", [False, True])
def test_a_truncated_answer(server: Server, tmp_path: Path, chunked: bool) -> None:
    server.cut.add(FIRST)
    server.chunked |= {FIRST} if chunked else set()
    sentence = failed("mnist", tmp_path)
    assert f"must have {len(FILES[FIRST])} bytes, got " in sentence
    assert "so it is truncated; try again later; or put" in sentence


def test_a_web_page_is_not_called_truncated(server: Server, tmp_path: Path) -> None:
    server.files[FIRST] = b"<!DOCTYPE html><title>Log in</title>"
    assert failed("mnist", tmp_path).startswith(
        f"{server.url}{FIRST} is not the expected file: it must be packed by gzip, got a web page; "
        "try again later; or put "
    )


def test_a_long_answer(server: Server, tmp_path: Path) -> None:
    server.files[FIRST] += b"more"
    assert f"must have {len(FILES[FIRST])} bytes, got more" in failed("mnist", tmp_path)


def test_a_wrong_checksum(server: Server, tmp_path: Path) -> None:
    content = FILES[FIRST]
    server.files[FIRST] = content[:-1] + bytes([content[-1] ^ 1])
    sentence = failed("mnist", tmp_path)
    assert f"{server.url}{FIRST} must have the SHA-256 checksum" in sentence
    assert "nothing of it is kept" in sentence


def test_what_arrived_whole_before_is_kept(server: Server, tmp_path: Path) -> None:
    server.cut.add(SECOND)
    with pytest.raises(DataError, match="truncated"):
        load_data("mnist", folder=tmp_path, **SMALL)
    assert contents(tmp_path / "mnist") == {FIRST: FILES[FIRST]}


@pytest.mark.parametrize("where", ["write", "fsync", "replace"])
def test_a_full_disk(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if where == "write":
        monkeypatch.setattr(download, "sha256", lambda: type("", (), {"update": full})())
    else:
        monkeypatch.setattr(os, where, full)
    sentence = failed("mnist", tmp_path)
    assert f"cannot write {tmp_path / 'mnist' / FIRST}: No space left on device" in sentence


def test_a_folder_that_cannot_be_made(server: Server, tmp_path: Path) -> None:
    (tmp_path / "cifar10").write_bytes(b"a file in the way")
    assert f"cannot write {tmp_path / 'cifar10'}" in failed("cifar10", tmp_path)


def test_ctrl_c_leaves_nothing(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt, match=f"stopped; nothing is left of {FIRST}"):
        load_data("mnist", folder=tmp_path, **SMALL)
    assert contents(tmp_path) == {}


WRITES = """
import sys, time, pathlib
from doubletrouble.data._download import _arriving
with _arriving(pathlib.Path(sys.argv[1])) as new:
    new.write_bytes(b"half")
    print(new.name, flush=True)
    time.sleep(60)
"""


def test_what_a_killed_process_left_goes_with_the_next_download(
    server: Server, tmp_path: Path
) -> None:
    folder = tmp_path / "mnist"
    write(folder, {f".{SECOND}-00.part": b"old", f".{FIRST}x": b"a name of one's own"})
    command = [sys.executable, "-c", WRITES, str(folder / FIRST)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writing:
        assert writing.stdout is not None
        part = folder / writing.stdout.readline().strip()
        try:
            load_data("mnist", folder=tmp_path, **SMALL)
            kept = {f".{FIRST}x": b"a name of one's own"}
            assert contents(folder) == {**FILES, **kept, part.name: b"half"}  # it is alive
        finally:
            writing.kill()
    assert part.exists()
    (folder / FIRST).unlink()
    load_data("mnist", folder=tmp_path, **SMALL)
    assert contents(folder) == {**FILES, **kept}


def test_a_file_removed_before_it_is_locked_is_made_again(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = fcntl.flock
    removed: list[Path] = []

    def late(file: Any, how: int) -> None:
        if not removed:
            removed.append(Path(file.name))
            removed[0].unlink()
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", late)
    load_data("mnist", folder=tmp_path, **SMALL)
    assert removed
    assert contents(tmp_path / "mnist") == FILES


def test_without_locks_a_download_is_good(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    left = {f".{FIRST}-00.part": b"nobody knows whose"}
    write(tmp_path / "mnist", left)
    load_data("mnist", folder=tmp_path, **SMALL)
    assert contents(tmp_path / "mnist") == {**FILES, **left}


def test_the_known_archives_are_named_by_their_publishers() -> None:
    hosts = {source.name: source.url.split("/")[2] for source in (MNIST, SOURCES["cifar10"])}
    assert hosts == {"mnist": "ossci-datasets.s3.amazonaws.com", "cifar10": "www.cs.toronto.edu"}
    for source in SOURCES.values():
        assert all(len(file.sha256) == 64 for file in source.files + source.others)
