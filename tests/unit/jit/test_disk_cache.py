"""Compiled functions on disk: found again, wherever they can be kept, whatever happens to files."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from numba.core import config, event

from matchrec.jit import disk_cache
from matchrec.jit.decorators import allocating, kernel
from matchrec.shortcuts import Shortcuts, use_shortcuts

THREE = np.array([5, 6, 7])
IN_A_PROCESS = """
import sys
import numpy as np
from numba.core import event
from tests.unit.jit.test_disk_cache import Compiled, added, kernel
with event.install_listener("numba:compile", Compiled()) as compiled:
    print(kernel(added)(np.array([5, 6, 7])), len(compiled.names))
"""


def added(numbers: npt.NDArray[Any]) -> Any:
    total = 0
    for index in range(numbers.shape[0]):
        total += numbers[index]
    return total


def half(number: float) -> float:
    return number / 2


class Compiled(event.Listener):
    """The functions of these tests that numba has compiled, by name."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def on_start(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        if function.__module__ == added.__module__:
            self.names.append(function.__name__)

    def on_end(self, event: Any) -> None: ...


@pytest.fixture
def compiled() -> Iterator[list[str]]:
    with event.install_listener("numba:compile", Compiled()) as listener:
        yield listener.names


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Path]]:
    """Has functions kept in an empty folder; gives their files in it."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    cache = tmp_path / "cache"
    return lambda: sorted(file for file in cache.rglob("*.*") if file.name != disk_cache.LOCK_FILE)


Place = Callable[[], list[Path]]


def test_a_function_is_compiled_once(place: Place, compiled: list[str]) -> None:
    for numbers in (THREE, THREE[1:], THREE.copy()):
        assert kernel(added)(numbers) == numbers.sum()
    assert compiled == ["added"]
    first = place()
    assert kernel(added)(THREE.astype(np.int32)) == 18
    assert compiled == ["added"] * 2
    assert set(first) < set(place()), "the other types have files of their own"
    assert len(place()) == 2 * len(first)


def test_without_numba_it_is_known_that_nothing_is_kept(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_cache, "find_source_cache", lambda _: Path(config.CACHE_DIR))
    monkeypatch.setenv("NUMBA_CACHE_DIR", config.CACHE_DIR)
    function, other = kernel(added), kernel(half)
    assert not function.may_be_on_disk(), "there is no folder"
    function(THREE)
    assert function.may_be_on_disk()
    assert not other.may_be_on_disk()
    monkeypatch.setattr(function, "sources", "others")
    assert not function.may_be_on_disk()


@pytest.mark.skipif(sys.platform != "linux", reason="only numba knows the folder")
def test_the_cache_of_the_user_is_known(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_cache, "find_source_cache", lambda _: Path(config.CACHE_DIR))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path(config.CACHE_DIR) / "home"))
    function = kernel(added)
    assert not function.may_be_on_disk()
    monkeypatch.setattr(config, "CACHE_DIR", str(Path(config.CACHE_DIR) / "home" / "numba"))
    function(THREE)
    assert function.may_be_on_disk()


def test_threads_compile_a_function_once(place: Place, compiled: list[str]) -> None:
    function = kernel(added)
    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(function, [THREE] * 4)] == [18] * 4
    assert compiled == ["added"]


def test_code_made_from_other_sources_is_not_used(
    place: Place, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel(added)(THREE)
    files = len(place())
    monkeypatch.setattr(disk_cache, "hash_sources", lambda: "others")
    kernel(added)(THREE)
    kernel(added)(THREE)
    assert len(compiled) == 2
    assert len(place()) == files, "it is removed"


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize("suffix", [".nbi", ".nbc", ".sha256"])
@pytest.mark.parametrize("damage", [cut, flipped, lambda _: b""])
def test_a_damaged_file_counts_as_missing(
    place: Place, compiled: list[str], suffix: str, damage: Callable[[bytes], bytes]
) -> None:
    kernel(added)(THREE)
    whole = place()
    (file,) = (one for one in whole if one.suffix == suffix)
    file.write_bytes(damage(file.read_bytes()))
    assert kernel(added)(THREE) == 18
    assert kernel(added)(THREE) == 18
    assert len(compiled) == 2
    assert place() == whole


def test_a_missing_file_is_made_again(place: Place, compiled: list[str]) -> None:
    for suffix in (".nbi", ".nbc", ".sha256"):
        kernel(added)(THREE)
        (file,) = (one for one in place() if one.suffix == suffix)
        file.unlink()
    assert kernel(added)(THREE) == 18
    assert len(compiled) == 4


def source_in(folder: Path) -> Path:
    """Write a module with a function. Compiled code is kept beside it if that is possible."""
    folder.mkdir()
    (folder / "summing.py").write_text(
        "from matchrec.jit.decorators import kernel\n"
        "def added(numbers):\n"
        "    total = 0\n"
        "    for index in range(numbers.shape[0]):\n"
        "        total += numbers[index]\n"
        "    return total\n"
    )
    return folder


def summed(folder: Path, **environment: str) -> tuple[str, bool]:
    """Return what a process prints that calls the function in a folder, and whether it compiles."""
    code = "import numpy, summing; print(summing.kernel(summing.added)(numpy.array([5, 6, 7])))"
    inherited = {name: os.environ[name] for name in os.environ if name != "NUMBA_CACHE_DIR"}
    inherited["PYTHONPATH"] = os.pathsep.join([str(folder), *sys.path])
    command = [sys.executable, "-B", "-c", code]
    result = subprocess.run(
        command, env=inherited | environment, capture_output=True, text=True, check=True
    )
    return result.stdout.strip(), disk_cache.COMPILING_MESSAGE in result.stderr


def make_unwritable(folder: Path) -> None:
    """Put a file where a folder is needed, so that not even an administrator can write there."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("")


@pytest.mark.night  # a program of its own
def test_beside_the_source(tmp_path: Path) -> None:
    folder = source_in(tmp_path / "installed")
    assert summed(folder) == ("18", True)
    assert summed(folder) == ("18", False)
    assert list((folder / "__pycache__").glob("*.nbi"))


@pytest.mark.night  # a program of its own
def test_the_users_place_where_the_installation_cannot_be_written_to(tmp_path: Path) -> None:
    folder = source_in(tmp_path / "installed")
    make_unwritable(folder / "__pycache__")
    home = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home" / "cache")}
    assert summed(folder, **home) == ("18", True)
    assert summed(folder, **home) == ("18", False)
    assert list((tmp_path / "home").rglob("*.nbi"))


def test_functions_of_a_read_only_installation_are_used(
    place: Place, compiled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kernel(added)(THREE)
    (installed,) = {file.parent for file in place()}
    monkeypatch.setattr(disk_cache, "find_source_cache", lambda _: installed)
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "home"))
    assert kernel(added)(THREE) == 18
    assert compiled == ["added"]
    assert list((tmp_path / "home").rglob("*.nbc"))


@pytest.mark.night  # a program of its own
def test_without_any_place_each_process_compiles_for_itself(tmp_path: Path) -> None:
    folder = source_in(tmp_path / "installed")
    make_unwritable(folder / "__pycache__")
    make_unwritable(tmp_path / "home")
    nowhere = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home" / "cache")}
    assert summed(folder, **nowhere) == ("18", True)
    assert summed(folder, **nowhere) == ("18", True)


def test_no_room_for_files(
    place: Place, compiled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = kernel(added)

    def full(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert found(THREE) == found(THREE) == 18
    assert len(compiled) == 2, "once with the files in mind, then without"


@pytest.mark.slow  # starts programs
def test_several_processes_at_once_with_nothing_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    command = [sys.executable, "-c", IN_A_PROCESS]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    printed = [process.communicate()[0].split() for process in started]
    assert sorted(printed) == [["18", "0"], ["18", "0"], ["18", "1"]], "one of them compiles"


def test_places(place: Place, tmp_path: Path) -> None:
    summing = kernel(added)
    assert not [one for one in disk_cache.find_cache_folders() if tmp_path in one.parents]
    summing(THREE)
    (found,) = (one for one in disk_cache.find_cache_folders() if tmp_path in one.parents)
    assert found.parent == tmp_path / "cache"


def test_what_allocates_is_kept_too(place: Place, compiled: list[str]) -> None:
    with use_shortcuts(Shortcuts(max_python_steps=0)):
        for number in (3, 5.0):
            assert allocating(half)(number) == allocating(half)(number) == number / 2
    assert len(compiled) == 2


def test_compiling_is_said_once(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    disk_cache.print_compiling.cache_clear()
    kernel(added)(THREE)
    kernel(added)(THREE.astype(np.int32))
    assert capsys.readouterr().err == f"{disk_cache.COMPILING_MESSAGE}\n"
