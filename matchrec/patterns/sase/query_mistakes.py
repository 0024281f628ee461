"""Find frequent mistakes in the form of a SASE+ query, and return errors that say what to write.

    Shelf a, Exit b                                write PATTERN SEQ(Shelf a, Exit b)
    PATTERN SEQ(Shelf a Exit b)                    write SEQ(Shelf a, Exit b)
    PATTERN SEQ(Shelf* a)                          write Shelf+ a[] for one or more events
    PATTERN SEQ(Shelf, Exit)                       write SEQ(Shelf a, Exit b)
    PATTERN SEQ(Shelf a) WHERE a.x > 1             write WHERE skip_till_next_match { a.x > 1 }

`parser` calls these functions where a token is not as the grammar requires. `component_repairs` has
the text after "write".

In this module, `parser` is the parser of the query, which is at the wrong token, and integers are
indices of tokens. No function moves the position of the parser.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from matchrec.errors import MatchRecognizeError
from matchrec.errors import sase as errors
from matchrec.errors import sase_strategies as strategy_errors
from matchrec.errors.misspellings import find_nearest
from matchrec.patterns.sase.component_repairs import (
    add_commas,
    add_missing_commas,
    are_bare_components,
    complete_components,
)
from matchrec.patterns.sase.expressions import EventParser
from matchrec.patterns.sase.nodes import SaseStrategy
from matchrec.source import Span
from matchrec.syntax.tokens import BLANKS, TokenKind, TokenSequence

# The beginning of a clause of MATCH_RECOGNIZE. If it begins with PATTERN (...), it has a DEFINE.
_CLAUSE = re.compile(
    rf"{BLANKS}(?P<word>PARTITION\s+BY|ORDER\s+BY|MEASURES|ONE\s+ROW\s+PER|ALL\s+ROWS\s+PER|"
    r"AFTER\s+MATCH|MATCH_RECOGNIZE|PATTERN(?=\s*\(.*\bDEFINE\b))\b",
    re.IGNORECASE | re.DOTALL,
)
# The beginning of a query of SQL with such a clause.
_QUERY_WITH_CLAUSE = re.compile(
    rf"{BLANKS}(?P<word>SELECT|WITH|FROM)\b.*\bMATCH_RECOGNIZE\s*\(", re.IGNORECASE | re.DOTALL
)


def reject_sql(text: str) -> None:
    """Check that a text is not SQL, which other functions take.

    Raises:
        MatchRecognizeParseError: the text begins as a clause of MATCH_RECOGNIZE, or is a query with
            such a clause.
    """
    query = _QUERY_WITH_CLAUSE.match(text)
    beginning = query or _CLAUSE.match(text)
    if beginning is not None:
        raise errors.sql_as_sase(Span(*beginning.span("word")), is_query=query is not None)


# PATTERN


def reject_missing_sequence(parser: EventParser, expected_word: str) -> None:
    """Raise an error if components come without PATTERN SEQ, or after another word.

    The help has the components that follow:

        EVENT SEQ(Shelf a, Exit b)     PATTERN SEQ(Shelf a, Exit b)
        (Shelf Exit+)                  PATTERN SEQ(Shelf a, Exit+ b[])
        Shelf a+ WHERE ...             PATTERN SEQ(Shelf+ a[])

    Args:
        parser: the parser, at the token that must be `expected_word`.
        expected_word: PATTERN or SEQ.
    """
    # The key is also "" at a string, which cannot begin components.
    if parser.key in (expected_word, ""):
        return
    start = parser.position
    if expected_word == "SEQ":
        _reject_operator_of_events(parser, start)
    components = _find_components(parser, start)
    if components:
        token = parser.tokens[start]
        raise errors.missing_sequence(
            token.span,
            text=token.text,
            where=parser.where,
            missing_word=expected_word,
            sequence=complete_components(components),
        )


# Components with OR or AND between them: `Shelf a OR Exit b`.
_JOINED_COMPONENTS = re.compile(r"\w+\s+\w+(?:\s+(?P<operator>OR|AND)\s+\w+\s+\w+)+", re.IGNORECASE)


def _reject_operator_of_events(parser: EventParser, start: int) -> None:
    """Raise an error for components that OR or AND joins: `a OR b`, `AND(a, b)`."""
    if start >= parser.end:
        return
    first = parser.tokens[start]
    joined = _JOINED_COMPONENTS.match(
        parser.sequence.text_at(parser.sequence.span(start, parser.end))
    )
    operator, text = "", ""
    if joined is not None:
        operator = joined["operator"].upper()
        text = re.sub(r"(?i)\s+(?:OR|AND)\s+", ", ", joined[0])
    elif first.key in ("AND", "OR") and parser.key_at(start + 1) == "(":
        operator = first.key
        text = _find_text_in_brackets(parser.sequence, start + 1)
    if text and are_bare_components(text):
        event_types = [component.split()[0] for component in text.split(",")]
        raise errors.operator_of_events(
            first.span, text=first.text, operator=operator, sequence=text, event_types=event_types
        )


def reject_negation_in_words(parser: EventParser) -> None:
    """Raise an error for NOT before a component: `NOT Register b` or `NOT (Register b)`.

    The event type may be called NOT: `NOT b`.
    """
    start = parser.position
    if parser.key != "NOT":
        return
    opening = start + 1
    component = _find_text_in_brackets(parser.sequence, opening)
    if parser.key_at(opening) != "(":
        kinds = [parser.kind_at(index) for index in (start + 1, start + 2)]
        if kinds != [TokenKind.WORD, TokenKind.WORD]:
            return
        component = parser.sequence.text_at(parser.sequence.span(start + 1, start + 3))
    raise errors.negation_in_words(parser.tokens[start].span, component=component)


def _find_components(parser: EventParser, start: int) -> str:
    """Return the text of the components that begin at `start`; "" if there are none.

    `SEQ` and one other word may come before them.
    """
    if parser.key_at(start) == "(":
        return add_missing_commas(_find_text_in_brackets(parser.sequence, start))
    for sequence_word in (start + 1, start):
        if parser.key_at(sequence_word) == "SEQ":
            return _find_text_in_brackets(parser.sequence, sequence_word + 1)
    return _find_bare_components(parser, start)


def _find_text_in_brackets(sequence: TokenSequence, opening: int) -> str:
    """Return the text between a pair of brackets.

    The result is "" if no token is between them, or if there is no opening bracket at `opening`.
    """
    closing = sequence.pairs.get(opening, opening)
    if closing <= opening + 1:
        return ""
    return sequence.text_at(sequence.span(opening + 1, closing))


def _find_bare_components(parser: EventParser, start: int) -> str:
    """Return the text from `start` to the next clause if it is components; otherwise "".

    Each component is a type and a variable, and the type or the variable may have `+`.
    """
    end = start
    while end < parser.end and parser.key_at(end) not in ("WHERE", "WITHIN", "RETURN"):
        end += 1
    text = parser.sequence.text_at(parser.sequence.span(start, end)) if end > start else ""
    return text if are_bare_components(text) else ""


def reject_missing_comma(parser: EventParser, opening: int, expected: Sequence[str]) -> None:
    """Raise an error if the next token is a component, or an arrow or a semicolon before one.

    Args:
        parser: the parser, after a component.
        opening: the index of the parenthesis before the first component.
        expected: what can come next, for the message.
    """
    if parser.position == parser.end or parser.key == ")":
        return
    sequence = add_commas(_find_text_in_brackets(parser.sequence, opening))
    if sequence:
        token = parser.tokens[parser.position]
        raise errors.missing_comma(
            token.span, text=token.text, expected=expected, sequence=sequence
        )


def explain_quantifier(
    parser: EventParser, type_span: Span, expected: Sequence[str], variable: str = ""
) -> MatchRecognizeError:
    """Return the error for a quantifier of SQL after an event type: `Stock* a`, `Stock? a`.

    Args:
        parser: the parser, at the first token of the quantifier.
        type_span: the event type.
        expected: what can come next, for the message.
        variable: the variable before the quantifier, as in `Stock a+`; "" if it is after it.
    """
    after_quantifier = parser.sequence.index_after(parser.position)
    is_named = parser.kind_at(after_quantifier) is TokenKind.WORD
    name = variable or (parser.tokens[after_quantifier].text if is_named else "a")
    sign = parser.tokens[parser.position]
    event_type = parser.sequence.text_at(type_span)
    return errors.quantifier_before_variable(
        sign.span,
        text=sign.text,
        expected=expected,
        kleene_plus=f"{event_type}+ {name}[]",
        single_event=f"{event_type} {name}",
    )


def explain_brackets(
    parser: EventParser, type_span: Span, name: str, *, has_plus: bool
) -> MatchRecognizeError:
    """Return the error for anything in the brackets of a component: `Stock+ a[2]`.

    Args:
        parser: the parser, at the opening bracket.
        type_span: the event type.
        name: the variable before the brackets.
        has_plus: whether `+` is after the event type.
    """
    event_type = parser.sequence.text_at(type_span)
    return errors.brackets_with_content(
        parser.next_span,
        kleene_plus=f"{event_type}+ {name}[]",
        single_event="" if has_plus else f"{event_type} {name}",
    )


def explain_missing_variable(parser: EventParser, type_span: Span) -> MatchRecognizeError:
    """Return the error for an event type that no variable follows.

    Args:
        parser: the parser, after the event type.
        type_span: the event type.
    """
    opening = parser.sequence.indices_by_key["SEQ"][0] + 1
    return errors.missing_component_variable(
        type_span,
        event_type=parser.sequence.text_at(type_span),
        sequence=complete_components(_find_text_in_brackets(parser.sequence, opening)),
    )


# WHERE


def explain_strategy(parser: EventParser, start: int, end: int) -> MatchRecognizeError:
    """Return the error for a strategy that is unknown, or missing before predicates.

    Args:
        parser: the parser, in WHERE.
        start: the index of the first token after WHERE.
        end: the index after the last token of the supposed name.
    """
    span = parser.sequence.span(start, end)
    name = parser.sequence.text_at(span)
    strategies = [strategy.value for strategy in SaseStrategy]
    predicates = _find_bare_predicates(parser, start)
    if predicates is not None and not find_nearest(name, strategies):
        return strategy_errors.missing_strategy(span, strategies=strategies, predicates=predicates)
    return strategy_errors.unknown_strategy(span, name=name, strategies=strategies)


def _find_bare_predicates(parser: EventParser, start: int) -> str | None:
    """Return the text of the predicates with which WHERE begins instead of a strategy.

    The result is None if WHERE begins with a name of a strategy, known or not: after such a name
    comes a list in parentheses, `{`, AND, or the end of WHERE.

    Args:
        parser: the parser, in WHERE.
        start: the index of the first token after WHERE.
    """
    if parser.key_at(start) == "{":
        return _find_text_in_brackets(parser.sequence, start)
    after_name = parser.key_at(start + 1)
    if after_name in ("", "(", "{", "AND", "WITHIN", "RETURN", "-"):
        return None
    end = parser.end
    for index in parser.sequence.walk_level(start, parser.end):
        if parser.key_at(index) in ("WITHIN", "RETURN", "{"):
            end = index
            break
    return parser.sequence.text_at(parser.sequence.span(start, end))
