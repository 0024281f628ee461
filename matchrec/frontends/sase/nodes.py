"""What a query of SASE+ is made of: what was written, and where, with nothing looked up.

Source: Agrawal et al., "Efficient Pattern Matching over Event Streams", section 2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from matchrec.frontends.lexing.tokens import amount_of_interval, amount_of_number
from matchrec.plan.clauses import FirstMatches, RowExpression
from matchrec.plan.text import Amount, quoted, string_literal, unquoted
from matchrec.source import Span


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it is meant, without quotes."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class EventType:
    """literal: the SQL string that the event type must equal, or None for events of any type."""

    literal: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Component:
    """One part of SEQ: `Stock a`, `Stock+ a[]` (kleene) or `~(Stock a)` (negated)."""

    event_type: EventType
    name: Name
    kleene: bool
    negated: bool = False

    @property
    def written(self) -> str:
        """The variable as the strategy's list of components has it."""
        return f"{self.name.text}[]" if self.kleene else self.name.text


class Strategy(Enum):
    """Event selection strategies. Source: section 2, "event selection strategy"."""

    STRICT_CONTIGUITY = "strict_contiguity"
    PARTITION_CONTIGUITY = "partition_contiguity"
    SKIP_TILL_NEXT_MATCH = "skip_till_next_match"
    SKIP_TILL_ANY_MATCH = "skip_till_any_match"


class Index(Enum):
    """Which events of a variable an identifier reads."""

    ALONE = "b"
    FIRST = "a[1]"
    CURRENT = "a[i]"
    PREVIOUS = "a[i-1]"
    SO_FAR = "a[..i-1]"
    LAST = "a[a.LEN]"
    ALL = "a[]"
    LENGTH = "a.LEN"

    def of(self, variable: str) -> str:
        """The identifier as one would write it."""
        return variable if self is Index.ALONE else self.value.replace("a", variable)


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute, or a field of one, by the names on the way to it."""

    names: tuple[str, ...]
    span: Span

    @property
    def sql(self) -> str:
        """The attribute as SQL over one row; quoted, because it may be called `from`."""
        return ".".join(quoted(name) for name in self.names)


@dataclass(frozen=True, slots=True)
class Identifier:
    """`a[i].price`; without an attribute it is the events themselves, as in `count(a[])`."""

    name: Name
    index: Index
    attribute: Attribute | None
    span: Span


Expression = Any
"""An expression as lark reads it: a tree whose rule is one of `grammar.lark`, or a token."""


def span_of(part: Expression) -> Span:
    """Where a token, or all that a rule has read, stands."""
    place: Any = getattr(part, "meta", part)
    return Span(place.start_pos, place.end_pos)


def name_of(token: Expression) -> Name:
    """A plain name."""
    return Name(str(token), span_of(token))


def attribute_of(tree: Expression) -> Attribute:
    """The attribute of names with dots between them, which may stand in quotes."""
    names = tuple(unquoted(str(name.children[0])) for name in tree.children)
    return Attribute(names, span_of(tree))


@dataclass(frozen=True, slots=True)
class ListedComponent:
    """A component in the strategy's list; kleene: it is written with `[]`."""

    name: Name
    kleene: bool
    span: Span


@dataclass(frozen=True, slots=True)
class WhereNode:
    """A strategy, the components that it lists (None: it has no list) and the predicates."""

    strategy: Strategy
    strategy_span: Span
    arguments: tuple[ListedComponent, ...] | None
    predicates: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class ReturnItem:
    """An output column; name_span: of the name, or of the expression that gives the name."""

    expression: Expression
    name: str
    name_span: Span


@dataclass(frozen=True, slots=True)
class SaseQuery:
    """A whole query and its text. window: how long it is, or of how many events.

    first_matches: how many come out; None for all.
    """

    text: str
    components: tuple[Component, ...]
    sequence_span: Span
    where: WhereNode | None = None
    window: RowExpression | int | None = None
    items: tuple[ReturnItem, ...] = ()
    first_matches: FirstMatches | None = None

    @property
    def strategy(self) -> Strategy:
        """The strategy of WHERE; without one it is skip till next match."""
        return self.where.strategy if self.where else Strategy.SKIP_TILL_NEXT_MATCH


def amount_of_literal(tree: Expression) -> Amount | None:
    """How much a literal is, of a number or an interval of SQL."""
    words = [str(token) for token in tree.scan_values(lambda _: True)]
    if tree.data == "interval":
        return amount_of_interval(map(in_single_quotes, words[1:]))
    sign = -1 if words[0] == "-" else 1
    found = amount_of_number(words[-1]) if len(words) == (tree.data == "signed") + 1 else None
    return found and replace(found, value=sign * found.value)


# Strings of SASE+ as Spark SQL reads them in every session. Double quotes are for strings in SASE+;
# in Spark SQL they are for names where the session says so.

_STRING = re.compile(
    r"""(r?)('(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")""", re.IGNORECASE | re.DOTALL
)
_ESCAPED_OR_QUOTE = re.compile(r"\\.|'", re.DOTALL)


def in_single_quotes(text: str) -> str:
    r"""A literal's text with single quotes around each string.

    >>> in_single_quotes('DATE "2024-01-31"'), in_single_quotes('"it\'s"')
    ("DATE '2024-01-31'", "'it\\'s'")
    """
    return _STRING.sub(_single, text)


def _single(found: re.Match[str]) -> str:
    raw, string = found.groups()
    if string.startswith("'"):
        return found[0]
    content = string[1:-1].replace('""', '"')
    if raw:
        return string_literal(content)
    escaped = _ESCAPED_OR_QUOTE.sub(lambda one: "\\'" if one[0] == "'" else one[0], content)
    return f"'{escaped}'"
