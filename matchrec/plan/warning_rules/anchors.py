"""Warnings about `^` and `$` inside a match, where they are never true.

PATTERN (A $ B)      warning: a row would have to follow the end of the partition
PATTERN (A ^ B)      warning: a row would have to precede the start of the partition
PATTERN (A $ B?)     no warning
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.errors import warnings
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan import pattern as patterns
from matchrec.plan.match_plan import MatchPlan

Anchor = patterns.PartitionStart | patterns.PartitionEnd


def warn_about_anchors(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each `^` after a row, and for each `$` before a row."""
    for anchor in find_inner_anchors(plan.pattern, has_row_before=False, has_row_after=False):
        if isinstance(anchor, patterns.PartitionStart):
            yield warnings.start_after_row(anchor.span)
        else:
            yield warnings.end_before_row(anchor.span)


def find_inner_anchors(
    pattern: patterns.RowPattern, *, has_row_before: bool, has_row_after: bool
) -> Iterator[Anchor]:
    """Yield each `^` with a row before it in every match, and each `$` with a row after it.

    Rows of other repetitions of a loop are not counted: in `(A $)+`, a row follows `$` in every
    repetition but the last, in which `$` can be true.

    Args:
        pattern: a part of PATTERN.
        has_row_before: whether the parts before this part have a row in every match.
        has_row_after: whether the parts after this part have a row in every match.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> for text in ("^ A+ $ B", "A ^ B", "A? ^ (B $)+ C?", "(A $ | B) C", "PERMUTE(A, ^ B $)"):
    ...     pattern = parse_row_pattern(text)
    ...     anchors = find_inner_anchors(pattern, has_row_before=False, has_row_after=False)
    ...     print(text, *(patterns.show_pattern(anchor) for anchor in anchors), sep=" -> ")
    ^ A+ $ B -> $
    A ^ B -> ^
    A? ^ (B $)+ C?
    (A $ | B) C -> $
    PERMUTE(A, ^ B $)
    """
    match pattern:
        case patterns.PartitionStart() if has_row_before:
            yield pattern
        case patterns.PartitionEnd() if has_row_after:
            yield pattern
        case patterns.Concatenation(parts):
            for index, part in enumerate(parts):
                yield from find_inner_anchors(
                    part,
                    has_row_before=has_row_before or always_have_row(parts[:index]),
                    has_row_after=has_row_after or always_have_row(parts[index + 1 :]),
                )
        case _:
            for part in patterns.list_children(pattern):
                yield from find_inner_anchors(
                    part, has_row_before=has_row_before, has_row_after=has_row_after
                )


def always_have_row(parts: tuple[patterns.RowPattern, ...]) -> bool:
    """Return whether at least one of some parts of PATTERN has a row in every match."""
    return not all(patterns.can_be_empty(part) for part in parts)
