"""Find the clauses of a query, and check that their brackets pair up.

Nothing is parsed: brackets and a few keywords of the query's tokens are enough.

If the brackets of a clause do not pair up, the clause seems to end at the wrong place, and a simple
error would point to that place. So we look for the keyword of a part inside another bracket, which
shows that this bracket was not closed: the `(` before `sym` in `PARTITION BY (sym ORDER BY ts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import query as errors
from matchrec.errors.sql.clause import (
    bracket_not_closed,
    brackets_open_at_end,
    clause_bracket_not_closed,
    clause_closed_too_early,
    clause_not_closed,
    part_outside_clause,
    pattern_without_parentheses,
)
from matchrec.errors.sql.incomplete import unclosed_bracket_in_expression
from matchrec.errors.sql.tokens import strange_sign, unexpected_token
from matchrec.plan.words import RESERVED
from matchrec.syntax.durations import is_distance
from matchrec.syntax.function_names import FUNCTIONS_OF_MATCH
from matchrec.syntax.tokens import OPENING, TokenKind, TokenSequence, split_words

# Words that are not reserved, and after which MATCH_RECOGNIZE is a name all the same: no relation
# ends with them.
_WORDS_BEFORE_NAME = split_words("DIV ILIKE INTERVAL LIMIT MINUS QUALIFY REGEXP RLIKE SET VIEW XOR")
# First words of an item of MEASURES that cannot follow an alias `measures` in a query.
_FUNCTIONS_OF_MEASURES = FUNCTIONS_OF_MATCH | split_words("RUNNING FINAL COUNT SUM AVG MIN MAX")
# The full-width parentheses of East Asian keyboards.
WIDE_PARENTHESES = frozenset("\uff08\uff09")


@dataclass(frozen=True, slots=True)
class ClauseLocation:
    """The location of a clause in a query, as indices of tokens."""

    # The word MATCH_RECOGNIZE.
    word: int
    # The parenthesis that opens the clause.
    opening: int
    # The parenthesis that closes the clause.
    closing: int


def find_clauses(tokens: TokenSequence) -> tuple[ClauseLocation, ...]:
    """Return the clauses of a query in the order of the text, which is the order of evaluation.

    Raises:
        MatchRecognizeError: the query has a clause, and brackets do not pair up, a part of a clause
            follows its closing parenthesis, or a clause is inside another one's parentheses.
    """
    clause_words = [
        index
        for index in tokens.indices_by_key.get("MATCH_RECOGNIZE", ())
        if starts_clause(tokens, index)
    ]
    if clause_words:
        _check_structure(tokens, clause_words)
    clauses: list[ClauseLocation] = []
    for word in clause_words:
        if clauses and word < clauses[-1].closing:
            raise errors.clause_in_clause(tokens[word].span)
        opening = word + 1
        clauses.append(ClauseLocation(word, opening, tokens.pairs[opening]))
    return tuple(clauses)


def starts_clause(tokens: TokenSequence, index: int) -> bool:
    """Return whether a clause starts at `index`.

    The word MATCH_RECOGNIZE can also be the name of a column, a table or a function.
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
    # Without PATTERN, this is a malformed clause if the token before the word can end a relation:
    # a name, `)` or `}`.
    token_before = tokens[index - 1]
    if token_before.kind is TokenKind.SYMBOL:
        return token_before.key in (")", "}")
    if token_before.kind is TokenKind.WORD:
        return token_before.key not in RESERVED | _WORDS_BEFORE_NAME
    return token_before.kind in (TokenKind.QUOTED, TokenKind.STRING)  # a string: `FROM "t"`


def _check_structure(tokens: TokenSequence, clause_words: Sequence[int]) -> None:
    """Check that brackets pair up, and that no part of a clause follows its parenthesis.

    Full-width parentheses from the first clause on are an error, too.

    Args:
        tokens: the tokens of the query.
        clause_words: the index of MATCH_RECOGNIZE for each clause, at least one.
    """
    if not WIDE_PARENTHESES.isdisjoint(tokens.text):
        for token in tokens.tokens[clause_words[0] :]:
            if token.needs_quotes and not WIDE_PARENTHESES.isdisjoint(token.text):
                raise strange_sign(token.text, "the query", token.span)
    for word in clause_words:
        if word + 1 not in tokens.pairs:
            raise _explain_unclosed(tokens, word)
        _reject_parts_after_clause(tokens, word + 1)
    for closing in tokens.indices_by_key.get(")", ()):
        if closing not in tokens.openings:
            for word in clause_words:
                _reject_definition_after_clause(tokens, word + 1)
            raise unexpected_token(")", "the query", tokens[closing].span)
    for opening in tokens.indices_by_key.get("(", ()):
        if opening not in tokens.pairs:
            raise unclosed_bracket_in_expression(
                tokens[opening].span, opening="(", where="the query"
            )
    for opening in tokens.indices_by_key.get("[", ()):
        is_in_clause = any(word < opening < tokens.pairs[word + 1] for word in clause_words)
        if opening not in tokens.pairs and not is_in_clause:
            raise unclosed_bracket_in_expression(
                tokens[opening].span, opening="[", where="the query"
            )


# For each word, the distance to a token after it, and the key that this token must have so that the
# word is certainly the keyword of a part: `PATTERN (`, `SUBSET u =`, `DEFINE a AS`.
_SIGNS_OF_PARTS = {"PATTERN": (1, "("), "SUBSET": (2, "="), "DEFINE": (2, "AS")}


def find_part_at(tokens: TokenSequence, index: int) -> str | None:
    """Return PATTERN, SUBSET or DEFINE if this part certainly starts at `index`, otherwise None."""
    keyword = tokens.key(index)
    if keyword not in _SIGNS_OF_PARTS:
        return None
    distance, sign = _SIGNS_OF_PARTS[keyword]
    if tokens.key(index + distance) != sign or tokens.key(index - 1) in (".", "AS"):
        return None
    return keyword


# The first words of the parts that `_reject_parts_after_clause` finds after the clause.
_FIRST_WORDS_OF_PARTS = _SIGNS_OF_PARTS.keys() | split_words("WITHIN ONE ALL AFTER MEASURES")


def find_part_outside(tokens: TokenSequence, index: int) -> str | None:
    """Return the part of a clause that starts at `index`, right after the clause or its alias.

    The result is None if the words at `index` can be part of the query around the clause. For
    example, `measures` can be the alias of the clause, but `MEASURES A.` cannot be part of a query.
    """
    match tokens.key(index), tokens.key(index + 1), tokens.key(index + 2):
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
    """Return the start of a definition of DEFINE at `index`, such as `U AS`, otherwise None.

    In an unclosed bracket, `, U AS` shows that a definition starts, because AS is not allowed in
    most brackets. In `STRUCT(` and in subqueries AS can name a value, so the result is None. After
    a comma and a constant, as in `x IN (1, 2 AS m`, the result is `AS`.

    Args:
        tokens: the tokens of the query.
        opening: the innermost opening bracket around `index`.
        index: the index of a token.
    """
    names_values = tokens.key(opening - 1) == "STRUCT"
    is_query = tokens.key(opening + 1) in ("SELECT", "WITH")
    follows_constant = tokens.key(index - 2) == "," and tokens[index - 1].is_constant
    if follows_constant and tokens.key(index) == "AS" and not (names_values or is_query):
        return "AS"
    starts_definition = tokens.key(index - 1) == "," and tokens.key(index + 1) == "AS"
    if not starts_definition or names_values or is_query or not tokens.can_name(index):
        return None
    return f"{tokens[index].text} AS"


def _find_part_after_keys(tokens: TokenSequence, opening: int, index: int) -> str | None:
    """Return the part at `index` in parentheses that begin a key: `PARTITION BY (sym ORDER BY`.

    The result is None for other tokens and other parentheses.
    """
    if tokens.key(opening - 1) != "BY" or tokens.key(opening + 1) in ("SELECT", "WITH"):
        return None
    if tokens.key(opening - 2) == "PARTITION" and tokens.has_keys(index, "ORDER", "BY"):
        return "ORDER BY"
    return find_part_outside(tokens, index)


def _explain_unclosed(tokens: TokenSequence, word: int) -> MatchRecognizeError:
    """Return the error for the clause at `word`, whose parenthesis is not closed.

    The `)` of the clause closes another bracket, whose own `)` is missing. The other bracket is

    1. a bracket in which another part or a definition of the clause starts, or else
    2. the bracket that is closed last, if its `)` begins a line: it was probably meant for the
       clause, or else
    3. the innermost bracket that is still open at the end of the text: the clause's own parenthesis
       if no bracket inside the clause is open. Otherwise, the error shows all open brackets, the
       innermost one first.
    """
    for opening in _walk_pairs_outside_clauses(tokens, word + 2):
        for index in tokens.walk_level(opening + 1, tokens.pairs[opening]):
            part = (
                find_part_at(tokens, index)
                or _find_definition_at(tokens, opening, index)
                or _find_part_after_keys(tokens, opening, index)
            )
            if part:
                return bracket_not_closed(
                    tokens[opening].span,
                    tokens[index].span,
                    query=tokens.text,
                    opening=tokens.key(opening),
                    keyword=part,
                )
    clause_start = tokens.span(word, word + 2)
    last_closing = max(tokens.openings, default=word)
    # If the query has no pairs of brackets, this is `word`, which is not inside the clause.
    opening = tokens.openings.get(last_closing, word)
    is_inside_clause = opening > word + 1
    is_empty = last_closing == opening + 1
    if is_inside_clause and not is_empty and _starts_line(tokens, last_closing):
        return clause_not_closed(tokens[opening].span, clause_start, query=tokens.text)
    open_at_end = _list_open_at_end(tokens, word + 1)
    if open_at_end[-1] == word + 1:
        return clause_bracket_not_closed(tokens[word + 1].span, query=tokens.text)
    open_at_end.reverse()
    return brackets_open_at_end(
        *(tokens[opening].span for opening in open_at_end),
        query=tokens.text,
        openings=[tokens.key(opening) for opening in open_at_end],
    )


def _list_open_at_end(tokens: TokenSequence, start: int) -> list[int]:
    """Return the opening brackets from `start` on that are open at the end of the text.

    An unclosed bracket inside a pair, as in `( [ )`, is left out.
    """
    open_brackets: list[int] = []
    index = start
    while index < len(tokens):
        if tokens.key(index) in OPENING and index not in tokens.pairs:
            open_brackets.append(index)
        index = tokens.pairs.get(index, index) + 1
    return open_brackets


def _walk_pairs_outside_clauses(tokens: TokenSequence, start: int) -> Iterator[int]:
    """Yield the opening bracket of each pair from `start` on that is not part of another clause."""
    index = start
    while index < len(tokens):
        if index in tokens.pairs:
            if tokens.key(index - 1) == "MATCH_RECOGNIZE":
                index = tokens.pairs[index]
            else:
                yield index
        index += 1


def _starts_line(tokens: TokenSequence, index: int) -> bool:
    """Return whether a token that is not the first one of the text begins a line."""
    between = tokens.text[tokens[index - 1].span.end : tokens[index].span.start]
    return "\n" in between


def _reject_definition_after_clause(tokens: TokenSequence, opening: int) -> None:
    """Raise an error if the end of a clause is followed by the rest of its DEFINE.

    The query has a `)` that closes nothing, so a `)` in DEFINE is probably superfluous:
    `DEFINE A AS (x > 1)), B AS x > 2)`.

    Args:
        tokens: the tokens of the query.
        opening: the opening parenthesis of the clause.
    """
    closing = tokens.pairs[opening]
    parts_inside = [tokens.key(index) for index in tokens.walk_level(opening + 1, closing)]
    following = closing + 1
    if "DEFINE" not in parts_inside:
        return
    if tokens.key(following) in ("AND", "OR"):
        rest = tokens[following].text
    elif tokens.key(following) == "," and tokens.key(following + 2) == "AS":
        name = tokens[following + 1]
        names_inside = {token.key for token in tokens.tokens[opening + 1 : closing]}
        if name.key not in names_inside:  # the name of another relation in FROM
            return
        rest = f"`, {name.text} AS`"
    else:
        return
    raise clause_closed_too_early(tokens[closing].span, tokens[following].span, keyword=rest)


def _reject_parts_after_clause(tokens: TokenSequence, opening: int) -> None:
    """Raise an error if parts of a clause follow its closing parenthesis.

    There is no error for a part that the clause has, or for one that does not follow directly if
    the clause has PATTERN. PATTERN, SUBSET and DEFINE are found anywhere in the query after the
    clause. Other parts are found only right after the clause or its alias: elsewhere, their words
    can mean something else.

    Args:
        tokens: the tokens of the query.
        opening: the opening parenthesis of the clause.
    """
    closing = tokens.pairs[opening]
    if all(token.key not in _FIRST_WORDS_OF_PARTS for token in tokens.tokens[closing + 1 :]):
        return  # This is a quick test, which nearly all queries pass.
    parts_inside = {
        find_part_at(tokens, index) for index in tokens.walk_level(opening + 1, closing)
    }
    for index in tokens.walk_level(closing + 1, tokens.find_end_of_parentheses(closing)):
        if tokens.key(index) == "MATCH_RECOGNIZE":
            return  # The parts after this word belong to another clause.
        part = find_part_at(tokens, index)
        is_probably_misplaced = index == closing + 1 or "PATTERN" not in parts_inside
        if part and part not in parts_inside and is_probably_misplaced:
            raise _explain_part_outside(tokens, closing, index, part)
    # A part can start right after the clause, after its alias `m`, or after `AS m`.
    indices_after_clause = [closing + 1, closing + 2]
    if tokens.key(closing + 1) == "AS":
        indices_after_clause.append(closing + 3)
    for index in indices_after_clause:
        part = find_part_outside(tokens, index)
        if part:
            raise _explain_part_outside(tokens, closing, index, part)


def _explain_part_outside(
    tokens: TokenSequence, closing: int, index: int, part: str
) -> MatchRecognizeError:
    """Return the error for a part of the clause at `index`, after the clause has ended.

    If the query has a `)` that closes nothing, the `)` at `closing` is superfluous. Otherwise the
    part itself is in the wrong place.
    """
    has_stray_parenthesis = any(
        other not in tokens.openings for other in tokens.indices_by_key[")"]
    )
    opening = tokens.openings[closing]
    for word in tokens.indices_by_key.get("PATTERN", ()):
        is_bare = opening < word < closing and tokens.key(word + 1) not in ("(", ",", ".", "AS")
        if has_stray_parenthesis and is_bare and tokens.key(word - 1) not in (".", "AS", ","):
            pattern = tokens.text_at(tokens.span(word + 1, closing))
            return pattern_without_parentheses(tokens[word].span, row_pattern=pattern)
    if has_stray_parenthesis:
        return clause_closed_too_early(tokens[closing].span, tokens[index].span, keyword=part)
    return part_outside_clause(tokens[index].span, part=part)
