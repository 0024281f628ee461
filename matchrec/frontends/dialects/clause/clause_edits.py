"""The clause of one product → the same clause as another one reads it, as edits of the text."""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.errors.sql import dialects as errors
from matchrec.frontends.dialects.clause.additions import option_edits, without_additions
from matchrec.frontends.dialects.clause.alternatives import (
    alternative_edits,
    alternative_notes,
)
from matchrec.frontends.dialects.clause.defaults import default_edits, output_notes
from matchrec.frontends.dialects.clause.event_time import (
    EventTime,
    check_keys,
    order_edit,
    ordered_by,
)
from matchrec.frontends.dialects.clause.exclusive_loops import (
    exclusive_loop_edits,
    exclusive_loop_notes,
)
from matchrec.frontends.dialects.clause.limits import check_limits, neighbours
from matchrec.frontends.dialects.clause.unused_definitions import without_unused
from matchrec.frontends.dialects.clause.variables import (
    names_edits,
    variable_places,
    variables_as_written,
)
from matchrec.frontends.dialects.edits import Edit
from matchrec.frontends.dialects.fragments import Fragments
from matchrec.frontends.dialects.product import Addition
from matchrec.frontends.dialects.rules.columns import Kinds, KnownColumns
from matchrec.frontends.dialects.rules.place import Place
from matchrec.frontends.row_pattern.parameters import parameters_in
from matchrec.frontends.sql.clause.grammar import read_clause
from matchrec.frontends.sql.clause.nodes import ExpressionText, MatchRecognize
from matchrec.frontends.sql.clause.sections import ClauseTokens, Part
from matchrec.plan.clauses import MatchOutput


def clause_edits(
    tokens: ClauseTokens,
    fragments: Fragments,
    columns: Kinds | None = None,
    time: EventTime | None = None,
) -> Iterator[Edit]:
    """The edits of a clause. columns: of its input. time: of the events before it."""
    read, write = fragments.read, fragments.write
    tokens, additions = without_additions(tokens, read.additions, fragments.values)
    clause = read_clause(tokens)
    for one in additions:
        yield from one.edits(clause.pattern_span)
    if read.defines_more and not write.defines_more:
        clause, unused = without_unused(tokens, clause)
        yield from (Edit(span, "") for span in unused)
    added = ((one.feature, one.span) for one in additions if one.feature)
    check_limits(clause, write, (*added, *neighbours(clause, read)))
    keeps_case = read.keeps_case and not write.keeps_case
    written = variables_as_written(tokens, clause) if keeps_case else {}
    place = Place(read, write, clause, columns=KnownColumns(columns or {}), quoted=written)
    if Addition.TIMESTAMP_BY in read.additions:
        if time is None:
            raise errors.ordered_by_arrival(read.title, clause.span)
        check_keys(clause, time)
        place = place.within(ordered_by(clause, time), Part.ORDER_BY)
        yield order_edit(tokens, fragments.expression_text(time.time.span, place))
    yield from _expression_edits(clause, fragments, place)
    spans = tuple(node.span for _, node in expressions(clause))
    yield from names_edits(tokens, spans, write.quote, variable_places(clause, written))
    yield from bound_edits(clause, write.parameter)
    yield from default_edits(tokens, clause, read, write)
    yield from alternative_edits(fragments.text, clause.pattern_span, read, write)
    yield from _loop_edits(clause, fragments, place)
    if clause.output is MatchOutput.LONGEST and Addition.LONGEST_MATCH in write.additions:
        yield from option_edits(tokens, clause.pattern_span)
    fragments.notes.extend(output_notes(tokens, clause, read, write))
    fragments.notes.extend(alternative_notes(fragments.text, clause.pattern_span, read, write))
    if write.has_exclusive_loops and not read.has_exclusive_loops:
        fragments.notes.extend(exclusive_loop_notes(clause, write))


def _loop_edits(clause: MatchRecognize, fragments: Fragments, place: Place) -> Iterator[Edit]:
    """What makes greedy loops exclusive for a product where they are not. place: as before."""

    def condition(node: ExpressionText) -> str:
        return fragments.expression_text(node.span, place.within(clause, Part.DEFINE))

    if place.read.has_exclusive_loops and not place.write.has_exclusive_loops:
        yield from exclusive_loop_edits(clause, condition)


def _expression_edits(clause: MatchRecognize, fragments: Fragments, place: Place) -> Iterator[Edit]:
    """The edits of all expressions. place: in the clause."""
    seen = place.clause or clause
    for part, node in expressions(clause):
        yield from fragments.expression(node.span, place.within(seen, part))


def bound_edits(clause: MatchRecognize, mark: str) -> Iterator[Edit]:
    """Another mark before the names of parameters that are bounds of quantifiers."""
    places = {one.span: one for one in parameters_in(clause.pattern)}  # `{:n}` is both bounds
    for span, one in places.items():
        if one.mark not in ("?", mark) and span is not None:
            yield Edit(span, f"{mark}{one.name}")


def expressions(clause: MatchRecognize) -> Iterator[tuple[Part, ExpressionText]]:
    """Every expression of a clause, and in which part it stands."""
    yield from ((Part.PARTITION_BY, key.expression) for key in clause.partition_by)
    yield from ((Part.ORDER_BY, key.expression) for key in clause.order_by)
    yield from ((Part.MEASURES, measure.expression) for measure in clause.measures)
    yield from ((Part.DEFINE, definition.condition) for definition in clause.definitions)
    yield from ((Part.WITHIN, window.interval) for window in clause.windows)
