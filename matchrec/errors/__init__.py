"""All errors and warnings of matchrec, with their wording.

Each situation has a function that returns its error:

    raise unknown_window_measure(span, name="hgih", window="w", measures=["high", "low"])

    unknown measure `hgih` of window w [unknown-window-measure]      headline and code
      line 1, column 8                                               where it is
          SELECT hgih OVER w FROM ticks WINDOW w AS (...)
                 ^^^^
      note: MEASURES has: high, low                                  facts
      help: write high                                               what to write instead

Callers never word a message themselves, and the code never changes, so a search for the code or for
a part of the sentence finds the function. The classes of errors are in `kinds`, the words that
depend on the language of the query in `language`, those that depend on the user's program in
`surface`, helpers for lists, plurals and quotes in `wording`, and the functions in one module for
each topic.
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
