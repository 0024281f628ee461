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

# Products in which a recursion needs the word RECURSIVE. Without it, a name in WITH that its own
# query reads is the name of a table.
_PRODUCTS_THAT_NEED_RECURSIVE = frozenset({"trino", "bigquery", "flink"})


def rewrite_recursion(node: exp.With, context: RuleContext) -> exp.Expr:
    """Rewrite `WITH r AS (... UNION ALL ... FROM r)` for Spark to WITH RECURSIVE.

    The recursion gets a limit that is higher than Spark's default. Queries of Spark and Databricks
    stay: their users can write a limit themselves.
    """
    read = context.read
    if not context.write.is_spark or read.has_spark_functions:
        return node
    has_recursive = bool(node.args.get("recursive"))
    if read.name in _PRODUCTS_THAT_NEED_RECURSIVE and not has_recursive:
        return node
    for definition in node.expressions:
        if _is_recursion(definition):
            node.set("recursive", True)
            _add_limit(definition)
    return node


def _add_limit(definition: exp.CTE) -> None:
    """Add MAX RECURSION LEVEL after the name, and the columns, of a definition in WITH.

    sqlglot has no class for it, so the name and the limit become one text that is printed as it is.
    """
    name_and_columns = definition.args["alias"].sql("spark")
    limit = f"MAX RECURSION LEVEL {_RECURSION_LEVELS}"
    definition.set("alias", exp.var(f"{name_and_columns} {limit}"))


def _is_recursion(definition: exp.CTE) -> bool:
    """Return whether a definition in WITH is a UNION that reads the defined name."""
    is_union = isinstance(definition.this, exp.Union)
    return is_union and reads_table(definition.this, definition.alias.lower())
