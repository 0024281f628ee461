"""Find the parameters of a clause, and look up their values.

Instead of some numbers and lengths of time, a clause can have a parameter, `:name` or `?`. The
parser makes a `plan.pattern.Parameter` of it, because the same clause can be run with different
values. The functions that lower a clause look up the values:

    PATTERN (A{2,:most})    with {"most": 5}    PATTERN (A{2,5})
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from typing_extensions import override

from matchrec.arguments import is_whole
from matchrec.errors.parameters import positional_parameter_without_value, unbound_parameter
from matchrec.errors.sql import pattern as errors
from matchrec.errors.surface import describe_passed_value
from matchrec.errors.wording import SHORT
from matchrec.plan import pattern as patterns
from matchrec.plan.parameters import find_positional_parameter, name_parameter
from matchrec.syntax.amounts import MAX_ROWS
from matchrec.syntax.row_pattern_mistakes import check_quantifier_bounds
from matchrec.syntax.tokens import Token

# The values of parameters, by their names, as the caller of a query gives them.
ParameterValues = Mapping[str, object]


class WatchedValues(Mapping[str, object]):
    """The values of parameters, which record whether any of them was looked up.

    >>> values = WatchedValues({"most": 5})
    >>> values.are_used, values["most"], values.are_used
    (False, 5, True)
    """

    def __init__(self, values: ParameterValues) -> None:
        """Watch these values."""
        self._values = values
        # Whether a value, or the names of the values, have been read.
        self.are_used = False

    @override
    def __getitem__(self, name: str) -> object:
        self.are_used = True
        return self._values[name]

    @override
    def __iter__(self) -> Iterator[str]:
        self.are_used = True
        return iter(self._values)

    @override
    def __len__(self) -> int:
        self.are_used = True
        return len(self._values)


def walk_parameters(pattern: patterns.RowPattern) -> Iterator[patterns.Parameter]:
    """Yield the parameters that are bounds of quantifiers, from left to right."""
    for node in patterns.walk_pattern(pattern):
        if isinstance(node, patterns.Quantified):
            parameters = (node.least_parameter, node.most_parameter)
            yield from (parameter for parameter in parameters if parameter is not None)


def fill_bounds(pattern: patterns.RowPattern, values: ParameterValues) -> patterns.RowPattern:
    """Return the pattern with its parameters replaced by their values.

    `A{2,:most}` and `{"most": 5}` give `A{2,5}`.

    Raises:
        MatchRecognizeError: a parameter has no value, a value cannot be a bound, or a lower bound
            is greater than its upper bound.
    """
    if next(walk_parameters(pattern), None) is None:
        return pattern
    filled_pattern = patterns.replace_children(pattern, lambda part: fill_bounds(part, values))
    if not isinstance(filled_pattern, patterns.Quantified):
        return filled_pattern
    what = "the bound of a quantifier in PATTERN"
    least = filled_pattern.least
    if filled_pattern.least_parameter is not None:
        least = look_up_number(filled_pattern.least_parameter, values, what)
    most = filled_pattern.most
    if filled_pattern.most_parameter is not None:
        most = look_up_number(filled_pattern.most_parameter, values, what)
    check_quantifier_bounds(least, most, filled_pattern.bounds_span)
    return replace(
        filled_pattern, least=least, most=most, least_parameter=None, most_parameter=None
    )


def read_parameter(tokens: Sequence[Token]) -> patterns.Parameter | None:
    """Return the parameter that consists of all of the tokens: `:name` or `?`.

    The result is None for other tokens.
    """
    if len(tokens) == 1 and tokens[0].key == "?":
        return patterns.Parameter(name_parameter(tokens[0].span), "?", tokens[0].span)
    if len(tokens) == 2 and tokens[0].key == ":" and tokens[1].is_word:
        return patterns.Parameter(tokens[1].text, ":", tokens[0].span.to(tokens[1].span))
    return None


def look_up_value(parameter: patterns.Parameter, values: ParameterValues) -> object:
    """Return the value of a parameter, of any type.

    Raises:
        MatchRecognizeError: the parameter has no value, or is an `@name`, which only other products
            allow.
    """
    span = parameter.span
    if parameter.mark == "@":
        raise errors.parameter_in_foreign_syntax(span, name=parameter.name)
    if parameter.name not in values:
        question_mark = find_positional_parameter(parameter.name)
        if question_mark is not None:
            raise positional_parameter_without_value(question_mark)
        raise unbound_parameter(span, name=parameter.name, parameters=tuple(values))
    return values[parameter.name]


def describe_parameter_value(value: object) -> str:
    """Return the value of a parameter as messages show it: `5`, NULL, or a value with its type."""
    if value is None:
        return "NULL"
    return SHORT.repr(value) if is_whole(value) else describe_passed_value(value)


def look_up_number(
    parameter: patterns.Parameter, values: ParameterValues, what: str, least: int = 0
) -> int:
    """Return the value of a parameter that is written instead of a whole number.

    Args:
        parameter: a parameter of the clause.
        values: the values of all parameters.
        what: what the number is, for messages, such as `the bound of a quantifier in PATTERN`.
        least: the least number that is allowed.

    Raises:
        MatchRecognizeError: the parameter has no value, or its value is not a whole number from
            `least` to `MAX_ROWS`.
    """
    value = look_up_value(parameter, values)
    if not is_whole(value) or not least <= value <= MAX_ROWS:
        raise errors.parameter_not_a_number(
            parameter.span,
            parameter=parameter.text,
            what=what,
            value=describe_parameter_value(value),
            least=least,
        )
    return value
