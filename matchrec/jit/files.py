"""The files in which numba keeps a function, with a file of digests that shows damage.

numba replaces each file as a whole, so what processes write at the same time is never mixed within
a file. The file that vouches for the others is written last. Where it does not, because a disk is
broken, a copy has been cut off or another process is just writing, they count as missing.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from matchrec.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a name in a folder. A name ends in a digest of the sources, after a hyphen."""

    place: Path
    name: str

    @property
    def voucher(self) -> Path:
        return self.place / f"{self.name}.sha256"

    def kept(self) -> list[Path]:
        """Numba's files: the code, then the lists that say where it is."""
        return sorted(self.place.glob(f"*.{self.name}-*.nb[ci]"))

    def digests(self) -> str:
        """What vouches for the files as they are: a line for each, as `sha256sum` writes it."""
        digests = {one.name: hashlib.sha256(one.read_bytes()) for one in self.kept()}
        return "\n".join(f"{digest.hexdigest()}  {name}" for name, digest in digests.items())

    def are_sound(self) -> bool:
        """Whether the files are as they were when they were vouched for."""
        with suppress(OSError):
            return self.voucher.read_bytes() == self.digests().encode()
        return False

    def vouch(self) -> None:
        """Say that the files are as they should be; those made from other sources are removed."""
        with suppress(OSError):
            write(self.voucher, self.digests().encode())
        stem = self.name.rpartition("-")[0]
        for voucher in self.place.glob(f"{stem}-*.sha256"):
            if voucher != self.voucher:
                Files(self.place, voucher.stem).remove()

    def remove(self) -> None:
        """Remove the files."""
        for one in (self.voucher, *self.kept()):
            with suppress(OSError):
                one.unlink()

    def copy_from(self, place: Path) -> None:
        """Copy the files in another place, unless there are some here."""
        there = Files(place, self.name)
        if self.voucher.exists() or not there.voucher.exists():
            return
        with suppress(OSError):
            for one in (*there.kept(), there.voucher):
                write(self.place / one.name, one.read_bytes())


def write(path: Path, content: bytes) -> None:
    """Write a file as a whole."""
    temporary = path.with_name(f"{path.name}.{uuid4().hex[:16]}")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
