"""The clause of one product → the same clause as another one reads it, as edits of the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from matchrec.dialects import spellings
from matchrec.dialects.edits import Edit, Note, edited
from matchrec.dialects.fragments import Fragments
from matchrec.dialects.limits import check_limits, find_repeated_variables, is_option, lacks
from matchrec.dialects.products import SPARK, Nulls, Product
from matchrec.dialects.rules.place import Kinds, KnownColumns, RuleContext
from matchrec.errors.sql import window as errors
from matchrec.errors.sql.window import not_in
from matchrec.plan import pattern
from matchrec.plan.clauses import RowsPerMatch
from matchrec.plan.pattern import Quantified, RowPattern, Variable, show_name, top
from matchrec.source import Span
from matchrec.syntax.expressions.reader import ClausePart
from matchrec.syntax.grammar import ClauseTokens, find_sections, read_clause
from matchrec.syntax.nodes import MatchRecognize
from matchrec.syntax.pattern_windows import FoundWindow, clause_of_own, is_unnamed_item
from matchrec.syntax.row_pattern import parameters_in
from matchrec.syntax.tokens import TokenKind, TokenSequence, read_tokens


def edit_defaults(
    tokens: ClauseTokens, clause: MatchRecognize, read: Product, write: Product
) -> Iterator[Edit]:
    """What is not written and would mean something else in the other product."""
    for key in clause.order_by:
        descends = bool(key.descending)
        first = {Nulls.SMALL: not descends, Nulls.LARGE: descends, Nulls.LAST: False}
        here, there = first[read.nulls], first[write.nulls]
        if key.nulls_first is None and here is not there:
            yield Edit(Span(key.span.end, key.span.end), f" NULLS {'FIRST' if here else 'LAST'}")
    if clause.within and read.within_includes_end and not write.within_includes_end:
        end = clause.within.place.end
        yield Edit(Span(end, end), " + INTERVAL '0.000001' SECOND")
    is_one_row = clause.rows_per_match in (None, RowsPerMatch.ONE_ROW)
    is_bare = is_one_row and not (clause.measures or clause.partition_by)
    if (
        is_bare and read.has_rows_without_columns and not write.has_rows_without_columns
    ):  # for COUNT(*) around the clause
        end = max((key.span.end for key in clause.order_by), default=tokens.inside.start)
        start = next(token.span.start for token in tokens.tokens if token.span.start >= end)
        yield Edit(Span(start, start), "MEASURES MATCH_NUMBER() AS match_number ")
    if clause.after_match is None and read.skip is not write.skip:
        start = tokens[tokens.index_at[clause.pattern_span.start] - 1].span.start
        yield Edit(Span(start, start), f"AFTER MATCH SKIP {read.skip.value}\n")
    if write.needs_as:
        starts = (measure.span.start for measure in clause.measures)
        names = (at for at in starts if tokens[tokens.index_at[at] - 1].key != "AS")
        yield from (Edit(Span(at, at), "AS ") for at in names)


def note_output_differences(
    tokens: ClauseTokens, clause: MatchRecognize, read: Product, write: Product
) -> Iterator[Note]:
    names_variables = "CLASSIFIER" in (token.key for token in tokens.tokens)
    if names_variables and write.keeps_case and not read.keeps_case:
        case = f"CLASSIFIER() names a variable as it is written in {write.title}, in upper case in "
        yield Note(case + read.title, clause.pattern_span)
    if clause.within and write.within_includes_end and not read.within_includes_end:
        yield Note(f"WITHIN holds for its last moment, too, in {write.title}", clause.within.place)
    if read.finds_empty_matches is not write.finds_empty_matches and pattern.may_be_empty(
        clause.pattern
    ):
        with_them, without = (read, write) if read.finds_empty_matches else (write, read)
        empty = f"{with_them.title} finds empty matches, {without.title} does not"
        yield Note(empty, clause.pattern_span)
    if clause.rows_per_match in (None, RowsPerMatch.ONE_ROW):
        return
    if read.columns is not write.columns:
        orders = (f"{product.title}: {product.columns.value}" for product in (read, write))
        message = f"`*` has its columns in another order: {'; '.join(orders)}"
        yield Note(message, clause.pattern_span, is_met=True)
    if read.repeats_keys is not write.repeats_keys:
        twice, once = (read, write) if read.repeats_keys else (write, read)
        message = f"a key that is written twice comes out twice in {twice.title}, once in "
        keys, seen = [key.expression for key in clause.partition_by], set[str]()
        for key in (*keys, *(item.expression for item in clause.order_by)):
            if key.text.upper() in seen:
                yield Note(message + once.title, key.whole)
            seen.add(key.text.upper())


def drop_unused(tokens: ClauseTokens, clause: MatchRecognize) -> tuple[MatchRecognize, list[Span]]:
    """The clause without definitions of variables that PATTERN has not, and what to take out."""
    used = set(pattern.variable_names(clause.pattern))
    kept = tuple(definition for definition in clause.definitions if definition.name in used)
    if len(kept) == len(clause.definitions):
        return clause, []
    if not kept:
        keyword = find_sections(tokens)[ClausePart.DEFINE].keyword
        end = clause.definitions[-1].expression.whole.end
        return replace(clause, definitions=()), [Span(keyword.start, end)]
    first, *_ = clause.definitions
    spans = [] if first is kept[0] else [Span(first.span.start, kept[0].span.start)]
    for before, node in pairwise(clause.definitions[clause.definitions.index(kept[0]) :]):
        if node not in kept:
            spans.append(Span(before.expression.whole.end, node.expression.whole.end))
    return replace(clause, definitions=kept), spans


# Greedy loops of Flink SQL, which never give back a row that they could take.
#
# `PATTERN (A+ C)` there: the row of C must not be one that A could go on with. Elsewhere a loop
# gives rows back where the rest of the pattern needs them. In conditions of others this is
#
#     SUBSET loop_A_C = (A, C)  DEFINE C AS (...) AND NOT COALESCE(condition of A, FALSE)
#
# where the union variable stands for A: its rows are those of A with the current row. How many
# rows the loop has does not matter: in `A{1,2} C` the row of C is none of A also after two.
# Source: Flink CEP, NFACompiler: a greedy state is left on the negation of its condition.
#
# `D?` there is no loop, and not greedy: `D? E` takes a row for E if it can be one, as `D??` does.
# Source: Flink, CommonExecMatch.applyQuantifier: `optional()`, without `greedy()`.


@dataclass(frozen=True, slots=True)
class Exit:
    """A row of `follower` that may come right after a greedy loop.

    between: the variables that have no rows then. is_repeated: the follower may have several rows.
    """

    loop: str
    follower: str
    between: tuple[str, ...]
    is_repeated: bool

    @property
    def union(self) -> str:
        """The variable of the loop's rows with the follower's."""
        return show_name(f"LOOP_{self.loop}_{self.follower}")


def edit_exclusive_loops(clause: MatchRecognize, written: Callable[[Span], str]) -> Iterator[Edit]:
    """What makes greedy loops exclusive. written: a condition in the language to write."""
    if not (exits := tuple(_exits(clause.pattern))):
        return
    for span in find_repeated_variables(clause.pattern):
        raise not_in(span, product="Flink SQL", what="repeated variables in PATTERN")
    names = (f"{one.union} = ({show_name(one.loop)}, {show_name(one.follower)})" for one in exits)
    place = clause.windows[-1].span.end if clause.windows else clause.pattern_span.end
    yield Edit(Span(place, place), f" SUBSET {', '.join(names)}")
    conditions = {one.name: one.expression.whole for one in clause.definitions}
    new = []
    for follower in dict.fromkeys(one.follower for one in exits):
        guards = (_guard(one, conditions, written) for one in exits if one.follower == follower)
        text = " AND ".join(guards)
        if follower in conditions:
            span = conditions[follower]
            yield Edit(Span(span.start, span.start), "(")
            yield Edit(Span(span.end, span.end), f") AND {text}")
        else:
            new.append(f"{show_name(follower)} AS {text}")
    if new and clause.definitions:
        end = clause.definitions[-1].expression.whole.end
        yield Edit(Span(end, end), "".join(f", {one}" for one in new))


def edit_options(clause: MatchRecognize, read: Product, write: Product) -> Iterator[Edit]:
    """`D?` of the one as `D??` of the other; not at the end of PATTERN, where Flink has none."""
    if read.has_exclusive_loops is write.has_exclusive_loops:
        return
    for option in _options(clause.pattern):
        if option.span is not None and option.greedy is read.has_exclusive_loops:
            end = option.span.end
            yield Edit(Span(end, end), "?") if option.greedy else Edit(Span(end - 1, end), "")


def _options(whole: RowPattern) -> Iterator[Quantified]:
    return (part for part in top(whole)[:-1] if isinstance(part, Quantified) and is_option(part))


def note_exclusive_loops(clause: MatchRecognize, write: Product) -> Iterator[Note]:
    """What is lost where only the other product's loops are exclusive, its options reluctant."""
    for option in _options(clause.pattern):
        if option.greedy:
            message = f"`?` in {write.title} is `??`: a row that can be one of what follows is that"
            yield Note(message, option.span or clause.pattern_span)
    never = f"a loop never gives rows back in {write.title}: no row that"
    for one in _exits(clause.pattern):
        message = f"{never} `{one.loop}` could go on with is a row of `{one.follower}`"
        yield Note(message, clause.pattern_span)


def _guard(one: Exit, conditions: dict[str, Span], written: Callable[[Span], str]) -> str:
    """That the loop could not take the row."""
    condition = conditions.get(one.loop)
    parts = [f"COUNT({show_name(name)}.*) = 0" for name in one.between]
    if one.is_repeated:
        parts.append(f"COUNT({show_name(one.follower)}.*) = 1")
    if condition is not None:
        text = written(condition)
        tokens = read_tokens(text)
        edits = [
            Edit(token.span, one.union)
            for index, token in enumerate(tokens.tokens)
            if token.is_name and token.variable == one.loop and tokens.key(index + 1) == "."
        ]
        parts.append(f"({edited(text, edits).text})")
    return f"NOT COALESCE({' AND '.join(parts) or 'TRUE'}, FALSE)"


def _exits(whole: RowPattern) -> Iterator[Exit]:
    """Which variables may follow a loop at once, in a pattern as Flink has them: of variables."""
    parts = [one if isinstance(one, Quantified) else Quantified(one, 1, 1) for one in top(whole)]
    parts = [part for part in parts if part.most != 0]
    for index, part in enumerate(parts):
        is_loop = part.greedy and part.least != part.most and not is_option(part)
        if not is_loop or not isinstance(part.part, Variable):
            continue
        between: list[str] = []
        for follower in parts[index + 1 :]:
            inner = follower.part
            if not isinstance(inner, Variable) or inner.name == part.part.name:
                break
            yield Exit(part.part.name, inner.name, tuple(between), follower.most != 1)
            if follower.least > 0:
                break
            between.append(inner.name)


def edit_clause(
    tokens: ClauseTokens, fragments: Fragments, columns: Callable[[], Kinds]
) -> Iterator[Edit]:
    """The edits of a clause. columns: gives those of its input."""
    read, write = fragments.read, fragments.write
    clause = read_clause(tokens)
    if read.name == "azure" and not clause.order_by:
        raise errors.ordered_by_arrival(clause.span, product=read.title)
    if read.allows_unused_definitions and not write.allows_unused_definitions:
        clause, unused = drop_unused(tokens, clause)
        yield from (Edit(span, "") for span in unused)
    fragments.notes.extend(check_limits(clause, read, write))
    keeps_case = read.keeps_case and not write.keeps_case
    written = spellings.find_written_names(tokens, clause) if keeps_case else {}
    place = RuleContext(read, write, clause, columns=KnownColumns(columns), quoted=written)
    for part, span in expressions(clause):
        yield from fragments.translate(span, context=place.within(part))
    spans = tuple(span for _, span in expressions(clause))
    places = spellings.find_variable_spans(clause, written)
    yield from spellings.edit_names(tokens, spans, write.quote, places)
    bounds = {one.span: one for one in parameters_in(clause.pattern)}  # `{:n}` is both
    for where, bound in bounds.items():
        if bound.mark not in ("?", write.parameter) and where is not None:
            yield Edit(where, f"{write.parameter}{bound.name}")
    yield from edit_defaults(tokens, clause, read, write)
    yield from edit_options(clause, read, write)
    if read.has_exclusive_loops and not write.has_exclusive_loops:
        condition = partial(fragments.translate_expression, context=place.within(ClausePart.DEFINE))
        edits = tuple(edit_exclusive_loops(clause, condition))
        if edits and lacks("SUBSET", write):
            what = "SUBSET, without which a greedy loop gives rows back: write {2} or *?"
            raise not_in(clause.pattern_span, product=write.title, what=what)
        yield from edits
    fragments.notes.extend(note_output_differences(tokens, clause, read, write))
    fragments.notes.extend(spellings.note_alternatives(fragments, clause.pattern))
    if write.has_exclusive_loops and not read.has_exclusive_loops:
        fragments.notes.extend(note_exclusive_loops(clause, write))


def expressions(clause: MatchRecognize) -> Iterator[tuple[ClausePart, Span]]:
    yield from ((ClausePart.PARTITION_BY, key.expression.whole) for key in clause.partition_by)
    yield from ((ClausePart.ORDER_BY, key.expression.whole) for key in clause.order_by)
    yield from ((ClausePart.MEASURES, one.expression.whole) for one in clause.measures)
    yield from ((ClausePart.DEFINE, one.expression.whole) for one in clause.definitions)
    yield from ((ClausePart.WITHIN, window.place) for window in clause.windows)


# Row pattern windows of a query that is translated: sqlglot does not know them.


def edit_window(
    tokens: TokenSequence, window: FoundWindow, fragments: Fragments, columns: Callable[[], Kinds]
) -> Iterator[Edit]:
    """The edits of a window and of the calls over it. columns: gives those of its input."""
    own = clause_of_own(tokens, window)
    yield from edit_clause(own, fragments, columns)
    clause = read_clause(own)
    place = RuleContext(fragments.read, fragments.write, clause, columns=KnownColumns(columns))
    for call in window.calls:
        first = tokens[call.start]
        if tokens.key(call.over - 1) != ")":
            text = first.text
            if first.kind is TokenKind.QUOTED:
                text = spellings.quote_name(text, fragments.write.quote)
                yield Edit(first.span, text)
            if fragments.write is not SPARK and is_unnamed_item(tokens, call, window.select):
                end = tokens[call.end - 1].span.end
                yield Edit(Span(end, end), f" AS {text}")  # the name that it has in Spark
        else:
            span = tokens.span(call.start, call.over)
            yield from fragments.translate(span, context=place.within(ClausePart.MEASURES))
