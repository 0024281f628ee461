"""The row pattern: the tree of PATTERN, functions that build, walk and simplify it, and its text.

    A (B | C)+? $       Concatenation
                          Variable A
                          Quantified, 1 to any number, reluctant
                            Alternation
                              Variable B
                              Variable C
                          PartitionEnd

Spans are not compared, so a pattern that is printed and parsed equals the original.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from typing_extensions import assert_never

from matchrec.plan.choices import Dependency
from matchrec.plan.words import RESERVED
from matchrec.source import Span


@dataclass(frozen=True, slots=True)
class PatternOperator:
    """The declaration of an operator of row patterns."""

    # The name of the operator in messages.
    name: str
    # The dependencies on more than the values of a match's own rows.
    dependencies: tuple[Dependency, ...] = ()


@dataclass(frozen=True, slots=True)
class Empty:
    """`()`: matches no row."""

    operator: ClassVar[PatternOperator] = PatternOperator("()")
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class PartitionStart:
    """`^`: matches no row, and only before the first row of the partition."""

    operator: ClassVar[PatternOperator] = PatternOperator("^", (Dependency.PARTITION_EDGES,))
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class PartitionEnd:
    """`$`: matches no row, and only after the last row of the partition."""

    operator: ClassVar[PatternOperator] = PatternOperator("$", (Dependency.PARTITION_EDGES,))
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """A primary pattern variable: matches one row that satisfies the variable's condition."""

    operator: ClassVar[PatternOperator] = PatternOperator("a variable")
    # The name, in upper case unless it is quoted.
    name: str
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Negation:
    """`NOT B`, `NOT (B | C)`: matches no row, and only if the next row is neither a B nor a C.

    With event selection, a plan has absences instead: see `clauses.Absence`.
    """

    operator: ClassVar[PatternOperator] = PatternOperator("NOT", (Dependency.NEIGHBOURS,))
    # The variables whose conditions such a row may not satisfy.
    names: tuple[str, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Concatenation:
    """`A B`: two or more parts, one after the other."""

    operator: ClassVar[PatternOperator] = PatternOperator("a concatenation")
    parts: tuple[RowPattern, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Alternation:
    """`A | B`: two or more alternatives. An earlier one is preferred to a later one."""

    operator: ClassVar[PatternOperator] = PatternOperator("|")
    parts: tuple[RowPattern, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Permutation:
    """`PERMUTE(A, B, ...)`: the parts in any order.

    Orders are preferred lexicographically by the positions of the parts: A B C, A C B, B A C, ...
    """

    operator: ClassVar[PatternOperator] = PatternOperator("PERMUTE")
    parts: tuple[RowPattern, ...]
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the query that is written instead of a number or a length: `:n`, `?`, `@n`.

    A parameter may be a bound of a quantifier, the number of `FIRST n MATCHES`, or a length after
    WITHIN.
    """

    # The name without its mark. For `?`, it is made by `plan.parameters.name_parameter`.
    name: str
    # The character before the name.
    mark: str = ":"
    span: Span | None = field(default=None, compare=False)

    @property
    def text(self) -> str:
        """Return the parameter as the user wrote it: the name of `?` is not written."""
        return self.mark if self.mark == "?" else f"{self.mark}{self.name}"


@dataclass(frozen=True, slots=True)
class Quantified:
    """`A{2,4}`, `A+?`: a part, repeated from `least` to `most` times."""

    operator: ClassVar[PatternOperator] = PatternOperator("a quantifier")
    part: RowPattern
    # The least number of repetitions; 0 if it is a parameter.
    least: int
    # The most repetitions; None if there is no limit, or if it is a parameter.
    most: int | None
    # Whether more repetitions are preferred to fewer.
    is_greedy: bool = True
    span: Span | None = field(default=None, compare=False)
    # The parameters that are written instead of `least` and `most`; None for numbers. For `{:n}`,
    # both are the same object. A plan has no parameters: their values have replaced them.
    least_parameter: Parameter | None = None
    most_parameter: Parameter | None = None
    # Where the quantifier was written, without the `?` that makes it reluctant.
    bounds_span: Span | None = field(default=None, compare=False)

    @property
    def has_parameters(self) -> bool:
        """Return whether a bound is a parameter whose value is not filled in yet."""
        return self.least_parameter is not None or self.most_parameter is not None


@dataclass(frozen=True, slots=True)
class Exclusion:
    """`{- A -}`: matched like its part, whose rows ALL ROWS PER MATCH does not output."""

    operator: ClassVar[PatternOperator] = PatternOperator("{- -}")
    part: RowPattern
    span: Span | None = field(default=None, compare=False)


Leaf = Empty | PartitionStart | PartitionEnd | Variable | Negation
RowPattern = Leaf | Concatenation | Alternation | Permutation | Quantified | Exclusion


# The least and the most repetitions of the quantifiers without braces.
QUANTIFIER_SIGNS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}

_SIGNS_BY_BOUNDS = {bounds: sign for sign, bounds in QUANTIFIER_SIGNS.items()}


def make_concatenation(parts: Iterable[RowPattern], span: Span | None = None) -> RowPattern:
    """Return a concatenation of the parts.

    Nested concatenations are flattened, and parts without rows, `()`, are dropped. A single part
    that remains is returned as it is.

    >>> inner = make_concatenation([Variable("B"), Variable("C")])
    >>> show_pattern(make_concatenation([Variable("A"), Empty(), inner]))
    'A B C'
    """
    flat_parts: list[RowPattern] = []
    for part in parts:
        flat_parts += [
            flat_part
            for flat_part in list_top_level_parts(part)
            if not isinstance(flat_part, Empty)
        ]
    if not flat_parts:
        return Empty(span)
    return flat_parts[0] if len(flat_parts) == 1 else Concatenation(tuple(flat_parts), span)


def list_top_level_parts(pattern: RowPattern) -> tuple[RowPattern, ...]:
    """Return the parts that follow each other on the top level of a row pattern.

    A pattern that is not a concatenation is its only part.

    >>> sequence = Concatenation((Variable("A"), Variable("B")))
    >>> [show_pattern(part) for part in list_top_level_parts(sequence)]
    ['A', 'B']
    >>> list_top_level_parts(Variable("A"))
    (Variable(name='A', span=None),)
    """
    return pattern.parts if isinstance(pattern, Concatenation) else (pattern,)


def make_alternation(parts: Iterable[RowPattern], span: Span | None = None) -> RowPattern:
    """Return an alternation of the parts, in which nested alternations are flattened.

    A single part is returned as it is.
    """
    flat_parts: list[RowPattern] = []
    for part in parts:
        flat_parts += part.parts if isinstance(part, Alternation) else (part,)
    return flat_parts[0] if len(flat_parts) == 1 else Alternation(tuple(flat_parts), span)


def make_permutation(parts: Iterable[RowPattern], span: Span | None = None) -> RowPattern:
    """Return PERMUTE of the parts. A single part is returned as it is."""
    all_parts = tuple(parts)
    return all_parts[0] if len(all_parts) == 1 else Permutation(all_parts, span)


def list_children(pattern: RowPattern) -> tuple[RowPattern, ...]:
    """Return the parts directly below a node, in order."""
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
    """Return the node with the parts directly below it changed. A leaf is returned as it is."""
    match pattern:
        case Concatenation(parts) | Alternation(parts) | Permutation(parts):
            return replace(pattern, parts=tuple(map(change, parts)))
        case Quantified(part=part) | Exclusion(part=part):
            return replace(pattern, part=change(part))
        case Empty() | PartitionStart() | PartitionEnd() | Variable() | Negation():
            return pattern
        case _:
            assert_never(pattern)


def unwrap_exclusions(pattern: RowPattern) -> RowPattern:
    """Return the pattern with every `{- A -}` replaced by `A`: all rows of a match are output.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> show_pattern(unwrap_exclusions(parse_row_pattern("A {- B+ -}?", Span(0, 11))))
    'A (B+)?'
    """
    inner = replace_children(pattern, unwrap_exclusions)
    return inner.part if isinstance(inner, Exclusion) else inner


def walk_pattern(pattern: RowPattern) -> Iterator[RowPattern]:
    """Yield every node, parents before children, from left to right.

    There is no recursion, so the depth of a pattern has no limit.
    """
    unvisited_nodes = [pattern]
    while unvisited_nodes:
        node = unvisited_nodes.pop()
        yield node
        unvisited_nodes += reversed(list_children(node))


def list_variable_names(pattern: RowPattern) -> tuple[str, ...]:
    """Return the primary pattern variables in order of first appearance.

    Variables under NOT are not among them: no row is mapped to them.
    """
    return tuple(
        dict.fromkeys(node.name for node in walk_pattern(pattern) if isinstance(node, Variable))
    )


def list_negations(pattern: RowPattern) -> tuple[Negation, ...]:
    """Return every NOT, from left to right."""
    return tuple(node for node in walk_pattern(pattern) if isinstance(node, Negation))


def list_negated_names(pattern: RowPattern) -> tuple[str, ...]:
    """Return the variables under NOT, repeats included."""
    return tuple(name for negation in list_negations(pattern) for name in negation.names)


def list_first_negations(pattern: RowPattern) -> tuple[Negation, ...]:
    """Return every NOT that no row of a match needs to precede, from left to right.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> negations = list_first_negations(parse_row_pattern("A NOT B C | D? NOT E F"))
    >>> [negation.names for negation in negations]
    [('E',)]
    """
    return tuple(_walk_negations_at_edge(pattern, at_end=False))


def list_last_negations(pattern: RowPattern) -> tuple[Negation, ...]:
    """Return every NOT that no row of a match needs to follow, from left to right.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> negations = list_last_negations(parse_row_pattern("A NOT B C | D NOT E F?"))
    >>> [negation.names for negation in negations]
    [('E',)]
    """
    return tuple(_walk_negations_at_edge(pattern, at_end=True))


def _walk_negations_at_edge(pattern: RowPattern, *, at_end: bool) -> Iterator[Negation]:
    """Yield every NOT at the start or the end of the pattern, from left to right."""
    match pattern:
        case Negation():
            yield pattern
        case Concatenation(parts):
            for part in _list_parts_at_edge(parts, at_end=at_end):
                yield from _walk_negations_at_edge(part, at_end=at_end)
        case _:
            for part in list_children(pattern):
                yield from _walk_negations_at_edge(part, at_end=at_end)


def _list_parts_at_edge(parts: Sequence[RowPattern], *, at_end: bool) -> list[RowPattern]:
    """Return the first parts of a concatenation, up to the first part that always has a row.

    With `at_end`, return the last parts from the last part that always has a row. In both cases,
    the parts are in the order of the pattern.
    """
    edge_parts = []
    for part in reversed(parts) if at_end else parts:
        edge_parts.append(part)
        if not can_be_empty(part):
            break
    return edge_parts[::-1] if at_end else edge_parts


def can_be_empty(pattern: RowPattern) -> bool:
    """Return whether a match may have no rows.

    >>> can_be_empty(make_concatenation([Quantified(Variable("A"), 0, None), PartitionEnd()]))
    True
    """
    return not always_has_row(pattern, frozenset(list_variable_names(pattern)))


def show_pattern(pattern: RowPattern) -> str:
    """Return the pattern as a user would write it, with no more parentheses than it needs.

    >>> alternatives = make_alternation([Variable("A"), Variable("b")])
    >>> show_pattern(Quantified(alternatives, 1, None, is_greedy=False))
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
            alternatives = make_alternation(Variable(name) for name in names)
            return f"NOT {_show_inside(alternatives, (Alternation,))}"
        case Concatenation(parts):
            return " ".join(_show_inside(part, (Alternation,)) for part in parts)
        case Alternation(parts):
            return " | ".join(show_pattern(part) for part in parts)
        case Permutation(parts):
            return f"PERMUTE({', '.join(show_pattern(part) for part in parts)})"
        case Quantified(part, is_greedy=is_greedy):
            body = _show_inside(part, (Concatenation, Alternation, Quantified, Negation))
            return body + show_quantifier(pattern) + ("" if is_greedy else "?")
        case Exclusion(part):
            return f"{{- {show_pattern(part)} -}}"
        case _:
            assert_never(pattern)


def _show_inside(part: RowPattern, weaker: tuple[type[RowPattern], ...]) -> str:
    """Return the text of a part inside another node, in parentheses if it needs them.

    Args:
        part: a child of the node.
        weaker: the types of nodes that bind more weakly than the node around the part.
    """
    text = show_pattern(part)
    return f"({text})" if isinstance(part, weaker) else text


def show_quantifier(quantified: Quantified) -> str:
    """Return the quantifier without its reluctance mark, with parameters as the user wrote them.

    >>> show_quantifier(Quantified(Variable("A"), 1, None))
    '+'
    >>> show_quantifier(Quantified(Variable("A"), 2, 4))
    '{2,4}'
    """
    least, most = quantified.least, quantified.most
    if quantified.has_parameters:
        return _show_quantifier_with_parameters(quantified)
    sign = _SIGNS_BY_BOUNDS.get((least, most))
    if sign is not None:
        return sign
    if least == most:
        return f"{{{least}}}"
    return f"{{{least or ''},{'' if most is None else most}}}"


def _show_quantifier_with_parameters(quantified: Quantified) -> str:
    """Return a quantifier with a parameter as one or both of its bounds: `{:n}`, `{2,:most}`."""
    least, most = quantified.least_parameter, quantified.most_parameter
    least_text = str(quantified.least) if least is None else least.text
    if least is most:
        return f"{{{least_text}}}"
    if most is not None:
        most_text = most.text
    else:
        most_text = "" if quantified.most is None else str(quantified.most)
    return f"{{{least_text},{most_text}}}"


def show_name(name: str) -> str:
    """Return a variable's name as a user would write it: quoted unless it is an upper-case word.

    >>> show_name("UP"), show_name("up"), show_name("NOT")
    ('UP', '`up`', '`NOT`')
    """
    is_upper_case_word = (
        name.isascii()
        and name.replace("_", "A").isalnum()
        and name == name.upper()
        and not name[:1].isdigit()
    )
    is_keyword = name == "PERMUTE" or name in RESERVED
    if is_upper_case_word and not is_keyword:
        return name
    escaped_name = name.replace("`", "``")
    return f"`{escaped_name}`"


# Simplify a row pattern.


def simplify(pattern: RowPattern) -> RowPattern:
    """Return a simpler row pattern that has the same matches in the same preferment order.

    The result has no `{0}`, no `{1}`, no quantifier after `()`, no repeated alternative and no
    needless nesting.

    >>> show_pattern(simplify(Quantified(Concatenation((Variable("A"), Empty())), 1, 1)))
    'A'
    """
    match replace_children(pattern, simplify):
        case Concatenation(parts, span):
            return make_concatenation(parts, span)
        case Alternation(parts, span):
            # An alternative that equals an earlier one can never be preferred.
            return make_alternation(dict.fromkeys(parts), span)
        case Permutation(parts, span):
            # The position of a part without rows makes no difference.
            parts_with_rows = [part for part in parts if not isinstance(part, Empty)]
            return make_permutation(parts_with_rows, span) if parts_with_rows else Empty(span)
        case Quantified(most=0, span=span):
            return Empty(span)
        case Exclusion(Empty() as part) | Quantified(Empty() as part) | Quantified(part, 1, 1):
            return part
        case simplified:
            return simplified


# Find which variables certainly have a row in every match, and in which order.


def always_precedes(pattern: RowPattern, members: frozenset[str], variable: str) -> bool:
    """Return whether, in every match, a row of a member comes before each row of the variable.

    Args:
        pattern: a row pattern.
        members: names of primary variables, such as the members of a union variable.
        variable: the name of a primary variable.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> pattern = parse_row_pattern("A (B | C)+ D")
    >>> [always_precedes(pattern, frozenset({member}), "D") for member in "AB"]
    [True, False]
    """
    match pattern:
        case Variable(name=name):
            return name != variable
        case Concatenation(parts=parts):
            # Once a part has given a member its row, the parts after it make no difference.
            for part in parts:
                if not always_precedes(part, members, variable):
                    return False
                if always_has_row(part, members):
                    return True
            return True
        case _:
            return all(always_precedes(part, members, variable) for part in list_children(pattern))


def always_has_row(pattern: RowPattern, members: frozenset[str]) -> bool:
    """Return whether every match of the pattern has a row of a member.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> pattern = parse_row_pattern("A (B | C)+ D*")
    >>> [always_has_row(pattern, frozenset(members)) for members in ("A", "B", "BC", "D")]
    [True, False, True, False]
    """
    match pattern:
        case Variable(name=name):
            return name in members
        case Alternation(parts=parts):
            return all(always_has_row(part, members) for part in parts)
        case Quantified(least=0):
            return False
        case _:
            return any(always_has_row(part, members) for part in list_children(pattern))
