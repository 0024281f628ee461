"""What `match_rules` is asked for → its rules, each version with the rows that it is about.

    {"fall": "PATTERN (A B)", ...}                          rules of all rows
    {"fall": {None: "PATTERN (A B)", monday: "PATTERN (A)", friday: None}}
                                                            versions, by when each becomes valid
    a DataFrame of rule, text and valid_from                the same as a table, maybe with a column
                                                            parameters: {"fall": 5} for `:fall`

A version ends where the next one begins; one without a text ends its rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from json import loads
from operator import itemgetter
from typing import Any, TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql.types import NullType, StringType

from matchrec.arguments import ArgumentKind, instance_of, is_dataframe
from matchrec.compile.rule_set import Version
from matchrec.errors.calls import column_refused
from matchrec.errors.run import failures
from matchrec.patterns.stages.builder import Pattern
from matchrec.plan.text import string_literal
from matchrec.spark.errors.diagnose import first_line
from matchrec.spark.relation import Relation
from matchrec.spark.session import REFUSALS, quiet_analysis
from matchrec.spark.types import OrderTimes

# A dict of rules by name, or a DataFrame of them. A rule is a text, a Pattern, or a dict of its
# versions by the time from which each is valid.
FixedRules: TypeAlias = (
    "Mapping[str, str | Pattern | Mapping[Any, str | Pattern | None]] | DataFrame"
)

# The argument `rules` of `match_rules`: rules, or a function that returns the rules of this moment.
Rules: TypeAlias = "FixedRules | Callable[[], FixedRules]"

PARAMETERS = "parameters"
IS_RULE = instance_of(str, Pattern)


def is_versions(given: Any) -> bool:
    """Whether these are the versions of a rule, by when each becomes valid."""
    if not (isinstance(given, dict) and given):
        return False
    return all(one is None or IS_RULE(one) for one in given.values())


def are_by_name(given: Any) -> bool:
    """Whether these are called by names; `read_rules` says of which the value is no rule."""
    return isinstance(given, dict) and all(isinstance(name, str) and name.strip() for name in given)


RULES = ArgumentKind(
    "a dict of clauses, SASE+ texts and Patterns by the names of the rules, or a DataFrame of them",
    lambda given: are_by_name(given) or is_dataframe(given) or callable(given),
    'write rules={"name": "PATTERN (...) DEFINE ..."}, with a text for each name',
)


@dataclass(frozen=True)
class WrittenRule:
    """A rule as it is written. parameters: a JSON object of the values of its markers."""

    name: str
    content: str | Pattern
    version: Version | None = None
    parameters: str | None = None

    @property
    def values(self) -> dict[str, str]:
        """The values of its markers, as SQL. Raises MatchRecognizePlanError."""
        if self.parameters is None:
            return {}
        try:
            found = loads(self.parameters, parse_float=Number, parse_int=Number)
            return {name: as_sql(value) for name, value in found.items()}
        except (AttributeError, ValueError):
            raise failures.wrong_parameters(text=self.parameters) from None


class Number(str):
    """A number as it is written: as in SQL a decimal one, or with an exponent a double."""

    __slots__ = ()


def as_sql(value: object) -> str:
    """A value of JSON as a literal of SQL. Raises ValueError for one of several values.

    >>> [as_sql(one) for one in (Number("-0.5"), Number("3"), "it's", True, None)]
    ['(-0.5)', '3', "'it\\\\'s'", 'TRUE', 'NULL']
    """
    if isinstance(value, Number):
        return f"({value})" if value.startswith("-") else str(value)
    if isinstance(value, str):
        return string_literal(value)
    if value is None or isinstance(value, bool):
        return "NULL" if value is None else str(value).upper()
    raise ValueError(value)


def read_rules(given: FixedRules, relation: Relation, order: str) -> tuple[WrittenRule, ...]:
    """All versions of all rules, of each in their order. order: what orders the rows first."""
    if not isinstance(given, Mapping):
        times = times_of(relation, order)
        return tuple(rules_of(rows_of_table(given, times), times))
    check_names(given)
    for name, one in given.items():
        if not (IS_RULE(one) or is_versions(one)):
            raise failures.no_rule(name=name, value=one)
    if not any(is_versions(one) for one in given.values()):
        return tuple(WrittenRule(name, one) for name, one in given.items())  # type: ignore[arg-type]
    times = times_of(relation, order)
    return tuple(rules_of(rows_of_dict(given, times), times))


def check_names(names: Iterable[str]) -> None:
    """Raises where there is no rule, or two have one name."""
    seen: dict[str, str] = {}
    for name in names:
        if (other := seen.setdefault(name.lower(), name)) != name:
            raise failures.alike_but_for_case(first=other, second=name)
    if not seen:
        raise failures.no_rules()


def times_of(relation: Relation, order: str) -> OrderTimes:
    """Values of the type of an order. Raises for one that versions cannot have."""
    with quiet_analysis():
        try:
            found = OrderTimes(relation.type_of(order))
        except REFUSALS as error:
            engine = relation.runner.backend.engine
            raise column_refused(engine=engine, column=order, reason=first_line(error)) from None
    if found.kind is None:
        raise failures.no_times_of_order(order=order, type_name=found.type.simpleString())
    return found


# A version: its rule, what it is, the parameters of its text, and when it begins, as a number.
Row = tuple[str, "str | Pattern | None", "str | None", "int | None"]


def rows_of_dict(given: Mapping[str, Any], times: OrderTimes) -> Iterator[Row]:
    for name, versions in given.items():
        for value, one in (versions if is_versions(versions) else {None: versions}).items():
            since = None if value is None else times.number(value)
            if since is None and value is not None:
                raise failures.wrong_valid_from(
                    name=name, value=value, wanted=times.counting.wanted
                )
            yield name, one, None, since


def rows_of_table(table: DataFrame, times: OrderTimes) -> list[Any]:
    """The rows of a table, by rule. Raises for a column that is missing or of another type."""
    fields = {field.name.lower(): field.dataType for field in table.schema.fields}
    for name in ("rule", "text", "valid_from"):
        if name not in fields:
            raise failures.rules_column_missing(name=name, known=table.columns)
    beside = fields.setdefault(PARAMETERS, NullType())
    for name in ("rule", "text", PARAMETERS):
        if not isinstance(fields[name], StringType | NullType):
            wanted = "string: see to_json" if name == PARAMETERS else "string"
            given = fields[name].simpleString()
            raise failures.rules_column_of_type(name=name, given=given, wanted=wanted)
    if not times.is_alike(fields["valid_from"]):
        given = fields["valid_from"].simpleString()
        raise failures.rules_column_of_type(
            name="valid_from", given=given, wanted=times.type.simpleString()
        )
    since = f"{times.number_of_column('valid_from')} AS since"
    parameters = "NULL" if isinstance(beside, NullType) else PARAMETERS
    rows = table.selectExpr("rule", "text", parameters, since).collect()
    if any(rule is None or not rule.strip() for rule, *_ in rows):
        raise failures.no_name_in_rules()
    check_names(rule for rule, *_ in rows)
    return sorted(rows, key=itemgetter(0))


def rules_of(rows: Iterable[Row], times: OrderTimes) -> Iterator[WrittenRule]:
    """Each version with a text, with the time up to the next one. Raises for two of one time."""
    found: dict[str, dict[int | None, Row]] = {}
    for row in rows:
        rule, *_, since = row
        own = found.setdefault(rule, {})
        if since is not None and not times.holds(since):
            wanted = f"{times.counting.wanted} of {times.type.simpleString().upper()}"
            raise failures.wrong_valid_from(name=rule, value=since, wanted=wanted)
        if since in own:
            time = "the beginning" if since is None else times.shown(since)
            raise failures.two_versions_at_once(name=rule, time=time)
        own[since] = row
    for rule, versions in found.items():
        begins = sorted(versions, key=lambda since: (since is not None, since))
        for since, until in zip_longest(begins, begins[1:]):
            _, content, parameters, _ = versions[since]
            if content is not None:
                name = rule if since is None else f"{rule}, valid from {times.shown(since)}"
                yield WrittenRule(name, content, Version(rule, since, until), parameters)
