"""Compiled kernels on disk: found again, wherever they can be kept, whatever happens to files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from matchrec.evaluate import cache
from matchrec.evaluate.cache import KernelCache
from matchrec.evaluate.jit import kernel

THREE = np.array([5, 6, 7])
IN_A_PROCESS = """
import numpy as np
from matchrec.evaluate.cache import KernelCache
from tests.unit.evaluate.test_cache import added, kernel
saved = []
original = KernelCache.save_overload
KernelCache.save_overload = lambda *arguments: (saved.append(1), original(*arguments))
print(kernel(added)(np.array([5, 6, 7])), len(saved))
"""


def added(numbers):
    total = 0
    for index in range(numbers.shape[0]):
        total += numbers[index]
    return total


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernels that were compiled in this test, by name."""
    found: list[str] = []
    original = KernelCache.save_overload

    def save(self: KernelCache, sig: Any, data: Any) -> None:
        found.append(self.name)
        original(self, sig, data)

    monkeypatch.setattr(KernelCache, "save_overload", save)
    return found


@pytest.fixture
def keep_in(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Says in which folders kernels are kept."""
    return lambda *folders: monkeypatch.setattr(cache, "places", lambda: iter(folders))


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def unwritable(folder: Path) -> Path:
    """A place that nobody can write to, not even an administrator."""
    (folder / "file").write_text("")
    return folder / "file" / "kernels"


def test_a_kernel_is_compiled_once(
    tmp_path: Path, keep_in: Callable[..., None], compiled: list[str]
) -> None:
    keep_in(tmp_path)
    read_only = THREE.copy()
    read_only.flags.writeable = False
    for numbers in (THREE, THREE[1:], read_only):
        assert kernel(added)(numbers) == numbers.sum()
    assert len(compiled) == len(files(tmp_path)) == 1
    assert kernel(added)(THREE.astype(np.int32)) == 18
    assert len(compiled) == len(files(tmp_path)) == 2


def test_a_kernel_made_from_other_sources_is_replaced(
    tmp_path: Path,
    keep_in: Callable[..., None],
    compiled: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keep_in(tmp_path)
    kernel(added)(THREE)
    monkeypatch.setattr(cache, "digest_of_sources", lambda: "of other sources")
    kernel(added)(THREE)
    kernel(added)(THREE)
    assert len(compiled) == 2
    assert len(files(tmp_path)) == 1


@pytest.mark.parametrize("damage", [0, 40, 64, 2_000, "flipped"])
def test_a_damaged_file_counts_as_missing(
    tmp_path: Path, keep_in: Callable[..., None], compiled: list[str], damage: int | str
) -> None:
    keep_in(tmp_path)
    kernel(added)(THREE)
    (file,) = files(tmp_path)
    whole = file.read_bytes()
    if isinstance(damage, int):
        file.write_bytes(whole[:damage])
    else:
        middle = len(whole) // 2
        file.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
    assert kernel(added)(THREE) == 18
    assert kernel(added)(THREE) == 18
    assert len(compiled) == 2
    assert files(tmp_path) == [file]


def test_a_place_that_cannot_be_written_to_is_passed_by(
    tmp_path: Path, keep_in: Callable[..., None], compiled: list[str]
) -> None:
    keep_in(unwritable(tmp_path), tmp_path / "home")
    assert kernel(added)(THREE) == kernel(added)(THREE) == 18
    assert len(compiled) == len(files(tmp_path / "home")) == 1


def test_kernels_of_a_read_only_installation_are_used(
    tmp_path: Path, keep_in: Callable[..., None], compiled: list[str]
) -> None:
    installed, home = tmp_path / "installed", tmp_path / "home"
    keep_in(installed)
    kernel(added)(THREE)
    installed.chmod(0o555)
    keep_in(installed, home)
    assert kernel(added)(THREE) == 18
    assert len(compiled) == 1
    assert not home.exists()
    installed.chmod(0o755)


def test_without_any_place_each_process_compiles_for_itself(
    tmp_path: Path, keep_in: Callable[..., None], compiled: list[str]
) -> None:
    keep_in(unwritable(tmp_path))
    assert kernel(added)(THREE) == kernel(added)(THREE) == 18
    assert len(compiled) == 2


def test_places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cache.config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    installed, _ = cache.places()
    assert installed == Path(cache.__file__).parents[1] / "__pycache__"
    monkeypatch.setattr(cache.config, "CACHE_DIR", str(tmp_path))
    (chosen,) = cache.places()
    assert chosen.parent == tmp_path


def test_several_processes_at_once_on_an_empty_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    command = [sys.executable, "-c", IN_A_PROCESS]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    for process in started:
        printed, _ = process.communicate()
        assert printed.split()[0] == "18"
    (folder,) = tmp_path.iterdir()
    assert len(files(folder)) == 1
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    assert result.stdout.split() == ["18", "0"]
