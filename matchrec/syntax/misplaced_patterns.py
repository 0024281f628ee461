"""Make the errors about the parentheses of PATTERN and SUBSET, and what is inside or outside.

Users make these mistakes:

    PATTERN A B+ DEFINE ...          no parentheses
    PATTERN (A B+ DEFINE ...         no closing parenthesis
    PATTERN ^(A B+)$ DEFINE ...      symbols outside the parentheses
    PATTERN (A B+ WITHIN 5 ROWS)     another part of the clause inside the parentheses
"""

from __future__ import annotations

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql import clause as errors
from matchrec.errors.wording import shorten
from matchrec.source import Span
from matchrec.syntax.clause_parts import find_definite_part, find_misplaced_part
from matchrec.syntax.clause_tokens import ClauseTokens
from matchrec.syntax.durations import is_distance, is_length_of_time
from matchrec.syntax.tokens import TokenKind, TokenSequence, split_words

# Symbols of row patterns that may be outside PATTERN's parentheses by mistake.
_SYMBOLS_OF_PATTERNS = split_words("^ $ * + ? { |")


def explain_unclosed_parenthesis(clause: ClauseTokens, opening: int) -> MatchRecognizeError:
    """Return the error for a part of a clause whose parenthesis at `opening` is not closed.

    The error names the next part, before which the closing parenthesis may be missing.
    """
    span = clause[opening].span
    for index in range(opening + 1, len(clause)):
        part = find_definite_part(clause, index)
        if part:
            return errors.bracket_not_closed(
                span, clause[index].span, query=clause.text, keyword=part.value
            )
    return errors.bracket_not_closed(span, query=clause.text)


def explain_missing_parentheses(clause: ClauseTokens, index: int) -> MatchRecognizeError:
    """Return the error for PATTERN at `index` without a parenthesis after it.

    If `^` is between PATTERN and the parenthesis, the error says to write it inside.
    """
    following = index + 1
    while clause.key(following) == "^":
        following += 1
    has_start_before_parenthesis = following > index + 1 and clause.key(following) == "("
    if has_start_before_parenthesis:
        outside = explain_symbol_outside_pattern(clause, index, index + 1)
        if outside:
            return outside
    if clause.has_keys(index + 1, "SEQ", "("):
        return errors.sase_as_clause(clause.span(index, index + 2))
    return errors.pattern_without_parentheses(
        clause[index].span, row_pattern=_find_bare_pattern(clause, index)
    )


# The keys that can follow a row pattern without parentheses.
_KEYS_AFTER_BARE_PATTERN = ("WITHIN", "SUBSET", "DEFINE", "AS", ";")


def _find_bare_pattern(clause: ClauseTokens, index: int) -> str:
    """Return the text of the row pattern after PATTERN at `index`, which has no parentheses.

    Other products name a pattern, as in `PATTERN P AS (A B+)`: then the result is `A B+`. If there
    is no row pattern, the result is `A B+` as an example.
    """
    end = index + 1
    while end < len(clause) and clause.key(end) not in _KEYS_AFTER_BARE_PATTERN:
        end += 1
    if clause.has_keys(end, "AS", "(") and clause.pairs.get(end + 1, 0) > end + 2:
        return clause.text_at(clause.span(end + 2, clause.pairs[end + 1]))
    if end == index + 1 or clause.key(end) == "AS":
        return "A B+"
    return clause.text_at(clause.span(index + 1, end))


def explain_symbol_outside_pattern(
    tokens: TokenSequence, keyword: int, symbol: int
) -> MatchRecognizeError | None:
    """Return the error for a symbol of a row pattern outside PATTERN's parentheses.

    The result is None if the token is not a symbol of row patterns.

    Args:
        tokens: the tokens of the clause.
        keyword: the index of the word PATTERN.
        symbol: the index of a token outside the parentheses.
    """
    if tokens.key(symbol) not in _SYMBOLS_OF_PATTERNS:
        return None
    # The text to put into parentheses: all symbols, the parentheses, and the variables after `|`.
    start = keyword + 1
    end = start
    while end < len(tokens) and (
        tokens[end].kind is TokenKind.SYMBOL or tokens.key(end - 1) == "|"
    ):
        end = tokens.index_after(end)
    text = tokens.text_at(tokens.span(start, end))
    return errors.symbol_outside_pattern(tokens[symbol].span, symbol=tokens[symbol].text, text=text)


# The parts that can be in PATTERN's parentheses by mistake, and that belong before PATTERN.
_PARTS_BEFORE_PATTERN = ("MEASURES", "ALL ROWS PER MATCH", "AFTER MATCH SKIP")


def reject_part_inside_pattern(clause: ClauseTokens, opening: int) -> None:
    """Raise an error if another part of the clause is in PATTERN's parentheses, as WITHIN.

    Only words that cannot be pattern variables there begin a part.

    Args:
        clause: the tokens of the clause.
        opening: the parenthesis that opens the row pattern.
    """
    for index in range(opening + 1, clause.pairs[opening]):
        part = _find_part_inside(clause, index)
        if part is not None:
            raise _explain_part_inside(clause, opening, index, part)


def _explain_part_inside(
    clause: ClauseTokens, opening: int, start: int, part: str
) -> MatchRecognizeError:
    """Return the error for another part of the clause in PATTERN's parentheses.

    The error shows the part as it must be written outside, and the row pattern without it.

    Args:
        clause: the tokens of the clause.
        opening: the parenthesis that opens the row pattern.
        start: the first token of the part.
        part: the name of the part in messages.
    """
    closing = clause.pairs[opening]
    end = _find_end_of_part_inside(clause, start, part)
    text = clause.text_at(clause.span(start, end))
    if part == "WITHIN" and is_length_of_time(clause, start + 1):
        text = f"WITHIN INTERVAL {clause.text_at(clause.span(start + 1, end))}"
    before = Span(clause[opening].span.end, clause[start].span.start)
    after = Span(clause[end - 1].span.end, clause[closing].span.start)
    text_after = clause.text_at(after).strip()
    separator = " " if text_after and end not in clause.openings else ""
    return errors.part_inside_pattern(
        clause.span(start, end),
        part=part,
        text=shorten(text),
        row_pattern=clause.text_at(before).strip() + separator + text_after,
        precedes_pattern=part in _PARTS_BEFORE_PATTERN,
    )


def _find_end_of_part_inside(clause: ClauseTokens, start: int, part: str) -> int:
    """Return the index after a part that is inside PATTERN's parentheses.

    A part ends with the innermost group around it. Only after the window of a WITHIN can the row
    pattern go on, unless DEFINE or SUBSET follows the window.
    """
    group_end = clause.pairs[clause.enclosing_openings[start]]
    if part != "WITHIN":
        return group_end
    window_end = _find_end_of_window(clause, start + 1, group_end)
    return group_end if find_definite_part(clause, window_end) else window_end


def _find_part_inside(clause: ClauseTokens, index: int) -> str | None:
    """Return the part of the clause or the option that starts at `index`; None for variables.

    LONGEST MATCH, STRICT CONTIGUITY and ONE ROW PER MATCH are not found, because a row pattern can
    have variables with these names.
    """
    match clause.key(index), clause.key(index + 1):
        case (("SUBSET" | "DEFINE"), _):
            part = find_definite_part(clause, index)
            return part.value if part else None
        case "WITHIN", _ if index + 1 < len(clause) and clause[index + 1].is_constant:
            return "WITHIN"
        case ("SKIP", "TILL") | ("ALL", "MATCHES") | ("NON", "-"):
            words = {"SKIP": "SKIP TILL", "ALL": "ALL MATCHES", "NON": "NON-OVERLAPPING MATCHES"}
            return words[clause.key(index)]
        case "FIRST", _ if clause.key(index + 2) == "MATCHES":
            is_number = clause[index + 1].kind is TokenKind.NUMBER
            return "FIRST MATCHES" if is_number else None
        case "MEASURES", "(":
            return None
        case "ONE", _:
            return None
    return find_misplaced_part(clause, index)


def _find_end_of_window(clause: ClauseTokens, start: int, end: int) -> int:
    """Return the index after the window of WITHIN at `start`; at most `end`.

    `INTERVAL '1' HOUR`, `1 HOUR`, `5 ROWS`, `5`, then perhaps `BETWEEN ROWS` or `FROM a TO b`.
    """
    index = start + 1 if clause.key(start) == "INTERVAL" else start
    index += 2 if clause.key(index) == ":" else 1  # `:n` is two tokens
    has_unit = clause.key(start) == "INTERVAL" or is_distance(clause, start)
    if has_unit:
        index += 1
    if clause.has_keys(index, "BETWEEN", "ROWS"):
        index += len(("BETWEEN", "ROWS"))
    elif clause.key(index) == "FROM" and clause.key(index + 2) == "TO":
        index += len(("FROM", "variable", "TO", "variable"))
    return min(index, end)
