"""Explain why a value cannot be computed, so that a running query fails.

The texts are Sail's, and some of Spark's. For example:

    Arrow error: Divide by zero error      →  Division by zero. Write NULLIF(..., 0) ...
    Cast error: Cannot cast string 'high'  →  'high' cannot be cast to INT. Write TRY_CAST ...
"""

from __future__ import annotations

import re
from typing import NamedTuple
from zoneinfo import available_timezones

from matchrec.errors.misspellings import find_nearest, find_nearest_choice
from matchrec.errors.sql.type_mismatches import name_types_as_spark
from matchrec.errors.sql.written_times import read_times
from matchrec.errors.wording import uncapitalise
from matchrec.spark.sail.message_tables import find_matching_row
from matchrec.spark.sail.refused_names import find_name_refused_by_sail
from matchrec.worker.error_reports import find_cause

# The units of `date_trunc` and `trunc`.
UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond")


class FailureTemplate(NamedTuple):
    """A failure of a value in plain words.

    `{name}` stands for a group of the regular expression, `{TYPE}` for the group `type` in upper
    case, `{FORMAT}` for the format of the group `time` in Spark's letters, and `{UNIT}` and
    `{ZONE}` for the unit and the time zone that the user probably means.
    """

    # Why the value cannot be computed.
    reason: str
    # What to write instead, as the object of "Write"; empty if that is not known.
    replacement: str = ""


# The failure of a cast whose value and type are known.
CAST_FAILURE = FailureTemplate(
    reason="{value} cannot be cast to {TYPE}",
    replacement="TRY_CAST(... AS {TYPE}), which is NULL for such a value",
)

# Failures that are about a value, by regular expressions for the text of Sail or Spark.
VALUE_FAILURES = {
    r"(?i)(?:divi(?:de|sion)|remainder) by zero": FailureTemplate(
        "Division by zero",
        "NULLIF(..., 0) around the divisor, or set spark.sql.ansi.enabled to false",
    ),
    r"(?i)(?P<sentence>element_at: the index is out of bounds)": FailureTemplate(
        "{sentence}", "try_element_at, which is NULL for such an index"
    ),
    r"(?i)unsupported (?P<function>\w+) granularity: '(?P<unit>[^']*)'": FailureTemplate(
        "{function} has no unit '{unit}'", "{UNIT}"
    ),
    r"(?i)\[INVALID_TIMEZONE\] the timezone: \"(?P<zone>[^\"]*)\"": FailureTemplate(
        "unknown time zone '{zone}'", "{ZONE}"
    ),
    r"(?i)(?P<sentence>invalid datetime pattern\b.*)": FailureTemplate(
        "{sentence}", "the format in Spark's letters, such as 'yyyy-MM-dd HH:mm:ss'"
    ),
    r"(?i)(?P<sentence>invalid (?:timestamp|date)\b(?:: (?P<time>\d[\d./: T-]*\d))?"
    r".*)": FailureTemplate(
        "{sentence}",
        "to_timestamp, or to_date, with a format in Spark's letters, such as '{FORMAT}'",
    ),
    r"(?i)cast error: (?P<sentence>.*'-?\d{1,3}(?:,\d{3})+(?:\.\d*)?'.*)": FailureTemplate(
        "{sentence}", "replace(x, ',') instead of x, which removes the commas"
    ),
    r"(?i)unsupported cast from (?P<source>.*?) to (?P<target>[\w()<>,]+)": FailureTemplate(
        "a value of type {source} cannot be cast to {target}",
        "one element, field or value of it instead",
    ),
    r"(?is)cast error: cannot cast (?:string|value) (?P<value>'.*') to value of "
    r"(?P<type>\S+) type": CAST_FAILURE,
    r"(?i)cast error: (?P<sentence>.*)": FailureTemplate(
        "{sentence}", "TRY_CAST instead of CAST, which is NULL for such a value"
    ),
    r"(?is)\[CAST_INVALID_INPUT\] the value (?P<value>'.*?') of the type \"[^\"]+\" cannot be cast "
    r"to \"(?P<type>[^\"]+)\"": CAST_FAILURE,
    r"(?i)\[CAST_INVALID_INPUT\] (?P<sentence>.*)": FailureTemplate("{sentence}"),
    r"(?is)regex parse error:.*?error: (?P<reason>(?:look-around|backref)[^\n~]+)": FailureTemplate(
        "a regular expression is not valid on Sail: {reason}",
        "a regular expression without (?=, (?!, (?<= and \\1, or run the query on Spark",
    ),
    r"(?is)regex parse error:.*?error: (?P<reason>[^\n~]+)": FailureTemplate(
        "a regular expression is not valid: {reason}",
        "two backslashes before a character that is meant itself, as in '\\\\('",
    ),
    r"(?i)invalid regex pattern|\[INVALID_PARAMETER_VALUE\.PATTERN\]": FailureTemplate(
        "a regular expression is not valid",
        "two backslashes before a character that is meant itself, as in '\\\\('",
    ),
    r"(?i)\bindex 0 is invalid": FailureTemplate(
        "Index 0 is not allowed", "1 for the first element, or -1 for the last one"
    ),
}

# Failures that no value causes. The parser reports an "invalid argument", so it is in the text.
NOT_ABOUT_VALUES = re.compile(
    r"resources exhausted|cancel|object store|\bio error|^invalid argument: ", re.IGNORECASE
)


def explain_value_failure(error_text: str) -> str | None:
    """Return why a value cannot be computed, and advice; None if a query fails for another reason.

    A text that is in no table counts as a failure of a value, with general advice.

    >>> explain_value_failure("Arrow error: Divide by zero error").split(", or ")[0]
    'Division by zero. Write NULLIF(..., 0) around the divisor'
    >>> explain_value_failure("element_at: the index is out of bounds").partition(". ")[2]
    'Write try_element_at, which is NULL for such an index'
    >>> explain_value_failure("index out of bounds")
    'index out of bounds. Write other arguments, or filter such rows out in FROM'
    >>> explain_value_failure("invalid timestamp: 31/01/2026").partition(",")[0]
    'invalid timestamp: 31/01/2026. Write to_timestamp'
    >>> explain_value_failure("Cast error: Cannot cast '1,136.47'").partition(". ")[2]
    "Write replace(x, ',') instead of x, which removes the commas"
    >>> explain_value_failure("Cast error: Cannot cast string 'high' to value of Int32 type")
    "'high' cannot be cast to INT. Write TRY_CAST(... AS INT), which is NULL for such a value"
    >>> explain_value_failure("unsupported date_trunc granularity: 'hr'. Supported: hour")
    "date_trunc has no unit 'hr'. Write 'hour'"
    >>> explain_value_failure('[INVALID_TIMEZONE] The timezone: "Europe/Pariss" is invalid')
    "unknown time zone 'Europe/Pariss'. Write 'Europe/Paris'"
    >>> explain_value_failure("unknown function: uper") is None
    True
    """
    if find_name_refused_by_sail(error_text) is not None or NOT_ABOUT_VALUES.search(error_text):
        return None
    cause = name_types_as_spark(find_cause(error_text).strip())
    row = find_matching_row(VALUE_FAILURES, cause)
    if row is None:
        return f"{cause.rstrip('. ')}. Write other arguments, or filter such rows out in FROM"
    failure = fill_failure(*row)
    if not failure.replacement:
        return failure.reason
    return f"{failure.reason}. Write {failure.replacement}"


class ValueFailure(NamedTuple):
    """Why a value cannot be computed, as parts of an error message."""

    reason: str
    # What to write instead; None if that is not known.
    hint: str | None


def find_value_failure(error_text: str) -> ValueFailure | None:
    """Return why a value cannot be computed; None for a text that is not in `VALUE_FAILURES`.

    The text is Sail's or Spark's. Unlike this function, `explain_value_failure` has an explanation
    for every failure of a value.

    >>> find_value_failure("[DIVIDE_BY_ZERO] Division by zero. Use `try_divide` to ...").reason
    'division by zero'
    >>> find_value_failure("element_at: the index 0 is invalid").hint
    'write 1 for the first element, or -1 for the last one'
    >>> find_value_failure("unknown function: uper") is None
    True
    """
    row = find_matching_row(VALUE_FAILURES, name_types_as_spark(find_cause(error_text)))
    if row is None:
        return None
    failure = fill_failure(*row)
    return ValueFailure(
        reason=uncapitalise(failure.reason),
        hint=f"write {failure.replacement}" if failure.replacement else None,
    )


def fill_failure(pattern_match: re.Match[str], template: FailureTemplate) -> FailureTemplate:
    """Return a template with the groups of a match in it.

    >>> pattern_match = re.search("(?P<value>'.*') to (?P<type>.*)", "'high' to int")
    >>> fill_failure(pattern_match, CAST_FAILURE).reason
    "'high' cannot be cast to INT"
    """
    groups = pattern_match.groupdict(default="")
    texts = {
        **groups,
        "TYPE": groups.get("type", "").upper(),
        "FORMAT": suggest_format(groups.get("time", "")),
        "UNIT": suggest_unit(groups.get("unit", "")),
        "ZONE": suggest_zone(groups.get("zone", "")),
    }
    return FailureTemplate(
        reason=template.reason.format(**texts), replacement=template.replacement.format(**texts)
    )


def suggest_format(time: str) -> str:
    """Return the format of a time in Spark's letters; an example if the format is not known."""
    times = read_times(time)
    return times[0].letters if times else "dd/MM/yyyy HH:mm:ss"


def suggest_unit(unit: str) -> str:
    """Return the unit that is most similar to a wrong one, or else all units."""
    nearest_unit = find_nearest_choice(unit, UNITS)
    return f"'{nearest_unit}'" if nearest_unit else f"one of these units: {', '.join(UNITS)}"


def suggest_zone(zone: str) -> str:
    """Return the time zone that is most similar to an unknown one, or else what a zone can be."""
    nearest_zone = find_nearest(zone, available_timezones()) if zone else None
    if nearest_zone is not None:
        return f"'{nearest_zone}'"
    return "'Europe/Paris' or another region, or an offset such as '+01:00'"
