"""Read the argument `rules` of `match_rules`: a list of rules, each version with its time.

    {"fall": "PATTERN (A B)", ...}                          rules of all rows
    {"fall": {None: "PATTERN (A B)", monday: "PATTERN (A)", friday: None}}
                                                            versions by the time from which each is
                                                            valid
    a DataFrame of rule, text and valid_from                the same as a table; a further column,
                                                            parameters, may have {"fall": 5} for
                                                            `:fall`

A version is valid until the next one begins. A version without a text ends its rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from json import loads
from typing import Any, NamedTuple, TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, NullType, StringType

from matchrec.arguments import ArgumentKind, OrderValue, is_dataframe, make_class_test
from matchrec.compile.rule_set import Version
from matchrec.errors import rule_sets as errors
from matchrec.errors.frames import condition_rejected_by_engine
from matchrec.patterns.stages.builder import Pattern
from matchrec.plan.text import quote_string
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.errors.refusals import read_sentence
from matchrec.spark.order_numbers import OrderConverter, find_order_converter
from matchrec.spark.relation import Relation
from matchrec.spark.session_errors import QUERY_ERRORS

# A dict from names to rules, or a DataFrame of rules. A rule is a text, a Pattern, or a dict of its
# versions by the time from which each is valid.
FixedRules: TypeAlias = (
    "Mapping[str, str | Pattern | Mapping[OrderValue, str | Pattern | None]] | DataFrame"
)

# The argument `rules` of `match_rules`: rules, or a function that returns the current rules.
Rules: TypeAlias = "FixedRules | Callable[[], FixedRules]"

# The column of a DataFrame of rules with the values of parameters.
PARAMETERS = "parameters"

# Returns whether a value is a rule without versions: a text or a Pattern.
is_plain_rule = make_class_test(str, Pattern)


def is_dict_of_versions(value: Any) -> bool:
    """Return whether a value is a dict of the versions of a rule: texts, Patterns or None.

    Whether its keys are times is checked later, when the type of the times is known.
    """
    if not isinstance(value, Mapping) or not value:
        return False
    return all(version is None or is_plain_rule(version) for version in value.values())


def has_rule_names(value: Any) -> bool:
    """Return whether a value is a dict whose keys are names.

    Its values are checked by `read_rules`, so that the error names the wrong one.
    """
    return isinstance(value, Mapping) and all(
        isinstance(name, str) and name.strip() for name in value
    )


RULES = ArgumentKind(
    "a dict that maps names to clauses, SASE+ queries or Patterns, or a DataFrame of rules",
    lambda value: has_rule_names(value) or is_dataframe(value) or callable(value),
    'write rules={"name": "PATTERN (...) DEFINE ..."}',
)


@dataclass(frozen=True)
class WrittenRule:
    """A rule, or one version of a rule, as the user wrote it.

    `rules_reader.RulesReader` parses it to a `spark.request.Rule`.
    """

    # The name of the rule. If it has versions, also the time from which this one is valid.
    name: str
    content: str | Pattern
    # The time for which the version is valid; None for a rule without versions.
    version: Version | None = None
    # The values of the parameters in the text, as a JSON object; None if there are none.
    parameters: str | None = None

    @property
    def values(self) -> dict[str, str]:
        """Return the values of the parameters as SQL, by their names; empty if there are none.

        Raises:
            MatchRecognizePlanError: `parameters` is not a JSON object of single values.
        """
        if self.parameters is None:
            return {}
        try:
            values = loads(self.parameters, parse_float=JsonNumber, parse_int=JsonNumber)
            if not isinstance(values, dict):
                raise ValueError(values)
            return {name: write_json_literal(value) for name, value in values.items()}
        except ValueError:  # not JSON, not an object, or a value that is a list or an object
            raise errors.malformed_rule_parameters(text=self.parameters) from None


class JsonNumber(str):
    """The text of a number of JSON, so that it has all of its digits in SQL.

    In SQL the same text is a DECIMAL, or a DOUBLE if it has an exponent.
    """

    __slots__ = ()


def write_json_literal(value: object) -> str:
    """Return a value of JSON as a literal of SQL.

    Raises:
        ValueError: the value is a list or an object.

    >>> write_json_literal(JsonNumber("-0.5")), write_json_literal(JsonNumber("3"))
    ('(-0.5)', '3')
    >>> write_json_literal("it's"), write_json_literal(True), write_json_literal(None)
    ("'it\\\\'s'", 'TRUE', 'NULL')
    """
    if isinstance(value, JsonNumber):
        return f"({value})" if value.startswith("-") else str(value)
    if isinstance(value, str):
        return quote_string(value)
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    raise ValueError(value)


def read_rules(rules: FixedRules, relation: Relation, order: str) -> tuple[WrittenRule, ...]:
    """Return all versions of all rules. The versions of a rule are in the order of their times.

    Args:
        rules: the rules.
        relation: the rows that the rules are about.
        order: the first item of ORDER BY, along which versions change.

    Raises:
        MatchRecognizePlanError: there are no rules, or something in `rules` is not a rule, not a
            version or not a time.
    """
    if isinstance(rules, Mapping):
        written_rules = read_dict_of_rules(rules, relation, order)
    else:
        converter = find_time_converter(relation, order)
        written_rules = tuple(build_versions(read_table_of_rules(rules, converter), converter))
    if not written_rules:
        raise errors.no_rules(is_table=not isinstance(rules, Mapping))
    return written_rules


def read_dict_of_rules(
    rules: Mapping[str, Any], relation: Relation, order: str
) -> tuple[WrittenRule, ...]:
    """Return all versions of the rules in a dict, given the arguments of `read_rules`.

    Raises:
        MatchRecognizePlanError: a value is not a rule, not a version or not a time.
    """
    check_names(rules)
    for name, value in rules.items():
        if not is_plain_rule(value) and not is_dict_of_versions(value):
            raise errors.not_a_rule(name=name, value=value)
    if not any(is_dict_of_versions(value) for value in rules.values()):
        # Without versions the order may have any type.
        return tuple(WrittenRule(name, value) for name, value in rules.items())
    converter = find_time_converter(relation, order)
    return tuple(build_versions(read_dict(rules, converter), converter))


def check_names(names: Iterable[str]) -> None:
    """Check the names of rules. A name may occur several times, once for each version of its rule.

    Raises:
        MatchRecognizePlanError: two names differ only in upper and lower case.
    """
    names_by_lower_name: dict[str, str] = {}
    for name in names:
        first_name = names_by_lower_name.setdefault(name.lower(), name)
        if first_name != name:
            raise errors.rule_names_differ_in_case(first=first_name, second=name)


def find_time_converter(relation: Relation, order: str) -> OrderConverter:
    """Return the converter that turns the times of versions into numbers.

    A time must have the type of the order.

    Args:
        relation: the rows that the rules are about.
        order: the first item of ORDER BY.

    Raises:
        MatchRecognizePlanError: the engine refuses the order, or versions cannot have its type.
    """
    with silence_analysis():
        try:
            order_type = relation.find_type(order)
        except QUERY_ERRORS as error:
            engine = relation.runner.backend.engine
            raise condition_rejected_by_engine(
                engine=engine, column=order, reason=read_sentence(error)
            ) from None
    converter = find_order_converter(order_type)
    if converter is None:
        raise errors.rule_versions_need_time(order_item=order, type_name=order_type.simpleString())
    return converter


class VersionRow(NamedTuple):
    """A row of the table of rules: a version, with the time at which it begins.

    The version ends when the next one begins. So `build_versions` needs all rows of a rule to make
    `WrittenRule`s of them.
    """

    # The name of the rule.
    rule: str
    # The text or the Pattern of the version; None ends the rule.
    content: str | Pattern | None
    # The values of the parameters in the text, as a JSON object; None if there are none.
    parameters: str | None
    # The time at which the version begins, as a number: see `order_numbers`. None if it begins
    # before all rows.
    since: int | None


def read_dict(rules: Mapping[str, Any], converter: OrderConverter) -> Iterator[VersionRow]:
    """Yield the versions in a dict of rules. A rule without versions has one version, of all time.

    Args:
        rules: the rules, by their names.
        converter: the converter of the times of versions.

    Raises:
        MatchRecognizePlanError: the key of a version is not a value of the type of the order.
    """
    for name, value in rules.items():
        versions = value if is_dict_of_versions(value) else {None: value}
        for time, content in versions.items():
            since = None if time is None else converter.convert_value(time)
            if since is None and time is not None:
                raise errors.wrong_valid_from(name=name, value=time, expected=converter.value_noun)
            yield VersionRow(rule=name, content=content, parameters=None, since=since)


def read_table_of_rules(table: DataFrame, converter: OrderConverter) -> list[VersionRow]:
    """Return the versions in a DataFrame of rules, sorted by rule. Runs a job.

    Args:
        table: the rules.
        converter: the converter of the times in `valid_from`.

    Raises:
        MatchRecognizePlanError: a column is missing or has another type, or a rule has no name.
    """
    types = {field.name.lower(): field.dataType for field in table.schema.fields}
    for name in ("rule", "text", "valid_from"):
        if name not in types:
            raise errors.rules_column_missing(name=name, columns=table.columns)
    types.setdefault(PARAMETERS, NullType())
    check_column_types(types, converter)
    since = f"{converter.write_number('valid_from')} AS since"
    parameters = "NULL" if isinstance(types[PARAMETERS], NullType) else PARAMETERS
    rows = table.selectExpr("rule", "text", parameters, since).collect()
    if any(rule is None or not rule.strip() for rule, *_ in rows):
        raise errors.rule_without_name()
    versions = [VersionRow(*row) for row in rows]
    check_names(version.rule for version in versions)
    return sorted(versions, key=lambda version: version.rule)


def check_column_types(types: Mapping[str, DataType], converter: OrderConverter) -> None:
    """Check the types of the columns of a DataFrame of rules.

    Args:
        types: the types, by the names of the columns in lower case.
        converter: the converter of the times in `valid_from`.

    Raises:
        MatchRecognizePlanError: a column has another type.
    """
    for name in ("rule", "text", PARAMETERS):
        if not isinstance(types[name], StringType | NullType):
            expected_type = "string: see to_json" if name == PARAMETERS else "string"
            raise errors.rules_column_type(
                name=name, type_name=types[name].simpleString(), expected_type=expected_type
            )
    if not converter.has_same_numbers(types["valid_from"]):
        raise errors.rules_column_type(
            name="valid_from",
            type_name=types["valid_from"].simpleString(),
            expected_type=converter.type.simpleString(),
        )


def build_versions(rows: Iterable[VersionRow], converter: OrderConverter) -> Iterator[WrittenRule]:
    """Yield each version that has a text or a Pattern, with the time at which the next one begins.

    The versions {1: "A", 5: None, 8: "B"} of a rule, as rows, become two rules: "A" from 1 until 5,
    and "B" from 8 on.

    Args:
        rows: the versions of all rules, in any order.
        converter: the converter of their times.

    Raises:
        MatchRecognizePlanError: a time is out of range, or two versions of a rule begin at once.
    """
    versions_by_rule: dict[str, dict[int | None, VersionRow]] = {}
    for row in rows:
        versions = versions_by_rule.setdefault(row.rule, {})
        if row.since is not None and not converter.has_number(row.since):
            expected_value = f"{converter.value_noun} of {converter.type.simpleString().upper()}"
            raise errors.wrong_valid_from(name=row.rule, value=row.since, expected=expected_value)
        if row.since in versions:
            raise errors.duplicate_rule_version(name=row.rule, time=show_time(row.since, converter))
        versions[row.since] = row
    for rule, versions in versions_by_rule.items():
        times_of_beginning = sorted(  # None is first
            versions, key=lambda since: (since is not None, since)
        )
        # For the last version, `until` is None: no version follows it.
        for since, until in zip_longest(times_of_beginning, times_of_beginning[1:]):
            row = versions[since]
            if row.content is not None:
                name = rule if since is None else f"{rule}, valid from {converter.show(since)}"
                version = Version(rule, since, until)
                yield WrittenRule(name, row.content, version, row.parameters)


def show_time(since: int | None, converter: OrderConverter) -> str:
    """Return the time at which a version begins, as messages show it."""
    return "the beginning" if since is None else converter.show(since)
