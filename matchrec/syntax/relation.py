"""Find the clauses of a query, the relation of each, and what the query uses of their rows.

Nothing is parsed: brackets and a few keywords of the query's tokens are enough. Everything between
them is Spark's to check.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from matchrec.errors import MatchRecognizeError
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.sql import query as errors
from matchrec.errors.sql.clause import (
    bracket_not_closed,
    clause_closed_too_early,
    clause_not_closed,
    part_outside_clause,
)
from matchrec.errors.sql.tokens import (
    strange_sign,
    unclosed_bracket_in_expression,
    unexpected_token,
)
from matchrec.plan.expression import (
    Operation,
    Scalar,
    Term,
    find_column_names,
    render,
    split_conjuncts,
)
from matchrec.plan.match_plan import KeyTest, ResultUse
from matchrec.source import Span
from matchrec.syntax.durations import is_distance
from matchrec.syntax.expressions.expression import parse_scalar
from matchrec.syntax.expressions.reader import ClausePart, Scope
from matchrec.syntax.from_relations import (
    FromRelation,
    find_qualified_names,
    find_relations_after,
    is_from,
    is_set_operator,
    is_word,
    list_relation_names,
    read_relation,
    skip_values,
    starts_part,
)
from matchrec.syntax.tokens import FUNCTIONS_OF_MATCH, TokenKind, TokenSequence, split_words

# Find the clauses, and check that their brackets pair up and that their statement may have them.
#
# If the brackets of a clause do not pair up, the clause seems to end at the wrong place, and the
# error would blame whatever is there. The keywords of its parts tell which bracket is at fault.

_WORDS_BEFORE_RELATION = split_words("FROM JOIN USING")
_FUNCTIONS_OF_MEASURES = FUNCTIONS_OF_MATCH | split_words("RUNNING FINAL COUNT SUM AVG MIN MAX")
_WORDS_BEFORE_EXPRESSION = split_words(
    "SELECT WHERE AND OR NOT ON HAVING CASE WHEN THEN ELSE BY IN DISTINCT"
)


@dataclass(frozen=True, slots=True)
class ClauseLocation:
    """The location of a clause in a query, as indices of tokens."""

    # The word MATCH_RECOGNIZE.
    word: int
    # The parenthesis that opens the clause.
    opening: int
    # The parenthesis that closes it.
    closing: int


def find_clauses(tokens: TokenSequence) -> tuple[ClauseLocation, ...]:
    """Return the clauses of a query in the order of the text, which is the order of evaluation.

    Raises:
        MatchRecognizeError: the query has a clause, and parentheses do not pair up or a clause is
            inside another one's parentheses.
    """
    clause_words = [
        index
        for index in tokens.indices_by_key.get("MATCH_RECOGNIZE", ())
        if is_clause(tokens, index)
    ]
    if clause_words:
        _reject_unbalanced(tokens, clause_words)
    clauses: list[ClauseLocation] = []
    for word in clause_words:
        if clauses and word < clauses[-1].closing:
            raise errors.clause_in_clause(tokens[word].span)
        opening = word + 1
        clauses.append(ClauseLocation(word, opening, tokens.pairs[opening]))
    return tuple(clauses)


def is_clause(tokens: TokenSequence, index: int) -> bool:
    """Return whether a clause starts at `index`.

    It does not if a column, a table or a function has the name MATCH_RECOGNIZE.
    """
    if not tokens.has_keys(index, "MATCH_RECOGNIZE", "("):
        return False
    if tokens.key(index - 1) in (".", "AS"):
        return False
    closing = tokens.pairs.get(index + 1, len(tokens))
    level = tokens.walk_level(index + 2, closing)
    if any(tokens.has_keys(inner, "PATTERN", "(") for inner in level):
        return True
    if index == 0:
        return False
    # Without PATTERN, it is a malformed clause if the token before it may end a relation.
    before = tokens[index - 1]
    if before.kind is TokenKind.SYMBOL:
        return before.key in (")", "}")
    return before.key not in _WORDS_BEFORE_EXPRESSION | _WORDS_BEFORE_RELATION


WIDE_PARENTHESES = frozenset("\uff08\uff09")


def _reject_unbalanced(tokens: TokenSequence, clause_words: Sequence[int]) -> None:
    """Raise an error if parentheses of the query do not pair up.

    Args:
        tokens: the tokens of the query.
        clause_words: the indices of MATCH_RECOGNIZE of its clauses, at least one.
    """
    if not WIDE_PARENTHESES.isdisjoint(tokens.text):
        for token in tokens.tokens[clause_words[0] :]:
            if token.is_strange and not WIDE_PARENTHESES.isdisjoint(token.text):
                raise strange_sign(token.text, "the query", token.span)
    for word in clause_words:
        if word + 1 not in tokens.pairs:
            raise _explain_unclosed(tokens, word)
        _reject_parts_after_clause(tokens, word + 1)
    for closing in tokens.indices_by_key.get(")", ()):
        if closing not in tokens.openings:
            raise unexpected_token(")", "the query", tokens[closing].span)
    for opening in tokens.indices_by_key.get("(", ()):
        if opening not in tokens.pairs:
            raise unclosed_bracket_in_expression(
                tokens[opening].span, opening="(", where="the query"
            )


# For the keyword of a part: the distance to a token that follows it in no other place, and that
# token: `PATTERN (`, `SUBSET u =`, `DEFINE a AS`.
_SIGNS_OF_PARTS = {"PATTERN": (1, "("), "SUBSET": (2, "="), "DEFINE": (2, "AS")}


def find_part_at(tokens: TokenSequence, index: int) -> str | None:
    """Return PATTERN, SUBSET or DEFINE if such a part certainly starts at `index`; else None."""
    keyword = tokens.key(index)
    if keyword not in _SIGNS_OF_PARTS:
        return None
    distance, sign = _SIGNS_OF_PARTS[keyword]
    if tokens.key(index + distance) != sign or tokens.key(index - 1) in (".", "AS"):
        return None
    return keyword


# The first words of the parts that `_reject_parts_after_clause` finds after the clause.
_WORDS_OF_PARTS = _SIGNS_OF_PARTS.keys() | split_words("WITHIN ONE ALL AFTER MEASURES")


def find_part_outside(tokens: TokenSequence, index: int) -> str | None:
    """Return the part of a clause that starts at `index`, right after the clause, or None.

    A part is returned only if the query around the clause cannot go on like this.
    """
    match [tokens.key(at) for at in range(index, index + 3)]:
        case "WITHIN", _, _ if is_distance(tokens, index + 1):
            return "WITHIN"
        case ("ONE", "ROW", "PER") | ("ALL", "ROWS", "PER"):
            return f"{tokens.key(index)} {tokens.key(index + 1)} PER MATCH"
        case "AFTER", "MATCH", "SKIP":
            return "AFTER MATCH SKIP"
        case "MEASURES", _, ".":
            return "MEASURES"
        case "MEASURES", function, "(" if function in _FUNCTIONS_OF_MEASURES:
            return "MEASURES"
    return None


def _find_definition_at(tokens: TokenSequence, opening: int, index: int) -> str | None:
    """Return `U AS` if the definition of U in DEFINE starts at `index`, after a comma; else None.

    Args:
        tokens: the tokens of the query.
        opening: the innermost bracket around `index`. If AS can name a value in it, None is
            returned.
        index: the first token of the definition.
    """
    names_values = tokens.key(opening - 1) == "STRUCT"
    is_query = tokens.key(opening + 1) in ("SELECT", "WITH")
    starts_definition = tokens.key(index - 1) == "," and tokens.key(index + 1) == "AS"
    if not starts_definition or names_values or is_query:
        return None
    return f"{tokens[index].text} AS"


def _explain_unclosed(tokens: TokenSequence, word: int) -> MatchRecognizeError:
    """Return the error for the clause at `word`, whose parenthesis is not closed.

    The bracket at fault is one inside of the clause if a part or a definition starts in it. It is
    the clause's own otherwise.
    """
    index = word + 2
    while index < len(tokens):
        closing = tokens.pairs.get(index)
        if closing is not None and tokens.key(index - 1) == "MATCH_RECOGNIZE":
            index = closing
        elif closing is not None:
            for inner in tokens.walk_level(index + 1, closing):
                part = find_part_at(tokens, inner) or _find_definition_at(tokens, index, inner)
                if part:
                    spans = tokens[index].span, tokens[inner].span
                    return bracket_not_closed(*spans, opening=tokens.key(index), keyword=part)
        index += 1
    clause_start = tokens.span(word, word + 2)
    last_closing = max(tokens.openings, default=word)
    opening = tokens.openings.get(last_closing, word)
    if word + 1 < opening < last_closing - 1 and _starts_line(tokens, last_closing):
        # The last `)` is alone at the start of a line, so it was probably meant for the clause.
        return clause_not_closed(tokens[opening].span, clause_start)
    return bracket_not_closed(clause_start)


def _starts_line(tokens: TokenSequence, index: int) -> bool:
    """Return whether a token is the first one of its line."""
    between = tokens.text[tokens[index - 1].span.end : tokens[index].span.start]
    return "\n" in between


def _reject_parts_after_clause(tokens: TokenSequence, opening: int) -> None:
    """Raise an error if parts of a clause follow its closing parenthesis.

    Args:
        tokens: the tokens of the query.
        opening: the opening parenthesis of the clause.
    """
    closing = tokens.pairs[opening]
    if all(token.key not in _WORDS_OF_PARTS for token in tokens.tokens[closing + 1 :]):
        return
    parts = {find_part_at(tokens, index) for index in tokens.walk_level(opening + 1, closing)}
    for index in tokens.walk_level(closing + 1, tokens.find_end_of_parentheses(closing)):
        part = find_part_at(tokens, index)
        if tokens.key(index) == "MATCH_RECOGNIZE":
            return  # the parts that follow are those of another clause
        if part and part not in parts and (index == closing + 1 or "PATTERN" not in parts):
            raise _explain_part_outside(tokens, closing, index, part)
    # A part that is no such part for certain may follow the clause or its alias.
    has_as = tokens.key(closing + 1) == "AS"
    candidates = [closing + 1, closing + 2]
    if has_as:
        candidates.append(closing + 3)
    for index in candidates:
        part = find_part_outside(tokens, index)
        if part:
            raise _explain_part_outside(tokens, closing, index, part)


def _explain_part_outside(
    tokens: TokenSequence, closing: int, index: int, part: str
) -> MatchRecognizeError:
    """Return the error for a part of the clause at `index`, after the clause has ended.

    If the query has a `)` that closes nothing, the one at `closing` is one too many. Otherwise the
    part itself is in the wrong place.
    """
    has_stray_parenthesis = any(
        other not in tokens.openings for other in tokens.indices_by_key[")"]
    )
    if has_stray_parenthesis:
        return clause_closed_too_early(tokens[closing].span, tokens[index].span, keyword=part)
    return part_outside_clause(tokens[index].span, part=part)


# The words of CREATE and ALTER before the one for what is created, such as VIEW.
_WORDS_BEFORE_OBJECT = split_words(
    "CREATE ALTER OR REPLACE GLOBAL TEMP TEMPORARY MATERIALIZED STREAMING REFRESH"
)


def stores_text(tokens: TokenSequence) -> bool:
    """Return whether Spark stores the text of the query: CREATE ... VIEW and CACHE TABLE."""
    return tokens.key(0) == "CACHE" or tokens.key(_find_created_object(tokens)) == "VIEW"


def _find_created_object(tokens: TokenSequence) -> int:
    """Return the index of the word for what CREATE or ALTER is about, such as VIEW.

    In other statements it is 0, the index of their first word.
    """
    index = 0
    if tokens.key(0) in ("CREATE", "ALTER"):
        while tokens.key(index) in _WORDS_BEFORE_OBJECT:
            index += 1
    return index


def reject_stored_text(tokens: TokenSequence, location: ClauseLocation) -> None:
    """Raise an error for a clause in a view of several sessions, in a function or in a script.

    Their text is stored, and read where nobody evaluates the clause.
    """
    if tokens.key(0) == "BEGIN":
        raise errors.clause_in_script(tokens[0].span)
    index = _find_created_object(tokens)
    if index == 0:
        return
    modifiers = [tokens.key(before) for before in range(min(index, location.word))]
    is_temporary = "TEMP" in modifiers or "TEMPORARY" in modifiers
    if tokens.key(index) == "VIEW" and "GLOBAL" in modifiers:
        raise errors.clause_in_global_view(tokens.span(0, index + 1))
    if tokens.key(index) == "VIEW" and not is_temporary:
        raise errors.clause_in_stored_text(tokens.span(0, index + 1), kind="a permanent view")
    if tokens.key(index) == "FUNCTION":
        raise errors.clause_in_stored_text(tokens.span(0, index + 1), kind="a function")


# Find the relation of a clause: where it starts, and which WITH clauses it sees.
#
# Brackets and the words before a relation tell where it starts.

_FIRST_WORDS_OF_QUERIES = ("SELECT", "WITH", "FROM", "VALUES", "TABLE", "(", "MAP", "REDUCE")


@dataclass(frozen=True, slots=True)
class CommonTable:
    """A table that a WITH clause defines, as indices of tokens."""

    # Its name.
    name: int
    # The parenthesis before its query.
    opening: int
    # The parenthesis after its query.
    closing: int


@dataclass(frozen=True, slots=True)
class WithClause:
    """A WITH clause of a query."""

    # The index of WITH.
    start: int
    # The end of the query that may read its tables.
    end: int
    # Whether it is WITH RECURSIVE.
    recursive: bool
    # The tables that it defines, in order.
    definitions: tuple[CommonTable, ...]


def find_visible(
    tokens: TokenSequence, clauses: tuple[WithClause, ...], start: int
) -> tuple[Span, ...]:
    """Return the part of each WITH clause whose tables a relation may read, outermost first.

    A part goes up to the last definition before the relation, because a definition may read only
    the tables that are defined before it.

    Args:
        tokens: the tokens of the query.
        clauses: the WITH clauses of the query.
        start: the first token of the relation.

    Raises:
        MatchRecognizeError: the relation is in the definition of a recursive table.
    """
    spans = []
    for clause in clauses:
        if not clause.start < start < clause.end:
            continue
        _reject_recursion(tokens, clause, start)
        visible_tables = [table for table in clause.definitions if table.closing < start]
        if visible_tables:
            spans.append(tokens.span(clause.start, visible_tables[-1].closing + 1))
    return tuple(spans)


def find_with_clauses(tokens: TokenSequence) -> Iterator[WithClause]:
    """Yield every WITH clause of a query, outer ones first."""
    for index in tokens.indices_by_key.get("WITH", ()):
        if tokens.key(index - 1) == ".":
            continue
        is_table_name = tokens.key(index + 2) in ("(", "AS")  # a table that is called `recursive`
        recursive = tokens.key(index + 1) == "RECURSIVE" and not is_table_name
        tables = tuple(_read_common_tables(tokens, index + 1 + recursive))
        if tables:
            yield WithClause(index, tokens.find_end_of_parentheses(index), recursive, tables)


def _read_common_tables(tokens: TokenSequence, index: int) -> Iterator[CommonTable]:
    """Yield the tables that a WITH clause defines. The first one is named at `index`."""
    while index < len(tokens) and tokens[index].is_name:
        opening = _find_table_query(tokens, index)
        if opening is None:
            return
        closing = tokens.pairs[opening]
        yield CommonTable(index, opening, closing)
        if tokens.key(closing + 1) != ",":
            return
        index = closing + 2


def _find_table_query(tokens: TokenSequence, name: int) -> int | None:
    """Return the parenthesis before the query of the table named at `name`; None if it has none.

    `name [(columns)] [MAX RECURSION LEVEL n] [AS] (query)`
    """
    index = name + 1
    if tokens.key(index) == "(" and tokens.key(index + 1) not in _FIRST_WORDS_OF_QUERIES:
        index = tokens.index_after(index)
    if tokens.key(index) == "MAX":
        index += 4  # MAX RECURSION LEVEL n
    if tokens.key(index) == "AS":
        index += 1
    is_query = tokens.key(index) == "(" and tokens.key(index + 1) in _FIRST_WORDS_OF_QUERIES
    return index if is_query and index in tokens.pairs else None


def _reject_recursion(tokens: TokenSequence, clause: WithClause, start: int) -> None:
    """Raise an error if the relation at `start` is in the query of a table that reads itself."""
    if not clause.recursive:
        return
    for table in clause.definitions:
        if not table.opening < start < table.closing:
            continue
        name = tokens[table.name]
        body = tokens.tokens[table.opening + 1 : table.closing]
        if any(token.is_name and token.variable == name.variable for token in body):
            raise errors.clause_in_recursive_query(tokens[start].span, name=name.text)


def find_relation(tokens: TokenSequence, location: ClauseLocation) -> FromRelation:
    """Return the relation that a clause applies to.

    Raises:
        MatchRecognizeError: the clause follows no relation, or one that depends on other relations.
    """
    start = find_relation_start(tokens, location)
    relation = read_relation(tokens, start, location.word)
    if relation.end != location.word:
        raise _explain_misplaced(tokens, location.word)
    if tokens.key(start - 2) == "," and tokens.key(start - 1) == "FROM":
        raise errors.comma_before_from(tokens[start - 2].span)
    is_in_brackets = tokens.around[start] >= 0
    if is_in_brackets:
        _reject_correlation(tokens, start, location.word)
    return relation


def _explain_misplaced(tokens: TokenSequence, word: int) -> MatchRecognizeError:
    """Return the error for the clause at `word` that follows no relation.

    FROM before the name of the relation may be misspelt, or the name may be in quotes.
    """
    if (
        word > 1
        and tokens.key(word - 2) != "FROM"
        and find_nearest(tokens.key(word - 2), ("FROM",))
    ):
        return errors.misspelt_from(tokens[word - 2].span, text=tokens[word - 2].text)
    if tokens[word - 1].is_string:
        return errors.table_in_quotes(tokens[word - 1].span, name=tokens[word - 1].text)
    return errors.clause_in_wrong_place(tokens[word].span)


def find_relation_start(tokens: TokenSequence, location: ClauseLocation) -> int:
    """Return the index of the first token of a clause's relation.

    What is between that token and the clause is not checked.

    Raises:
        MatchRecognizeError: no relation is before the clause, or one that it cannot apply to.
    """
    before = tokens.key(location.word - 1)
    starts: list[int] = []
    if before != "|>":  # a pipe, which follows a query and no relation
        starts = list(_find_relation_starts(tokens, location.word))
    if location.word == 0 or location.word in starts or before in ("(", ","):
        raise errors.clause_without_relation(tokens[location.word].span)
    if not starts:
        raise _explain_misplaced(tokens, location.word)
    start = starts[-1]
    if tokens.key(0) in ("DELETE", "UPDATE") and start == 2:
        raise errors.clause_on_changed_table(tokens[location.word].span, word=tokens.key(0))
    if (
        tokens.key(start) == "LATERAL"
        and start + 1 < location.word
        and tokens.key(start + 1) != "."
    ):
        raise errors.clause_after_lateral(tokens[start].span)
    return start


def _find_relation_starts(tokens: TokenSequence, last: int) -> Iterator[int]:
    """Yield the first tokens of the relations of a FROM, from left to right.

    Args:
        tokens: the tokens of the query.
        last: a token in that FROM, such as the word of a clause. Relations after it are left out.
    """
    opening = tokens.around[last]
    from_ = _find_last_from(tokens, last)
    if from_ is not None:
        start = from_ + 1
    elif _is_in_from(tokens, opening):
        start = opening + 1
    else:
        return
    yield start
    is_past_from = False
    for index in tokens.walk_level(start, last):
        if starts_part(tokens, index) or tokens.key(index) == "SELECT":
            is_past_from = True
        is_join = is_word(tokens, index, "JOIN") and tokens.key(index + 1) != "MATCH_RECOGNIZE"
        is_comma = tokens.key(index) == "," and not is_past_from
        if not is_join and not is_comma:
            continue
        values_end = skip_values(tokens, start, last)
        if values_end is None or index >= values_end:  # a comma between VALUES ends no relation
            start = index + 1
            yield start


def _is_in_from(tokens: TokenSequence, opening: int) -> bool:
    """Return whether a parenthesis starts a relation, so that a relation may start in it too."""
    return tokens.key(opening) == "(" and opening in _find_relation_starts(tokens, opening)


def _find_last_from(tokens: TokenSequence, last: int) -> int | None:
    """Return the nearest FROM before a clause, in the same brackets, or the USING of MERGE.

    A FROM right before the clause is the name of a table if there is another one, as in
    `FROM from MATCH_RECOGNIZE (...)`.

    Args:
        tokens: the tokens of the query.
        last: the index of the clause's word.
    """
    from_before_clause: int | None = None
    using: int | None = None  # the first USING after the nearest MERGE
    follows_merge = False
    index = last
    while index > tokens.around[last] + 1:
        index -= 1
        index = tokens.openings.get(index, index)  # skips brackets
        if is_from(tokens, index):
            if index < last - 1:
                return index
            from_before_clause = index
        if is_word(tokens, index, "USING"):
            using = index
            follows_merge = False
        if is_word(tokens, index, "MERGE") and tokens[index + 1].is_name:
            follows_merge = True
    return using if follows_merge else from_before_clause


def _reject_correlation(tokens: TokenSequence, start: int, end: int) -> None:
    """Raise an error if the relation `start .. end` reads columns of the query around it."""
    outer_names = frozenset(_find_outer_names(tokens, start))
    inner_names = list_relation_names(tokens, start - 1, end)
    for token, path in find_qualified_names(tokens, range(start, end)):
        if token.name.upper() in outer_names - inner_names:
            raise errors.correlated_clause_input(path, name=tokens.text_at(path))


def _find_outer_names(tokens: TokenSequence, start: int) -> Iterator[str]:
    """Yield the names of relations, in upper case, whose columns the one at `start` could read.

    These are the relations of the queries around it. A parenthesis in FROM without LATERAL, and
    the definition of a table in WITH, do not see the relations beside them.
    """
    for opening in tokens.walk_brackets_around(start):
        is_lateral = tokens.key(opening - 1) == "LATERAL"
        is_table_definition = tokens.key(opening - 1) == "AS"
        if not is_lateral and (_is_in_from(tokens, opening) or is_table_definition):
            continue
        outer = tokens.around[opening]
        for index in tokens.walk_level(outer + 1, tokens.pairs.get(outer, len(tokens))):
            for relation in find_relations_after(
                tokens, index, tokens.find_end_of_parentheses(index)
            ):
                is_itself = relation.start - 1 == opening
                if not is_itself:
                    yield from (name.upper() for name in relation.names)


# Find which part of a clause's rows the query uses.
#
# A column is not read if its name is nowhere else in the query, and no `*` or the like stands for
# all columns. If WHERE follows the clause and compares a column with constants, the test holds for
# every row of the result. In all other cases, everything counts as used.

_READERS_OF_ALL_COLUMNS = split_words("PIVOT UNPIVOT NATURAL IDENTIFIER TRANSFORM |>")
_COMPARISONS = split_words("= <=> < <= > >= <> BETWEEN IN")
_TYPES_OF_LITERALS = split_words("DATE TIMESTAMP")
_SCOPE_OF_WHERE = Scope(ClausePart.PARTITION_BY, reads_match=False)


def find_use(tokens: TokenSequence, start: int, closing: int, alias: int | None) -> ResultUse:
    """Return which part of a clause's rows a query uses.

    Args:
        tokens: the tokens of the query.
        start: the first token of the clause's relation.
        closing: the closing parenthesis of the clause.
        alias: the alias of the clause, if it has one.
    """
    names = None
    if not find_renames(tokens, alias):
        names = list_names_outside(tokens, range(start, closing + 1))
    where = (closing if alias is None else alias) + 1
    is_only_relation = tokens.key(start - 1) == "FROM" and tokens.key(where) == "WHERE"
    if not is_only_relation:
        return ResultUse(names)
    return ResultUse(names, tuple(_find_key_tests(tokens, where, alias)))


def list_names_outside(tokens: TokenSequence, inside: range = range(0)) -> frozenset[str] | None:
    """Return the names outside of a range of tokens, in lower case.

    None means that all columns may be read, as for `SELECT *`.
    """
    outside = tokens.tokens[: inside.start] + tokens.tokens[inside.stop :]
    keys = {token.key for token in outside}
    if "SELECT" not in keys or keys & _READERS_OF_ALL_COLUMNS:
        return None
    for index in tokens.indices_by_key.get("*", ()):
        if index not in inside and not _is_operator(tokens, index):
            return None
    return frozenset(token.name.lower() for token in outside if token.can_name)


def _is_operator(tokens: TokenSequence, index: int) -> bool:
    """Return whether the `*` at `index` multiplies, or is the argument of `COUNT(*)`."""
    before = tokens[index - 1]
    if before.key == "(":
        return tokens.key(index + 1) == ")" and tokens.key(index - 2) == "COUNT"
    is_field = before.is_name and tokens.key(index - 2) == "."
    ends_operand = before.kind is TokenKind.QUOTED or before.key in (")", "]")
    return is_field or ends_operand or before.is_constant


def find_renames(tokens: TokenSequence, alias: int | None) -> tuple[Span, ...]:
    """Return the new names of the columns after the alias at `alias`: `AS m (a, b)`."""
    if alias is None or tokens.key(alias + 1) != "(":
        return ()
    names = tokens.split_at_commas(alias + 2, tokens.pairs[alias + 1])
    return tuple(tokens.span(start, end) for start, end in names if start < end)


def _find_key_tests(tokens: TokenSequence, where: int, alias: int | None) -> Iterator[KeyTest]:
    """Yield the tests of a WHERE that compare a column of the clause with constants.

    A WHERE that cannot be read yields none: Spark reports its errors.

    Args:
        tokens: the tokens of the query.
        where: the index of WHERE. The clause is the only relation of its FROM.
        alias: the alias of the clause, if it has one.
    """
    start = where + 1
    end = _find_end_of_where(tokens, start)
    try:
        condition = parse_scalar(tokens.cut_out(start, end), _SCOPE_OF_WHERE)
    except (MatchRecognizeError, IndexError):
        return
    qualifiers = [""]
    if alias is not None:
        qualifiers.append(tokens[alias].name.lower())
    for test in split_conjuncts(condition):
        match test:
            case Operation(operator, (left, *constants)) if operator in _COMPARISONS:
                *qualifier, name = find_column_names(left) or ("", "", "")
                is_clause_column = ".".join(qualifier).lower() in qualifiers
                starts_with_column = test.parts[0] is left
                if not is_clause_column or not starts_with_column:
                    continue
                if all(_is_constant(operand) for operand in constants):
                    comparison = replace(test, parts=test.parts[1:])  # without the column
                    yield KeyTest(name, render(comparison, str).strip())


def _find_end_of_where(tokens: TokenSequence, start: int) -> int:
    """Return the token after the condition of a WHERE that starts at `start`."""
    query_end = tokens.find_end_of_parentheses(start)
    for index in tokens.walk_level(start, query_end):
        if starts_part(tokens, index) or is_set_operator(tokens, index):
            return index
    return query_end


def _is_constant(operand: Scalar) -> bool:
    """Return whether an operand is a literal: a number, a text, a date or a timestamp."""
    if not isinstance(operand, Term) or operand.references:
        return False
    if not operand.operations <= _TYPES_OF_LITERALS:
        return False
    return render(operand, str)[0] not in ":?"  # the signs of parameters
