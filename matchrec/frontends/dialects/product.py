"""A product: how its SQL is read, and what it means where nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from sqlglot import exp

from matchrec.frontends.dialects.typed.context import TypedRule
from matchrec.plan.clauses import SkipTo

Rule = Callable[[exp.Expr], exp.Expr]
"""Rewrites one node of an expression; a node that it does not concern comes back as it is."""


class Nulls(Enum):
    """Where NULL comes in ORDER BY when nothing is said."""

    SMALL = "before all values, or after them where the order descends"
    LARGE = "after all values, or before them where the order descends"
    LAST = "after all values"


@dataclass(frozen=True, slots=True)
class Product:
    """A system whose queries are read and written.

    name: as `dialect=` has it. title: in messages. sqlglot: the name of sqlglot's dialect.
    is_spark: its SQL is Spark's but for what the rules say, so what Spark reads alike stays as it
    is. divides_integers: whether `/` of two integers is an integer. skip: where the search goes on
    where AFTER MATCH is left out. quote: what stands around a name. functions: names of functions
    of row patterns here, each with the name by which the rules know it. reads, writes: rules for
    expressions from here, and to here. typed: rules for expressions from here that ask for types.
    has_exclusive_loops: whether a greedy quantifier never gives rows back. within_includes: whether
    WITHIN holds for the last moment of its interval.
    """

    name: str
    title: str
    sqlglot: str
    is_spark: bool = False
    nulls: Nulls = Nulls.SMALL
    divides_integers: bool = False
    skip: SkipTo = SkipTo.PAST_LAST_ROW
    has_exclusive_loops: bool = False
    within_includes: bool = False
    quote: str = "`"
    functions: dict[str, str] = field(default_factory=dict)
    reads: tuple[Rule, ...] = ()
    writes: tuple[Rule, ...] = ()
    typed: tuple[TypedRule, ...] = ()


SPARK = Product("spark", "Spark SQL", "spark", is_spark=True)
