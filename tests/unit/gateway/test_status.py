"""Errors become the classes of Java that clients know."""

from __future__ import annotations

import pyspark
import pytest

pytest.importorskip("grpc_status")

from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from pyspark.errors import AnalysisException, ArithmeticException, ParseException

from matchrec.errors import (
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeRunError,
    MatchRecognizeUnsupportedError,
)
from matchrec.gateway import status
from matchrec.gateway.status import ErrorLog, find_java_class


@pytest.mark.parametrize(
    ("error", "java_class"),
    [
        (MatchRecognizeParseError("x"), status.PARSE),
        (MatchRecognizePlanError("x"), status.ANALYSIS),
        (MatchRecognizeUnsupportedError("x"), status.ANALYSIS),
        (MatchRecognizeRunError("x"), status.FAILURE),
        (ParseException("x"), status.PARSE),
        (AnalysisException("x"), status.ANALYSIS),
        (ArithmeticException("x"), "java.lang.ArithmeticException"),
        (RuntimeError("x"), status.FAILURE),
    ],
    ids=lambda value: getattr(value, "__class__", type(value)).__name__,
)
def test_each_error_has_a_class_of_java(error: Exception, java_class: str) -> None:
    assert find_java_class(error) == java_class


def test_a_parse_error_is_an_analysis_error_too() -> None:
    failure = ErrorLog().build_status(MatchRecognizeParseError("no such clause"))
    ((key, value),) = failure.trailing_metadata
    assert key == "grpc-status-details-bin"
    read = Status.FromString(value)
    info = ErrorInfo()
    read.details[0].Unpack(info)
    assert read.message == "no such clause"
    assert info.metadata["classes"] == (
        f'["{status.PARSE}", "{status.ANALYSIS}", "java.lang.Exception"]'
    )
    assert "errorId" not in info.metadata


@pytest.mark.skipif(pyspark.__version__ < "4", reason="PySpark 3.5 has no such messages")
def test_the_number_of_long_messages_is_limited() -> None:
    log = ErrorLog()
    for number in range(status.MAX_DETAILS + 5):
        log.build_status(MatchRecognizePlanError(f"{number} " * status.MAX_MESSAGE_CHARACTERS))
    assert len(log.answers) == status.MAX_DETAILS
