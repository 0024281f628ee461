"""Takes out of an expression what reads rows of a match: navigation, aggregates, columns.

Everything that the standard forbids about them is refused here, because only here is it known how
they were written.
Source: ISO/IEC 19075-5, row pattern navigation operations; running versus final semantics.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from matchrec.dataclass import dataclass
from matchrec.errors.sql import expression as errors
from matchrec.frontends.expressions.analysis import Analysis, Clause, is_semantics
from matchrec.frontends.expressions.references.aggregates import read_aggregate
from matchrec.frontends.expressions.references.frames import is_frame
from matchrec.frontends.expressions.references.navigation import read_navigation
from matchrec.frontends.expressions.references.row_term import (
    read_classifier,
    read_ending,
    read_match_number,
    read_matched_rows,
    read_row_number,
)
from matchrec.frontends.lexing.function_names import (
    AGGREGATES,
    ENDINGS,
    LOGICAL,
    NAVIGATION,
    NONDETERMINISTIC,
    OF_THE_MATCH,
    WINDOW_ONLY,
)
from matchrec.plan.expression import ColumnReference, Navigation, Reference, Semantics, Term
from matchrec.source import Span


@dataclass(frozen=True, slots=True)
class Hole:
    """Tokens `start .. end` of an expression, and what they read of the match."""

    start: int
    end: int
    read: Term


def find_holes(analysis: Analysis) -> tuple[Hole, ...]:
    """What an expression reads of a match, left to right; holes do not overlap."""
    _refuse_everywhere(analysis)
    return tuple(_holes(analysis))


def refuse_references(analysis: Analysis) -> None:
    """Refuses what reads rows of a match, in an expression that is evaluated before it."""
    for index, token in enumerate(analysis.tokens):
        if _in_subquery(analysis, index):
            continue
        if token.key == "OVER" and analysis.key(index - 1) == ")":
            raise errors.reads_rows_of_a_match("window function", analysis.clause, token.span)
        if is_reading_call(analysis, index):
            raise errors.reads_rows_of_a_match(token.text, analysis.clause, token.span)


def _holes(analysis: Analysis) -> Iterator[Hole]:
    index = 0
    while index < len(analysis.tokens):
        if analysis.is_subquery(index):
            index = analysis.past(index)
        elif hole := _hole_at(analysis, index):
            yield hole
            index = hole.end
        else:
            index += 1


def _hole_at(analysis: Analysis, index: int) -> Hole | None:
    prefixed = is_semantics(analysis, index)
    semantics = Semantics(analysis.key(index)) if prefixed else Semantics.RUNNING
    function = index + prefixed
    if prefixed:
        _refuse_semantics(analysis, index)
    if is_reading_call(analysis, function):
        read, end = _call(analysis, function, semantics)
        return Hole(index, end, _spanned(read, analysis.span(index, end)))
    column = analysis.columns.get(index)
    if index == 0 and analysis.key(index) == "*":
        raise errors.bare_star(analysis.clause, analysis.span(index, index + 1))
    if column is None or column.in_query:
        return None
    if column.star:
        raise errors.bare_star(analysis.clause, column.span)
    end = analysis.after(index, column.span)
    navigation = Navigation(analysis.variable(column))
    argument = analysis.row_text(index, end)
    reference = ColumnReference(navigation, argument, column.span)
    return Hole(index, end, Term((reference,), column.span))


def _spanned(term: Term, span: Span) -> Term:
    """The same readings, all of them written at `span`."""
    pieces = (one if isinstance(one, str) else replace(one, span=span) for one in term.pieces)
    return Term(tuple(pieces), span)


def is_reading_call(analysis: Analysis, index: int) -> bool:
    """Whether a navigation, an aggregate or another function of the match is called at `index`."""
    if not analysis.is_call(index):
        return False
    name = analysis.key(index)
    quantifies = name in ("ANY", "SOME") and analysis.key(index - 1) in ("LIKE", "ILIKE", "RLIKE")
    return name in OF_THE_MATCH or (name in AGGREGATES and not quantifies)


def _call(analysis: Analysis, index: int, semantics: Semantics) -> tuple[Term, int]:
    """What the call at `index` reads, and the token after it."""
    name = analysis.key(index)
    if name in NAVIGATION:
        return read_navigation(analysis, index, semantics)
    reference: Reference
    if name == "CLASSIFIER":
        reference, end = read_classifier(analysis, index, semantics)
    elif name == "MATCH_NUMBER":
        reference, end = read_match_number(analysis, index)
    elif name in ENDINGS:
        reference, end = read_ending(analysis, index)
    elif name == "MATCH_ROW_NUMBER":
        reference, end = read_row_number(analysis, index)
    elif name == "MATCHED_ROWS":
        reference, end = read_matched_rows(analysis, index)
    else:
        reference, end = read_aggregate(analysis, index, semantics)
    return Term((reference,), analysis.span(index, end)), end


def _refuse_semantics(analysis: Analysis, index: int) -> None:
    """RUNNING and FINAL stand before FIRST, LAST, CLASSIFIER and aggregates; FINAL in MEASURES."""
    function = analysis.key(index + 1)
    written = analysis.tokens[index + 1].text
    span = analysis.span(index, index + 2)
    if not (function in LOGICAL or function in AGGREGATES or function == "CLASSIFIER"):
        raise errors.semantics_before(analysis.key(index), written, analysis.clause, span)
    if analysis.key(index) == "FINAL" and analysis.scope.clause is Clause.DEFINE:
        raise errors.final_in_define(function, span)


def _refuse_everywhere(analysis: Analysis) -> None:
    """What may stand nowhere in an expression over a match, not even in an argument."""
    for index, token in enumerate(analysis.tokens):
        name = token.key
        if is_semantics(analysis, index):
            _refuse_semantics(analysis, index)
        over = name == "OVER" and analysis.key(index - 1) in (")", "NULLS")
        if over and not _in_subquery(analysis, index) and not is_frame(analysis, index):
            raise errors.window_function(None, analysis.clause, None, token.span)
        if not analysis.is_call(index) or _in_subquery(analysis, index):
            continue
        if name in WINDOW_ONLY:
            instead = WINDOW_ONLY[name]
            raise errors.window_function(token.text, analysis.clause, instead, token.span)
        if name in NONDETERMINISTIC and analysis.scope.clause is Clause.DEFINE:
            raise errors.nondeterministic(token.text.lower(), token.span)
    for column in analysis.columns.values():
        variable = analysis.variable(column)
        if column.in_query and variable is not None:
            raise errors.correlated_subquery(variable, analysis.clause, column.span)


def _in_subquery(analysis: Analysis, index: int) -> bool:
    opening = analysis.around[index]
    while opening >= 0:
        if analysis.is_subquery(opening):
            return True
        opening = analysis.around[opening]
    return False
