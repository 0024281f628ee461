"""Check that the brackets of a query with clauses pair up, and explain it if they do not.

If a bracket of a clause is not closed, the `)` of the clause closes it, so the clause seems to end
at the wrong place, and a simple error would point to that place. So we look for the keyword of a
part inside another bracket, which shows that this bracket was not closed:

    MATCH_RECOGNIZE (PARTITION BY (sym ORDER BY ts PATTERN (A B) DEFINE B AS x > 1)
                                  ^    ^^^^^^^^ a part of the clause cannot be in this bracket

In the same way, a part after a clause shows that the clause was closed too early.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import clause as errors
from matchrec.errors.sql.incomplete import unclosed_bracket_in_expression
from matchrec.errors.sql.query import clause_in_clause
from matchrec.errors.sql.token_advice import TokenInText
from matchrec.errors.sql.tokens import strange_sign, unexpected_token
from matchrec.syntax.clause_parts import ClausePart, find_definite_part, find_misplaced_part
from matchrec.syntax.tokens import OPENING, TokenSequence

# The full-width parentheses of East Asian keyboards.
_WIDE_PARENTHESES = frozenset("\uff08\uff09")


@dataclass(frozen=True, slots=True)
class _MisplacedPart:
    """A part of a clause, or the start of a definition, that is outside its place in the clause."""

    # The part as messages call it: `ORDER BY`, or `U AS` for a definition.
    name: str
    # The index of its first token.
    index: int


def check_structure(tokens: TokenSequence, clause_words: Sequence[int]) -> None:
    """Check the brackets of a query with clauses.

    Args:
        tokens: the tokens of the query.
        clause_words: the index of MATCH_RECOGNIZE for each clause, in order; at least one. A `(`
            follows each.

    Raises:
        MatchRecognizeError: brackets do not pair up, there is a full-width parenthesis from the
            first clause on, a part of a clause follows its closing parenthesis, or a clause is
            inside another one's parentheses.
    """
    _reject_wide_parentheses(tokens, clause_words[0])
    for word in clause_words:
        if word + 1 not in tokens.pairs:
            raise _explain_unclosed_clause(tokens, word)
        part = _find_part_after_clause(tokens, word + 1)
        if part is not None:
            raise _explain_part_after_clause(tokens, word + 1, part)
    _reject_stray_parenthesis(tokens, clause_words)
    _reject_unclosed_brackets(tokens, clause_words)
    clause_end = 0
    for word in clause_words:
        if word < clause_end:
            raise clause_in_clause(tokens[word].span)
        clause_end = tokens.pairs[word + 1]


def _reject_wide_parentheses(tokens: TokenSequence, start: int) -> None:
    """Raise an error for a full-width parenthesis from a token on."""
    if _WIDE_PARENTHESES.isdisjoint(tokens.text):
        return
    for token in tokens.tokens[start:]:
        if token.needs_quotes and not _WIDE_PARENTHESES.isdisjoint(token.text):
            raise strange_sign(token.text, "the query", token.span)


def _reject_stray_parenthesis(tokens: TokenSequence, clause_words: Sequence[int]) -> None:
    """Raise an error for the first `)` of the query that closes nothing.

    If the rest of a DEFINE follows a clause, the `)` that closes the clause is the surplus one.
    """
    stray = _find_stray_parenthesis(tokens)
    if stray is None:
        return
    for word in clause_words:
        definition = _find_definition_after_clause(tokens, word + 1)
        if definition is not None:
            raise _make_closed_too_early_error(tokens, word + 1, definition)
    raise unexpected_token(TokenInText(")", "the query"), tokens[stray].span)


def _find_stray_parenthesis(tokens: TokenSequence) -> int | None:
    """Return the first `)` of a query that closes nothing; None if there is none."""
    for closing in tokens.indices_by_key.get(")", ()):
        if closing not in tokens.openings:
            return closing
    return None


def _reject_unclosed_brackets(tokens: TokenSequence, clause_words: Sequence[int]) -> None:
    """Raise an error for the first `(` that is not closed, or else the first `[` outside clauses.

    A `[` in a clause is left to the parser of expressions, whose error names the part of the
    clause. All clauses must be closed.
    """
    unclosed = [
        index
        for opening in ("(", "[")
        for index in tokens.indices_by_key.get(opening, ())
        if index not in tokens.pairs
    ]
    for index in unclosed:
        is_in_clause = any(word < index < tokens.pairs[word + 1] for word in clause_words)
        if tokens.key(index) == "(" or not is_in_clause:
            raise unclosed_bracket_in_expression(
                tokens[index].span, opening=tokens.key(index), where="the query"
            )


# A clause whose own parenthesis is not closed.


def _explain_unclosed_clause(tokens: TokenSequence, word: int) -> MatchRecognizeError:
    """Return the error for the clause at `word`, whose parenthesis is not closed.

    The `)` of the clause closes another bracket, whose own `)` is missing. The other bracket is

    1. a bracket in which another part or a definition of the clause starts, or else
    2. the bracket that is closed last, if its `)` begins a line: it was probably meant for the
       clause, or else
    3. the innermost bracket that is still open at the end of the text: the clause's own parenthesis
       if no bracket inside the clause is open. Otherwise, the error shows all open brackets, the
       innermost one first.
    """
    opening_of_clause = word + 1
    for opening in _walk_pairs_outside_clauses(tokens, opening_of_clause + 1):
        part = _find_part_in_bracket(tokens, opening)
        if part is not None:
            return errors.bracket_not_closed(
                tokens[opening].span,
                tokens[part.index].span,
                query=tokens.text,
                opening=tokens.key(opening),
                keyword=part.name,
            )
    last_closed = _find_bracket_closed_on_last_line(tokens, opening_of_clause)
    if last_closed is not None:
        clause_start = tokens.span(word, opening_of_clause + 1)
        return errors.clause_not_closed(tokens[last_closed].span, clause_start, query=tokens.text)
    open_at_end = _list_open_at_end(tokens, opening_of_clause)
    if open_at_end[-1] == opening_of_clause:
        return errors.clause_bracket_not_closed(tokens[opening_of_clause].span, query=tokens.text)
    open_at_end.reverse()
    return errors.brackets_open_at_end(
        *(tokens[opening].span for opening in open_at_end),
        query=tokens.text,
        openings=[tokens.key(opening) for opening in open_at_end],
    )


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


def _find_part_in_bracket(tokens: TokenSequence, opening: int) -> _MisplacedPart | None:
    """Return the first part or definition of a clause that starts directly inside a bracket.

    The result is None if there is none, so that nothing shows that the bracket was not closed.
    """
    for index in tokens.walk_level(opening + 1, tokens.pairs[opening]):
        part = find_definite_part(tokens, index)
        name = part.value if part else None
        name = name or _name_definition_in_bracket(tokens, opening, index)
        name = name or _name_part_after_keys(tokens, opening, index)
        if name:
            return _MisplacedPart(name, index)
    return None


def _name_definition_in_bracket(tokens: TokenSequence, opening: int, index: int) -> str | None:
    """Return the first words of a definition of DEFINE at `index`, such as `U AS`, or None.

    In an unclosed bracket, `, U AS` shows that a definition starts, because AS is not allowed in
    most brackets. In `STRUCT(` and in subqueries AS can name a value, so the result is None. After
    a comma and a constant, as in `x IN (1, 2 AS m`, the result is `AS`.

    Args:
        tokens: the tokens of the query.
        opening: the innermost opening bracket around `index`.
        index: the index of a token.
    """
    allows_names = tokens.key(opening - 1) == "STRUCT" or _starts_subquery(tokens, opening)
    if allows_names:
        return None
    if tokens.key(index) == "AS" and tokens.key(index - 2) == "," and tokens[index - 1].is_constant:
        return "AS"
    if tokens.key(index - 1) == "," and tokens.key(index + 1) == "AS" and tokens.can_name(index):
        return f"{tokens[index].text} AS"
    return None


def _name_part_after_keys(tokens: TokenSequence, opening: int, index: int) -> str | None:
    """Return the name of the part at `index` in parentheses after BY: `PARTITION BY (sym ORDER BY`.

    The result is None for other tokens and other parentheses.
    """
    if tokens.key(opening - 1) != "BY" or _starts_subquery(tokens, opening):
        return None
    if tokens.key(opening - 2) == "PARTITION" and tokens.has_keys(index, "ORDER", "BY"):
        return ClausePart.ORDER_BY.value
    return find_misplaced_part(tokens, index)


def _starts_subquery(tokens: TokenSequence, opening: int) -> bool:
    """Return whether a query starts after a bracket, which may have no closing bracket."""
    return tokens.key(opening + 1) in ("SELECT", "WITH")


def _find_bracket_closed_on_last_line(tokens: TokenSequence, opening_of_clause: int) -> int | None:
    """Return the bracket in the clause that the last closing bracket of the query closes.

    The result is None if the closing bracket does not begin a line, or follows its opening bracket
    directly: then it was not meant for the clause.
    """
    if not tokens.openings:
        return None
    last_closing = max(tokens.openings)
    opening = tokens.openings[last_closing]
    is_empty = last_closing == opening + 1
    if opening < opening_of_clause or is_empty or not _starts_line(tokens, last_closing):
        return None
    return opening


def _starts_line(tokens: TokenSequence, index: int) -> bool:
    """Return whether a token that is not the first one of the text begins a line."""
    between = tokens.text[tokens[index - 1].span.end : tokens[index].span.start]
    return "\n" in between


def _list_open_at_end(tokens: TokenSequence, start: int) -> list[int]:
    """Return the opening brackets from `start` on that are open at the end of the text.

    They are in the order of the text. An unclosed bracket inside a pair, as in `( [ )`, is left
    out.
    """
    return [
        index
        for index in tokens.walk_level(start, len(tokens))
        if tokens.key(index) in OPENING and index not in tokens.pairs
    ]


# A clause that is closed before its last part.


def _find_part_after_clause(tokens: TokenSequence, opening: int) -> _MisplacedPart | None:
    """Return a part of a clause that follows the closing parenthesis of the clause.

    PATTERN, SUBSET and DEFINE are found anywhere between the clause and the next one; but a part
    that the clause has is not found, nor, if the clause has PATTERN, one that does not follow
    directly. Other parts are found only right after the clause or its alias: elsewhere, their words
    can mean something else.

    Args:
        tokens: the tokens of the query.
        opening: the opening parenthesis of the clause.
    """
    closing = tokens.pairs[opening]
    parts_inside = {
        find_definite_part(tokens, index) for index in tokens.walk_level(opening + 1, closing)
    }
    for index in tokens.walk_level(closing + 1, tokens.find_end_of_parentheses(closing)):
        if tokens.key(index) == "MATCH_RECOGNIZE":
            return None  # The parts after this word belong to another clause.
        part = find_definite_part(tokens, index)
        is_probably_misplaced = index == closing + 1 or ClausePart.PATTERN not in parts_inside
        if part and part not in parts_inside and is_probably_misplaced:
            return _MisplacedPart(part.value, index)
    # A part can start right after the clause, after its alias `m`, or after `AS m`.
    indices_after_clause = [closing + 1, closing + 2]
    if tokens.key(closing + 1) == "AS":
        indices_after_clause.append(closing + 3)
    for index in indices_after_clause:
        name = find_misplaced_part(tokens, index)
        if name:
            return _MisplacedPart(name, index)
    return None


def _explain_part_after_clause(
    tokens: TokenSequence, opening: int, part: _MisplacedPart
) -> MatchRecognizeError:
    """Return the error for a part of a clause after the clause has ended.

    If the query has a `)` that closes nothing, the `)` of the clause is superfluous, or the `(`
    after PATTERN is missing. Otherwise the part itself is in the wrong place.

    Args:
        tokens: the tokens of the query.
        opening: the opening parenthesis of the clause.
        part: the part.
    """
    if _find_stray_parenthesis(tokens) is None:
        return errors.part_outside_clause(tokens[part.index].span, part=part.name)
    closing = tokens.pairs[opening]
    for word in tokens.indices_by_key.get("PATTERN", ()):
        is_inside = opening < word < closing
        is_name = {tokens.key(word - 1), tokens.key(word + 1)} & {".", "AS", ","}
        if is_inside and not is_name and tokens.key(word + 1) != "(":
            row_pattern = tokens.text_at(tokens.span(word + 1, closing))
            return errors.pattern_without_parentheses(tokens[word].span, row_pattern=row_pattern)
    return _make_closed_too_early_error(tokens, opening, part)


def _find_definition_after_clause(tokens: TokenSequence, opening: int) -> _MisplacedPart | None:
    """Return what follows a clause, if it seems to be the rest of the clause's DEFINE.

    The query has a `)` that closes nothing, so a `)` in DEFINE may be superfluous:
    `DEFINE A AS (x > 1)), B AS x > 2)`. The result is None if something else follows.

    Args:
        tokens: the tokens of the query.
        opening: the opening parenthesis of the clause.
    """
    closing = tokens.pairs[opening]
    after = closing + 1
    if all(tokens.key(index) != "DEFINE" for index in tokens.walk_level(opening + 1, closing)):
        return None
    if tokens.key(after) in ("AND", "OR"):
        return _MisplacedPart(tokens[after].text, after)
    if tokens.key(after) == "," and tokens.key(after + 2) == "AS":
        name = tokens[after + 1]
        # A name that is not used in the clause is another relation in FROM.
        if any(token.key == name.key for token in tokens.tokens[opening + 1 : closing]):
            return _MisplacedPart(f"`, {name.text} AS`", after)
    return None


def _make_closed_too_early_error(
    tokens: TokenSequence, opening: int, part: _MisplacedPart
) -> MatchRecognizeError:
    """Return the error for the `)` of a clause that a part of the clause follows."""
    closing = tokens.pairs[opening]
    return errors.clause_closed_too_early(
        tokens[closing].span, tokens[part.index].span, keyword=part.name
    )
