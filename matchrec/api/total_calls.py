"""Read the aggregates of `Query.aggregate`, such as `count(*)` and `CAST(sum(n) AS DOUBLE)`."""

from __future__ import annotations

import re
from collections.abc import Collection

from matchrec.errors import match_totals as errors
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.totals import DOUBLE, FUNCTIONS, TotalAggregate

# An aggregate: its function, then `*`, a name, or a name in backticks.
_CALL = re.compile(r"\s*(\w+)\s*\(\s*(?:(\*)|(\w+)|`((?:[^`]|``)+)`)\s*\)\s*")

# A cast of an aggregate: the aggregate, then DOUBLE or the scale of a decimal.
_CAST = re.compile(
    r"\s*CAST\s*\((.+)\bAS\s+(?:(DOUBLE)|DECIMAL\s*\(\s*38\s*(?:,\s*(\d+)\s*)?\))\s*\)\s*",
    re.IGNORECASE | re.DOTALL,
)


def parse_aggregate(text: str, plan: MatchPlan) -> TotalAggregate:
    """Parse the text of an aggregate, such as `sum(days)`.

    Args:
        text: the text that the user wrote.
        plan: the plan whose measures can be aggregated.

    Raises:
        MatchRecognizePlanError: the text is not an aggregate of a measure of the plan.
    """
    measure_names = {measure.name.lower(): measure.name for measure in plan.measures}
    measures = sorted(measure_names.values())
    call_text, cast = split_cast(text)
    match = _CALL.fullmatch(call_text)
    if match is None:
        raise errors.not_an_aggregate(text=text, measures=measures)
    function, star, word, name_in_backticks = match.groups()
    function = function.lower()
    if function not in find_allowed_functions(has_star=bool(star), has_cast=cast is not None):
        raise errors.not_an_aggregate(text=text, measures=measures)
    if star:
        return TotalAggregate(function, measure=None, cast=cast)
    name = word or name_in_backticks.replace("``", "`")
    if name.lower() not in measure_names:
        raise errors.unknown_measure(name=name, measures=measures)
    return TotalAggregate(function, measure=measure_names[name.lower()], cast=cast)


def find_allowed_functions(*, has_star: bool, has_cast: bool) -> Collection[str]:
    """Return the functions that an aggregate may call.

    Args:
        has_star: whether the argument is `*`.
        has_cast: whether there is a CAST around the call.
    """
    if has_star:
        return ("count",)
    if has_cast:
        return ("count", "sum")
    return FUNCTIONS


def split_cast(text: str) -> tuple[str, str | None]:
    """Return the text inside a CAST and its type. Without a CAST, return the text and None.

    >>> split_cast("cast(count(*) AS decimal(38,0))")
    ('count(*) ', 'DECIMAL(38, 0)')
    """
    match = _CAST.fullmatch(text)
    if match is None:
        return text, None
    call_text, double, scale = match.groups()
    return call_text, DOUBLE if double else f"DECIMAL(38, {int(scale or 0)})"
