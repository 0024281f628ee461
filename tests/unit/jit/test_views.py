"""Views of arguments over the same memory."""

from __future__ import annotations

import numpy as np
import pytest

from matchrec.jit.views import share_with_python


def test_a_record_of_int64_is_shared() -> None:
    record_array = np.rec.array([(1, 2)], dtype=[("row", np.int64), ("state", np.int64)])
    view = share_with_python(record_array[0])
    view.state = 7
    assert record_array["state"].tolist() == [7]


@pytest.mark.parametrize(
    "fields", [[("row", np.int64), ("state", np.int32)], [("row", np.int64), ("value", np.float64)]]
)
def test_a_record_of_other_numbers_is_not_shared(fields: list[tuple[str, type]]) -> None:
    """A structure of int64 would read other values than the record has."""
    record_array = np.rec.array([(1, 2)], dtype=fields)
    with pytest.raises(AssertionError, match="other fields than int64"):
        share_with_python(record_array[0])
