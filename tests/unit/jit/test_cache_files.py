"""The files of a compiled function, and what vouches for them."""

from __future__ import annotations

from pathlib import Path

from matchrec.jit.cache_files import CacheFiles

NAME = "search-0123"
CODE_FILE = f"module.{NAME}-12.py312.1.nbc"


def test_files_are_undamaged_until_one_changes(tmp_path: Path) -> None:
    files = CacheFiles(tmp_path, NAME)
    (tmp_path / CODE_FILE).write_bytes(b"code")
    assert not files.are_undamaged()
    files.vouch()
    assert files.are_undamaged()
    (tmp_path / CODE_FILE).write_bytes(b"cod")
    assert not files.are_undamaged()


def test_nothing_is_vouched_for_if_numba_wrote_no_file(tmp_path: Path) -> None:
    files = CacheFiles(tmp_path, NAME)
    files.vouch()
    assert files.find_all() == []
    assert not files.are_undamaged()


def test_a_voucher_for_no_files_counts_as_damage(tmp_path: Path) -> None:
    files = CacheFiles(tmp_path, NAME)
    files.voucher.write_bytes(b"")
    assert not files.are_undamaged()


def test_files_of_other_sources_are_removed(tmp_path: Path) -> None:
    (tmp_path / "module.search-4567-12.py312.1.nbc").touch()
    (tmp_path / "search-4567.sha256").touch()
    (tmp_path / CODE_FILE).touch()
    files = CacheFiles(tmp_path, NAME)
    files.vouch()
    assert sorted(path.name for path in tmp_path.iterdir()) == [CODE_FILE, f"{NAME}.sha256"]
