"""Check the regular expressions that a query has as literals, before the query runs.

Engines compile a regular expression only when they read rows. Each engine has its own syntax, so
only a query can find out whether the engine accepts a text. But nearly all texts that users write
are also regular expressions in Python. These are accepted without a query.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql.wrong_types import invalid_regular_expression
from matchrec.plan.match_plan import MatchPlan
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.errors.operand_kinds import list_operations, read_string_literal
from matchrec.spark.relation import Relation
from matchrec.spark.session_errors import SESSION_ERRORS

# The operators whose second operand is a regular expression.
MATCHING_OPERATORS = frozenset(
    ("RLIKE", "NOT RLIKE", "REGEXP", "NOT REGEXP", "REGEXP_LIKE", "REGEXP_REPLACE")
)


def find_invalid_patterns(plan: MatchPlan, relation: Relation) -> Iterator[MatchRecognizeError]:
    """Yield the errors of literals that the engine does not accept as regular expressions.

    Runs a query of one row for each literal that is not a regular expression in Python.
    """
    for clause, operation in list_operations(plan):
        if operation.operator not in MATCHING_OPERATORS or len(operation.operands) < 2:
            continue
        literal = read_string_literal(operation.operands[1])
        if literal is None:
            continue
        pattern = re.sub(r"\\(.)", r"\1", literal[1:-1])  # without SQL's escapes
        fault = find_pattern_fault(pattern)
        if fault is not None and not accepts_pattern(literal, relation):
            yield invalid_regular_expression(
                operation.operands[1].span,
                literal=literal,
                pattern=pattern,
                position=fault.pos or 0,
                clause=clause,
            )


def find_pattern_fault(pattern: str) -> re.error | None:
    """Return why a text is not a regular expression in Python; None if it is one."""
    try:
        re.compile(pattern)
    except re.error as error:
        return error
    return None


def accepts_pattern(literal: str, relation: Relation) -> bool:
    """Return whether the engine accepts a string as a regular expression. Runs a query of one row.

    Args:
        literal: the string, as SQL.
        relation: the input.
    """
    with silence_analysis():
        try:
            relation.runner.spark.range(1).selectExpr(f"string(id) RLIKE {literal}").collect()
        except SESSION_ERRORS:
            return False
    return True
