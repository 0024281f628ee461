"""The fields of an error inside the text of another one.

An error that a Python worker raises comes to the driver as text, between a traceback and what Spark
says around it. So its last line has its fields once more, as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

MARK = "for MatchRecognizeRunError.from_exception: "


def written(fields: Mapping[str, object]) -> str:
    """The fields as one line of text; a value that JSON does not have becomes its text."""
    return MARK + json.dumps(fields, default=str)


def read(text: str) -> dict[str, Any] | None:
    """The fields of the first error that a text carries as a whole, or None.

    >>> read(f"[JOB_FAILED] it failed: {written({'row': 1})} SQLSTATE: 39000")
    {'row': 1}
    """
    for part in text.split(MARK)[1:]:
        try:
            fields, _ = json.JSONDecoder().raw_decode(part)
        except json.JSONDecodeError:  # cut off on its way
            continue
        return dict(fields)
    return None
