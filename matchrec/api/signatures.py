"""What each argument of the public functions may be."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from types import MappingProxyType

from matchrec.arguments import (
    DATAFRAME,
    FLAG,
    SESSION,
    TEXT,
    TEXTS,
    ArgumentKind,
    OneOf,
    all_of,
    instance_of,
    is_column,
    is_dataframe,
    is_whole,
)
from matchrec.engine.engines import ENGINES
from matchrec.frontends.dialects.products import PRODUCTS
from matchrec.spark.prepare import SORTS
from matchrec.spark.transport import TRANSPORTS

VALUES = (bool, int, float, str, bytes, bytearray, Decimal, date, time, timedelta, Enum, list)
VALUE_MODULES = ("numpy", "pandas", "pyspark")
TEXT_VALUES = (bool, int, float, str, Decimal)


def is_value(given: object) -> bool:
    """Whether Spark may make a literal of it; a Column is taken as it is."""
    known = type(given).__module__.split(".")[0] in VALUE_MODULES
    return given is None or isinstance(given, VALUES) or known or is_column(given)


def are_values(given: object) -> bool:
    """The values of `:name` by name, or those of each `?`."""
    if isinstance(given, dict):
        return all_of(instance_of(str), given) and all_of(is_value, given.values())
    return given is None or (isinstance(given, list) and all_of(is_value, given))


def names_row(given: object) -> bool:
    """Whether it may be compared with ORDER BY columns."""
    known = type(given).__module__.split(".")[0] in ("numpy", "pandas")
    return given is None or known or isinstance(given, (*TEXT_VALUES, date, timedelta, tuple))


def fills_hole(given: object) -> bool:
    """Whether `{name}` may stand for it: what Spark's `sql` writes into the text as SQL."""
    if isinstance(given, list | tuple):
        return bool(given) and all(isinstance(one, TEXT_VALUES) for one in given)
    return isinstance(given, TEXT_VALUES) or is_dataframe(given) or is_column(given)


def is_pattern(given: object) -> bool:
    """Whether it is a Pattern; queries in SQL never load what makes one."""
    from matchrec.frontends.pattern import Pattern

    return isinstance(given, Pattern)


def is_skip(given: object) -> bool:
    """Whether it says where the search of a pattern resumes after a match."""
    from matchrec.frontends.pattern import AfterMatch

    return isinstance(given, AfterMatch)


def are_counters(given: object) -> bool:
    """Whether they count; queries that nobody counts never load them."""
    from matchrec.spark.counters import Counters

    return isinstance(given, Counters)


ARGS = ArgumentKind(
    "a dict of values by the names of their markers, or a list with a value for each ?",
    are_values,
    'write args={"name": value} for :name, or args=[value] for ?; for a DataFrame, df=df and {df}',
)
FRAMES = ArgumentKind(
    "a DataFrame, for {name} in the query, or a literal",
    fills_hole,
    "pass {argument}=df; for other values write :{argument} in the query and pass args",
)
ENGINE = OneOf(("auto", *ENGINES))
TRANSPORT = OneOf(TRANSPORTS)
SORT = OneOf(SORTS)
DIALECT = OneOf(tuple(PRODUCTS))
READS = OneOf((*PRODUCTS, "sase"))
WRITES = OneOf((*PRODUCTS, "sase", "pattern"))
QUERY = ArgumentKind(
    "a text or a Pattern",
    lambda given: isinstance(given, str) or is_pattern(given),
    'write "SELECT ...", or matchrec.Pattern.begin("a")...',
)
COVERED = ArgumentKind(
    "a text with a MATCH_RECOGNIZE clause",
    instance_of(str),
    'write "SELECT ...", or call coverage_pattern',
)
MAX_STEPS = ArgumentKind(
    "a whole number of 1 or more, how often a condition on the run may be asked, or None",
    lambda given: given is None or (is_whole(given) and 1 <= given < 2**63),
    "write max_steps=1_000_000_000, or leave it out for no limit",
)
COUNTERS = ArgumentKind(
    "new Counters, or None",
    lambda given: given is None or are_counters(given),
    "write counters = matchrec.Counters(), and pass counters=counters",
)
OUTPUT = OneOf(("all", "non_overlapping"))
TABLE = ArgumentKind(
    "the name of a table, or {hole}",
    lambda given: isinstance(given, str) and bool(given.strip()),
    'write table="name"',
)
PATTERN = ArgumentKind("a Pattern", is_pattern, 'write matchrec.Pattern.begin("a")...')
SKIP = ArgumentKind("an AfterMatch", is_skip, "write skip=matchrec.AfterMatch.SKIP_TO_NEXT")
PARTITION = ArgumentKind(
    "a dict of values by the names of the PARTITION BY columns, or None",
    lambda given: given is None or (isinstance(given, dict) and all_of(instance_of(str), given)),
    'write partition={"name": value}',
)
ROW = ArgumentKind(
    "a value of an ORDER BY column, or a tuple of values of several",
    names_row,
    "write row=value, or leave it out",
)
LIMIT = ArgumentKind(
    "a whole number of 1 or more, how many attempts are shown",
    lambda given: is_whole(given) and 1 <= given < 2**31,
    "write limit=5, or leave it out",
)
CLAUSE = ArgumentKind(
    "the number of a clause, or the alias of its result, or None",
    lambda given: (
        given is None or isinstance(given, str) or (is_whole(given) and abs(given) < 2**31)
    ),
    "write clause=1",
)

ARGUMENTS: Mapping[str, ArgumentKind | OneOf] = MappingProxyType(
    {
        "args": ARGS,
        "counters": COUNTERS,
        "df": DATAFRAME,
        "dialect": DIALECT,
        "engine": ENGINE,
        "frames": FRAMES,
        "limit": LIMIT,
        "max_steps": MAX_STEPS,
        "order_by": TEXTS,
        "output": OUTPUT,
        "partition": PARTITION,
        "partition_by": TEXTS,
        "pattern": PATTERN,
        "row": ROW,
        "skip": SKIP,
        "sort": SORT,
        "spark": SESSION,
        "text": TEXT,
        "timeouts": FLAG,
        "transport": TRANSPORT,
        "type_column": TEXT,
    }
)
"""The arguments whose name means the same in all functions; what others mean stands at each."""
