"""The rule for CAST in the dialects that sqlglot derives from Hive's.

In Hive, CAST returns NULL for a value that it cannot convert. In Spark SQL and Flink SQL, it raises
an error:

    CAST('x' AS INT)        sqlglot reads TRY_CAST('x' AS INT), and the rule makes CAST of it
    TRY_CAST('x' AS INT)    stays
"""

from __future__ import annotations

from sqlglot import exp

from matchrec.dialects.rules.context import RuleContext


def restore_cast(node: exp.TryCast, _: RuleContext) -> exp.Expr:
    """Restore `CAST(x AS t)`, which sqlglot has read as TRY_CAST. A TRY_CAST of the user stays."""
    is_written_as_try_cast = bool(node.args.get("safe"))
    return node if is_written_as_try_cast else exp.cast(node.this.copy(), node.to.copy())
