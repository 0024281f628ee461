"""Rules over plans that other front ends make, without the text of a clause."""

from __future__ import annotations

from fractions import Fraction

import pytest

from matchrec.errors import MatchRecognizeError
from matchrec.plan import rules
from matchrec.plan.amounts import Amount
from matchrec.plan.clauses import (
    Absence,
    AfterMatchSkip,
    Definition,
    EventSelection,
    FirstMatches,
    Gap,
    MatchOutput,
    Measure,
    PartialMatches,
    RowExpression,
    RowsPerMatch,
    SkipTo,
    SortItem,
    Subset,
    Within,
)
from matchrec.plan.expression import (
    MATCH_NUMBER,
    MATCHED_ROWS,
    Aggregate,
    Classifier,
    ColumnReference,
    MatchFunction,
    MatchValue,
    Navigation,
    Term,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import Concatenation, Exclusion, Negation, Quantified, Variable
from matchrec.source import Span

A, B = Variable("A"), Variable("B")
AB = Concatenation((A, B))
TRUE = Term(("TRUE",), Span(0, 4))
CLASSIFIER_BEFORE = Term((Classifier(Navigation(physical_offset=-1)), " = 'A'"), Span(0, 4))
FAR_BACK = Term((ColumnReference(Navigation(logical_offset=1001), "x"), " > 1"), Span(0, 4))
NUMBER = Term((MATCH_NUMBER, " = 1"), Span(0, 4))
ROWS = Term((Aggregate(MATCHED_ROWS, None, ()),), Span(0, 4))
STATUS = Term((MatchValue(MatchFunction.STATUS),), Span(0, 4))
WITHIN = Within(RowExpression("3"))
NO_LENGTH = Amount(Fraction(0))
EXCLUDING = Concatenation((A, Quantified(Exclusion(B), 1, None)))

ALLOWED = [
    MatchPlan(AB),
    MatchPlan(AB, subsets=(Subset("U", ("A", "B")), Subset("V", ("A",)))),
    MatchPlan(AB, subsets=(Subset("U", ("A", "B")),), after_match=AfterMatchSkip(SkipTo.LAST, "U")),
    MatchPlan(AB, definitions=(Definition("B", TRUE), Definition("A", TRUE))),
    MatchPlan(AB, measures=(Measure("a", TRUE), Measure("b", TRUE))),
    MatchPlan(AB, definitions=(Definition("B", CLASSIFIER_BEFORE),)),
    MatchPlan(AB, within=WITHIN, order_by=(SortItem(RowExpression("ts")),)),
    MatchPlan(EXCLUDING),
    MatchPlan(EXCLUDING, rows_per_match=RowsPerMatch.ALL_ROWS_OMIT_EMPTY),
    MatchPlan(AB, rows_per_match=RowsPerMatch.ALL_ROWS_WITH_UNMATCHED),
]

FORBIDDEN = [
    (
        rules.check_subset_names,
        MatchPlan(AB, subsets=(Subset("A", ("B",)),)),
        "union variable `A` in SUBSET is also a variable of PATTERN",
    ),
    (
        rules.check_subset_names,
        MatchPlan(AB, subsets=(Subset("U", ("A",)), Subset("U", ("B",)))),
        "union variable `U` is defined twice in SUBSET",
    ),
    (
        rules.check_subset_members,
        MatchPlan(AB, subsets=(Subset("U", ("A",)), Subset("V", ("B", "U")))),
        "member `U` of `V` in SUBSET is itself a union variable",
    ),
    (
        rules.check_subset_members,
        MatchPlan(AB, subsets=(Subset("U", ("A", "C")),)),
        "unknown pattern variable `C` in SUBSET",
    ),
    (
        rules.check_negated_variables,
        MatchPlan(Concatenation((A, Negation(("B",)))), subsets=(Subset("U", ("A", "B")),)),
        "`B` in SUBSET has no rows, because PATTERN has it under NOT",
    ),
    (
        rules.check_defined_variables,
        MatchPlan(AB, subsets=(Subset("U", ("A",)),), definitions=(Definition("U", TRUE),)),
        "union variable `U` is not allowed in DEFINE",
    ),
    (
        rules.check_defined_variables,
        MatchPlan(AB, definitions=(Definition("C", TRUE),)),
        "DEFINE has `C`, which is not in PATTERN",
    ),
    (
        rules.check_definitions_are_unique,
        MatchPlan(AB, definitions=(Definition("A", TRUE), Definition("A", TRUE))),
        "variable `A` is defined twice in DEFINE",
    ),
    (
        rules.check_skip_target,
        MatchPlan(AB, after_match=AfterMatchSkip(SkipTo.LAST, "C")),
        "unknown pattern variable `C` in AFTER MATCH SKIP",
    ),
    (
        rules.check_skip_advances,
        MatchPlan(AB, after_match=AfterMatchSkip(SkipTo.LAST, "A")),
        (
            "AFTER MATCH SKIP TO `A` always goes to the first row of the match, so the search "
            "would not end"
        ),
    ),
    (
        rules.check_exclusions,
        MatchPlan(EXCLUDING, rows_per_match=RowsPerMatch.ALL_ROWS_WITH_UNMATCHED),
        "an exclusion in PATTERN is not allowed with ALL ROWS PER MATCH WITH UNMATCHED ROWS",
    ),
    (
        rules.check_measure_names,
        MatchPlan(AB, measures=(Measure("total", TRUE), Measure("total", TRUE))),
        "MEASURES has two measures named `total`",
    ),
    (rules.check_order_of_windows, MatchPlan(AB, within=WITHIN), "missing ORDER BY for WITHIN"),
    (
        rules.check_lengths_of_windows,
        MatchPlan(
            AB,
            within=Within(RowExpression("0", amount=NO_LENGTH)),
            order_by=(SortItem(RowExpression("ts")),),
        ),
        "WITHIN needs a length above 0, not 0 or less",
    ),
    (
        rules.check_gaps,
        MatchPlan(
            AB, order_by=(SortItem(RowExpression("ts")),), gaps=(Gap(RowExpression("1"), "A", "C"),)
        ),
        "unknown pattern variable `C` in WITHIN",
    ),
    (
        rules.check_classifiers,
        MatchPlan(
            AB,
            selection=EventSelection.SKIP_TILL_NEXT_MATCH,
            definitions=(Definition("B", CLASSIFIER_BEFORE),),
        ),
        "CLASSIFIER() a physical step away in DEFINE is not supported with SKIP TILL NEXT MATCH",
    ),
    (
        rules.check_longest_matches,
        MatchPlan(AB, output=MatchOutput.LONGEST, selection=EventSelection.SKIP_TILL_NEXT_MATCH),
        "LONGEST MATCH with SKIP TILL NEXT MATCH is not supported",
    ),
    (
        rules.check_match_number,
        MatchPlan(AB, output=MatchOutput.ALL, definitions=(Definition("B", NUMBER),)),
        "MATCH_NUMBER() in DEFINE is not supported with ALL MATCHES",
    ),
    (
        rules.check_rows_back,
        MatchPlan(AB, definitions=(Definition("B", FAR_BACK),)),
        "LAST in DEFINE looks back 1,001 rows of the match; the limit is 1,000",
    ),
    (
        rules.check_partial_matches,
        MatchPlan(AB, partial=PartialMatches(shows_timed_out=True)),
        "missing WITHIN for SHOW TIMEOUT MATCHES",
    ),
    (
        rules.check_partial_matches,
        MatchPlan(
            AB, partial=PartialMatches(shows_unfinished=True), absences=(Absence("N", "A", "B"),)
        ),
        "SHOW UNFINISHED MATCHES of a pattern with NOT is not supported",
    ),
    (
        rules.check_first_matches,
        MatchPlan(AB, first_matches=FirstMatches(2), output=MatchOutput.GRAPH),
        'FIRST 2 MATCHES with output="graph" is not supported',
    ),
    (
        rules.check_matched_rows,
        MatchPlan(
            AB, measures=(Measure("m", ROWS),), rows_per_match=RowsPerMatch.ALL_ROWS_SHOW_EMPTY
        ),
        "MATCHED_ROWS in MEASURES is not allowed with ALL ROWS PER MATCH",
    ),
    (
        rules.check_match_functions,
        MatchPlan(AB, measures=(Measure("status", STATUS),)),
        "MATCH_STATUS() is not allowed without SHOW TIMEOUT MATCHES or SHOW UNFINISHED MATCHES",
    ),
]


@pytest.mark.parametrize("plan", ALLOWED)
def test_plans_that_keep_every_rule(plan: MatchPlan) -> None:
    rules.check_plan(plan)


@pytest.mark.parametrize(("rule", "plan", "message"), FORBIDDEN)
def test_each_rule_has_its_own_message(rule: rules.PlanRule, plan: MatchPlan, message: str) -> None:
    for other in rules.RULES:
        if other is not rule:
            other(plan)
    with pytest.raises(MatchRecognizeError) as raised:
        rules.check_plan(plan)
    assert raised.value.message == message
    assert str(raised.value).startswith(message)


def test_every_rule_has_a_plan_that_breaks_it() -> None:
    assert {rule for rule, _, _ in FORBIDDEN} == set(rules.RULES)
