"""Edit a query with clauses and row pattern windows so that it means the same in another product.

sqlglot cannot read a clause, so the query is edited in parts:

    SELECT a::int FROM (SELECT * FROM t) MATCH_RECOGNIZE (PARTITION BY b ...) AS m

    SELECT a::int FROM □ AS m     the surroundings of the clause
    SELECT * FROM t               the relation before the clause
    PARTITION BY b ...            the clause

`edit_query` edits the parts in this order:

1. The surroundings of all clauses. In them, the name of a table (□ in the example) replaces each
   clause together with the relation before it.
2. The row pattern windows, and the calls over them.
3. For each clause, the relation before it and the clause itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from matchrec.dialects.clause_edits import edit_clause, edit_window
from matchrec.dialects.edits import Edit
from matchrec.dialects.fragments import SELECT_ALL, FragmentTranslator
from matchrec.dialects.masked_fragments import Hole
from matchrec.dialects.products import SPARK
from matchrec.dialects.rules.visible_columns import ClauseKinds, ColumnKinds
from matchrec.errors.sql import products as errors
from matchrec.source import Span
from matchrec.syntax.clause_locations import ClauseLocation, find_clauses
from matchrec.syntax.clause_tokens import cut_out_tokens
from matchrec.syntax.pattern_windows import PatternWindow, find_pattern_windows
from matchrec.syntax.relation import find_relation_start
from matchrec.syntax.tokens import TokenSequence


def edit_query(
    tokens: TokenSequence, translator: FragmentTranslator, clause_kinds: Sequence[ClauseKinds]
) -> Iterator[Edit]:
    """Yield the edits of a query. Notes on it are added to `translator.log`.

    Args:
        tokens: the tokens of the query.
        translator: translates the fragments of the query.
        clause_kinds: the kinds of the columns around the clauses and windows, in the order in which
            these are evaluated. For clauses and windows after the last element, nothing is known.

    Raises:
        MatchRecognizeError: the query is wrong, or the product that is written has nothing that
            means the same as a part of it.
    """
    clauses = find_clauses(tokens)
    windows = _find_windows(tokens, translator)
    kinds = _assign_kinds(clauses, windows, clause_kinds)
    holes = {
        clause: Hole(
            tokens.span(find_relation_start(tokens, clause), clause.closing + 1),
            columns=kinds[clause].outputs,
        )
        for clause in clauses
    }
    yield from _edit_surroundings(tokens, holes.values(), windows, translator)
    for window in windows:
        inputs = kinds[window].inputs or {}
        yield from edit_window(tokens, window, translator, partial(dict, inputs))
    for clause, hole in holes.items():
        relation = Span(hole.span.start, tokens[clause.word].span.start)
        yield from _edit_relation(tokens, clause, relation, holes.values(), translator)
        yield from edit_clause(
            cut_out_tokens(tokens, clause.opening, clause.closing),
            translator,
            _choose_input_lookup(tokens, relation, kinds[clause].inputs, translator),
        )


def _find_windows(
    tokens: TokenSequence, translator: FragmentTranslator
) -> tuple[PatternWindow, ...]:
    """Return the row pattern windows of a query.

    Raises:
        MatchRecognizeError: the query has windows, but one of the two products lacks them.
    """
    windows = find_pattern_windows(tokens)
    for product in (translator.read, translator.write):
        if windows and not product.has_row_pattern_windows:
            raise errors.product_without_pattern_windows(
                tokens[windows[0].opening].span, product=product.title
            )
    return windows


def _assign_kinds(
    clauses: Sequence[ClauseLocation],
    windows: Sequence[PatternWindow],
    clause_kinds: Sequence[ClauseKinds],
) -> dict[ClauseLocation | PatternWindow, ClauseKinds]:
    """Return the kinds of the columns around each clause and window.

    Clauses and windows are evaluated in the order in which they end. A window ends with the rows of
    its SELECT. For clauses and windows after the end of `clause_kinds`, no kinds are known.
    """
    # For each clause and window, the index of the token after its end.
    ends: dict[ClauseLocation | PatternWindow, int] = {
        clause: clause.closing + 1 for clause in clauses
    }
    ends |= {window: window.select.rows_end for window in windows}
    in_order_of_evaluation = sorted(ends, key=ends.__getitem__)
    unknown = dict.fromkeys(in_order_of_evaluation, ClauseKinds())
    return unknown | dict(zip(in_order_of_evaluation, clause_kinds, strict=False))


def _edit_surroundings(
    tokens: TokenSequence,
    clause_holes: Iterable[Hole],
    windows: Sequence[PatternWindow],
    translator: FragmentTranslator,
) -> list[Edit]:
    """Return the edits of the surroundings of all clauses and windows of a query.

    Args:
        tokens: the tokens of the query.
        clause_holes: the clauses, each with its relation.
        windows: the windows. Their parentheses are a part of the surroundings, and what is inside
            becomes a hole. The calls over the windows become holes, too.
        translator: translates the query.
    """
    holes = list(clause_holes)
    for window in windows:
        holes.append(Hole(tokens.span(window.opening + 1, window.closing), is_window=True))
        holes.extend(Hole(tokens.span(call.start, call.end)) for call in window.calls)
    return translator.edit_around_holes(tokens.full_span, holes)


def _edit_relation(
    tokens: TokenSequence,
    clause: ClauseLocation,
    relation: Span,
    clause_holes: Iterable[Hole],
    translator: FragmentTranslator,
) -> Iterator[Edit]:
    """Yield the edits of the relation before a clause.

    Args:
        tokens: the tokens of the query.
        clause: the clause.
        relation: the characters of the relation, up to MATCH_RECOGNIZE.
        clause_holes: all clauses of the query, each with its relation.
        translator: translates the relation.
    """
    inner_clauses = [hole for hole in clause_holes if relation.contains(hole.span)]
    starts_with_clause = any(hole.span.start == relation.start for hole in inner_clauses)
    if translator.write is not SPARK and starts_with_clause:
        # `t MATCH_RECOGNIZE (...) MATCH_RECOGNIZE (...)`: other products allow no second clause
        # after the first one, so the first one becomes a subquery.
        end = tokens[clause.word - 1].span.end
        yield Edit(Span(relation.start, relation.start), "(SELECT * FROM ")
        yield Edit(Span(end, end), ")")
    query = _find_query_in_parentheses(tokens, relation)
    if query is None:
        yield from translator.edit_around_holes(relation, inner_clauses, SELECT_ALL)
    else:
        yield from translator.edit_around_holes(query, inner_clauses)


def _find_query_in_parentheses(tokens: TokenSequence, relation: Span) -> Span | None:
    """Return the query in the parentheses of a relation, if the relation is nothing else.

    Such a query is translated without the parentheses, so that sqlglot can add a WITH to it. For
    the relations `t` and `(SELECT ...) AS t`, the result is None.
    """
    opening = tokens.index_at[relation.start]
    closing = tokens.pairs.get(opening, len(tokens) - 1)
    text_after = tokens.text[tokens[closing].span.end : relation.end]
    has_query = tokens.key(opening + 1) in ("SELECT", "FROM", "WITH")
    if tokens.key(opening) == "(" and has_query and not text_after.strip():
        return tokens.span(opening + 1, closing)
    return None


def _choose_input_lookup(
    tokens: TokenSequence,
    relation: Span,
    known_inputs: ColumnKinds | None,
    translator: FragmentTranslator,
) -> Callable[[], ColumnKinds]:
    """Return a function that returns the kinds of the columns of a clause's input.

    The function looks up a table in the session only when a rule calls it, because most queries
    need no kinds.

    Args:
        tokens: the tokens of the query.
        relation: the relation before the clause.
        known_inputs: the kinds, if the session has found them already; else None.
        translator: looks up tables.
    """
    if known_inputs is None:
        return partial(_find_columns_of_table, tokens, relation, translator)
    return partial(dict, known_inputs)


def _find_columns_of_table(
    tokens: TokenSequence, relation: Span, translator: FragmentTranslator
) -> ColumnKinds:
    """Return the kinds of the columns of a relation that is the name of a table.

    For other relations, the result is empty. It is also empty in a query with WITH, because the
    name may be defined there.
    """
    if any(token.key == "WITH" for token in tokens.tokens):
        return {}
    start = tokens.index_at[relation.start]
    last = max(index for index in range(len(tokens)) if relation.contains(tokens[index].span))
    # A name such as `catalog.schema.t`: every other token is a dot.
    name_indices = range(start, last + 1, 2)
    dot_indices = range(start + 1, last + 1, 2)
    has_names = all(tokens.can_name(index) for index in name_indices)
    has_dots = all(tokens.key(index) == "." for index in dot_indices)
    if not (has_names and has_dots):
        return {}
    table_name = ".".join(f"`{tokens[index].name}`" for index in name_indices)
    return translator.look_up_table(table_name) or {}
