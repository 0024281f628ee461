"""The row pattern: a tree, its smart constructors, and how it prints.

Equality ignores spans, so a printed and parsed pattern equals the original.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import ClassVar

from typing_extensions import assert_never

from matchrec.plan.choices import Beyond
from matchrec.plan.text import RESERVED
from matchrec.source import Span

Operator = tuple[str, tuple[Beyond, ...]]  # its words in messages, and what it looks at


@dataclass(frozen=True, slots=True)
class Empty:
    """`()`: matches no row."""

    operator: ClassVar[Operator] = "()", ()
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class PartitionStart:
    """`^`: matches no row, and only before the first row of the partition."""

    operator: ClassVar[Operator] = "^", (Beyond.EDGES,)
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class PartitionEnd:
    """`$`: matches no row, and only after the last row of the partition."""

    operator: ClassVar[Operator] = "$", (Beyond.EDGES,)
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """A primary pattern variable: one row that satisfies its condition. `name` is normalized."""

    operator: ClassVar[Operator] = "a variable", ()
    name: str
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Negation:
    """`NOT B`, `NOT (B | C)`: matches no row; none may follow that satisfies one of `names`."""

    operator: ClassVar[Operator] = "NOT", (Beyond.BESIDE,)
    names: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Concatenation:
    """Two or more parts, one after the other."""

    operator: ClassVar[Operator] = "a concatenation", ()
    parts: tuple[RowPattern, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Alternation:
    """Two or more parts, of which earlier ones are preferred."""

    operator: ClassVar[Operator] = "|", ()
    parts: tuple[RowPattern, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Permutation:
    """`PERMUTE(p, q, ...)`: any order of the parts, preferred lexicographically by position."""

    operator: ClassVar[Operator] = "PERMUTE", ()
    parts: tuple[RowPattern, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A bound that an argument of the query gives. name: by which it is known; mark: before it."""

    name: str
    mark: str = ":"
    span: Span | None = field(default=None, compare=False)

    @property
    def written(self) -> str:
        return self.mark if self.mark == "?" else f"{self.mark}{self.name}"


@dataclass(frozen=True, slots=True)
class Quantified:
    """`part` from `least` to `most` times; `most` is None where there is no greatest number.

    parameters: what takes the places of `least` and `most`, of `{:n}` both; no plan has any left.
    bounds_span: of the quantifier, where it has any.
    """

    operator: ClassVar[Operator] = "a quantifier", ()
    part: RowPattern
    least: int
    most: int | None
    greedy: bool = True
    span: Span | None = field(default=None, compare=False)
    parameters: tuple[Parameter | None, Parameter | None] = (None, None)
    bounds_span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Exclusion:
    """`{- part -}`: matched like `part`, left out of the rows of ALL ROWS PER MATCH."""

    operator: ClassVar[Operator] = "{- -}", ()
    part: RowPattern
    span: Span | None = field(default=None, compare=False)


Leaf = Empty | PartitionStart | PartitionEnd | Variable | Negation
RowPattern = Leaf | Concatenation | Alternation | Permutation | Quantified | Exclusion


# The quantifiers without braces, with their bounds.
SIGNS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}

_SIGN_OF = {bounds: sign for sign, bounds in SIGNS.items()}


def concatenation(parts: Iterable[RowPattern], span: Span | None = None) -> RowPattern:
    """The parts in a row; one part is itself, nested concatenations flatten, empty parts vanish.

    >>> print(show(concatenation([Variable("A"), concatenation([Variable("B"), Empty()])])))
    A B
    """
    flat = tuple(one for part in parts for one in top(part) if not isinstance(one, Empty))
    if not flat:
        return Empty(span)
    return flat[0] if len(flat) == 1 else Concatenation(flat, span)


def top(
    pattern: RowPattern, kind: type[Concatenation | Alternation] = Concatenation
) -> tuple[RowPattern, ...]:
    """The parts of a row pattern that follow each other, or of which it is one."""
    return pattern.parts if isinstance(pattern, kind) else (pattern,)


def alternation(parts: Iterable[RowPattern], span: Span | None = None) -> RowPattern:
    """The parts as alternatives; one part is itself, nested alternations flatten in order."""
    flat = tuple(inner for part in parts for inner in top(part, Alternation))
    return flat[0] if len(flat) == 1 else Alternation(flat, span)


def permutation(parts: Iterable[RowPattern], span: Span | None = None) -> RowPattern:
    """PERMUTE of the parts; of one part it is the part."""
    all_parts = tuple(parts)
    return all_parts[0] if len(all_parts) == 1 else Permutation(all_parts, span)


def children(pattern: RowPattern) -> tuple[RowPattern, ...]:
    match pattern:
        case Concatenation(parts) | Alternation(parts) | Permutation(parts):
            return parts
        case Quantified(part=part) | Exclusion(part=part):
            return (part,)
        case Empty() | PartitionStart() | PartitionEnd() | Variable() | Negation():
            return ()
        case _:
            assert_never(pattern)


def replace_children(pattern: RowPattern, change: Callable[[RowPattern], RowPattern]) -> RowPattern:
    match pattern:
        case Concatenation(parts) | Alternation(parts) | Permutation(parts):
            return replace(pattern, parts=tuple(map(change, parts)))
        case Quantified(part=part) | Exclusion(part=part):
            return replace(pattern, part=change(part))
        case _:
            return pattern


def without_exclusions(pattern: RowPattern) -> RowPattern:
    """The pattern that all rows of its matches come out of.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> show(without_exclusions(parse_row_pattern("A {- B+ -}?", Span(0, 11))))
    'A (B+)?'
    """
    inner = replace_children(pattern, without_exclusions)
    return inner.part if isinstance(inner, Exclusion) else inner


def walk(pattern: RowPattern) -> Iterator[RowPattern]:
    """Every node, parents before children, left to right."""
    waiting = [pattern]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(children(node))


def variable_names(pattern: RowPattern) -> tuple[str, ...]:
    """The primary pattern variables in order of first appearance."""
    return tuple(dict.fromkeys(node.name for node in walk(pattern) if isinstance(node, Variable)))


def negations(pattern: RowPattern) -> tuple[Negation, ...]:
    return tuple(node for node in walk(pattern) if isinstance(node, Negation))


def negated_names(pattern: RowPattern) -> tuple[str, ...]:
    return tuple(chain.from_iterable(one.names for one in negations(pattern)))


def may_be_empty(pattern: RowPattern) -> bool:
    """Whether a match may have no rows.

    >>> may_be_empty(concatenation([Quantified(Variable("A"), 0, None), PartitionEnd()]))
    True
    """
    return not has_row(pattern, frozenset(variable_names(pattern)))


def show(pattern: RowPattern) -> str:
    """The pattern as it would be written, with no more parentheses than it needs.

    >>> show(Quantified(alternation([Variable("A"), Variable("b")]), 1, None, greedy=False))
    '(A | `b`)+?'
    """
    match pattern:
        case Empty():
            return "()"
        case PartitionStart():
            return "^"
        case PartitionEnd():
            return "$"
        case Variable(name):
            return show_name(name)
        case Negation(names):
            return f"NOT {_inside(alternation(map(Variable, names)), Alternation)}"
        case Concatenation(parts):
            return " ".join(_inside(part, Alternation) for part in parts)
        case Alternation(parts):
            return " | ".join(show(part) for part in parts)
        case Permutation(parts):
            return f"PERMUTE({', '.join(show(part) for part in parts)})"
        case Quantified(part, greedy=greedy):
            body = _inside(part, Concatenation | Alternation | Quantified | Negation)
            return body + show_quantifier(pattern) + ("" if greedy else "?")
        case Exclusion(part):
            return f"{{- {show(part)} -}}"
        case _:
            assert_never(pattern)


def _inside(part: RowPattern, weaker: type | object) -> str:
    text = show(part)
    return f"({text})" if isinstance(part, weaker) else text  # type: ignore[arg-type]


def show_quantifier(loop: Quantified) -> str:
    """The quantifier without its reluctance mark, with parameters as they are written."""
    (low, high), least, most = loop.parameters, loop.least, "" if loop.most is None else loop.most
    if low is None and high is None:
        between = f"{least or ''},{most}"
        sign = _SIGN_OF.get((least, loop.most))
        return sign or f"{{{least if least == most else between}}}"
    first, last = low.written if low else least, high.written if high else most
    return f"{{{first}}}" if low is high else f"{{{first},{last}}}"


def show_name(name: str) -> str:
    """A variable's name as it would be written: quoted unless it is an upper-case word.

    >>> show_name("UP"), show_name("up"), show_name("NOT")
    ('UP', '`up`', '`NOT`')
    """
    plain = name.isascii() and name.replace("_", "A").isalnum() and name == name.upper()
    keyword = name == "PERMUTE" or name in RESERVED
    quoted = name.replace("`", "``")
    return name if plain and not name[:1].isdigit() and not keyword else f"`{quoted}`"


# Row pattern → row pattern with the same words in the same preferment order, and fewer nodes.


def simplify(pattern: RowPattern) -> RowPattern:
    """The pattern without `{0}` and `{1}`, loops over nothing, and needless nesting, bottom up.

    >>> show(simplify(Quantified(Concatenation((Variable("A"), Empty())), 1, 1)))
    'A'
    """
    match replace_children(pattern, simplify):
        case Concatenation(parts, span):
            return concatenation(parts, span)
        case Alternation(parts, span):  # what an earlier one equals could never be preferred
            return alternation(dict.fromkeys(parts), span)
        case Permutation(parts, span):  # where a part without rows stands makes no difference
            left = [part for part in parts if not isinstance(part, Empty)]
            return permutation(left, span) if left else Empty(span)
        case Quantified(most=0, span=span):
            return Empty(span)
        case Exclusion(Empty() as part) | Quantified(Empty() as part) | Quantified(part, 1, 1):
            return part
        case simplified:
            return simplified


# Which variables have a row in every match before another one gets its row.

Names = frozenset[str]


def always_precedes(pattern: RowPattern, members: Names, variable: str) -> bool:
    """Whether a row of one of the members stands before each row of the variable.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> pattern = parse_row_pattern("A (B | C)+ D")
    >>> [always_precedes(pattern, frozenset({one}), "D") for one in "AB"]
    [True, False]
    """
    match pattern:
        case Variable(name=name):
            return name != variable
        case Concatenation(parts=parts):
            for part in parts:
                if not always_precedes(part, members, variable):
                    return False
                if has_row(part, members):
                    return True
            return True
        case _:
            return all(always_precedes(part, members, variable) for part in children(pattern))


def has_row(pattern: RowPattern, members: Names) -> bool:
    """Whether what a pattern matches has a row of one of the members in any case."""
    match pattern:
        case Variable(name=name):
            return name in members
        case Alternation(parts=parts):
            return all(has_row(part, members) for part in parts)
        case Quantified(least=0):
            return False
        case _:
            return any(has_row(part, members) for part in children(pattern))
