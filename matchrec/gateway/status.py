"""Errors as clients of Spark Connect read them: a status of gRPC with a class of Java.

Each client has a table from Java's classes to the exceptions of its language. PySpark raises
`ParseException` for `org.apache.spark.sql.catalyst.parser.ParseException`.

A status has no error class of Spark: Spark's own client for Java and Scala refuses a class that is
not in its list. The code of our errors is at the end of their first line.

A status is sent in the trailing metadata, which has a limit of some kilobytes. So it holds only the
beginning of a long message. The client asks for the whole message with `FetchErrorDetails`.

Source: Spark, connect/utils/ErrorUtils.scala.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pyspark.sql.connect.proto as proto
from google.protobuf.any_pb2 import Any as PackedMessage
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status
from grpc import StatusCode
from grpc_status import rpc_status
from pyspark.errors import PySparkException

from matchrec.errors import (
    MatchRecognizeError,
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
)

# The most characters of a message that a status holds, as in Spark.
MAX_MESSAGE_CHARACTERS = 2048

# The most errors that are kept for `FetchErrorDetails`. If there are more, the oldest are dropped.
MAX_DETAILS = 1000

# The end of a message that was longer.
ELLIPSIS = "..."

# Names of classes of Java: for mistakes in a query, for texts that cannot be parsed, and for
# everything else.
ANALYSIS = "org.apache.spark.sql.AnalysisException"
PARSE = "org.apache.spark.sql.catalyst.parser.ParseException"
FAILURE = "org.apache.spark.SparkException"

# The name of the Java class for each class of PySpark. An error whose class is not listed
# has the Java class of its nearest base class that is listed.
JAVA_CLASSES = {
    "ParseException": PARSE,
    "AnalysisException": ANALYSIS,
    "TempTableAlreadyExistsException": ANALYSIS,
    "ArithmeticException": "java.lang.ArithmeticException",
    "NumberFormatException": "java.lang.NumberFormatException",
    "UnsupportedOperationException": "java.lang.UnsupportedOperationException",
    "ArrayIndexOutOfBoundsException": "java.lang.ArrayIndexOutOfBoundsException",
    "DateTimeException": "java.time.DateTimeException",
    "IllegalArgumentException": "java.lang.IllegalArgumentException",
    "SparkRuntimeException": "org.apache.spark.SparkRuntimeException",
}

# For classes of Java, the classes that they extend. A client looks for the first class that it
# knows.
PARENTS = {PARSE: (ANALYSIS,)}


@dataclass(frozen=True, slots=True)
class ErrorLog:
    """The errors that clients can still ask about."""

    # The answers to `FetchErrorDetails`, by the id of the error; the oldest first.
    answers: dict[str, bytes] = field(default_factory=dict)

    def build_status(self, error: Exception) -> Any:
        """Return an error as a status of gRPC. If its message is long, keep the whole message.

        The status has the attributes `code`, `details`, which is the message, and
        `trailing_metadata`.
        """
        if isinstance(error, MatchRecognizeError | PySparkException):
            message = str(error)
            java_class = find_java_class(error)
        else:
            message = f"matchrec could not answer the call: {type(error).__name__}: {error}"
            java_class = FAILURE
        classes = [java_class, *PARENTS.get(java_class, ()), "java.lang.Exception"]
        info = ErrorInfo(
            reason=java_class, domain="org.apache.spark", metadata={"classes": json.dumps(classes)}
        )
        if len(message) > MAX_MESSAGE_CHARACTERS:
            # Short messages get no id: with an id, PySpark prints a stack trace of Java, and these
            # errors have none.
            error_id = info.metadata["errorId"] = str(uuid4())
            self.keep_answer(error_id, classes, message)
            message = message[: MAX_MESSAGE_CHARACTERS - len(ELLIPSIS)] + ELLIPSIS
        packed_info = PackedMessage()
        packed_info.Pack(info)
        code = StatusCode.INTERNAL.value[0]
        return rpc_status.to_status(Status(code=code, message=message, details=[packed_info]))

    def keep_answer(self, error_id: str, classes: list[str], message: str) -> None:
        """Keep the answer to `FetchErrorDetails` for an error. Drop the oldest of many answers."""
        response_class = getattr(proto, "FetchErrorDetailsResponse", None)
        if response_class is None:  # PySpark 3.5
            return
        detail = response_class.Error(error_type_hierarchy=classes, message=message)
        answer = response_class(root_error_idx=0, errors=[detail])
        self.answers[error_id] = answer.SerializeToString()
        while len(self.answers) > MAX_DETAILS:
            del self.answers[next(iter(self.answers))]


def find_java_class(error: Exception) -> str:
    """Return the class of Java that stands for an error in Spark Connect."""
    if isinstance(error, MatchRecognizeParseError):
        return PARSE
    for error_class in type(error).__mro__:
        if error_class.__name__ in JAVA_CLASSES:
            return JAVA_CLASSES[error_class.__name__]
    is_mistake = isinstance(error, MatchRecognizePlanError | MatchRecognizeUnsupportedError)
    return ANALYSIS if is_mistake else FAILURE
