"""Turn the plan of a query into a plan that SQL can express, and note what is lost.

    equivalence keys of SASE+          keys of PARTITION BY, and columns of the result
    whole events in RETURN             no measures
    variables `a` and `a[1]`           A and A_1

What SQL cannot express is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from matchrec.dialects.edits import TranslationNote
from matchrec.dialects.reserved_names import UNQUOTED_NAME
from matchrec.dialects.writing.names import rename_variables
from matchrec.dialects.writing.read_queries import LoweredQuery
from matchrec.errors import calls as errors
from matchrec.plan import expression
from matchrec.plan.clauses import EventSelection
from matchrec.plan.match_plan import MatchPlan

# A variable of SASE+ for the first event of a Kleene plus, `a[1]`, or for a later one, `a[i]`.
_INDEXED_VARIABLE = re.compile(r"(\w+)\[(1|i)\]")


class PreparedPlan(NamedTuple):
    """A plan that SQL can express."""

    plan: MatchPlan
    # What is lost in comparison with the plan of the query.
    notes: tuple[TranslationNote, ...]


def prepare_for_sql(query: LoweredQuery) -> PreparedPlan:
    """Return the plan of a query so that SQL can express it.

    Raises:
        MatchRecognizeError: the matches would differ.
    """
    plan = query.plan
    _reject_negations(plan)
    _reject_undefinable_conditions(plan)
    measures = [measure for measure in plan.measures if not _reads_whole_rows(measure.value)]
    # SQL has no equivalence keys of SASE+, but PARTITION BY divides the rows in the same way.
    expressible = replace(
        plan, measures=tuple(measures), partition_by=plan.partition_keys, equivalence_keys=()
    )
    renamed = rename_variables(expressible, _choose_names(expressible))
    return PreparedPlan(renamed, tuple(_note_losses(query)))


def _reject_negations(plan: MatchPlan) -> None:
    """Raise an error for a negation under strict contiguity.

    Raises:
        MatchRecognizeError: the plan has strict contiguity and a negation.
    """
    if plan.selection is not EventSelection.STRICT_CONTIGUITY:
        return
    if plan.absences:
        absence = plan.absences[0]
        is_between_events = absence.after is not None and absence.before is not None
        hint = "remove it: under strict contiguity no event is between two events"
        raise errors.no_equivalent_in_sql(
            absence.span,
            what="a negation of SASE+ under strict contiguity",
            hint=hint if is_between_events else None,
        )


def _reject_undefinable_conditions(plan: MatchPlan) -> None:
    """Raise an error for a condition that DEFINE cannot have.

    Raises:
        MatchRecognizeError: a condition is about the whole match, or aggregates only the rows
            before the current row.
    """
    for definition in plan.definitions:
        condition = definition.condition
        if definition.variable == plan.match_condition:
            what = "a condition on the whole match"
            hint = "return the value as a column, and test it in a query over the result"
            raise errors.no_equivalent_in_sql(condition.span, what=what, hint=hint)
        for reference in condition.references:
            if isinstance(reference, expression.Aggregate) and reference.excludes_current_row:
                what = (
                    "an aggregate over the earlier rows only: in DEFINE it includes the current row"
                )
                raise errors.no_equivalent_in_sql(reference.span, what=what, hint=None)


def _note_losses(query: LoweredQuery) -> Iterator[TranslationNote]:
    """Yield notes on the columns that the result gets or loses because it is written as SQL."""
    plan = query.plan
    for key in plan.equivalence_keys:
        if key.span is not None:
            yield TranslationNote(
                f"`{key.text.strip('`')}` becomes a column of the result", key.span
            )
    if any(_reads_whole_rows(measure.value) for measure in plan.measures):
        message = "whole events are not columns of the result: name their attributes in RETURN"
        yield TranslationNote(message, query.pattern_span)


def _reads_whole_rows(value: expression.Scalar) -> bool:
    """Return whether a value aggregates whole rows, that is, all columns that the table has."""
    for reference in value.references:
        if not isinstance(reference, expression.Aggregate):
            continue
        for inner in expression.list_inner_references(reference):
            if isinstance(inner, expression.ColumnReference) and inner.argument.endswith("(*)"):
                return True
    return False


def _choose_names(plan: MatchPlan) -> dict[str, str]:
    """Return new names for variables, by the old ones: in upper case, so that they need no quotes.

    `a` becomes A, and `a[1]` becomes A_1. If the new name is not a word, or would clash with
    another variable, the variable is not in the result and keeps its name.
    """
    variables = [*plan.variables, *plan.unions]
    candidates = {name: _INDEXED_VARIABLE.sub(r"\1_\2", name).upper() for name in variables}
    all_candidates = list(candidates.values())
    names = {}
    for name, candidate in candidates.items():
        is_unique = all_candidates.count(candidate) == 1
        is_free = candidate not in variables or candidate == name
        if UNQUOTED_NAME.fullmatch(candidate) and is_unique and is_free:
            names[name] = candidate
    return names
