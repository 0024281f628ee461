"""Notes on a translation: what is lost, or means something else in the other product."""

from __future__ import annotations

from matchrec.dataclass import dataclass
from matchrec.source import Source, Span


@dataclass(frozen=True, slots=True)
class Note:
    """What differs, in one sentence. span: of the text that was translated.

    is_met: whether it is the same when the query runs here; only its text means something else.
    """

    message: str
    span: Span
    is_met: bool = False

    def shown(self, source: Source) -> str:
        """The sentence and its place."""
        return f"{self.message}\n{source.excerpt(self.span)}"
