"""Frames of pandas and Polars and tables of Arrow → DataFrames of Spark, with the same values.

Spark has no unsigned integers. Of Arrow's it makes no DataFrame, so they get the types as which it
reads them from Parquet; those of pandas it takes for BIGINT, where large ones would be negative.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from matchrec.arguments import is_frame
from matchrec.errors import calls as errors
from matchrec.spark.errors.diagnose import first_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SIGNED = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}
LARGEST = 2**63 - 1  # of BIGINT


def as_dataframe(spark: SparkSession, name: str, given: object) -> object:
    """A frame of pandas, Polars or Arrow as a DataFrame of Spark; whatever else as it is.

    name: in a message. Raises MatchRecognizePlanError for what this version of Spark cannot take.
    """
    if not is_frame(given):
        return given
    found: Any = given
    if hasattr(found, "collect"):  # Polars' lazy frames
        found = found.collect()
    if hasattr(found, "to_arrow"):
        found = found.to_arrow()
    if not isinstance(found, pa.Table):
        check_pandas(name, found)
    elif spark.version.startswith("3."):
        raise errors.no_arrow_tables(spark.version, name)
    else:
        found = found.cast(pa.schema([one.with_type(signed(one.type)) for one in found.schema]))
    try:
        return spark.createDataFrame(found)
    except (TypeError, ValueError) as error:
        raise errors.no_dataframe_of(name, first_line(error)) from error


def check_pandas(name: str, frame: Any) -> None:
    """Raises MatchRecognizePlanError for a frame of pandas that Spark would not take as it is."""
    if frame.empty:
        raise errors.no_rows_to_tell_types(name)
    for column, kind in frame.dtypes.items():
        if str(kind).lower() == "uint64" and frame[column].max() > LARGEST:
            raise errors.beyond_bigint(column, name)


def signed(kind: pa.DataType) -> pa.DataType:
    """A type of Arrow's with wider signed integers in the place of unsigned ones.

    >>> signed(pa.list_(pa.uint8()))
    ListType(list<item: int16>)
    """
    if pa.types.is_struct(kind):
        return pa.struct([one.with_type(signed(one.type)) for one in kind])
    if pa.types.is_map(kind):
        return pa.map_(signed(kind.key_type), signed(kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(signed(kind.value_type)))
    return SIGNED.get(kind, kind)
