"""Lower SEEK: the match of a window may start after the current row.

`SEEK PATTERN (P)` becomes `PATTERN (X*? P)`, where X takes any row: as few rows as possible are
passed over before P, and the preferred match of P is found. Measures and conditions read only the
rows of P, so `FIRST(x)` becomes `FIRST(U.x)`, where U is the union of P's variables.
"""

from __future__ import annotations

from dataclasses import replace

from matchrec.errors.sql import window as errors
from matchrec.plan import pattern as patterns
from matchrec.plan.clauses import Subset
from matchrec.plan.expression import (
    Aggregate,
    Classifier,
    ColumnReference,
    MatchFunction,
    MatchValue,
    Reference,
    list_inner_references,
)
from matchrec.plan.match_plan import MatchPlan, map_plan_references
from matchrec.plan.row_counts import find_first_variables

PASSED = "before the match"

MATCHED = "the match"


def build_seek_plan(plan: MatchPlan) -> MatchPlan:
    """Return the plan of a window with SEEK: its match may start after the current row.

    Raises:
        MatchRecognizeError: the plan has what cannot be expressed once rows are passed over.
    """
    target = plan.after_match.variable
    if target:
        # To skip to the first row of a match is an error when the query runs. If rows were passed
        # over, that row would not be the first one any more, and the error would be missed.
        members = [plan.variables[member] for member in plan.members[target]]
        if not find_first_variables(plan.pattern).isdisjoint(members):
            what = f"AFTER MATCH SKIP TO {target}, which may be the match's first row,"
            raise errors.part_not_allowed_with_seek(plan.after_match.span, what=what)
    for name in (*plan.variables, *plan.unions):
        if name in (PASSED, MATCHED):
            raise errors.part_not_allowed_with_seek(
                plan.pattern.span, what=f"a variable called `{name}`"
            )
    passed = patterns.Quantified(patterns.Variable(PASSED), 0, None, greedy=False)
    pattern = patterns.make_concatenation([passed, plan.pattern], plan.pattern.span)
    union = Subset(MATCHED, patterns.list_variable_names(plan.pattern))
    with_union = replace(plan, pattern=pattern, subsets=(*plan.subsets, union))
    return map_plan_references(with_union, read_match_only)


def read_match_only(reference: Reference) -> Reference:
    """Return a reference to rows of the match alone, and not to those that were passed over.

    Raises:
        MatchRecognizeError: that cannot be expressed.
    """
    match reference:
        case Aggregate(variable=variable):
            if MatchValue(MatchFunction.ROW_NUMBER) in list_inner_references(reference):
                raise errors.part_not_allowed_with_seek(reference.span, what="MATCH_ROW_NUMBER()")
            return replace(reference, variable=variable or MATCHED)
        case Classifier(navigation) if navigation.physical_offset:
            raise errors.part_not_allowed_with_seek(
                reference.span, what="PREV or NEXT of CLASSIFIER()"
            )
        case ColumnReference(navigation) | Classifier(navigation) if not navigation.is_last:
            moved = replace(navigation, variable=navigation.variable or MATCHED)
            return replace(reference, navigation=moved)
        case _:  # a value of the match, or the last row, which is one of the match's
            return reference
