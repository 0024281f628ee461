"""Check that two DataFrames have the same rows, in any order."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Digest:
    """A summary of all rows that does not depend on their order.

    The digests of different rows are different, except by a very unlikely chance.
    """

    # The number of rows.
    rows: int
    # The sum of the hashes of the rows, and their XOR; None if there are no rows.
    hash_sum: Decimal | None
    hash_xor: int | None


def compute_digest(frame: DataFrame) -> Digest:
    """Read the whole frame and return its digest."""
    columns = ", ".join(f"`{name}`" for name in frame.columns)
    hashed = frame.selectExpr(f"xxhash64({columns}) AS hash")
    total = "sum(CAST(hash AS DECIMAL(38, 0)))"
    figures = hashed.selectExpr("count(*)", total, "bit_xor(hash)").first()
    assert figures is not None
    return Digest(*figures)


@dataclass(frozen=True)
class Reference:
    """The rows that the rows of all contenders are compared with."""

    frame: DataFrame
    digest: Digest

    @classmethod
    def read(cls, frame: DataFrame) -> Reference:
        """Read a frame, and return its rows as a reference."""
        return cls(frame, compute_digest(frame))

    def check(self, what: str, frame: DataFrame) -> None:
        """Check that `frame` has the rows of the reference.

        Columns are compared by position, and values after a cast to the types of the reference.

        Args:
            what: what returned the rows, for the message.

        Raises:
            AssertionError: the rows differ; the message shows some that do.
        """
        fields = self.frame.schema.fields
        assert len(frame.columns) == len(fields), (what, frame.columns, self.frame.columns)
        named = frame.toDF(*(field.name for field in fields))
        casts = [
            f"CAST(`{field.name}` AS {field.dataType.simpleString()}) `{field.name}`"
            for field in fields
        ]
        compared = named.selectExpr(*casts)
        digest = compute_digest(compared)
        if digest != self.digest:
            missing = self.frame.exceptAll(compared).limit(3).collect()
            extra = compared.exceptAll(self.frame).limit(3).collect()
            raise AssertionError(
                f"{what} gives {digest.rows:,} rows, not the same as the {self.digest.rows:,} of "
                f"matchrec; missing are {missing}, extra are {extra}"
            )
