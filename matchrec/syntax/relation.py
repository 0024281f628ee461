"""Find the relation of a clause: where it starts, and whether the clause can apply to it.

    SELECT * FROM a JOIN db.t AS b MATCH_RECOGNIZE (...)

The relation of this clause is `db.t AS b`: it starts after the last FROM, JOIN or comma before the
clause in the same brackets. The relation must end right before the clause, and must not read
columns of the query around it. Spark checks everything else about the relation.
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.errors import MatchRecognizeError
from matchrec.errors.misspellings import STATEMENT_KEYWORDS, find_nearest
from matchrec.errors.misspelt_keywords import misspelt_keyword
from matchrec.errors.sql import query as errors
from matchrec.errors.wording import join_lines
from matchrec.syntax.clause_locations import ClauseLocation
from matchrec.syntax.from_relations import (
    FromRelation,
    find_qualified_names,
    find_relations_after,
    is_from,
    is_word,
    list_relation_names,
    read_relation,
    skip_values,
    starts_part_after_from,
)
from matchrec.syntax.tokens import TokenSequence


def find_relation(tokens: TokenSequence, location: ClauseLocation) -> FromRelation:
    """Return the relation to which a clause applies.

    Raises:
        MatchRecognizeError: the clause does not follow a relation, or the relation reads columns of
            the query around it.
    """
    start = find_relation_start(tokens, location)
    relation = read_relation(tokens, start, location.word)
    if relation.end != location.word:
        raise _explain_misplaced(tokens, location.word)
    if tokens.key(start - 2) == "," and tokens.key(start - 1) == "FROM":
        raise errors.comma_before_from(tokens[start - 2].span)
    is_in_brackets = tokens.enclosing_openings[start] >= 0
    if is_in_brackets:
        _reject_correlation(tokens, start, location.word)
    return relation


def _explain_misplaced(tokens: TokenSequence, word: int) -> MatchRecognizeError:
    """Return the error for the clause at `word`, which does not follow a relation.

    The error is about FROM if FROM seems to be misspelt, and about the name of the relation if the
    name is in quotes or in square brackets.
    """
    name_start = word - 1
    if tokens.key(word - 1) == "}":  # `FORM {prices} MATCH_RECOGNIZE (`
        name_start = max(word - len(("{", "name", "}")), 0)
    if name_start > 0:
        before_name = tokens[name_start - 1]
        if before_name.key != "FROM" and find_nearest(before_name.key, ("FROM",)):
            return misspelt_keyword(before_name.span, text=before_name.text, keyword="FROM")
    if tokens[word - 1].is_string:
        return errors.table_in_quotes(tokens[word - 1].span, name=tokens[word - 1].text)
    opening = tokens.openings.get(word - 1)
    if tokens.key(word - 1) == "]" and opening is not None and opening < word - 2:
        inside = tokens.span(opening + 1, word - 1)
        brackets = tokens.span(opening, word)
        return errors.table_in_brackets(brackets, name=tokens.text_at(inside))
    from_index = _find_last_from(tokens, word)
    is_first_word_table = tokens.can_name(0) and tokens.key(0) not in STATEMENT_KEYWORDS
    if from_index is None and word == 1 and is_first_word_table:  # `t MATCH_RECOGNIZE (...)` alone
        return errors.clause_in_wrong_place(tokens[word].span, table=tokens[0].text)
    if from_index is None or from_index + 1 >= word:
        closing = tokens.pairs.get(word + 1, word)
        has_table = tokens.key(closing + 1) == "FROM" and tokens.can_name(closing + 2)
        table = tokens[closing + 2].text if has_table else ""
        return errors.clause_in_wrong_place(tokens[word].span, table=table)
    relation = join_lines(tokens.text_at(tokens.span(from_index + 1, word))).removesuffix(" |>")
    return errors.clause_in_wrong_place(tokens[word].span, relation=relation)


def find_relation_start(tokens: TokenSequence, location: ClauseLocation) -> int:
    """Return the index of the first token of a clause's relation.

    Unlike `find_relation`, this function does not check the tokens between the result and the
    clause.

    Raises:
        MatchRecognizeError: no relation is before the clause, or the clause cannot apply to it.
    """
    word = location.word
    before = tokens.key(word - 1)
    starts: list[int] = []
    if before != "|>":  # A pipe follows a query, not a relation.
        starts = list(_find_relation_starts(tokens, word))
    if word == 0 or word in starts or before in ("(", ","):
        table = tokens[word - 2].text if before == "," and tokens.can_name(word - 2) else ""
        raise errors.clause_without_relation(tokens[word].span, table=table)
    if not starts:
        raise _explain_misplaced(tokens, word)
    start = starts[-1]
    is_changed_table = start == 2 and tokens.key(0) in ("DELETE", "UPDATE")  # DELETE FROM t
    if is_changed_table:
        raise errors.clause_on_changed_table(tokens[word].span, word=tokens.key(0))
    is_table_name = start + 1 == word or tokens.key(start + 1) == "."
    if tokens.key(start) == "LATERAL" and not is_table_name:
        raise errors.clause_after_lateral(tokens[start].span)
    _reject_table_call(tokens, start)
    return start


def _reject_table_call(tokens: TokenSequence, start: int) -> None:
    """Raise an error for a relation `TABLE(t)`, `TABLE('t')` or `TABLE(SELECT ...)`.

    Other products read a table or a query there.
    """
    closing = tokens.pairs.get(start + 1)
    if closing is None or not tokens.has_keys(start, "TABLE", "("):
        return
    name = tokens.tokens[start + 2 : closing]
    is_name = len(name) % 2 == 1 and all(
        token.key == "." if index % 2 else token.is_name for index, token in enumerate(name)
    )
    is_string = len(name) == 1 and name[0].is_string
    is_query = tokens.key(start + 2) in ("SELECT", "WITH")
    if is_query:
        query = tokens.text_at(tokens.span(start + 1, closing + 1))
        call = tokens.span(start, closing + 1)
        raise errors.clause_after_table_call(call, text="TABLE(...)", table=join_lines(query))
    if is_name or is_string:
        table = tokens.text_at(tokens.span(start + 2, closing)).strip("'\"")
        call = tokens.span(start, closing + 1)
        raise errors.clause_after_table_call(call, text=tokens.text_at(call), table=table)


def _find_relation_starts(tokens: TokenSequence, end: int) -> Iterator[int]:
    """Yield the first tokens of the relations of a FROM, from left to right.

    Args:
        tokens: the tokens of the query.
        end: the index of a token in this FROM, such as the word of a clause. Relations that start
            after this token are left out.
    """
    opening = tokens.enclosing_openings[end]
    from_index = _find_last_from(tokens, end)
    if from_index is not None:
        start = from_index + 1
    elif _encloses_relation(tokens, opening):
        start = opening + 1
    else:
        return
    yield start
    # From here on, `start` is the start of the latest relation.
    is_past_from = False
    for index in tokens.walk_level(start, end):
        if starts_part_after_from(tokens, index) or tokens.key(index) == "SELECT":
            is_past_from = True
        is_join = is_word(tokens, index, "JOIN") and tokens.key(index + 1) != "MATCH_RECOGNIZE"
        is_comma = tokens.key(index) == "," and not is_past_from
        if not is_join and not is_comma:
            continue
        values_end = skip_values(tokens, start, end)
        if values_end is None or index >= values_end:  # A comma between VALUES ends no relation.
            start = index + 1
            yield start


def _encloses_relation(tokens: TokenSequence, opening: int) -> bool:
    """Return whether a relation of FROM starts with a bracket, as in `FROM (a JOIN b)`.

    Then relations can start inside the bracket as well.

    Args:
        tokens: the tokens of the query.
        opening: the index of an opening bracket, or -1 for no bracket.
    """
    return tokens.key(opening) == "(" and opening in _find_relation_starts(tokens, opening)


def _find_last_from(tokens: TokenSequence, end: int) -> int | None:
    """Return the nearest FROM before a token, in the same brackets, or the USING of MERGE.

    The result is None if the brackets have neither, as in `FROM (a JOIN b MATCH_RECOGNIZE ...)`.

    If the brackets have two FROMs, a FROM right before the token is the name of a table, as in
    `FROM from MATCH_RECOGNIZE (...)`.

    Args:
        tokens: the tokens of the query.
        end: the index of a token, such as the word of a clause.
    """
    right_before = end - 1
    for index in _walk_level_backwards(tokens, end):
        if index < right_before and is_from(tokens, index):
            return index
    using = _find_using_of_merge(tokens, end)
    if using is None and end > 0 and is_from(tokens, right_before):
        return right_before
    return using


def _find_using_of_merge(tokens: TokenSequence, end: int) -> int | None:
    """Return the first USING after the last MERGE before a token, in the same brackets.

    In `MERGE INTO t USING s ...`, USING precedes the source. The result is None without MERGE.
    """
    using: int | None = None
    for index in _walk_level_backwards(tokens, end):
        if is_word(tokens, index, "USING"):
            using = index
        if is_word(tokens, index, "MERGE") and tokens[index + 1].is_name:
            return using
    return None


def _walk_level_backwards(tokens: TokenSequence, end: int) -> Iterator[int]:
    """Yield the tokens before `end` that are in the same brackets, from right to left.

    An opening bracket is yielded, its content and its closing bracket are not: for `f ( x ) , y`
    with `end` at `y`, the indices of `,`, `(` and `f` are yielded.
    """
    index = end
    while index > tokens.enclosing_openings[end] + 1:
        index -= 1
        index = tokens.openings.get(index, index)
        yield index


def _reject_correlation(tokens: TokenSequence, start: int, end: int) -> None:
    """Raise an error if the relation in tokens `start .. end` reads columns of the outer query."""
    outer_names = frozenset(_find_outer_names(tokens, start))
    # FROM or JOIN is right before the relation.
    inner_names = list_relation_names(tokens, start - 1, end)
    for token, path in find_qualified_names(tokens, range(start, end)):
        if token.name.upper() in outer_names - inner_names:
            raise errors.correlated_clause_input(path, name=tokens.text_at(path))


def _find_outer_names(tokens: TokenSequence, start: int) -> Iterator[str]:
    """Yield the names, in upper case, of the outer relations whose columns a relation could read.

    The outer relations belong to the queries around the relation. A parenthesis in FROM without
    LATERAL, and the definition of a table in WITH, cannot read the other relations of their query.

    Args:
        tokens: the tokens of the query.
        start: the index of the first token of the relation.
    """
    for opening in tokens.walk_brackets_around(start):
        is_lateral = tokens.key(opening - 1) == "LATERAL"
        is_table_definition = tokens.key(opening - 1) == "AS"
        if not is_lateral and (_encloses_relation(tokens, opening) or is_table_definition):
            continue
        for relation in _find_relations_around(tokens, opening):
            starts_inside = relation.start - 1 == opening
            if not starts_inside:
                yield from (name.upper() for name in relation.names)


def _find_relations_around(tokens: TokenSequence, opening: int) -> Iterator[FromRelation]:
    """Yield the relations of the query directly around the parenthesis at `opening`."""
    outer = tokens.enclosing_openings[opening]
    for index in tokens.walk_level(outer + 1, tokens.pairs.get(outer, len(tokens))):
        yield from find_relations_after(tokens, index, tokens.find_end_of_parentheses(index))
