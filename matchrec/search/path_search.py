"""The base class of searches that follow one run at a time, with its arrays."""

from __future__ import annotations

import numpy as np

from matchrec.search.kernel_search import KernelSearch, Shapes, W
from matchrec.search.kernels import layout


class PathSearch(KernelSearch[W]):
    """A search of one run at a time, which remembers failures.

    Its arrays are the path of the run, the computation state at each depth, and the memo of
    failures.
    """

    progress: layout.RememberedRows
    progress_class = layout.RememberedRows

    @property
    def shapes(self) -> Shapes:
        """Return the path, the memo and the registers."""
        size = self.sizes[layout.PATH_FULL]
        return {"path": ((size,), np.int32)} | self.shape_memo() | self.shape_registers(size)

    def remember_nothing(self) -> None:
        """Change the rules so that no failure is remembered.

        Each run that gets to a state at a row then searches from there again. The memo stays as
        small as it was at first, because it never gets full.
        """
        program = self.rules.program.copy()
        program[:, layout.MEMO] = layout.NOT_REMEMBERED
        self.rules = self.rules._replace(program=program)
