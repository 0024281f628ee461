"""What rows are compared by in Oracle, as parts of a struct, of which NULL is smallest in Spark.

ORDER BY y           y IS NULL, y
ORDER BY y DESC      -y, of a number, where the smallest comes first
"""

from __future__ import annotations

from sqlglot import exp

from matchrec.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Comparison:
    """A value of rows. is_greatest: which one comes first. is_null_greatest: as its order is."""

    value: exp.Expr
    is_greatest: bool
    is_null_greatest: bool

    def parts(self, *, is_greatest: bool) -> list[exp.Expr]:
        """The parts of a struct of which the greatest comes first, or the smallest.

        Where the value asks for the other end, it is turned and must be a number.
        """
        is_turned = self.is_greatest is not is_greatest
        value = exp.Neg(this=exp.paren(self.value.copy())) if is_turned else self.value.copy()
        if self.is_null_greatest is is_turned:
            return [value]
        return [exp.Is(this=exp.paren(self.value.copy()), expression=exp.null()), value]


def comparison(key: exp.Expr, *, is_last: bool = False) -> Comparison:
    """Of a key of ORDER BY. is_last: whether the last rows are asked for."""
    descends, has_nulls_first = (bool(key.args.get(one)) for one in ("desc", "nulls_first"))
    return Comparison(key.this, is_last != descends, is_null_greatest=has_nulls_first == descends)
