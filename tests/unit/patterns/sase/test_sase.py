"""SASE+ texts have the plans in `plans.txt` and the errors in `errors.txt`."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matchrec.conditions.split import RowScope, split_conditions
from matchrec.errors import MatchRecognizeError
from matchrec.patterns.sase import StreamOptions, compile_sase
from matchrec.patterns.sase.conjuncts import MAX_CONJUNCTS, split_into_conjuncts
from matchrec.patterns.sase.expressions import EventParser
from matchrec.patterns.sase.parser import parse
from matchrec.patterns.sase.query_tokens import read_sase_tokens
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.expression import Operation, Scalar, render, walk_scalar
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import Source, Span
from tests.quick.scale import examples
from tests.unit import golden_text
from tests.unit.plan_text import show_plan, show_reference

HERE = Path(__file__).parent


def compile_text(text: str) -> MatchPlan:
    """Return the plan of a query."""
    return compile_sase(text, StreamOptions(("ts",)))


def find_message(text: str) -> str:
    """Return the message of the error for a query."""
    with pytest.raises(MatchRecognizeError) as raised:
        compile_text(text)
    return str(raised.value)


def test_sase_queries_have_the_recorded_plans(request: pytest.FixtureRequest) -> None:
    update = bool(request.config.getoption("--update", default=False))
    golden_text.check(HERE / "plans.txt", lambda text: show_plan(compile_text(text)), update)


def test_wrong_sase_queries_have_the_recorded_messages(request: pytest.FixtureRequest) -> None:
    update = bool(request.config.getoption("--update", default=False))
    golden_text.check(HERE / "errors.txt", find_message, update)


QUERIES = [record.given for record in golden_text.read(HERE / "plans.txt")]


def list_expressions(plan: MatchPlan) -> list[Scalar]:
    """Return the conditions and measures of a plan."""
    conditions = [definition.condition for definition in plan.definitions]
    return [*conditions, *(measure.value for measure in plan.measures)]


@pytest.mark.parametrize("text", QUERIES)
def test_every_reference_has_the_span_of_its_identifier(text: str) -> None:
    """Errors of Spark about a column are shown where the column is written."""
    source = Source(text)
    for scalar in list_expressions(compile_text(text)):
        for reference in scalar.references:
            assert reference.span is not None
            assert 0 <= reference.span.start < reference.span.end <= len(source.text)


@pytest.mark.parametrize("text", QUERIES)
def test_every_condition_can_be_split(text: str) -> None:
    """`split_conditions` accepts every condition that a SASE+ query can have."""
    plan = compile_text(text)
    assert [condition.variable for condition in split_conditions(plan, RowScope.SPARK)] == [
        definition.variable for definition in plan.definitions
    ]


def test_an_expression_over_one_event_keeps_the_text_of_the_user() -> None:
    text = "PATTERN SEQ(S a) RETURN upper( a . `my name`||'--' ) /* c */ -- d\n IN ('x','y') AS z"
    (measure,) = compile_text(text).measures
    written = render(measure.value, lambda _: "?")
    assert written == "upper( ?||'--' ) /* c */ -- d\n IN ('x','y')"


def test_stream_options_become_parts_of_the_plan() -> None:
    plan = compile_sase(
        "PATTERN SEQ(S a) WHERE skip_till_any_match { [day] } RETURN a.x",
        StreamOptions(("ts", "id"), ("shop",), "kind", MatchOutput.NON_OVERLAPPING),
    )
    assert show_plan(plan).split("\n") == [
        "pattern: `a`",
        "selection: SKIP TILL ANY MATCH",
        "output: NON-OVERLAPPING MATCHES",
        "partition by: shop",
        "equal: `day`",
        "order by: ts, id",
        "define a",
        "    [a.kind] = 'S'",
        "    [a.`day`] IS NOT NULL",
        "measure x: [FINAL LAST(a.`x`)]",
    ]


def test_messages_name_the_type_column() -> None:
    with pytest.raises(MatchRecognizeError) as raised:
        compile_sase("PATTERN SEQ(A | B a, C b)", StreamOptions(("ts",), type_column="kind"))
    assert raised.value.hint == ("write ANY a in SEQ, and the predicate a.kind IN ('A', 'B')")


def count_conjuncts_of_b(pair_count: int) -> int:
    """Return the number of conjuncts of `b` for a disjunction of pairs, each joined by AND."""
    disjunction = " OR ".join(["(a.x = 1 AND b.x = 2)"] * pair_count)
    plan = compile_text(f"PATTERN SEQ(* a, * b) WHERE skip_till_next_match {{ {disjunction} }}")
    condition = plan.definitions[-1].condition
    is_whole = isinstance(condition, Operation) and condition.operator == "OR"
    return 1 if is_whole else len(condition.operands)  # type: ignore[union-attr]


def test_a_disjunction_of_too_many_conjunctions_is_not_distributed() -> None:
    assert MAX_CONJUNCTS == 2**5
    # The conjunct that reads only `a` is a condition of `a`.
    assert count_conjuncts_of_b(5) == 2**5 - 1
    assert count_conjuncts_of_b(6) == 1


def test_too_deep_nesting_is_an_error() -> None:
    deep = "(" * 5000 + "a.x" + ")" * 5000
    with pytest.raises(MatchRecognizeError, match="too deeply nested"):
        compile_text(f"PATTERN SEQ(S a) WHERE skip_till_next_match {{ {deep} = 1 }}")


def test_many_parentheses_directly_inside_each_other_are_read() -> None:
    deep = "(" * 400 + "a.x" + ")" * 400
    plan = compile_text(f"PATTERN SEQ(S a) WHERE skip_till_next_match {{ {deep} = 1 }}")
    assert [definition.variable for definition in plan.definitions] == ["a"]


# Words from which random texts are made.
WORDS = (
    *("PATTERN", "SEQ", "(", ")", ",", "Stock", "+", "a", "[", "]", "b", "~", "!", "*", "'s'"),
    *("WHERE", "skip_till_next_match", "{", "}", "AND", "OR", "NOT", "a[i].x", "a[1].x", "b.x"),
    *("avg(a[..i-1].x)", "count(a[])", "a[a.LEN].x", "a.LEN", "80%*", "> 1", "[symbol]", "IS NULL"),
    *("WITHIN", "12", "hours", "EVENTS", "RETURN", "AS", "n", "f(", "-", "%", ".", "/*", "'", "`"),
)


def find_span(text: str) -> Span:
    """Return the span of a text that is a query, or else the span of the error.

    The error for a text of blanks may have no span: then the result is an empty span. If any other
    error has no span, the result is an impossible one.
    """
    try:
        compile_text(text)
    except MatchRecognizeError as error:
        return error.span or (Span(-1, -1) if text.strip() else Span(0, 0))
    return Span(0, len(text))


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join), st.booleans())
def test_random_words_are_a_query_or_an_error_with_a_span(words: str, in_where: bool) -> None:
    text = words
    if in_where:
        text = f"PATTERN SEQ(Stock+ a[], S b) WHERE skip_till_next_match {{ {words} }}"
    span = find_span(text)
    assert 0 <= span.start <= span.end <= len(text) + 1


# Conditions without AND, OR and NOT, and conditions that combine them.
ATOMS = st.sampled_from(["a.x = 1", "b.x = 2", "a.y < b.y", "b.y IS NULL", "c.x = 3", "f(c.x)"])
CONDITIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        inner.map("NOT ({})".format),
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(
            lambda words: "({} {} {})".format(*words)
        ),
    ),
    max_leaves=6,
)
# The value of each atom, by the text that `show_atom` returns.
AtomValues = dict[str, bool | None]


def is_logic(scalar: Scalar) -> bool:
    """Return whether an expression is AND, OR or NOT."""
    return isinstance(scalar, Operation) and scalar.operator in ("AND", "OR", "NOT")


def show_atom(scalar: Scalar) -> str:
    """Return the text of a condition without logic."""
    return render(scalar, show_reference).strip("()")


def evaluate(scalar: Scalar, atom_values: AtomValues) -> bool | None:
    """Return the value of a condition in three-valued logic."""
    if not isinstance(scalar, Operation) or not is_logic(scalar):
        return atom_values[show_atom(scalar)]
    values = [evaluate(operand, atom_values) for operand in scalar.operands]
    return compute_logic(scalar.operator, values)


def compute_logic(operator: str, values: list[bool | None]) -> bool | None:
    """Return the value of AND, OR or NOT. NOT has one value, and None is NULL."""
    if operator == "NOT":
        return None if values[0] is None else not values[0]
    # One false operand makes AND false, and one true operand makes OR true.
    decisive = operator == "OR"
    if decisive in values:
        return decisive
    return None if None in values else not decisive


@settings(max_examples=examples(300), deadline=None)
@given(CONDITIONS, st.data())
def test_conjuncts_together_have_the_value_of_the_condition(text: str, data: st.DataObject) -> None:
    parser = EventParser(read_sase_tokens(text))
    parser.components = parse("PATTERN SEQ(* a, * b, * c)").components
    condition = parser.read_expression()
    atoms = {show_atom(scalar) for scalar in walk_scalar(condition) if not is_logic(scalar)}
    atom_values: AtomValues = {
        atom: data.draw(st.sampled_from([True, False, None])) for atom in sorted(atoms)
    }
    conjuncts = split_into_conjuncts(condition)
    values = [evaluate(conjunct, atom_values) for conjunct in conjuncts]
    assert compute_logic("AND", values) == evaluate(condition, atom_values)
    for conjunct in conjuncts:
        assert not (isinstance(conjunct, Operation) and conjunct.operator == "AND")
