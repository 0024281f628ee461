"""Errors of `match_rules`: rules, their versions and parameters, tables of rules, and views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from matchrec.errors.kinds import Located, MatchRecognizePlanError, MatchRecognizeUnsupportedError
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.quoting import quote_for_python
from matchrec.errors.wording import describe_value, join_names, show_list
from matchrec.source import Span

LocatedType = TypeVar("LocatedType", bound=Located)


def add_rule_name(name: str, error: LocatedType) -> LocatedType:
    """Add the name of its rule to an error or warning, and return the same object.

    Several callers may pass the same error on its way up; only the first one adds the name.
    """
    prefix = f"rule `{name}`: "
    if not error.message.startswith(prefix):
        error.message = prefix + error.message
        error.args = (error.message,)
        error.rule = name
    return error


def no_rules(*, is_table: bool) -> MatchRecognizePlanError:
    """Return the error for match_rules without rules.

    Args:
        is_table: whether `rules` is a table of rules rather than a dict.
    """
    hint = 'write rules={"name": "PATTERN (...) DEFINE ..."}'
    if is_table:
        hint = "add a row with the name of a rule, and its text in column `text`"
    return MatchRecognizePlanError("`rules` of `match_rules` is empty", hint=hint, code="no-rules")


def not_a_rule(*, name: str, value: object) -> MatchRecognizePlanError:
    """Return the error for a value in `rules` that is not a rule."""
    return MatchRecognizePlanError(
        f"rule `{name}` of `match_rules` must be a clause, a SASE+ query, a Pattern or a dict of "
        f"versions, but is {describe_value(value)}",
        hint=f'write {quote_for_python(name)}: "PATTERN (...) DEFINE ..."',
        code="not-a-rule",
    )


def rule_names_differ_in_case(*, first: str, second: str) -> MatchRecognizePlanError:
    """Return the error for two rules whose names differ only in case."""
    return MatchRecognizePlanError(
        f"rules `{first}` and `{second}` differ only in case",
        hint="give one of them another name",
        code="rule-names-differ-in-case",
    )


def keys_in_rule(
    span: Span, *, clause: str, argument: str, keys: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for PARTITION BY or ORDER BY in a rule.

    Args:
        span: the location in the text of the query.
        clause: PARTITION BY or ORDER BY.
        argument: the argument of match_rules that replaces it.
        keys: the keys as the user wrote them.
    """
    if all(key.isidentifier() for key in keys):
        quoted_keys = [f'"{key}"' for key in keys]
        value = quoted_keys[0] if len(keys) == 1 else f"[{', '.join(quoted_keys)}]"
    else:
        value = '"..."'
    return MatchRecognizePlanError(
        f"{clause} is not allowed in a rule",
        span,
        notes=("all rules of a set have the same partitions and the same order",),
        hint=f"remove it, and write match_rules(..., {argument}={value})",
        code="keys-in-rule",
    )


def column_name_taken(*, column_role: str, name: str) -> MatchRecognizePlanError:
    """Return the error for an input column that has the same name as a result column.

    Args:
        column_role: how the query uses the input column: "partition column", or just "column".
        name: the name of both columns.
    """
    new_name = quote_for_python(f"{name}_")
    return MatchRecognizePlanError(
        f"{column_role} `{name}` has the name of a column of the result",
        hint=f"rename it first: df.withColumnRenamed({quote_for_python(name)}, {new_name})",
        code="column-name-taken",
    )


def duplicate_input_column(*, name: str) -> MatchRecognizePlanError:
    """Return the error for an input of a rule set with two columns of the same name."""
    return MatchRecognizePlanError(
        f"the input has two columns `{name}`",
        hint="rename one of them, or write event_columns= with the columns that events need",
        code="duplicate-input-column",
    )


def rule_versions_need_time(*, order_item: str, type_name: str) -> MatchRecognizeUnsupportedError:
    """Return the error for versions of rules over rows not ordered by a time or whole number.

    Args:
        order_item: the first item of ORDER BY.
        type_name: the type of the item.
    """
    return MatchRecognizeUnsupportedError(
        f"versions of rules are not supported for rows ordered by `{order_item}` of type "
        f"{type_name}",
        notes=("the first column of order_by decides which version of a rule applies to a row",),
        hint="order by a timestamp, a date or a whole number first",
        code="rule-versions-need-time",
    )


def wrong_valid_from(*, name: str, value: object, expected: str) -> MatchRecognizePlanError:
    """Return the error for a version whose `valid_from` is not a value of the ORDER BY column.

    An example is {"fall": {"monday": "PATTERN ..."}}: "monday" is not a date.

    Args:
        name: the rule.
        value: the `valid_from` of the version.
        expected: the type of the ORDER BY column, in words.
    """
    return MatchRecognizePlanError(
        f"the valid_from of a version of rule `{name}` is {describe_value(value)}, which is not "
        f"{expected}",
        hint=f"write {expected}, or None (NULL in a table) for a version that is valid from the "
        "first row",
        code="wrong-valid-from",
    )


def duplicate_rule_version(*, name: str, time: str) -> MatchRecognizePlanError:
    """Return the error for two versions of a rule that begin at the same time.

    Args:
        name: the rule.
        time: the time, as messages show it.
    """
    return MatchRecognizePlanError(
        f"rule `{name}` has two versions that are valid from {time}",
        hint="remove one of them",
        code="duplicate-rule-version",
    )


def rules_column_missing(*, name: str, columns: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for a table of rules without a column that it needs."""
    return MatchRecognizePlanError(
        f"the table of rules has no column `{name}`",
        notes=(show_list("it has", columns, "columns"),),
        hint="name its columns rule, text and valid_from",
        code="rules-column-missing",
    )


def rules_column_type(*, name: str, type_name: str, expected_type: str) -> MatchRecognizePlanError:
    """Return the error for a column of a table of rules with a wrong type."""
    return MatchRecognizePlanError(
        f"column `{name}` of the table of rules is of type {type_name}",
        hint=f"cast it to {expected_type}",
        code="rules-column-type",
    )


def unbound_rule_parameter(
    span: Span, *, name: str, parameters: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for a parameter of a rule that has no value, such as `:least`.

    Args:
        span: the location of the parameter in the text of the rule.
        name: the name of the parameter.
        parameters: the names of the parameters of the rule that have values.
    """
    near = find_nearest(name, parameters)
    shown_parameters = [f":{parameter}" for parameter in parameters]
    hint = "write the value itself, or put it into column `parameters` of a table of rules"
    if near:
        hint = f"write :{near}, or the value itself"
    return MatchRecognizePlanError(
        f"parameter `:{name}` has no value",
        span,
        notes=(show_list("the rule has", shown_parameters, "parameters"),),
        hint=hint,
        code="parameter-without-value",
    )


def malformed_rule_parameters(*, text: str) -> MatchRecognizePlanError:
    """Return the error for parameters of a rule that are not a JSON object."""
    return MatchRecognizePlanError(
        f"the parameters are {text!r}, which is not a JSON object of numbers, strings and booleans",
        hint='write {"name": value} for :name, with null for NULL',
        code="malformed-rule-parameters",
    )


def rule_without_name() -> MatchRecognizePlanError:
    """Return the error for a row of a table of rules without a name."""
    return MatchRecognizePlanError(
        "missing name of a rule in a row of the table of rules",
        hint="write a name into column `rule`",
        code="rule-without-name",
    )


def rule_versions_over_stream(*, name: str) -> MatchRecognizeUnsupportedError:
    """Return the error for the view of a rule with several versions over a stream."""
    return MatchRecognizeUnsupportedError(
        f"rule(...) of `{name}`, which has several versions, is not supported over a streaming "
        "DataFrame",
        notes=("each version is its own view, and Spark would run the search once for each",),
        hint="write `rows` with foreachBatch, and take split(rows).rule(...) there",
        code="rule-versions-over-stream",
    )


def rule_versions_differ(
    *, name: str, first_columns: str, second_columns: str
) -> MatchRecognizePlanError:
    """Return the error for versions of a rule whose matches have different columns.

    Args:
        name: the rule.
        first_columns: the columns of one version and their types: "n bigint, x int".
        second_columns: the columns of another version and their types.
    """
    return MatchRecognizePlanError(
        f"the versions of rule `{name}` have different columns",
        notes=(f"one version has: {first_columns}", f"another version has: {second_columns}"),
        hint="give the measures the same names and types, or use `matches`",
        code="rule-versions-differ",
    )


def unknown_rule(*, name: str, rules: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for rule(...) with a name that no rule has."""
    near = find_nearest(name, rules)
    return MatchRecognizePlanError(
        f"unknown rule `{name}`",
        notes=(f"rules: {join_names(rules)}",),
        hint=f"write rule({quote_for_python(near or rules[0])})",
        code="unknown-rule",
    )


def unknown_event_column(*, name: str, columns: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for event_columns with a name that the input does not have."""
    near = find_nearest(name, columns)
    hint = f"write {near}" if near else "write one of these"
    return MatchRecognizePlanError(
        f"unknown column `{name}` in event_columns",
        notes=(show_list("the input has", columns, "columns"),),
        hint=hint,
        code="unknown-event-column",
    )


def equivalence_test_in_rule_set(*, column: str, type_name: str) -> MatchRecognizeUnsupportedError:
    """Return the error for an equivalence test in a rule set over a type such as an array.

    For a query, such a test becomes a partition key of Spark. The rules of a set share their
    partitions, so a worker divides the partitions for a rule, and must compare the values.

    Args:
        column: the column as messages show it, in backticks.
        type_name: the type of the column.
    """
    return MatchRecognizeUnsupportedError(
        f"an equivalence test over {column} of type {type_name} is not supported in a rule set",
        notes=("in a rule set, workers compare the values, and only Spark can compare this type",),
        hint="name the column in partition_by, or call matchrec.match_sase for this query",
        code="equivalence-test-in-rule-set",
    )


def not_rows_of_rule_set(*, column: str) -> MatchRecognizePlanError:
    """Return the error for split() of rows that are not from the rule set.

    Args:
        column: a column of the rule set that the rows lack.
    """
    return MatchRecognizePlanError(
        f"the rows passed to split() have no column `{column}`",
        notes=("split() takes `rows` of the same rule set, or a table to which they were written",),
        hint="write and read all columns of `rows`",
        code="not-rows-of-rule-set",
    )
