"""Row pattern windows of a query: what each asks for, and what the query around them becomes."""

from __future__ import annotations

from dataclasses import field

from matchrec.dataclass import dataclass
from matchrec.frontends.sql.clause.nodes import ExpressionText
from matchrec.plan.text.template import View
from matchrec.source import Span


@dataclass(frozen=True, slots=True)
class FrameEnd:
    """`AND ... FOLLOWING`: how many rows the frame has after its first one; None: all of them."""

    rows: int | ExpressionText | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class WindowCall:
    """What stands before OVER: a measure of the window, or a function over the match's rows.

    column: of the column that stands for it. measure: the name of a measure, None of a function.
    """

    column: str
    written: ExpressionText
    measure: str | None


def uncalled(measure: str) -> str:
    """The column of a measure that nothing calls: it is checked, and not computed."""
    return f"{measure} of the window"


@dataclass(frozen=True, slots=True)
class RowPatternWindow:
    """What a window has beside its clause. before: the rows of the window that was read before it
    in the same SELECT, None of the first one. calls: over it, each once.
    """

    frame: FrameEnd
    calls: tuple[WindowCall, ...]
    before: View | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A SELECT with row pattern windows, and what stands in it once they are evaluated.

    view: the rows of its last window. last: the index of that window's site. select: from SELECT up
    to FROM. rows: FROM's relation with its WHERE. alias: of the relation. edits: text in the place
    of other text. stars: where all columns are asked for. columns: those of the input, once known.
    """

    view: View
    last: int
    select: Span
    rows: Span
    alias: str | None
    edits: tuple[tuple[Span, str], ...]
    stars: tuple[Span, ...]
    columns: tuple[str, ...] = ()
