"""Find frequent mistakes in the form of a SASE+ query, and return errors that say what to write.

    Shelf a, Exit b                                write PATTERN SEQ(Shelf a, Exit b)
    PATTERN SEQ(Shelf a Exit b)                    write SEQ(Shelf a, Exit b)
    PATTERN SEQ(Shelf* a)                          write Shelf+ a[] for one or more events
    PATTERN SEQ(Shelf, Exit)                       write SEQ(Shelf a, Exit b)
    PATTERN SEQ(Shelf a) WHERE a.x > 1             write WHERE skip_till_next_match { a.x > 1 }

`parser` calls these functions where a token is not as the grammar requires. `component_repairs` has
the text after "write".

In this module `reader` is the reader of the query, which is at the wrong token, and integers are
indices of tokens. No function moves the reader.
"""

from __future__ import annotations

import re

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
from matchrec.patterns.sase.expressions import EventReader
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


def reject_missing_sequence(reader: EventReader, expected_word: str) -> None:
    """Raise an error if components come without PATTERN SEQ, or after another word.

    The help has the components that follow:

        EVENT SEQ(Shelf a, Exit b)     PATTERN SEQ(Shelf a, Exit b)
        (Shelf Exit+)                  PATTERN SEQ(Shelf a, Exit+ b[])
        Shelf a+ WHERE ...             PATTERN SEQ(Shelf+ a[])

    Args:
        reader: the reader, at the token that must be `expected_word`.
        expected_word: PATTERN or SEQ.
    """
    # The key is also "" at a string, which cannot begin components.
    if reader.key in (expected_word, ""):
        return
    start = reader.position
    if expected_word == "SEQ":
        _reject_operator_of_events(reader, start)
    components = _find_components(reader, start)
    if components:
        token = reader.tokens[start]
        raise errors.missing_sequence(
            token.span,
            text=token.text,
            where=reader.where,
            expected=expected_word,
            sequence=complete_components(components),
        )


# Components with OR or AND between them: `Shelf a OR Exit b`.
_JOINED_COMPONENTS = re.compile(r"\w+\s+\w+(?:\s+(?P<operator>OR|AND)\s+\w+\s+\w+)+", re.IGNORECASE)


def _reject_operator_of_events(reader: EventReader, start: int) -> None:
    """Raise an error for components that OR or AND joins: `a OR b`, `AND(a, b)`."""
    if start >= reader.end:
        return
    first = reader.tokens[start]
    joined = _JOINED_COMPONENTS.match(
        reader.sequence.text_at(reader.sequence.span(start, reader.end))
    )
    operator, text = "", ""
    if joined is not None:
        operator = joined["operator"].upper()
        text = re.sub(r"(?i)\s+(?:OR|AND)\s+", ", ", joined[0])
    elif first.key in ("AND", "OR") and reader.key_at(start + 1) == "(":
        operator = first.key
        text = _find_text_in_brackets(reader.sequence, start + 1)
    if text and are_bare_components(text):
        event_types = [component.split()[0] for component in text.split(",")]
        raise errors.operator_of_events(
            first.span, text=first.text, operator=operator, sequence=text, event_types=event_types
        )


def reject_negation_in_words(reader: EventReader) -> None:
    """Raise an error for NOT before a component: `NOT Register b` or `NOT (Register b)`.

    The event type may be called NOT: `NOT b`.
    """
    start = reader.position
    if reader.key != "NOT":
        return
    opening = start + 1
    component = _find_text_in_brackets(reader.sequence, opening)
    if reader.key_at(opening) != "(":
        kinds = [reader.kind_at(index) for index in (start + 1, start + 2)]
        if kinds != [TokenKind.WORD, TokenKind.WORD]:
            return
        component = reader.sequence.text_at(reader.sequence.span(start + 1, start + 3))
    raise errors.negation_in_words(reader.tokens[start].span, component=component)


def _find_components(reader: EventReader, start: int) -> str:
    """Return the text of the components that begin at `start`; "" if there are none.

    `SEQ` and one other word may come before them.
    """
    if reader.key_at(start) == "(":
        return add_missing_commas(_find_text_in_brackets(reader.sequence, start))
    for sequence_word in (start + 1, start):
        if reader.key_at(sequence_word) == "SEQ":
            return _find_text_in_brackets(reader.sequence, sequence_word + 1)
    return _find_bare_components(reader, start)


def _find_text_in_brackets(sequence: TokenSequence, opening: int) -> str:
    """Return the text between a pair of brackets.

    The result is "" if no token is between them, or if there is no opening bracket at `opening`.
    """
    closing = sequence.pairs.get(opening, opening)
    if closing <= opening + 1:
        return ""
    return sequence.text_at(sequence.span(opening + 1, closing))


def _find_bare_components(reader: EventReader, start: int) -> str:
    """Return the text from `start` to the next clause if it is components; otherwise "".

    Each component is a type and a variable, and the type or the variable may have `+`.
    """
    end = start
    while end < reader.end and reader.key_at(end) not in ("WHERE", "WITHIN", "RETURN"):
        end += 1
    text = reader.sequence.text_at(reader.sequence.span(start, end)) if end > start else ""
    return text if are_bare_components(text) else ""


def reject_missing_comma(reader: EventReader, opening: int, expected: str) -> None:
    """Raise an error if the next token is a component, or an arrow or a semicolon before one.

    Args:
        reader: the reader, after a component.
        opening: the index of the parenthesis before the first component.
        expected: what can come next, for the message.
    """
    if reader.position == reader.end or reader.key == ")":
        return
    sequence = add_commas(_find_text_in_brackets(reader.sequence, opening))
    if sequence:
        token = reader.tokens[reader.position]
        raise errors.missing_comma(
            token.span, text=token.text, expected=expected, sequence=sequence
        )


def explain_quantifier(
    reader: EventReader, type_span: Span, expected: str, variable: str = ""
) -> MatchRecognizeError:
    """Return the error for a quantifier of SQL after an event type: `Stock* a`, `Stock? a`.

    Args:
        reader: the reader, at the first token of the quantifier.
        type_span: the event type.
        expected: what can come next, for the message.
        variable: the variable before the quantifier, as in `Stock a+`; "" if it is after it.
    """
    after_quantifier = reader.sequence.index_after(reader.position)
    is_named = reader.kind_at(after_quantifier) is TokenKind.WORD
    name = variable or (reader.tokens[after_quantifier].text if is_named else "a")
    sign = reader.tokens[reader.position]
    event_type = reader.sequence.text_at(type_span)
    return errors.quantifier_before_variable(
        sign.span,
        text=sign.text,
        expected=expected,
        kleene_plus=f"{event_type}+ {name}[]",
        single_event=f"{event_type} {name}",
    )


def explain_brackets(
    reader: EventReader, type_span: Span, name: str, *, has_plus: bool
) -> MatchRecognizeError:
    """Return the error for anything in the brackets of a component: `Stock+ a[2]`.

    Args:
        reader: the reader, at the opening bracket.
        type_span: the event type.
        name: the variable before the brackets.
        has_plus: whether `+` is after the event type.
    """
    event_type = reader.sequence.text_at(type_span)
    return errors.brackets_with_content(
        reader.next_span,
        kleene_plus=f"{event_type}+ {name}[]",
        single_event="" if has_plus else f"{event_type} {name}",
    )


def explain_missing_variable(reader: EventReader, type_span: Span) -> MatchRecognizeError:
    """Return the error for an event type that no variable follows.

    Args:
        reader: the reader, after the event type.
        type_span: the event type.
    """
    opening = reader.sequence.indices_by_key["SEQ"][0] + 1
    return errors.missing_component_variable(
        type_span,
        event_type=reader.sequence.text_at(type_span),
        sequence=complete_components(_find_text_in_brackets(reader.sequence, opening)),
    )


# WHERE


def explain_strategy(reader: EventReader, start: int, end: int) -> MatchRecognizeError:
    """Return the error for a strategy that is unknown, or missing before predicates.

    Args:
        reader: the reader, in WHERE.
        start: the index of the first token after WHERE.
        end: the index after the last token of the supposed name.
    """
    span = reader.sequence.span(start, end)
    name = reader.sequence.text_at(span)
    strategies = [strategy.value for strategy in SaseStrategy]
    predicates = _find_bare_predicates(reader, start)
    if predicates is not None and not find_nearest(name, strategies):
        return strategy_errors.missing_strategy(span, strategies=strategies, predicates=predicates)
    return strategy_errors.unknown_strategy(span, name=name, strategies=strategies)


def _find_bare_predicates(reader: EventReader, start: int) -> str | None:
    """Return the text of the predicates with which WHERE begins instead of a strategy.

    The result is None if WHERE begins with a name of a strategy, known or not: after such a name
    comes a list in parentheses, `{`, AND, or the end of WHERE.

    Args:
        reader: the reader, in WHERE.
        start: the index of the first token after WHERE.
    """
    if reader.key_at(start) == "{":
        return _find_text_in_brackets(reader.sequence, start)
    after_name = reader.key_at(start + 1)
    if after_name in ("", "(", "{", "AND", "WITHIN", "RETURN", "-"):
        return None
    end = reader.end
    for index in reader.sequence.walk_level(start, reader.end):
        if reader.key_at(index) in ("WITHIN", "RETURN", "{"):
            end = index
            break
    return reader.sequence.text_at(reader.sequence.span(start, end))
