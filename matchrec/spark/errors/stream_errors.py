"""Replace the error of an engine that has no streams by an error that says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from matchrec.errors import machine as errors
from matchrec.spark.backends import find_backend


@contextmanager
def translate_stream_errors(spark: SparkSession) -> Iterator[None]:
    """Replace the error of an engine that has no streams, if the `with` block raises it.

    Such an engine raises its error when the columns of a stream are analysed.

    Raises:
        MatchRecognizeUnsupportedError: the engine has no watermarks, and rejects a stream.
    """
    from matchrec.spark.sail.refusals import is_about_streams

    try:
        yield
    except PySparkException as error:
        if not is_about_streams(str(error)) or find_backend(spark).has_watermarks:
            raise
        raise errors.streams_not_supported() from None
