"""Structs are built from columns that the worker has got."""

from __future__ import annotations

import pyarrow as pa

import matchrec
from matchrec.conditions.row_column import build_aggregate_term_column
from matchrec.patterns.stages.lower import lower_pattern
from matchrec.patterns.stages.query import PatternQuery
from matchrec.plan.expression import Aggregate
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.expressions.expression import parse_scalar
from matchrec.syntax.expressions.scope import Scope
from matchrec.syntax.tokenize import read_tokens
from matchrec.worker.arrays import add_structs
from matchrec.worker.column_roles import Struct

SCOPE = Scope(ClausePart.MEASURES, ("A",))


def test_columns_of_a_table_become_a_struct() -> None:
    table = pa.table({"__c0": [1, None], "__x1": ["a", "b"]})
    result = add_structs(table, (Struct("__c2", ("n", "s"), ("__c0", "__x1")),))
    assert result.column_names == ["__c0", "__x1", "__c2"]
    assert result.column("__c2").to_pylist() == [{"n": 1, "s": "a"}, {"n": None, "s": "b"}]


def test_a_struct_of_columns_is_found_from_its_reads() -> None:
    query = PatternQuery(matchrec.Pattern.begin("a"), ("t",), (), ("a", "b`c"))
    events = lower_pattern(query)[0].measures[-1].value.references[0]
    assert isinstance(events, Aggregate)
    column = build_aggregate_term_column(events.arguments[0])
    assert column.text == "struct(`a`, `b``c`)"
    assert column.fields == ("a", "b`c")
    user, _ = parse_scalar(read_tokens("count(struct(a, b)) + a"), SCOPE).operands
    assert isinstance(counted := user.references[0], Aggregate)
    assert build_aggregate_term_column(counted.arguments[0]).fields == ()
