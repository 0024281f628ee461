"""Every error that a user of matchrec can meet, and all of its wording.

One record or function per situation; callers never word a message themselves. A message says what
is wrong and in which clause, where (with carets), what is known, and what to write instead. The
classes are in `kinds`, what records are in `message`, the messages in one module per topic.
"""

from matchrec.errors.kinds import (
    MatchRecognizeError,
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeRunError,
    MatchRecognizeUnsupportedError,
)

__all__ = [
    "MatchRecognizeError",
    "MatchRecognizeParseError",
    "MatchRecognizePlanError",
    "MatchRecognizeRunError",
    "MatchRecognizeUnsupportedError",
]
