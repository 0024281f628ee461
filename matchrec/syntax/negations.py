"""Lower NOT in PATTERN if rows can be skipped: turn each NOT into a check of complete matches.

Such a NOT names rows that must not be between two rows of a match:

    A NOT B C       no B between the last row of A and the first row of C
    A C NOT B       no B after the match, in its window
    NOT B A C       no B before the match, in its window

Like negation in SASE+, a NOT is checked once a match is complete, so it is allowed only between two
parts of the whole pattern, or at one of its ends:

1. `take_out_negations` removes the NOTs from the pattern, and makes an `Absence` for each variable
   under a NOT.
2. `add_variable_to_columns` rewrites the condition of such a variable.
3. `check_absence_conditions` rejects such a condition if a complete match does not determine its
   value.

If rows cannot be skipped, no row is between two rows of a match. Then a NOT stays in the pattern,
and the search tests the NOT like the other parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from matchrec.errors.sql import negations as errors
from matchrec.plan import change_expressions, expression
from matchrec.plan import pattern as patterns
from matchrec.plan.clauses import ONE_MATCH_PER_START, Absence, EventSelection, MatchOutput
from matchrec.plan.match_plan import MatchPlan

# Parts of a concatenation, in order.
PatternParts = Sequence[patterns.RowPattern]


def take_out_negations(
    pattern: patterns.RowPattern,
    selection: EventSelection,
    output: MatchOutput,
    *,
    has_match_window: bool,
) -> tuple[patterns.RowPattern, tuple[Absence, ...]]:
    """Return the pattern without its NOTs, and an absence for each variable under a NOT.

    With strict contiguity, the pattern is returned unchanged: its NOTs become part of the program.

    Args:
        pattern: the whole row pattern.
        selection: which rows a match can skip.
        output: which matches are output.
        has_match_window: whether WITHIN limits the whole match. A NOT at an end of the pattern
            needs such a window.

    Raises:
        MatchRecognizeError: a NOT cannot be checked once a match is complete.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> pattern, absences = take_out_negations(
    ...     parse_row_pattern("A NOT B C"),
    ...     EventSelection.SKIP_TILL_NEXT_MATCH,
    ...     MatchOutput.ALL,
    ...     has_match_window=False,
    ... )
    >>> patterns.show_pattern(pattern)
    'A C'
    >>> [(absence.variable, absence.after, absence.before) for absence in absences]
    [('B', ('A',), ('C',))]
    """
    negations = patterns.list_negations(pattern)
    if not negations or selection is EventSelection.STRICT_CONTIGUITY:
        return pattern, ()
    if output in ONE_MATCH_PER_START:
        raise errors.negation_with_preferred_matches(negations[0].span)
    parts = patterns.list_top_level_parts(pattern)
    without_nots = patterns.make_concatenation(_drop_negations(parts), pattern.span)
    _check_mapped_variables(negations, without_nots)
    absences: list[Absence] = []
    for index, part in enumerate(parts):
        if isinstance(part, patterns.Negation):
            parts_before = _drop_negations(parts[:index])
            parts_after = _drop_negations(parts[index + 1 :])
            if not has_match_window and not (parts_before and parts_after):
                end = "end" if parts_before else "beginning"
                raise errors.negation_without_within(part.span, name=part.names[0], end=end)
            absences += _make_absences(part, parts_before, parts_after)
    return without_nots, tuple(absences)


def _drop_negations(parts: PatternParts) -> tuple[patterns.RowPattern, ...]:
    """Return the parts that are not a NOT."""
    return tuple(part for part in parts if not isinstance(part, patterns.Negation))


def _check_mapped_variables(
    negations: Sequence[patterns.Negation], without_nots: patterns.RowPattern
) -> None:
    """Check that the pattern maps rows to variables, and to none of the variables under NOT.

    Args:
        negations: every NOT of the pattern.
        without_nots: the pattern without the NOTs on its top level.

    Raises:
        MatchRecognizeError: the pattern has only variables under NOT, a NOT is inside a group, or a
            variable is used both with and without NOT.
    """
    mapped_names = patterns.list_variable_names(without_nots)
    nested_negations = patterns.list_negations(without_nots)
    if nested_negations or not mapped_names:
        raise errors.negation_inside_group((nested_negations or negations)[0].span)
    for negation in negations:
        for name in negation.names:
            if name in mapped_names:
                raise errors.variable_reused_beside_negation(
                    negation.span, name=name, positions="under NOT and by itself"
                )


def _make_absences(
    negation: patterns.Negation, parts_before: PatternParts, parts_after: PatternParts
) -> Iterator[Absence]:
    """Yield the absence for each variable under a NOT.

    Args:
        negation: a NOT on the top level of the pattern.
        parts_before: the parts of the pattern before the NOT, without other NOTs.
        parts_after: the parts of the pattern after the NOT, without other NOTs.

    Raises:
        MatchRecognizeError: the pattern has parts on one side of the NOT, but a match can have no
            row there; or a variable to which the row before the NOT can be mapped is also used
            after the NOT.
    """
    names_before = _find_nearest_variables(parts_before[::-1], "before", negation)
    names_after = _find_nearest_variables(parts_after, "after", negation)
    all_names_after = patterns.list_variable_names(patterns.make_concatenation(parts_after))
    for name in names_before or ():
        if name in all_names_after:
            raise errors.variable_reused_beside_negation(
                negation.span, name=name, positions="before NOT and after it"
            )
    for name in negation.names:
        yield Absence(name, after=names_before, before=names_after, span=negation.span)


def _find_nearest_variables(
    parts: PatternParts, side: str, negation: patterns.Negation
) -> tuple[str, ...] | None:
    """Return the variables to which the row nearest to a NOT, on one side of it, can be mapped.

    Args:
        parts: the parts of the pattern on this side of the NOT, nearest first.
        side: "before" or "after", for messages.
        negation: the NOT, whose location an error shows.

    Returns:
        The variables of all parts up to the first one that has a row in every match; None if there
        are no parts on that side. Before NOT in `A B? NOT C D`, they are B and A.

    Raises:
        MatchRecognizeError: all parts can be without a row in the same match.
    """
    if not parts:
        return None
    names: dict[str, None] = {}  # a set that keeps the order
    for part in parts:
        names.update(dict.fromkeys(patterns.list_variable_names(part)))
        if not patterns.can_be_empty(part):
            return tuple(names)
    raise errors.negation_beside_optional(negation.span, side=side)


def add_variable_to_columns(condition: expression.Scalar, variable: str) -> expression.Scalar:
    """Return the condition of a variable under NOT, with its name added to columns of its row.

    A column without a variable would be read from the last row of the match. But the condition is
    about a row that is not in the match. So for B, `price > A.price` becomes `B.price > A.price`.
    """

    def add_variable(reference: expression.Reference) -> expression.Reference:
        """Add the variable to a column of the current row that has no variable."""
        if not isinstance(reference, expression.ColumnReference):
            return reference
        navigation = reference.navigation
        if not navigation.is_last or navigation.variable is not None:
            return reference
        return replace(reference, navigation=replace(navigation, variable=variable))

    return change_expressions.map_references(condition, add_variable)


def check_absence_conditions(plan: MatchPlan) -> None:
    """Check that a complete match determines all values that the conditions under NOT read.

    Raises:
        MatchRecognizeUnsupportedError: a match does not determine a value, such as CLASSIFIER() or
            a count of all rows, because the forbidden row is not in the match.
    """
    absent_variables = {absence.variable for absence in plan.absences}
    for definition in plan.definitions:
        name = definition.variable
        if name not in absent_variables:
            continue
        for reference in definition.condition.references:
            value = _describe_undetermined_value(reference, name)
            if value is not None:
                raise errors.reads_row_under_negation(
                    reference.span,
                    what=value,
                    name=name,
                    hint="read rows of one variable of the match, such as LAST(A.x) or count(A.*)",
                )


def _describe_undetermined_value(reference: expression.Reference, variable: str) -> str | None:
    """Return, in words, what a reference reads if a complete match does not determine its value.

    The result is None if the match determines the value.

    Args:
        reference: a reference in the condition of a variable under NOT.
        variable: the variable under NOT.
    """
    match reference:
        case expression.ColumnReference(navigation=navigation) if not navigation.is_last:
            if navigation.variable == variable:
                return "FIRST and LAST of the row itself"
            if navigation.variable is None and navigation.end is expression.End.LAST:
                return "LAST of all variables"
        case expression.Classifier():
            return "CLASSIFIER()"
        case expression.Aggregate(frame=None) if reference.variable in (None, variable):
            return f"{reference.function} over the row itself"
    return None
