"""Bounds of quantifiers that parameters give: a row pattern and the values → plain bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from matchrec.errors.calls import marker_without_value, unbound_parameter
from matchrec.errors.sql import pattern as errors
from matchrec.frontends.lexing.numbers import MOST
from matchrec.plan.pattern import Parameter, Quantified, RowPattern, replace_children, walk
from matchrec.plan.text.parameters import marker_of
from matchrec.source import Span

Values = Mapping[str, object]


def parameters_in(pattern: RowPattern) -> Iterator[Parameter]:
    """The parameters of all quantifiers, left to right."""
    quantified = (node for node in walk(pattern) if isinstance(node, Quantified))
    yield from (one for node in quantified for one in node.parameters if one is not None)


def fill_bounds(pattern: RowPattern, values: Values) -> RowPattern:
    """The pattern with the values of its parameters; a pattern without any is itself.

    Raises MatchRecognizeError for what is no bound.
    """
    if next(parameters_in(pattern), None) is None:
        return pattern
    filled = replace_children(pattern, lambda part: fill_bounds(part, values))
    if not isinstance(filled, Quantified):
        return filled
    low, high = filled.parameters
    least = filled.least if low is None else value_of(low, values)
    most = filled.most if high is None else least if high is low else value_of(high, values)
    check_bounds(least, most, filled.bounds_span)
    return replace(filled, least=least, most=most, parameters=(None, None))


def value_of(parameter: Parameter, values: Values) -> int:
    """The value of a parameter, a whole number that may be a bound."""
    span = parameter.span
    if parameter.mark == "@":
        raise errors.foreign_parameter(parameter.name, span)
    if parameter.name not in values:
        marker = marker_of(parameter.name)
        if marker is not None:
            raise marker_without_value(marker)
        raise unbound_parameter(parameter.name, values, span)
    value = values[parameter.name]
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise errors.value_is_no_bound(parameter.written, value, span)
    if value > MOST:
        raise errors.bound_too_large(MOST, span)
    return value


def check_bounds(least: int, most: int | None, span: Span | None) -> None:
    """Raises for bounds that no number of repetitions keeps to, or none but 0."""
    if most == 0:
        raise errors.bound_is_zero(span)
    if most is not None and least > most:
        raise errors.bounds_reversed(least, most, span)
