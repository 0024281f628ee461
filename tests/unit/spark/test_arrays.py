"""Ranks of values, however often each of them is there."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
import pytest

from matchrec.spark.worker.arrays import dense_ranks, ranks_of_repeated

VALUES = {
    pa.string(): ["b", None, "", "a", "\U0001f600", "\uffff", "b", "é"],
    pa.binary(): [b"b", b"", None, b"\xff", b"a", b"b"],
    pa.decimal128(38, 1): [Decimal("1e30"), None, Decimal("-1.5"), Decimal(0), Decimal("-1.5")],
}


@pytest.mark.parametrize("kind", VALUES, ids=str)
@pytest.mark.parametrize("ranks", [dense_ranks, ranks_of_repeated])
def test_equal_values_have_one_rank(
    kind: pa.DataType, ranks: Callable[[pa.Array], pa.Array]
) -> None:
    """Texts are in the order of their UTF-8 bytes."""
    values = VALUES[kind]

    def key(value: object) -> object:
        return value.encode() if isinstance(value, str) else value

    known = sorted({key(one) for one in values if one is not None})  # type: ignore[type-var]
    expected = [None if one is None else known.index(key(one)) + 1 for one in values]
    assert ranks(pa.array(values, kind)).to_pylist() == expected
    assert ranks(pa.array([None, None], kind)).to_pylist() == [None, None]
    assert ranks(pa.array([], kind)).to_pylist() == []
