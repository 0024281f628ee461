"""What of the clause a product lacks, so that a translation to it is refused by name, or noted.

The table is `limits.txt`: each part of the clause, by the name that `features` finds it by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from matchrec.dialects.edits import Note
from matchrec.dialects.products import Product
from matchrec.errors.sql.window import no_within, not_in
from matchrec.plan.clauses import MatchOutput, RowsPerMatch, SkipTo
from matchrec.plan.pattern import Quantified, RowPattern, Variable, top, variable_names, walk
from matchrec.source import Span, read_table
from matchrec.syntax.nodes import MatchRecognize
from matchrec.syntax.row_pattern import parameters_in
from matchrec.syntax.tokens import PHYSICAL, TokenSequence

Feature = tuple[str, Span]  # a part of a clause, by its name in the table, and where it stands

_PART = r"""(?:[^\W\d][\w$#]*|"[^"]+"|`[^`]+`|\[[^\]]+\])"""
_AMOUNT = r"\s+'?\d[\d.:\s]*'?\s*[A-Z]+(?:\s+TO\s+[A-Z]+)?"
_INTERVAL = re.compile(rf"\s*INTERVAL(?:{_AMOUNT})+\s*", re.IGNORECASE)
_COLUMN = re.compile(rf"{_PART}(?:\.{_PART})*")
_OF_ROWS = {
    RowsPerMatch.ALL_ROWS_SHOW_EMPTY: ("ALL_ROWS",),
    RowsPerMatch.ALL_ROWS_OMIT_EMPTY: ("ALL_ROWS", "OMIT_EMPTY"),
    RowsPerMatch.ALL_ROWS_WITH_UNMATCHED: ("ALL_ROWS", "UNMATCHED"),
}


def check_limits(clause: MatchRecognize, read: Product, write: Product) -> Iterator[Note]:
    """A note on each kind of part that a product's page refuses. Raises for what it has not."""
    noted: dict[str, Note] = {}
    for feature, span in find_features(clause, read):
        words = read_limits()[feature].words
        if is_noted(feature, write):
            noted.setdefault(feature, Note(f"{write.title} refuses {words}", span))
        if feature == "SHARED" and lacks(feature, read):
            raise not_in(span, product=read.title, what=words)
        if not lacks(feature, write):
            continue
        if feature == "WITHIN" and clause.order_by and not is_noted("FIRST", write):
            raise no_within(span, product=write.title, condition=write_within_condition(clause))
        raise not_in(span, product=write.title, what=words)
    yield from noted.values()


def is_noted(feature: str, write: Product) -> bool:
    """Whether a query with a part of the clause is written for a product, with a note."""
    return f"({write.name})" in read_limits()[feature].lacking


def lacks(feature: str, write: Product) -> bool:
    return write.name in read_limits()[feature].lacking


def write_within_condition(clause: MatchRecognize) -> str:
    """What each variable of a clause with WITHIN has to satisfy in place of that."""
    if rows := clause.window_of_rows:
        return f"count(*) <= {rows.interval.text}"
    order, within = clause.order_by[0].expression.text, clause.within
    assert within is not None, "the window of a match is one of rows or of time"
    return f"{order} < FIRST({order}) + {within.interval.text}"


class LimitedPart(NamedTuple):
    """How messages call a part of the clause, and what lacks it; in parentheses, with a note."""

    words: str
    lacking: list[str]


@cache
def read_limits() -> dict[str, LimitedPart]:
    rows = read_table("matchrec.dialects", "limits.txt")
    return {name: LimitedPart(words, lacking.split()) for name, words, lacking in rows}


def find_features(clause: MatchRecognize, product: Product) -> Iterator[Feature]:
    pattern = clause.pattern_span
    if clause.output or clause.selection:
        is_longest = clause.output is MatchOutput.LONGEST
        yield "LONGEST" if is_longest else "SELECTION", Span(pattern.end, pattern.end + 1)
    if clause.first_matches is not None:
        yield "FIRST_MATCHES", clause.first_matches.span or pattern
    for window in clause.windows:
        yield "GAPS" if window.is_gap else "WITHIN", window.span
        if not (window.is_gap or _INTERVAL.fullmatch(window.interval.text)):
            yield "NUMBERS", window.span
    yield from (("KEY_NAMES", key.span) for key in clause.partition_by if key.name is not None)
    keys = [one.expression for one in clause.partition_by]
    keys += [item.expression for item in clause.order_by]
    computed = (one for one in keys if not _COLUMN.fullmatch(one.text))
    yield from (("KEY_EXPRESSIONS", text.whole) for text in computed)
    yield from (("SUBSET", subset.span or pattern) for subset in clause.subsets)
    rows = clause.rows_per_match or RowsPerMatch.ONE_ROW
    yield from ((feature, clause.span) for feature in _OF_ROWS.get(rows, ()))
    if clause.partial:
        yield "PARTIAL", clause.partial.span or pattern
    yield from _of_definitions(clause, product)
    for measure in clause.measures:
        yield from _of_calls(measure.expression, product)
    skip = clause.after_match
    if skip and skip.to is not SkipTo.PAST_LAST_ROW:
        part = "VARIABLE" if skip.variable else skip.to.name
        yield f"SKIP_TO_{part}", skip.span or pattern
    yield from _of_pattern(clause.pattern, pattern)
    yield from (("REPEATED", span) for span in find_repeated_variables(clause.pattern))
    yield from (("BOUND", one.span or pattern) for one in parameters_in(clause.pattern))
    match top(clause.pattern)[-1]:  # which may have another row at its end: greedy, or `??`
        case Quantified() as last if is_optional(last) or (last.greedy and last.least != last.most):
            yield "OPEN_END", last.span or pattern


def _of_definitions(clause: MatchRecognize, product: Product) -> Iterator[Feature]:
    variables = variable_names(clause.pattern)
    if not clause.definitions:
        yield "NO_DEFINE", clause.pattern_span
    if len({one.expression.whole for one in clause.definitions}) < len(clause.definitions):
        yield "SHARED", clause.definitions[0].span
    if not {one.name for one in clause.definitions}.issuperset(variables):
        yield "UNDEFINED", clause.pattern_span
    names = frozenset((*variables, *(one.name for one in clause.subsets)))
    for definition in clause.definitions:
        tokens, others = definition.expression, names - {definition.name}
        yield from _of_calls(tokens, product)
        for index, token in enumerate(tokens.tokens):
            if tokens.is_call(index) and token.key in ("FIRST", "CLASSIFIER", "OVER"):
                yield token.key, token.span
            elif tokens.key(index + 1) == "." and token.variable in others:
                yield "OTHER_VARIABLES", token.span


def _of_calls(tokens: TokenSequence, product: Product) -> Iterator[Feature]:
    """The functions that an expression calls, as a product names them."""
    for token in (tokens[index] for index in range(len(tokens)) if tokens.is_call(index)):
        if token.key == "MATCHED_ROWS":
            yield "MATCHED_ROWS", token.span
        elif product.functions.get(token.key, token.key) in PHYSICAL:
            yield "NEIGHBOURS", token.span


def find_repeated_variables(row_pattern: RowPattern) -> Iterator[Span]:
    """Where a variable stands that has stood before."""
    seen = set()
    for node in walk(row_pattern):
        if isinstance(node, Variable) and node.span is not None:
            if node.name in seen:
                yield node.span
            seen.add(node.name)


def _of_pattern(row_pattern: RowPattern, pattern: Span) -> Iterator[Feature]:
    """The parts that a row pattern has. pattern: where it stands."""
    for node in walk(row_pattern):
        if (operator := type(node).__name__.upper()) in read_limits():
            yield operator, node.span or pattern
        if isinstance(node, Quantified) and not isinstance(node.part, Variable):
            yield "GROUPS", node.span or pattern
        if isinstance(node, Quantified) and node.most == 0 and node.parameters == (None, None):
            yield "NO_TIMES", node.span or pattern
        if isinstance(node, Quantified) and not node.greedy:
            yield "RELUCTANT", node.span or pattern


def is_optional(part: Quantified) -> bool:
    """Whether it is `?` or `??`."""
    return (part.least, part.most) == (0, 1)
