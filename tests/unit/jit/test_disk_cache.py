"""Compiled functions are stored on disk and used again, unless their files are damaged."""

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
from numba.core import caching, config, event

from matchrec.jit import cache_folders, compile_lock, sources
from matchrec.jit.cached_function import find_cache_folders
from matchrec.jit.decorators import allocating, kernel
from matchrec.shortcuts import Shortcuts, use_shortcuts

THREE = np.array([5, 6, 7])
IN_A_PROCESS = """
import sys
import numpy as np
from numba.core import event
from tests.unit.jit.test_disk_cache import CompilationListener, add_up, kernel
with event.install_listener("numba:compile", CompilationListener()) as compiled:
    print(kernel(add_up)(np.array([5, 6, 7])), len(compiled.names))
"""


def add_up(numbers: npt.NDArray[Any]) -> Any:
    """Return the sum of some numbers."""
    total = 0
    for index in range(numbers.shape[0]):
        total += numbers[index]
    return total


def halve(number: float) -> float:
    """Return half of a number."""
    return number / 2


class CompilationListener(event.Listener):
    """A listener that collects the names of the functions here that numba compiles."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def on_start(self, event: Any) -> None:
        """Collect the name of a function when its compilation starts."""
        function = event.data["dispatcher"].py_func
        if function.__module__ == add_up.__module__:
            self.names.append(function.__name__)

    def on_end(self, event: Any) -> None:
        """Do nothing when a compilation ends."""


@pytest.fixture
def compiled() -> Iterator[list[str]]:
    """Yield the names of the functions that are compiled in the test."""
    with event.install_listener("numba:compile", CompilationListener()) as listener:
        yield listener.names


@pytest.fixture
def list_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Path]]:
    """Store compiled functions in an empty folder, and return a function that lists its files."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    cache = tmp_path / "cache"
    return lambda: sorted(
        file for file in cache.rglob("*.*") if file.name != compile_lock.LOCK_FILE
    )


ListFiles = Callable[[], list[Path]]


def test_a_function_is_compiled_once(list_files: ListFiles, compiled: list[str]) -> None:
    for numbers in (THREE, THREE[1:], THREE.copy()):
        assert kernel(add_up)(numbers) == numbers.sum()
    assert compiled == ["add_up"]
    first = list_files()
    assert kernel(add_up)(THREE.astype(np.int32)) == 18
    assert compiled == ["add_up"] * 2
    assert set(first) < set(list_files()), "the other types have their own files"
    assert len(list_files()) == 2 * len(first)


def test_missing_code_is_noticed_without_numba(
    list_files: ListFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_folders, "find_source_cache", lambda _: Path(config.CACHE_DIR))
    monkeypatch.setenv("NUMBA_CACHE_DIR", config.CACHE_DIR)
    function, other = kernel(add_up), kernel(halve)
    assert not function.may_be_on_disk(), "there is no folder"
    function(THREE)
    assert function.may_be_on_disk()
    assert not other.may_be_on_disk()
    monkeypatch.setattr(function, "sources", "others")
    assert not function.may_be_on_disk()


@pytest.mark.skipif(sys.platform != "linux", reason="only numba knows the folder")
def test_code_in_the_users_cache_is_found_without_numba(
    list_files: ListFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_folders, "find_source_cache", lambda _: Path(config.CACHE_DIR))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path(config.CACHE_DIR) / "home"))
    function = kernel(add_up)
    assert not function.may_be_on_disk()
    monkeypatch.setattr(config, "CACHE_DIR", str(Path(config.CACHE_DIR) / "home" / "numba"))
    function(THREE)
    assert function.may_be_on_disk()


@pytest.mark.skipif(sys.platform != "linux", reason="only numba knows the folder")
@pytest.mark.parametrize("home", [None, "", "caches"])
def test_the_users_cache_is_predicted(monkeypatch: pytest.MonkeyPatch, home: str | None) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if home is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", home)
    predicted = cache_folders.list_cache_folders(add_up)
    assert predicted is not None
    locator = caching.UserWideCacheLocator(add_up, __file__)
    assert Path(locator.get_cache_path()).parent == predicted[-1]


def test_threads_compile_a_function_once(list_files: ListFiles, compiled: list[str]) -> None:
    function = kernel(add_up)
    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(function, [THREE] * 4)] == [18] * 4
    assert compiled == ["add_up"]


def test_code_made_from_other_sources_is_not_used(
    list_files: ListFiles, compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel(add_up)(THREE)
    files = len(list_files())
    monkeypatch.setattr(sources, "hash_sources", lambda: "others")
    kernel(add_up)(THREE)
    kernel(add_up)(THREE)
    assert len(compiled) == 2
    assert len(list_files()) == files, "it is removed"


def truncate(content: bytes) -> bytes:
    """Return the first half of a file."""
    return content[: len(content) // 2]


def flip_bit(content: bytes) -> bytes:
    """Return a file with another bit in the middle."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize("suffix", [".nbi", ".nbc", ".sha256"])
@pytest.mark.parametrize("damage", [truncate, flip_bit, lambda _: b""])
def test_a_damaged_file_counts_as_missing(
    list_files: ListFiles, compiled: list[str], suffix: str, damage: Callable[[bytes], bytes]
) -> None:
    kernel(add_up)(THREE)
    files = list_files()
    (file,) = (path for path in files if path.suffix == suffix)
    file.write_bytes(damage(file.read_bytes()))
    assert kernel(add_up)(THREE) == 18
    assert kernel(add_up)(THREE) == 18
    assert len(compiled) == 2
    assert list_files() == files


def test_a_missing_file_is_made_again(list_files: ListFiles, compiled: list[str]) -> None:
    for suffix in (".nbi", ".nbc", ".sha256"):
        kernel(add_up)(THREE)
        (file,) = (path for path in list_files() if path.suffix == suffix)
        file.unlink()
    assert kernel(add_up)(THREE) == 18
    assert len(compiled) == 4


def write_source(folder: Path) -> Path:
    """Write a module with a function. Compiled code is stored next to it if that is possible."""
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


def run_source(folder: Path, **environment: str) -> tuple[str, bool]:
    """Call the function in a folder in a new process.

    Return the output of the process, and whether it has compiled the function.
    """
    code = "import numpy, summing; print(summing.kernel(summing.added)(numpy.array([5, 6, 7])))"
    inherited = {name: os.environ[name] for name in os.environ if name != "NUMBA_CACHE_DIR"}
    inherited["PYTHONPATH"] = os.pathsep.join([str(folder), *sys.path])
    command = [sys.executable, "-B", "-c", code]
    result = subprocess.run(
        command, env=inherited | environment, capture_output=True, text=True, check=True
    )
    return result.stdout.strip(), compile_lock.COMPILING_MESSAGE in result.stderr


def make_unwritable(folder: Path) -> None:
    """Write a file at the path of a folder, so that not even an administrator can write there."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.write_text("")


@pytest.mark.night  # starts a program
def test_compiled_code_is_stored_next_to_the_source(tmp_path: Path) -> None:
    folder = write_source(tmp_path / "installed")
    assert run_source(folder) == ("18", True)
    assert run_source(folder) == ("18", False)
    assert list((folder / "__pycache__").glob("*.nbi"))


@pytest.mark.night  # starts a program
def test_code_is_stored_in_the_users_cache_if_the_installation_is_read_only(tmp_path: Path) -> None:
    folder = write_source(tmp_path / "installed")
    make_unwritable(folder / "__pycache__")
    home = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home" / "cache")}
    assert run_source(folder, **home) == ("18", True)
    assert run_source(folder, **home) == ("18", False)
    assert list((tmp_path / "home").rglob("*.nbi"))


def test_code_of_a_read_only_installation_is_copied_and_used(
    list_files: ListFiles, compiled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kernel(add_up)(THREE)
    (installed,) = {file.parent for file in list_files()}
    monkeypatch.setattr(cache_folders, "find_source_cache", lambda _: installed)
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "home"))
    assert kernel(add_up)(THREE) == 18
    assert compiled == ["add_up"]
    assert list((tmp_path / "home").rglob("*.nbc"))


@pytest.mark.night  # starts a program
def test_without_a_writable_folder_each_process_compiles_for_itself(tmp_path: Path) -> None:
    folder = write_source(tmp_path / "installed")
    make_unwritable(folder / "__pycache__")
    make_unwritable(tmp_path / "home")
    nowhere = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "home" / "cache")}
    assert run_source(folder, **nowhere) == ("18", True)
    assert run_source(folder, **nowhere) == ("18", True)


def test_a_function_runs_if_its_files_cannot_be_written(
    list_files: ListFiles, compiled: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    function = kernel(add_up)

    def raise_disk_full(*_: object) -> None:
        """Raise the error of a full disk."""
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", raise_disk_full)
    assert function(THREE) == function(THREE) == 18
    assert len(compiled) == 2, "first in order to write files, then without files"


@pytest.mark.slow  # starts programs
def test_one_of_several_processes_compiles_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    command = [sys.executable, "-c", IN_A_PROCESS]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    printed = [process.communicate()[0].split() for process in started]
    assert sorted(printed) == [["18", "0"], ["18", "0"], ["18", "1"]], "one of them compiles"


def test_find_cache_folders_lists_folders_with_code(list_files: ListFiles, tmp_path: Path) -> None:
    def find_test_folders() -> list[Path]:
        """Return the folders of this test, because other tests have cached functions, too."""
        return [folder for folder in find_cache_folders() if tmp_path in folder.parents]

    function = kernel(add_up)
    assert find_test_folders() == []
    function(THREE)
    (cache_folder,) = find_test_folders()
    assert cache_folder.parent == tmp_path / "cache"


def test_functions_that_allocate_are_stored_too(list_files: ListFiles, compiled: list[str]) -> None:
    with use_shortcuts(Shortcuts(max_python_steps=0)):
        for number in (3, 5.0):
            assert allocating(halve)(number) == allocating(halve)(number) == number / 2
    assert len(compiled) == 2


def test_compiling_is_reported_once(
    list_files: ListFiles, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compile_lock.print_compiling.cache_clear()
    kernel(add_up)(THREE)
    kernel(add_up)(THREE.astype(np.int32))
    assert capsys.readouterr().err == f"{compile_lock.COMPILING_MESSAGE}\n"
