"""The files in which numba keeps one compiled function, and a file of digests that reveals damage.

numba replaces each file as a whole, so no file has parts from two processes. The file of digests,
the *voucher*, is written last. If a digest is wrong, the files count as missing: the disk may be
broken, a copy may be incomplete, or another process may still be writing.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from matchrec.jit import trust


@dataclass(frozen=True, slots=True)
class CacheFiles:
    """The files in a folder that hold the code of one function for one combination of types."""

    folder: Path
    # The part of the file names that is made from the function, the types and, after the last
    # hyphen, the sources: see `CachedFunction.name_files`.
    name: str

    @property
    def voucher(self) -> Path:
        """Return the path of the file with the digests of the other files."""
        return self.folder / f"{self.name}.sha256"

    def find_code_files(self) -> list[Path]:
        """Return numba's files: the code (`.nbc`), then its index (`.nbi`)."""
        return sorted(self.folder.glob(f"*.{self.name}-*.nb[ci]"))

    def find_all(self) -> list[Path]:
        """Return the existing files: numba's, and the voucher."""
        return [file for file in (*self.find_code_files(), self.voucher) if os.path.lexists(file)]

    def are_trusted(self, writers: trust.Writers) -> bool:
        """Return whether only `writers` can have written the files."""
        if not trust.has_users():
            return True
        return all(trust.find_file_fault(file, writers) is None for file in self.find_all())

    def are_undamaged(self) -> bool:
        """Return whether code files exist and the voucher has their digests."""
        try:
            expected_digests = self.voucher.read_bytes().decode()
            digests = self.compute_digests()
        except (OSError, UnicodeDecodeError):
            return False
        return digests != "" and digests == expected_digests

    def compute_digests(self) -> str:
        """Return the content of the voucher: a line for each file, as `sha256sum` writes it."""
        digests = {file.name: hashlib.sha256(file.read_bytes()) for file in self.find_code_files()}
        return "\n".join(f"{digest.hexdigest()}  {name}" for name, digest in digests.items())

    def vouch(self) -> None:
        """Write the voucher, and remove the files that were made from other sources.

        No voucher is written if numba has written no files. Errors of the disk are ignored: without
        a voucher, the files count as missing.
        """
        with suppress(OSError):
            digests = self.compute_digests()
            if digests:
                write_file(self.voucher, digests.encode())
        stem = self.name.rpartition("-")[0]
        for voucher in self.folder.glob(f"{stem}-*.sha256"):
            if voucher != self.voucher:
                CacheFiles(self.folder, voucher.stem).remove()

    def remove(self) -> None:
        """Remove the files. Files that cannot be removed are ignored.

        The voucher is removed first, so that the files count as missing in between.
        """
        for file in (self.voucher, *self.find_code_files()):
            with suppress(OSError):
                file.unlink()


def write_file(path: Path, content: bytes) -> None:
    """Write a file as a whole, so that no process reads a part of it.

    Raises:
        OSError: the file cannot be written.
    """
    temporary = path.with_name(f"{path.name}.{uuid4().hex[:16]}")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
