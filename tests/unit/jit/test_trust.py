"""Compiled code is loaded only from where nobody else can write: see `matchrec.jit.trust`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from numba.core import config

from matchrec.jit import disk_cache, trust
from matchrec.jit.decorators import kernel
from matchrec.jit.trust import (
    Writers,
    find_fault_beside_sources,
    find_file_fault,
    find_folder_fault,
)
from tests.unit.jit.test_disk_cache import THREE, Place, added, compiled, place, source_in, summed

__all__ = ("compiled", "place")  # fixtures

pytestmark = pytest.mark.skipif(not trust.has_users(), reason="a system without user ids")
ANOTHER = 65534  # the user `nobody` of most systems
as_root = pytest.mark.skipif(
    not trust.has_users() or os.geteuid() != 0, reason="only root gives files away"
)


@pytest.fixture(autouse=True)
def every_fault_is_told() -> Iterator[None]:
    disk_cache.print_untrusted.cache_clear()
    yield
    disk_cache.print_untrusted.cache_clear()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder two levels below one that is ours alone."""
    found = tmp_path / "above" / "cache"
    found.mkdir(parents=True)
    found.chmod(0o755)
    found.parent.chmod(0o755)
    return found


# Folders. Each change is made to a folder that is trusted, and names what is found.


def test_a_folder_of_ours_is_trusted(folder: Path) -> None:
    assert find_folder_fault(folder, trust.find_own_writers()) is None
    assert find_folder_fault(folder / "not" / "made", trust.find_own_writers()) is None


def give_away(entry: Path) -> None:
    os.chown(entry, ANOTHER, -1, follow_symlinks=False)


CHANGES: dict[str, Callable[[Path], Any]] = {
    "written by all": lambda folder: folder.chmod(0o757),
    "written by all, as /tmp is": lambda folder: folder.chmod(0o1777),
    "above written by all": lambda folder: folder.parent.chmod(0o777),
    "of another user": give_away,
    "above of another user": lambda folder: give_away(folder.parent),
    "of another user, above as /tmp": lambda folder: (
        folder.parent.chmod(0o1777),
        give_away(folder),
    ),
    "of a group": lambda folder: (os.chown(folder, -1, ANOTHER), folder.chmod(0o775)),
    "above of a group": lambda folder: (
        os.chown(folder.parent, -1, ANOTHER),
        folder.parent.chmod(0o775),
    ),
}


@as_root
@pytest.mark.parametrize("change", CHANGES)
def test_a_folder_that_others_can_change_is_not_trusted(folder: Path, change: str) -> None:
    CHANGES[change](folder)
    fault = find_folder_fault(folder, trust.find_own_writers())
    assert fault is not None
    assert fault.startswith(str(folder.parent if change.startswith("above") else folder))


def test_a_folder_of_ours_in_one_such_as_tmp_is_trusted(folder: Path) -> None:
    folder.parent.chmod(0o1777)
    assert find_folder_fault(folder, trust.find_own_writers()) is None


def test_our_private_group_may_write(folder: Path) -> None:
    folder.chmod(0o775)
    gid = folder.stat().st_gid
    owners = frozenset({os.geteuid(), 0})
    assert find_folder_fault(folder, Writers(owners, frozenset({gid}))) is None
    assert find_folder_fault(folder, Writers(owners)) is not None


def test_a_link_of_ours_to_a_trusted_folder_is_trusted(folder: Path, tmp_path: Path) -> None:
    for target in (folder, Path("above") / "cache"):
        link = tmp_path / f"link{len(str(target))}"
        link.symlink_to(target)
        assert find_folder_fault(link, trust.find_own_writers()) is None
        assert find_folder_fault(link / "below", trust.find_own_writers()) is None


@as_root
def test_a_link_of_another_user_is_not_trusted(folder: Path, tmp_path: Path) -> None:
    """It leads to a folder of ours now, and to another one between the check and the load."""
    link = tmp_path / "link"
    link.symlink_to(folder)
    give_away(link)
    for asked in (link, link / "below"):
        fault = find_folder_fault(asked, trust.find_own_writers())
        assert fault == f"{link} belongs to another user ({ANOTHER})"


@pytest.mark.parametrize("below", [(), ("below",)])
def test_a_link_to_a_folder_that_all_can_write_is_not_trusted(
    folder: Path, tmp_path: Path, below: tuple[str, ...]
) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder)
    folder.chmod(0o777)
    fault = find_folder_fault(link.joinpath(*below), trust.find_own_writers())
    assert fault == f"{folder} can be written to by all users"


def test_links_in_a_circle_are_not_trusted(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "other")
    (tmp_path / "other").symlink_to(tmp_path / "one")
    assert find_folder_fault(tmp_path / "one", trust.find_own_writers()) is not None


# Beside the sources: who may write these may write compiled code.


@as_root
def test_who_owns_the_sources_may_own_the_folder_beside_them(tmp_path: Path) -> None:
    source, beside = tmp_path / "module.py", tmp_path / "__pycache__"
    source.write_text("")
    beside.mkdir()
    give_away(beside)
    assert find_fault_beside_sources(beside, trust.find_source_writers(source)) is not None
    give_away(source)
    assert find_fault_beside_sources(beside, trust.find_source_writers(source)) is None


def test_who_may_write_the_sources_may_write_beside_them(tmp_path: Path) -> None:
    source, beside = tmp_path / "module.py", tmp_path / "__pycache__"
    source.write_text("")
    beside.mkdir()
    beside.chmod(0o777)
    tmp_path.chmod(0o755)
    assert find_fault_beside_sources(beside, trust.find_source_writers(source)) is not None
    tmp_path.chmod(0o777)
    assert find_fault_beside_sources(beside, trust.find_source_writers(source)) is None


def test_a_link_beside_the_sources_is_not_trusted(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "__pycache__").symlink_to(tmp_path / "elsewhere")
    assert find_fault_beside_sources(tmp_path / "__pycache__", trust.find_own_writers()) is not None


# CacheFiles


def test_a_file_of_ours_is_trusted(tmp_path: Path) -> None:
    file = tmp_path / "code.nbi"
    assert find_file_fault(file, trust.find_own_writers()) is None, "it is missing"
    file.write_bytes(b"")
    file.chmod(0o644)
    assert find_file_fault(file, trust.find_own_writers()) is None
    file.chmod(0o666)
    assert find_file_fault(file, trust.find_own_writers()) is not None


def test_a_link_is_no_file(tmp_path: Path) -> None:
    file, link = tmp_path / "code.nbi", tmp_path / "link.nbi"
    file.write_bytes(b"")
    link.symlink_to(file)
    fault = find_file_fault(link, trust.find_own_writers())
    assert fault == f"{link} is not a regular file"


# What is kept


def loosen(file: Path) -> None:
    file.chmod(0o666)


def replace_by_link(file: Path) -> None:
    other = file.with_name("elsewhere")
    other.write_bytes(file.read_bytes())
    file.unlink()
    file.symlink_to(other)


@as_root
@pytest.mark.parametrize("suffix", [".nbi", ".nbc", ".sha256"])
@pytest.mark.parametrize("change", [give_away, loosen, replace_by_link])
def test_a_file_that_others_can_change_is_made_again(
    place: Place, compiled: list[str], suffix: str, change: Callable[[Path], None]
) -> None:
    kernel(added)(THREE)
    (file,) = (one for one in place() if one.suffix == suffix)
    change(file)
    for _ in range(2):
        assert kernel(added)(THREE) == 18
    assert len(compiled) == 2
    assert find_file_fault(file, trust.find_own_writers()) is None


@as_root
def test_a_file_that_cannot_be_removed_is_not_loaded(
    place: Place, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel(added)(THREE)
    for file in place():
        give_away(file)
    monkeypatch.setattr(disk_cache.CacheFiles, "remove", lambda _: None)
    for count in (2, 3):
        assert kernel(added)(THREE) == 18
        assert len(compiled) == count, "it is compiled, and not kept"


@as_root
@pytest.mark.parametrize("change", CHANGES)
def test_a_place_that_others_can_change_is_passed_over(
    place: Place,
    compiled: list[str],
    change: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(folder))
    (found,) = {kernel(added).find_folder()}
    assert found is not None
    if change == "written by all, as /tmp is":  # of numba's folder below it
        folder = found
    CHANGES[change](folder)
    passed_over = kernel(added).find_folder()
    assert passed_over not in (None, found)
    assert passed_over == disk_cache.find_source_cache(added)
    error = capsys.readouterr().err
    assert error.startswith("matchrec: compiled code is not kept where another user could change")
    assert str(folder.parent if change.startswith("above") else folder) in error
    kernel(added).find_folder()
    assert not capsys.readouterr().err, "it is said once"


@as_root
def test_code_that_was_planted_does_not_run(
    place: Place, compiled: list[str], tmp_path: Path
) -> None:
    """numba loads the index with pickle: one of another user must not be opened."""
    import pickle

    kernel(added)(THREE)
    marker = tmp_path / "run"

    class Planted:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (marker,)

    (index,) = (one for one in place() if one.suffix == ".nbi")
    (code,) = (one for one in place() if one.suffix == ".nbc")
    (voucher,) = (one for one in place() if one.suffix == ".sha256")
    index.write_bytes(pickle.dumps(Planted()))
    found = disk_cache.CacheFiles(voucher.parent, voucher.stem)
    assert {index, code} == {*found.find_code_files()}
    voucher.write_bytes(found.compute_digests().encode())  # who writes there vouches as well
    give_away(index)
    assert kernel(added)(THREE) == 18
    assert not marker.exists()
    assert len(compiled) == 2


@as_root
def test_a_planted_copy_beside_a_read_only_installation_is_not_taken(
    place: Place, compiled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kernel(added)(THREE)
    (installed,) = {file.parent for file in place()}
    give_away(installed)
    monkeypatch.setattr(disk_cache, "find_source_cache", lambda _: installed)
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "home"))
    assert kernel(added)(THREE) == 18
    assert len(compiled) == 2


def test_files_are_for_us_alone_whatever_the_umask(place: Place) -> None:
    before = os.umask(0)
    try:
        kernel(added)(THREE)
        assert os.umask(0) == 0, "it is as it was"
    finally:
        os.umask(before)
    found = kernel(added).find_folder()
    assert found is not None
    for entry in (*found.iterdir(), found, found.parent):
        assert not entry.stat().st_mode & 0o022, entry


# Programs of their own


@pytest.mark.night  # a program of its own
@as_root
def test_root_does_not_use_the_cache_of_another_user(tmp_path: Path) -> None:
    """As with `sudo` that keeps HOME."""
    source, home = source_in(tmp_path / "installed"), tmp_path / "home"
    (source / "__pycache__").write_text("")  # no place beside the source
    home.mkdir()
    give_away(home)
    nowhere = {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")}
    for _ in range(2):
        assert summed(source, **nowhere) == ("18", True)
    assert not [*home.iterdir()]


@pytest.mark.night  # a program of its own
def test_without_a_home_no_folder_of_that_name_is_made(tmp_path: Path) -> None:
    source = source_in(tmp_path / "installed")
    (source / "__pycache__").write_text("")
    code = (
        "import os, pathlib, numpy, summing\n"
        "del os.environ['HOME']\n"
        "os.environ.pop('XDG_CACHE_HOME', None)\n"
        "import pwd\n"
        "def unknown(_): raise KeyError\n"
        "pwd.getpwuid = unknown\n"
        "print(summing.kernel(summing.added)(numpy.array([5, 6, 7])))\n"
        "print(*pathlib.Path().iterdir())\n"
    )
    inherited = {name: os.environ[name] for name in os.environ if name != "NUMBA_CACHE_DIR"}
    inherited["PYTHONPATH"] = os.pathsep.join([str(source), *sys.path])
    empty = tmp_path / "empty"
    empty.mkdir()
    result = subprocess.run(
        [sys.executable, "-B", "-c", code],
        env=inherited,
        cwd=empty,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == "18\n\n"


@pytest.mark.night  # a program of its own
def test_a_disk_that_is_full(tmp_path: Path) -> None:
    """No file can have more than a few bytes, which the system says as of a full disk."""
    code = (
        "import resource, numpy\n"
        "from tests.unit.jit.test_disk_cache import added, kernel\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))\n"
        "print(kernel(added)(numpy.array([5, 6, 7])))\n"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    for _ in range(2):
        result = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert result.stdout == "18\n"
    assert kernel_is_found_after(tmp_path, environment)


def kernel_is_found_after(folder: Path, environment: dict[str, str]) -> bool:
    """Return whether a process that has room keeps what the next one finds."""
    code = (
        "import numpy\n"
        "from tests.unit.jit.test_disk_cache import added, kernel\n"
        "print(kernel(added)(numpy.array([5, 6, 7])))\n"
    )
    errors = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stderr
        for _ in range(2)
    ]
    return (
        disk_cache.COMPILING_MESSAGE in errors[0]
        and disk_cache.COMPILING_MESSAGE not in errors[1]
        and any(folder.rglob("*.nbc"))
    )
