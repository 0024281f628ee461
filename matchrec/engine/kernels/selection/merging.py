"""Merging runs of event selection: `kernels.merging` over what these kernels work in."""

from matchrec.engine.kernels.layout import STAMP
from matchrec.engine.kernels.merging import find_twin
from matchrec.engine.kernels.selection.layout import Rules, Work
from matchrec.jit.decorators import inlined


@inlined
def twin_of(bank: int, run: int, rules: Rules, work: Work) -> int:
    """The run before `run` in the bank that is its equal, or NONE; then `run` is noted."""
    return find_twin(
        work.runs,
        bank,
        run,
        work.registers,
        bank * work.runs.shape[1],
        rules.live_first,
        rules.live,
        work.table,
        work.progress[STAMP],
    )
