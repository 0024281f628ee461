"""The rule for names in WITH that read themselves, which Spark calls WITH RECURSIVE.

    WITH r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 500) SELECT n FROM r

becomes

    WITH RECURSIVE r MAX RECURSION LEVEL 10000 AS (...) SELECT n FROM r
"""

from __future__ import annotations

from sqlglot import exp

from matchrec.dialects.rules.context import RuleContext
from matchrec.dialects.rules.named_queries import reads_table

# The number of levels that a recursion may have. Spark's default is 100, which would be too few
# for a calendar.
_RECURSION_LEVELS = 10_000

# Products in which a recursion needs the word RECURSIVE.
_SPELLS_RECURSIVE = frozenset({"trino", "bigquery", "flink"})


def rewrite_recursion(node: exp.With, context: RuleContext) -> exp.Expr:
    """Rewrite `WITH r AS (... UNION ALL ... FROM r)` to WITH RECURSIVE with a higher limit."""
    read = context.read
    if not context.write.is_spark or read.has_functions_of_spark:
        return node
    if not node.args.get("recursive") and read.name in _SPELLS_RECURSIVE:
        return node
    for definition in node.expressions:
        if _reads_itself(definition):
            node.set("recursive", True)
            alias = definition.args["alias"].sql("spark")
            with_limit = exp.var(f"{alias} MAX RECURSION LEVEL {_RECURSION_LEVELS}")
            definition.set("alias", with_limit)
    return node


def _reads_itself(definition: exp.CTE) -> bool:
    """Return whether a name in WITH is a union that reads itself."""
    is_union = isinstance(definition.this, exp.Union)
    return is_union and reads_table(definition.this, definition.alias.lower())
