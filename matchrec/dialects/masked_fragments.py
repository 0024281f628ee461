"""Fragments of a query in which names replace what sqlglot cannot read.

A hole of a fragment is a part that sqlglot cannot read: a clause with its relation, what is between
the parentheses of a row pattern window, a call over such a window, or `{name}` for a DataFrame.

    SELECT * FROM ticks MATCH_RECOGNIZE (...) AS m     the fragment
    SELECT * FROM hole_of_match_recognize_0 AS m       the text that sqlglot reads
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from matchrec.dialects.edits import Edit, EditedText, apply_edits
from matchrec.dialects.rules.visible_columns import ColumnKinds
from matchrec.source import Span

# The prefix of the names that replace holes. Their numbers follow it.
_HOLE_PREFIX = "hole_of_match_recognize_"


@dataclass(frozen=True, slots=True)
class Hole:
    """A part of a text that sqlglot cannot read."""

    # The characters of the part.
    span: Span
    # Whether the hole is all that is between the parentheses of a window.
    is_window: bool = False
    # The kinds of the columns, if the hole is a clause; None if they are not known.
    columns: ColumnKinds | None = None


@dataclass(frozen=True, slots=True)
class MaskedFragment:
    """A fragment in which names replace its holes."""

    # Where the fragment is in the whole text.
    span: Span
    # The fragment before and after its holes are replaced. Offsets count from its start.
    edited: EditedText
    # The outermost holes, by the names that replace them.
    holes: Mapping[str, Hole]

    @property
    def text(self) -> str:
        """Return the text that sqlglot reads."""
        return self.edited.text

    def locate(self, span: Span) -> Span:
        """Return the span of the whole text that became `span` in the masked text."""
        return self.edited.find_old_span(span).shift_by(self.span.start)

    def locate_edit(self, edit: Edit) -> Edit:
        """Return an edit of the masked text as an edit of the whole text."""
        span = self.edited.find_old_span_of_edit(edit.span).shift_by(self.span.start)
        return Edit(span, edit.text)


def mask_holes(text: str, span: Span, holes: Iterable[Hole], prefix: str = "") -> MaskedFragment:
    """Return a fragment with names instead of its holes.

    Args:
        text: the whole text.
        span: the characters of the fragment.
        holes: the holes in the fragment, with spans of the whole text, in any order. Holes that are
            inside other holes are ignored.
        prefix: text that is added before the fragment.
    """
    outermost = _find_outermost(holes)
    holes_by_name = {f"{_HOLE_PREFIX}{number}": hole for number, hole in enumerate(outermost)}
    masks = [Edit(Span(0, 0), prefix)]
    for name, hole in holes_by_name.items():
        # In `OVER (name)`, sqlglot takes the name for another window's, which some of its versions
        # print in parentheses. A key has no such meaning.
        mask = f"PARTITION BY {name}" if hole.is_window else name
        masks.append(Edit(hole.span.shift_by(-span.start), mask))
    edited = apply_edits(text[span.start : span.end], masks)
    return MaskedFragment(span, edited, holes_by_name)


def _find_outermost(holes: Iterable[Hole]) -> list[Hole]:
    """Return the holes that are inside no other one, in the order of the text."""
    outermost: list[Hole] = []
    for hole in sorted(holes, key=lambda hole: (hole.span.start, -hole.span.end)):
        if not outermost or hole.span.start >= outermost[-1].span.end:
            outermost.append(hole)
    return outermost
