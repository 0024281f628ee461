"""Lower SEEK: the match of a window may start after the current row.

`SEEK PATTERN (P)` becomes `PATTERN (X*? P)`. X has no condition, so as few rows as possible are
passed over before P, and the preferred match of P is found. Measures and conditions read only the
rows of P, so `FIRST(x)` becomes `FIRST(U.x)`. U is the union of P's variables.
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

# The variable X of the rows that are passed over. No user can call a variable like this without
# quotes.
_PASSED_ROWS = "before the match"

# The union variable U of the rows of the match.
_MATCH_ROWS = "the match"


def build_seek_plan(plan: MatchPlan) -> MatchPlan:
    """Return the plan of a window with SEEK: its match may start after the current row.

    Raises:
        MatchRecognizeError: a part of the plan would have another meaning if rows are passed over.
    """
    target = plan.after_match.variable
    if target:
        # Skipping to the first row of a match raises an error when the query runs. After rows that
        # are passed over, this row would no longer be the first row, so the error would be missed.
        members = [plan.variables[member] for member in plan.members[target]]
        if not find_first_variables(plan.pattern).isdisjoint(members):
            what = f"AFTER MATCH SKIP TO {target}, which may be the match's first row,"
            raise errors.part_not_allowed_with_seek(plan.after_match.span, what=what)
    for name in (*plan.variables, *plan.unions):
        if name in (_PASSED_ROWS, _MATCH_ROWS):
            raise errors.part_not_allowed_with_seek(
                plan.pattern.span, what=f"a variable called `{name}`"
            )
    passed_rows = patterns.Quantified(patterns.Variable(_PASSED_ROWS), 0, None, is_greedy=False)
    pattern = patterns.make_concatenation([passed_rows, plan.pattern], plan.pattern.span)
    union = Subset(_MATCH_ROWS, patterns.list_variable_names(plan.pattern))
    with_union = replace(plan, pattern=pattern, subsets=(*plan.subsets, union))
    return map_plan_references(with_union, read_match_only)


def read_match_only(reference: Reference) -> Reference:
    """Return a reference that reads only rows of the match, and no rows that were passed over.

    Raises:
        MatchRecognizeError: the reference cannot be changed like this.
    """
    match reference:
        case Aggregate(variable=variable):
            if MatchValue(MatchFunction.ROW_NUMBER) in list_inner_references(reference):
                raise errors.part_not_allowed_with_seek(reference.span, what="MATCH_ROW_NUMBER()")
            return replace(reference, variable=variable or _MATCH_ROWS)
        case Classifier(navigation) if navigation.physical_offset:
            raise errors.part_not_allowed_with_seek(
                reference.span, what="PREV or NEXT of CLASSIFIER()"
            )
        case ColumnReference(navigation) | Classifier(navigation) if not navigation.is_last:
            navigation_in_match = replace(navigation, variable=navigation.variable or _MATCH_ROWS)
            return replace(reference, navigation=navigation_in_match)
        case _:
            # The reference is a fact about the match, or reads the last row, which is a row of P.
            return reference
