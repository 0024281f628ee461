"""Whether two DataFrames hold the same rows, in whatever order."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Digest:
    """Of all rows, independent of their order: those of different rows hardly ever agree."""

    rows: int
    total: Decimal | None
    mixed: int | None


def digest(frame: DataFrame) -> Digest:
    """Reads the whole frame."""
    columns = ", ".join(f"`{name}`" for name in frame.columns)
    hashed = frame.selectExpr(f"xxhash64({columns}) AS hash")
    total = "sum(CAST(hash AS DECIMAL(38, 0)))"
    found = hashed.selectExpr("count(*)", total, "bit_xor(hash)").first()
    assert found is not None
    return Digest(*found)


@dataclass(frozen=True)
class Reference:
    """The rows that others are compared with."""

    frame: DataFrame
    digest: Digest

    @classmethod
    def of(cls, frame: DataFrame) -> Reference:
        return cls(frame, digest(frame))

    def check(self, what: str, frame: DataFrame) -> None:
        """Raises AssertionError where `frame` has other rows, with some of them.

        Columns are compared by position; their values with the types of the reference.
        """
        fields = self.frame.schema.fields
        assert len(frame.columns) == len(fields), (what, frame.columns, self.frame.columns)
        named = frame.toDF(*(field.name for field in fields))
        compared = named.selectExpr(
            *(f"CAST(`{one.name}` AS {one.dataType.simpleString()}) `{one.name}`" for one in fields)
        )
        found = digest(compared)
        if found != self.digest:
            missing = self.frame.exceptAll(compared).limit(3).collect()
            extra = compared.exceptAll(self.frame).limit(3).collect()
            raise AssertionError(
                f"{what} gives {found.rows:,} rows, not the same as the {self.digest.rows:,} of "
                f"matchrec; missing are {missing}, extra are {extra}"
            )
