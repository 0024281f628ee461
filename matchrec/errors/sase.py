"""Errors in a SASE+ query: its parts, the components of PATTERN, and the window.

`sase_predicates` has the errors in expressions of WHERE and RETURN, `sase_strategies` those in the
event selection strategy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
)
from matchrec.errors.lengths import find_meant_length
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.misspelt_keywords import misspelt_keyword
from matchrec.errors.run.origins import read_users_text_around
from matchrec.errors.sase_hints import (
    EVENT_TYPE,
    PARTS,
    RefusedToken,
    find_hint_for_token,
    write_type_column,
)
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import (
    find_written_part,
    join_alternatives,
    join_names,
    list_candidates,
)
from matchrec.source import Span

# The first words of the parts of a clause or a query of SQL that SASE+ does not have.
_WORDS_OF_SQL = frozenset(("PARTITION", "ORDER", "MEASURES", "ONE", "ALL", "AFTER", "DEFINE")) | {
    "SELECT",
    "GROUP",
}


def unexpected_token(
    span: Span, *, text: str, where: str, expected: Sequence[str], hint: str | None = None
) -> MatchRecognizeParseError:
    """Return the error for a word or sign that cannot come next in a SASE+ query.

    Args:
        span: the location in the text of the query.
        text: the word or sign.
        where: the part of the query that has it, such as PATTERN.
        expected: everything that can come next: keywords, signs, and phrases such as "a name".
        hint: what to write instead; None to find a hint by the other arguments.
    """
    users_text, start = read_users_text_around(span)
    token = RefusedToken(text, where, expected, users_text[:start], users_text[start:])
    word = token.key
    headline = f"`{text}` is not allowed here in {where}"
    note = f"expected here: {_join_expected(expected)}"
    if word in PARTS and where in PARTS and PARTS.index(word) < PARTS.index(where):
        headline = f"{word} is not allowed after {where}"
        note = ""
    elif word not in _WORDS_OF_SQL:
        keyword = find_nearest(word, [part for part in (*PARTS, "SEQ") if part in expected])
        if keyword is not None and keyword != word:
            return misspelt_keyword(span, text=text, keyword=keyword, where=where)
    return MatchRecognizeParseError(
        headline,
        span,
        notes=(note,),
        hint=hint or find_hint_for_token(token),
        code="unexpected-word-in-sase",
    )


def _join_expected(expected: Sequence[str]) -> str:
    """Return what can come next as a part of a sentence, with signs in backticks.

    >>> _join_expected(["an operator", "AND", "}"])
    'an operator, AND or `}`'
    """
    return join_alternatives(
        [item if re.search(r"[A-Za-z]", item) else f"`{item}`" for item in expected]
    )


def missing_sequence(
    span: Span, *, text: str, where: str, missing_word: str, sequence: str
) -> MatchRecognizeParseError:
    """Return the error for components without PATTERN SEQ before them, as in (Shelf a, Exit b).

    Args:
        span: the location in the text of the query.
        text: the word or sign that is written instead of `missing_word`.
        where: the part of the query that has the word or sign.
        missing_word: PATTERN or SEQ.
        sequence: the components, such as `Shelf a, Exit b`.
    """
    is_sql = text.upper() in _WORDS_OF_SQL
    hint = None if is_sql else f"write PATTERN SEQ({sequence})"
    return unexpected_token(span, text=text, where=where, expected=(missing_word,), hint=hint)


def missing_comma(
    span: Span, *, text: str, expected: Sequence[str], sequence: str
) -> MatchRecognizeParseError:
    """Return the error for components without commas between them, as in SEQ(Shelf a Exit b).

    Args:
        span: the location in the text of the query.
        text: the word or sign that is written instead of a comma.
        expected: what can come next, as for `unexpected_token`.
        sequence: the components with commas.
    """
    hint = f"write SEQ({sequence})"
    return unexpected_token(span, text=text, where="PATTERN", expected=expected, hint=hint)


def negation_in_words(span: Span, *, component: str) -> MatchRecognizeParseError:
    """Return the error for NOT before a component, as in SEQ(Shelf a, NOT Register b, Exit c).

    Args:
        span: NOT in the text of the query.
        component: the component after it, such as `Register b`.
    """
    return unexpected_token(
        span, text="NOT", where="PATTERN", expected=EVENT_TYPE, hint=f"write ~({component})"
    )


def operator_of_events(
    span: Span, *, text: str, operator: str, sequence: str, event_types: Sequence[str]
) -> MatchRecognizeParseError:
    """Return the error for OR or AND of components instead of SEQ, as in `Shelf a OR Exit b`.

    Args:
        span: the first word after PATTERN.
        text: this word.
        operator: AND or OR.
        sequence: the components, such as `Shelf a, Exit b`.
        event_types: their event types.
    """
    types = ", ".join(f"'{event_type}'" for event_type in event_types)
    hint = (
        f"PATTERN has no OR: write PATTERN SEQ(ANY a) and the predicate a.{write_type_column()} IN "
        f"({types})"
    )
    if operator == "AND":
        others = ", ".join(reversed(sequence.split(", ")))
        hint = (
            f"PATTERN has no AND: write one query for each order, SEQ({sequence}) and SEQ({others})"
        )
    return unexpected_token(span, text=text, where="PATTERN", expected=("SEQ",), hint=hint)


def quantifier_before_variable(
    span: Span, *, text: str, expected: Sequence[str], kleene_plus: str, single_event: str
) -> MatchRecognizeParseError:
    """Return the error for a quantifier of SQL after an event type, as in Stock* a.

    Args:
        span: the location in the text of the query.
        text: the first sign of the quantifier.
        expected: what can come next, as for `unexpected_token`.
        kleene_plus: the component as a Kleene plus, such as `Stock+ a[]`.
        single_event: the component as a single event, such as `Stock a`.
    """
    hint = f"write {kleene_plus} for one or more events"
    if text == "?":
        hint = f"{hint}, {single_event} for one: SASE+ has no optional events"
    return unexpected_token(span, text=text, where="PATTERN", expected=expected, hint=hint)


def brackets_with_content(
    span: Span, *, kleene_plus: str, single_event: str
) -> MatchRecognizeParseError:
    """Return the error for anything in the brackets of a component, as in Stock+ a[2].

    Args:
        span: the opening bracket.
        kleene_plus: the component as a Kleene plus, such as `Stock+ a[]`.
        single_event: the component as a single event, such as `Stock a`; empty if the query has the
            plus of a Kleene plus.
    """
    hint = f"write {kleene_plus} for one or more events"
    if single_event:
        hint = f"{hint}, {single_event} for one"
    return unexpected_token(span, text="[", where="PATTERN", expected=(")", ","), hint=hint)


def sql_as_sase(span: Span, *, is_query: bool) -> MatchRecognizeParseError:
    """Return the error for SQL where a text of SASE+ belongs.

    Args:
        span: the first word of the SQL.
        is_query: whether the SQL is a whole query rather than a clause of MATCH_RECOGNIZE.
    """
    surface = current_surface()
    hint = "leave out --language sase"
    if surface.has_python_calls and is_query:
        hint = "pass it to matchrec.sql(spark, query)"
    elif surface.has_python_calls:
        hint = "pass it to matchrec.match_recognize(df, clause), which takes no order_by"
    elif not is_query:
        hint = f"{hint}, and write SELECT * FROM t MATCH_RECOGNIZE (...) around the clause"
    return MatchRecognizeParseError(
        f"{'a SQL query' if is_query else 'a clause of MATCH_RECOGNIZE'} is not SASE+",
        span,
        notes=("a text of SASE+ begins with PATTERN SEQ(...)",),
        hint=hint,
        code="sql-as-sase",
    )


def query_ends_early(
    span: Span, *, where: str, expected: Sequence[str]
) -> MatchRecognizeParseError:
    """Return the error for a query that ends before one of its parts is complete.

    Args:
        span: the location in the text of the query.
        where: the part that is not complete.
        expected: what can come next, as for `unexpected_token`.
    """
    return MatchRecognizeParseError(
        f"the query ends too early, in {where}",
        span,
        hint=f"continue the query here with {_join_expected(expected)}",
        code="query-ends-early",
    )


def empty_query(text: str) -> MatchRecognizeParseError:
    """Return the error for a text without a query, such as "" or a comment.

    Args:
        text: the text. The message shows an excerpt unless the text is blank.
    """
    span = find_written_part(text)
    return MatchRecognizeParseError(
        "the query is empty",
        span,
        notes=("the text has only comments" if span else "",),
        hint="write PATTERN SEQ(Shelf a, Exit b)",
        code="empty-query",
    )


def empty_sequence(span: Span) -> MatchRecognizeParseError:
    """Return the error for PATTERN SEQ()."""
    return MatchRecognizeParseError(
        "SEQ in PATTERN has no components",
        span,
        hint="write an event type and a variable for each event: SEQ(Shelf a, Exit b)",
        code="empty-sequence",
    )


def missing_component_variable(
    span: Span, *, event_type: str, sequence: str
) -> MatchRecognizeParseError:
    """Return the error for an event type without a variable, as in SEQ(Shelf, Exit).

    Args:
        span: the location in the text of the query.
        event_type: the event type.
        sequence: the components with variables, such as `Shelf a, Exit b`.
    """
    return MatchRecognizeParseError(
        f"missing variable after the event type {event_type} in PATTERN",
        span,
        notes=("WHERE and RETURN name the events by their variables",),
        hint=f"write SEQ({sequence})",
        code="missing-component-variable",
    )


def nested_sequence(span: Span) -> MatchRecognizeUnsupportedError:
    """Return the error for SEQ inside SEQ, as in SEQ(A a, SEQ(B b, C c))."""
    return MatchRecognizeUnsupportedError(
        "SEQ in SEQ is not supported in PATTERN",
        span,
        hint="write its components one after the other; negate only single events",
        code="nested-sequence",
    )


def incomplete_kleene_plus(
    span: Span, *, variable: str, event_type: str
) -> MatchRecognizeParseError:
    """Return the error for `Stock+ a` or `Stock a[]`: only `Stock+ a[]` is a Kleene plus."""
    return MatchRecognizeParseError(
        f"component `{variable}` in PATTERN has only half of a Kleene plus",
        span,
        notes=("a Kleene plus has `+` after the event type and `[]` after the variable",),
        hint=(
            f"write {event_type}+ {variable}[] for one or more events, {event_type} {variable} for "
            "one"
        ),
        code="incomplete-kleene-plus",
    )


def negated_kleene_plus(span: Span, *, variable: str) -> MatchRecognizeUnsupportedError:
    """Return the error for `~` before a Kleene plus, as in SEQ(A a, ~(B+ b[]))."""
    return MatchRecognizeUnsupportedError(
        f"negated Kleene plus `{variable}[]` in PATTERN is not supported",
        span,
        notes=("a negated component is one event that must not occur",),
        hint="remove `+` and `[]`: if no event may occur, no series of them may",
        code="negated-kleene-plus",
    )


def duplicate_component_variable(
    *spans: Span | None, name: str, other_name: str
) -> MatchRecognizePlanError:
    """Return the error for two components with the same variable, in the same or another case.

    Args:
        spans: the locations of the two variables.
        name: the variable of the later component.
        other_name: the variable of the earlier component, which may differ in case.
    """
    note = f"`{other_name}` is the same variable: two must differ in more than case"
    return MatchRecognizePlanError(
        f"two components in PATTERN have the variable `{name}`",
        *spans,
        notes=() if name == other_name else (note,),
        hint="give one of them another name",
        code="duplicate-component-variable",
    )


def only_negated_components(span: Span) -> MatchRecognizePlanError:
    """Return the error for a SEQ in which each component is negated."""
    return MatchRecognizePlanError(
        "PATTERN has only negated components, so a match would have no events",
        span,
        hint="add a component without `~`",
        code="only-negated-components",
    )


def negated_component_without_window(
    span: Span, *, name: str, end: str, side: str
) -> MatchRecognizePlanError:
    """Return the error for `~` at one end of PATTERN in a query without WITHIN.

    Args:
        span: the location in the text of the query.
        name: the variable of the negated component.
        end: the end of PATTERN that has `~`, "beginning" or "end".
        side: "before" or "after": without a window, an event on this side of the match could be any
            distance away.
    """
    return MatchRecognizePlanError(
        f"missing WITHIN for the negated component `{name}` at the {end} of PATTERN",
        span,
        notes=(f"without WITHIN, all events {side} the match would count",),
        hint="add WITHIN, such as WITHIN 12 hours",
        code="negated-component-without-window",
    )


def unknown_component(
    span: Span, *, name: str, clause: str, components: Mapping[str, str]
) -> MatchRecognizePlanError:
    """Return the error for a variable that no component of PATTERN has.

    Args:
        span: the location in the text of the query.
        name: the variable.
        clause: WHERE or RETURN.
        components: for each variable, its component as the query writes it, such as `a[]` for `a`.
    """
    correction = find_nearest(name, components) or list_candidates(list(components))
    hint = f"write {correction}, or add {name} to PATTERN"
    return MatchRecognizePlanError(
        f"unknown variable `{name}` in {clause}",
        span,
        notes=(f"PATTERN has: {join_names(components.values())}",),
        hint=hint,
        code="unknown-component",
    )


# The window.


def unknown_unit(span: Span, *, name: str, units: Sequence[str]) -> MatchRecognizeParseError:
    """Return the error for a unit in WITHIN that does not exist, as in WITHIN 12 parsecs."""
    near = find_nearest(name, units)
    if near is None and find_nearest(name, ("RETURN",)):
        return misspelt_keyword(span, text=name, keyword="RETURN", where="WITHIN")
    text, start = read_users_text_around(span)
    number = re.search(r"\d+(?=\s*$)", text[:start])
    length = find_meant_length(f"{number[0]} {name}") if number else None
    hint = f"write {near}" if near else "write one of these units, such as WITHIN 12 hours"
    if name.upper().removesuffix("S") in ("ROW", "RECORD", "TUPLE"):
        hint = f"write WITHIN {number[0]} EVENTS" if number else "write EVENTS"
    elif near is None and length is not None:
        hint = f"write {length.words}"
    return MatchRecognizeParseError(
        f"unknown unit `{name}` in WITHIN",
        span,
        notes=(f"units: {join_names(units)}",),
        hint=hint,
        code="unknown-unit",
    )


def calendar_unit(span: Span, *, unit: str) -> MatchRecognizeUnsupportedError:
    """Return the error for months or years in WITHIN."""
    return MatchRecognizeUnsupportedError(
        f"unit `{unit}` in WITHIN is not supported",
        span,
        notes=("months and years differ in length",),
        hint="write days or weeks",
        code="calendar-unit",
    )


def missing_unit(span: Span, *, number: str) -> MatchRecognizeParseError:
    """Return the error for a number in WITHIN that no unit follows."""
    return MatchRecognizeParseError(
        f"missing unit after `{number}` in WITHIN",
        span,
        hint="write a unit after each number: WITHIN 1 hour 30 minutes",
        code="missing-unit",
    )


def mixed_units(span: Span) -> MatchRecognizeUnsupportedError:
    """Return the error for WITHIN with a time and a number of events."""
    return MatchRecognizeUnsupportedError(
        "WITHIN by time and by events at once is not supported",
        span,
        hint="write one of them: WITHIN 1 hour, or WITHIN 500 EVENTS",
        code="mixed-units",
    )


def fraction_of_unit(span: Span, *, number: str, unit: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a fraction of a unit, as in WITHIN 1.5 hours."""
    return MatchRecognizeUnsupportedError(
        f"`{number} {unit}` in WITHIN is not a whole number of its unit",
        span,
        notes=("only seconds can have a fraction",),
        hint="write a smaller unit as well: WITHIN 1 hour 30 minutes",
        code="fraction-of-unit",
    )


def too_many_events(span: Span, *, limit: int) -> MatchRecognizeUnsupportedError:
    """Return the error for WITHIN with more events than matchrec can count."""
    return MatchRecognizeUnsupportedError(
        f"WITHIN of over {limit:,} events is not supported",
        span,
        hint="lower it, or leave WITHIN out",
        code="too-many-events",
    )


def not_a_number_of_events(span: Span, *, number: str) -> MatchRecognizeParseError:
    """Return the error for WITHIN 0 EVENTS, or another text before EVENTS."""
    return MatchRecognizeParseError(
        f"`{number}` is not a number of EVENTS for WITHIN",
        span,
        hint="write a whole number, 1 or more",
        code="not-a-number-of-events",
    )
