"""Plans of clauses: defaults, semantics and normalized names."""

from __future__ import annotations

import pytest

from matchrec.errors import MatchRecognizeError, MatchRecognizeUnsupportedError
from matchrec.plan.clauses import (
    AfterMatchSkip,
    Definition,
    Measure,
    RowExpression,
    RowsPerMatch,
    SkipTo,
    SortItem,
    Subset,
    Within,
)
from matchrec.plan.expression import (
    MATCH_NUMBER,
    Aggregate,
    ColumnReference,
    End,
    MatchValue,
    Navigation,
    Operation,
    Semantics,
    Term,
    walk_scalar,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import Concatenation, Variable
from matchrec.source import Span
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.lower import lower_clause

NOWHERE = Span(0, 0)
ALL_ROWS = "ALL ROWS PER MATCH"


def make_plan(clause: str) -> MatchPlan:
    """Return the plan of a clause."""
    return lower_clause(parse_clause(clause))


def test_a_clause_with_only_a_pattern_has_the_default_plan() -> None:
    assert make_plan("PATTERN (A)") == MatchPlan(
        pattern=Variable("A"),
        rows_per_match=RowsPerMatch.ONE_ROW,
        after_match=AfterMatchSkip(SkipTo.PAST_LAST_ROW, None),
    )


def test_every_part_of_a_clause_is_in_its_plan() -> None:
    lowered = make_plan(
        """PARTITION BY sym ORDER BY ts DESC NULLS LAST, lower(x)
        MEASURES MATCH_NUMBER() AS m, FINAL sum(b.x) AS Total
        ALL ROWS PER MATCH AFTER MATCH SKIP TO `c`
        PATTERN (a b `c`) WITHIN INTERVAL '1' HOUR
        SUBSET u = (A, `c`) DEFINE B AS B.x > PREV(x)"""
    )
    x = ColumnReference(Navigation("B"), "x")
    previous_x = ColumnReference(Navigation(physical_offset=-1), "x")
    total = Aggregate("sum", "B", (Term((x,), NOWHERE),), Semantics.FINAL)
    condition = Operation(">", (Term((x,), NOWHERE), " > ", Term((previous_x,), NOWHERE)), NOWHERE)
    assert lowered == MatchPlan(
        pattern=Concatenation((Variable("A"), Variable("B"), Variable("c"))),
        partition_by=(RowExpression("sym"),),
        order_by=(
            SortItem(RowExpression("ts"), is_descending=True, nulls_first=False),
            SortItem(RowExpression("lower(x)")),
        ),
        measures=(
            Measure("m", Term((MATCH_NUMBER,), NOWHERE)),
            Measure("Total", Term((total,), NOWHERE)),
        ),
        rows_per_match=RowsPerMatch.ALL_ROWS_SHOW_EMPTY,
        after_match=AfterMatchSkip(SkipTo.LAST, "c"),
        within=Within(RowExpression("INTERVAL '1' HOUR")),
        subsets=(Subset("U", ("A", "c")),),
        definitions=(Definition("B", condition),),
    )


def list_semantics(clause: str) -> list[Semantics]:
    """Return the semantics of every reference in the measures and their operands."""
    result = []
    for measure in make_plan(clause).measures:
        for node in walk_scalar(measure.value):
            for reference in node.references:
                match reference:
                    case Aggregate(semantics=semantics):
                        result.append(semantics)
                    case MatchValue():
                        pass
                    case _:
                        result.append(reference.navigation.semantics)
    return result


@pytest.mark.parametrize("prefix", ["", "RUNNING ", "FINAL "])
def test_measures_of_one_row_per_match_are_final(prefix: str) -> None:
    measures = f"MEASURES {prefix}LAST(A.x) + {prefix}count(*) + PREV(x) AS m"
    assert set(list_semantics(f"{measures} PATTERN (A)")) == {Semantics.FINAL}


def test_measures_of_all_rows_per_match_are_running_unless_final_is_written() -> None:
    measures = "MEASURES LAST(x) AS a, RUNNING sum(x) AS b, FINAL CLASSIFIER() AS c, PREV(x) AS d"
    assert list_semantics(f"{measures} {ALL_ROWS} PATTERN (A)") == [
        Semantics.RUNNING,
        Semantics.RUNNING,
        Semantics.FINAL,
        Semantics.RUNNING,
    ]


def test_conditions_in_define_are_running() -> None:
    (definition,) = make_plan("PATTERN (A) DEFINE A AS RUNNING FIRST(x) > sum(A.x)").definitions
    first, total = definition.condition.references
    assert first == ColumnReference(Navigation(end=End.FIRST), "x")
    x = ColumnReference(Navigation("A"), "x")
    assert total == Aggregate("sum", "A", (Term((x,), NOWHERE),))


def test_variables_fold_to_upper_case_unless_quoted() -> None:
    lowered = make_plan("PATTERN (a `a` B) SUBSET u = (a, `a`) DEFINE a AS `a`.x > b.x AND U.x > 0")
    assert lowered.variables == ("A", "a", "B")
    references = lowered.definitions[0].condition.references
    assert [reference.navigation.variable for reference in references] == ["a", "B", "U"]
    assert lowered.members["U"] == frozenset({0, 1})


def test_measure_names_are_kept_as_written() -> None:
    assert [
        measure.name for measure in make_plan("MEASURES x AS Big, y `a B` PATTERN (A)").measures
    ] == ["Big", "a B"]


def test_an_unqualified_variable_name_is_a_column() -> None:
    (measure,) = make_plan("MEASURES a AS m PATTERN (A)").measures
    assert measure.value.references == (
        ColumnReference(Navigation(semantics=Semantics.FINAL), "a"),
    )


def test_a_clause_without_define_has_no_definitions() -> None:
    assert make_plan("PATTERN (A B)").definitions == ()


@pytest.mark.parametrize("word", ["INITIAL", "SEEK"])
def test_initial_and_seek_are_parsed_and_not_supported(word: str) -> None:
    clause = parse_clause(f"{word} PATTERN (A)")
    assert clause.search is not None
    with pytest.raises(MatchRecognizeUnsupportedError, match=f"{word} in MATCH_RECOGNIZE"):
        lower_clause(clause)


def test_a_length_without_interval_may_have_more_digits_than_python_reads() -> None:
    with pytest.raises(MatchRecognizeError, match="missing INTERVAL"):
        make_plan(f"ORDER BY ts PATTERN (A) WITHIN {'9' * 5000} HOURS DEFINE A AS x > 1")
