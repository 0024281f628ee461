"""SEEK: the first match that begins in the frame, at the current row or later.

    PATTERN (P)  →  PATTERN (X*? P)

where X takes any row: as few rows as can be are passed over before P, and of P the preferred
match is found. Measures and conditions are about the rows of P.
"""

from __future__ import annotations

from dataclasses import replace

from matchrec.errors.sql import window as errors
from matchrec.frontends.sql.windows.rows_before import rows_before
from matchrec.plan.clauses import Definition, Measure, Subset
from matchrec.plan.expression import (
    Aggregate,
    Classifier,
    ColumnReference,
    Ending,
    MatchNumber,
    Navigation,
    Reference,
    RowNumber,
    inner_references,
    with_references,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import Quantified, Variable, concatenation, variable_names

PASSED = "before the match"
MATCHED = "the match"


def seek(plan: MatchPlan) -> MatchPlan:
    """The plan of a window whose match may begin after the current row."""
    check_skip(plan)
    check_names(plan)
    passed = Quantified(Variable(PASSED), 0, None, greedy=False)
    members = Subset(MATCHED, variable_names(plan.pattern))
    return replace(
        plan,
        pattern=concatenation([passed, plan.pattern], plan.pattern.span),
        subsets=(*plan.subsets, members),
        measures=tuple(map(seek_measure, plan.measures)),
        definitions=tuple(map(seek_definition, plan.definitions)),
    )


def check_skip(plan: MatchPlan) -> None:
    """To skip to the first row of a match is an error, which would not be seen after other rows."""
    target = plan.after_match.variable
    if target is None:
        return
    before = rows_before(plan.pattern)
    names = (plan.variables[one] for one in plan.members(target))
    if any(before[name].least == 0 for name in names):
        words = f"AFTER MATCH SKIP TO {target}, which may be the match's first row,"
        raise errors.not_with_seek(words, plan.after_match.span)


def check_names(plan: MatchPlan) -> None:
    """Two names are ours."""
    for name in (*plan.variables, *plan.unions):
        if name in (PASSED, MATCHED):
            raise errors.not_with_seek(f"a variable called `{name}`", plan.pattern.span)


def seek_measure(measure: Measure) -> Measure:
    """A measure over the rows of the match alone."""
    return replace(measure, value=with_references(measure.value, of_match))


def seek_definition(definition: Definition) -> Definition:
    """A condition over the rows of the match alone."""
    return replace(definition, condition=with_references(definition.condition, of_match))


def of_match(reference: Reference) -> Reference:
    """The reference to rows of the match, not to those that were passed over."""
    match reference:
        case Aggregate(variable=variable):
            if any(isinstance(one, RowNumber) for one in inner_references(reference)):
                raise errors.not_with_seek("MATCH_ROW_NUMBER()", reference.span)
            return replace(reference, variable=variable or MATCHED)
        case ColumnReference(navigation):
            return replace(reference, navigation=rows_of_match(navigation))
        case Classifier(navigation):
            if navigation.physical_offset:
                raise errors.not_with_seek("PREV or NEXT of CLASSIFIER()", reference.span)
            return replace(reference, navigation=rows_of_match(navigation))
        case MatchNumber() | RowNumber() | Ending():
            return reference


def rows_of_match(navigation: Navigation) -> Navigation:
    """The step among the rows of the match; the last row of all is one of these in any case."""
    if navigation.is_last:
        return navigation
    return replace(navigation, variable=navigation.variable or MATCHED)
