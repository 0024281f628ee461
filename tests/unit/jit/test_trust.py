"""Compiled code is loaded only from folders in which no other user can write.

`matchrec.jit.trust` says why.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from numba.core import config

from matchrec.jit import cache_folders, compile_lock, trust
from matchrec.jit.cache_files import CacheFiles
from matchrec.jit.decorators import kernel
from matchrec.jit.trust import (
    Writers,
    find_fault_beside_sources,
    find_file_fault,
    find_folder_fault,
)
from tests.unit.jit.test_disk_cache import (
    THREE,
    ListFiles,
    add_up,
    compiled,
    list_files,
    run_source,
    write_source,
)

__all__ = ("compiled", "list_files")  # fixtures

pytestmark = pytest.mark.skipif(not trust.has_users(), reason="a system without user ids")
ANOTHER = 65534  # the user `nobody` of most systems
as_root = pytest.mark.skipif(
    not trust.has_users() or os.geteuid() != 0, reason="only root gives files away"
)


@pytest.fixture(autouse=True)
def forget_reported_faults() -> Iterator[None]:
    """Let each test report every fault again."""
    cache_folders.print_untrusted.cache_clear()
    yield
    cache_folders.print_untrusted.cache_clear()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder two levels below a folder in which no other user can write."""
    cache_folder = tmp_path / "above" / "cache"
    cache_folder.mkdir(parents=True)
    cache_folder.chmod(0o755)
    cache_folder.parent.chmod(0o755)
    return cache_folder


# Folders. Each change is made to a trusted folder, and makes it one that others can change.


def test_our_folder_is_trusted(folder: Path) -> None:
    assert find_folder_fault(folder, trust.find_own_writers()) is None
    assert find_folder_fault(folder / "not" / "made", trust.find_own_writers()) is None


def give_away(entry: Path) -> None:
    """Make another user the owner of a file or folder."""
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


def test_our_folder_in_a_shared_folder_like_tmp_is_trusted(folder: Path) -> None:
    folder.parent.chmod(0o1777)
    assert find_folder_fault(folder, trust.find_own_writers()) is None


def test_our_private_group_may_write(folder: Path) -> None:
    folder.chmod(0o775)
    gid = folder.stat().st_gid
    owners = frozenset({os.geteuid(), 0})
    assert find_folder_fault(folder, Writers(owners, frozenset({gid}))) is None
    assert find_folder_fault(folder, Writers(owners)) is not None


def test_a_primary_group_of_two_users_is_not_private(monkeypatch: pytest.MonkeyPatch) -> None:
    """`useradd -g alice bob` makes bob a member without naming him in the list of the group."""
    alice = SimpleNamespace(pw_name="alice", pw_gid=1000)
    bob = SimpleNamespace(pw_name="bob", pw_gid=1000)
    carol = SimpleNamespace(pw_name="carol", pw_gid=1001)
    group = SimpleNamespace(gr_name="alice", gr_gid=1000, gr_mem=[])
    monkeypatch.setattr("pwd.getpwuid", lambda _: alice)
    monkeypatch.setattr("grp.getgrgid", lambda _: group)
    monkeypatch.setattr("pwd.getpwall", lambda: [alice, carol])
    assert trust.find_private_groups() == {1000}
    monkeypatch.setattr("pwd.getpwall", lambda: [alice, bob, carol])
    assert trust.find_private_groups() == frozenset()


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
    for path in (link, link / "below"):
        fault = find_folder_fault(path, trust.find_own_writers())
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


def test_each_link_of_a_path_is_followed_once(folder: Path) -> None:
    """Linux follows up to 40 links. A check of all links before each link would take 2^40 steps."""
    (folder / "same").symlink_to(".")
    path = folder.joinpath(*["same"] * 40)
    assert find_folder_fault(path, trust.find_own_writers()) is None
    longer_path = path / "same"
    assert find_folder_fault(longer_path, trust.find_own_writers()) == (
        f"{longer_path} has too many links"
    )


def test_the_target_of_a_link_to_its_own_folder_holds_the_code(folder: Path) -> None:
    """The folder is part of the path, where it may be shared, and then the end of the path."""
    (folder / "same").symlink_to(".")
    folder.chmod(0o1777)
    fault = find_folder_fault(folder / "same", trust.find_own_writers())
    assert fault == f"{folder} can be written to by all users"


def test_a_link_to_a_folder_above_leads_from_its_target(folder: Path, tmp_path: Path) -> None:
    """`link/..` is the folder above the target, not the folder of the link."""
    link = tmp_path / "link"
    link.symlink_to(folder)
    folder.parent.chmod(0o777)
    fault = find_folder_fault(link / "..", trust.find_own_writers())
    assert fault == f"{folder.parent} can be written to by all users"


# The folder next to the sources: users that may write the sources may write compiled code.


@as_root
def test_the_owner_of_the_sources_may_own_the_cache_next_to_them(tmp_path: Path) -> None:
    source = tmp_path / "module.py"
    cache_folder = tmp_path / "__pycache__"
    source.write_text("")
    cache_folder.mkdir()
    give_away(cache_folder)
    assert find_fault_beside_sources(cache_folder, trust.find_source_writers(source)) is not None
    give_away(source)
    assert find_fault_beside_sources(cache_folder, trust.find_source_writers(source)) is None


def test_users_that_can_write_the_sources_may_write_the_cache(tmp_path: Path) -> None:
    source = tmp_path / "module.py"
    cache_folder = tmp_path / "__pycache__"
    source.write_text("")
    cache_folder.mkdir()
    cache_folder.chmod(0o777)
    tmp_path.chmod(0o755)
    assert find_fault_beside_sources(cache_folder, trust.find_source_writers(source)) is not None
    tmp_path.chmod(0o777)
    assert find_fault_beside_sources(cache_folder, trust.find_source_writers(source)) is None


def test_a_link_next_to_the_sources_is_not_trusted(tmp_path: Path) -> None:
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


def test_a_link_is_not_a_trusted_file(tmp_path: Path) -> None:
    file = tmp_path / "code.nbi"
    link = tmp_path / "link.nbi"
    file.write_bytes(b"")
    link.symlink_to(file)
    fault = find_file_fault(link, trust.find_own_writers())
    assert fault == f"{link} is not a regular file"


# Files that have been stored


def loosen(file: Path) -> None:
    """Let all users write to a file."""
    file.chmod(0o666)


def replace_by_link(file: Path) -> None:
    """Replace a file by a link to a copy of it."""
    other = file.with_name("elsewhere")
    other.write_bytes(file.read_bytes())
    file.unlink()
    file.symlink_to(other)


@as_root
@pytest.mark.parametrize("suffix", [".nbi", ".nbc", ".sha256"])
@pytest.mark.parametrize("change", [give_away, loosen, replace_by_link])
def test_a_file_that_others_can_change_is_made_again(
    list_files: ListFiles, compiled: list[str], suffix: str, change: Callable[[Path], None]
) -> None:
    kernel(add_up)(THREE)
    (file,) = (path for path in list_files() if path.suffix == suffix)
    change(file)
    for _ in range(2):
        assert kernel(add_up)(THREE) == 18
    assert len(compiled) == 2
    assert find_file_fault(file, trust.find_own_writers()) is None


@as_root
def test_a_file_that_cannot_be_removed_is_not_loaded(
    list_files: ListFiles, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel(add_up)(THREE)
    for file in list_files():
        give_away(file)
    monkeypatch.setattr(CacheFiles, "remove", lambda _: None)
    for count in (2, 3):
        assert kernel(add_up)(THREE) == 18
        assert len(compiled) == count, "it is compiled, and not stored"


@as_root
@pytest.mark.parametrize("change", CHANGES)
def test_a_cache_folder_that_others_can_change_is_skipped(
    list_files: ListFiles,
    compiled: list[str],
    change: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(config, "CACHE_DIR", str(folder))
    (cache_folder,) = {kernel(add_up).find_folder()}
    assert cache_folder is not None
    if change == "written by all, as /tmp is":  # of numba's folder below it
        folder = cache_folder
    CHANGES[change](folder)
    next_folder = kernel(add_up).find_folder()
    assert next_folder not in (None, cache_folder)
    assert next_folder == cache_folders.find_source_cache(add_up)
    error = capsys.readouterr().err
    assert error.startswith("matchrec: compiled code is not kept where another user could change")
    assert str(folder.parent if change.startswith("above") else folder) in error
    kernel(add_up).find_folder()
    assert not capsys.readouterr().err, "it is reported once"


@as_root
def test_code_that_was_planted_does_not_run(
    list_files: ListFiles, compiled: list[str], tmp_path: Path
) -> None:
    """The index is loaded with pickle, so an index of another user must not be opened."""
    import pickle

    kernel(add_up)(THREE)
    marker = tmp_path / "run"

    class Planted:
        """An object whose unpickling creates a file."""

        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (marker,)

    (index,) = (path for path in list_files() if path.suffix == ".nbi")
    (code,) = (path for path in list_files() if path.suffix == ".nbc")
    (voucher,) = (path for path in list_files() if path.suffix == ".sha256")
    index.write_bytes(pickle.dumps(Planted()))
    cache_files = CacheFiles(voucher.parent, voucher.stem)
    assert {index, code} == {*cache_files.find_code_files()}
    voucher.write_bytes(
        cache_files.compute_digests().encode()
    )  # a user that can write there can also write the digest
    give_away(index)
    assert kernel(add_up)(THREE) == 18
    assert not marker.exists()
    assert len(compiled) == 2


@as_root
def test_a_planted_copy_next_to_a_read_only_installation_is_not_used(
    list_files: ListFiles, compiled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kernel(add_up)(THREE)
    (installed,) = {file.parent for file in list_files()}
    give_away(installed)
    monkeypatch.setattr(cache_folders, "find_source_cache", lambda _: installed)
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "home"))
    assert kernel(add_up)(THREE) == 18
    assert len(compiled) == 2


def test_other_users_cannot_write_files_with_any_umask(list_files: ListFiles) -> None:
    before = os.umask(0)
    try:
        kernel(add_up)(THREE)
        assert os.umask(0) == 0, "it is as it was"
    finally:
        os.umask(before)
    cache_folder = kernel(add_up).find_folder()
    assert cache_folder is not None
    for entry in (*cache_folder.iterdir(), cache_folder, cache_folder.parent):
        assert not entry.stat().st_mode & 0o022, entry


# Tests that start programs


@pytest.mark.night  # starts a program
@as_root
def test_root_does_not_use_the_cache_of_another_user(tmp_path: Path) -> None:
    """As with a `sudo` that keeps HOME."""
    source = write_source(tmp_path / "installed")
    home = tmp_path / "home"
    (source / "__pycache__").write_text("")  # nothing can be stored next to the source
    home.mkdir()
    give_away(home)
    nowhere = {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")}
    for _ in range(2):
        assert run_source(source, **nowhere) == ("18", True)
    assert not [*home.iterdir()]


@pytest.mark.night  # starts a program
def test_without_a_home_no_folder_of_that_name_is_made(tmp_path: Path) -> None:
    source = write_source(tmp_path / "installed")
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


@pytest.mark.night  # starts a program
def test_a_function_runs_if_the_disk_is_full(tmp_path: Path) -> None:
    """Files are limited to a few bytes. The system raises the same error for a full disk."""
    code = (
        "import resource, numpy\n"
        "from tests.unit.jit.test_disk_cache import add_up, kernel\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))\n"
        "print(kernel(add_up)(numpy.array([5, 6, 7])))\n"
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
    assert can_store_kernel(tmp_path, environment)


def can_store_kernel(folder: Path, environment: dict[str, str]) -> bool:
    """Return whether a process with enough room stores a kernel that the next process uses."""
    code = (
        "import numpy\n"
        "from tests.unit.jit.test_disk_cache import add_up, kernel\n"
        "print(kernel(add_up)(numpy.array([5, 6, 7])))\n"
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
        compile_lock.COMPILING_MESSAGE in errors[0]
        and compile_lock.COMPILING_MESSAGE not in errors[1]
        and any(folder.rglob("*.nbc"))
    )
