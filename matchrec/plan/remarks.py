"""Warnings about queries that can run, but probably do not mean what the user wanted.

A rule is a function `warn_about_...` over a plan, and one class of `errors.warnings`, whose
docstring says when the rule applies. `find_warnings` applies all rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING

from matchrec.errors import warnings
from matchrec.errors.language import SQL, current_language
from matchrec.plan import pattern as patterns
from matchrec.plan.clauses import Definition, EventSelection, MatchOutput
from matchrec.plan.expression import (
    COMPARISONS,
    ColumnReference,
    Navigation,
    Operation,
    Scalar,
    Term,
    TextPiece,
    find_amount,
    is_null,
    map_column_references,
    render,
    split_conjuncts,
    walk_scalar,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.show import show_scalar
from matchrec.source import Span

if TYPE_CHECKING:
    from matchrec.plan.stages import StageTest

# Comparisons in conditions.

_PYTHON_OPERATORS = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


@dataclass(frozen=True, slots=True)
class Subject:
    """The variable or stage that a part of a condition tests."""

    # The name of a variable or a stage, or "the group".
    name: str
    # The names of the variables that may have rows when the part is tested.
    early_variables: Collection[str]


def warn_about_comparisons(plan: MatchPlan) -> Iterator[warnings.MatchRecognizeWarning]:
    """Yield a warning for each comparison in a condition that probably has a mistake."""
    find_subject = cache(EarlyVariables(plan).find_subject)
    for definition in plan.definitions:
        required_parts = split_conjuncts(definition.condition)
        required_ids = {id(part) for part in required_parts}
        for part in walk_scalar(definition.condition):
            if not isinstance(part, Operation):
                continue
            yield from warn_about_wildcards(part)
            if part.operator in COMPARISONS:
                is_required = id(part) in required_ids
                find_part_subject = partial(find_subject, definition.variable, is_required)
                yield from warn_about_operands(part, definition, plan, find_part_subject)
        for part in required_parts:
            if isinstance(part, Operation) and not part.references:
                yield from warn_about_constants(part)


def warn_about_constants(comparison: Operation) -> Iterator[warnings.MatchRecognizeWarning]:
    """Yield a warning for a comparison of constants that must hold, but is false.

    In `"status" = 'on'`, the text in double quotes was probably meant as the name of a column.
    """
    if is_false(comparison):
        yield warnings.false_constants(comparison.span)
        return
    texts = [find_literal_text(operand) for operand in comparison.operands]
    # Texts that differ only in case or in outer blanks raise no warning: a collation may make them
    # equal.
    folded_texts = {text[1:-1].strip().casefold() for text in texts}
    if comparison.operator == "=" and all(texts) and len(folded_texts) == 2:
        in_double_quotes = next((text for text in texts if text[0] == '"'), "")
        yield warnings.false_texts(comparison.span, in_double_quotes)


def warn_about_operands(
    comparison: Operation,
    definition: Definition,
    plan: MatchPlan,
    find_subject: Callable[[], Subject],
) -> Iterator[warnings.MatchRecognizeWarning]:
    """Yield a warning if a comparison is of a value with itself, a later row or NULL.

    Args:
        comparison: a part of a condition.
        definition: the condition.
        plan: the plan of the condition.
        find_subject: returns what the comparison is about.
    """
    left, right = (normalize(operand, definition, plan) for operand in comparison.operands)
    if left == right and comparison.operands[0].references:
        yield warnings.same_value(comparison.span)
    if comparison.operator == "<=>":
        return  # which is meant for NULL
    if plan.staging or current_language() is SQL:
        yield from warn_about_later_rows(comparison, plan, find_subject)
    others = [operand for operand in comparison.operands if not is_null(operand)]
    if len(others) == 1:
        other = "x" if plan.staging else show_scalar(map_column_references(others[0], make_plain))
        yield warnings.compared_with_null(
            comparison.span, operator=comparison.operator, other=other
        )


def warn_about_later_rows(
    comparison: Operation, plan: MatchPlan, find_subject: Callable[[], Subject]
) -> Iterator[warnings.MatchRecognizeWarning]:
    """Yield a warning if a comparison reads a column of a variable that has no row yet.

    A stage may read its own events: those before the event that is tested.
    """
    for operand in comparison.operands:
        match operand:
            case Term((ColumnReference(Navigation(str(variable_read))) as reference,)):
                subject = find_subject()
                is_early = variable_read in subject.early_variables
                if is_early or variable_read not in patterns.list_variable_names(plan.pattern):
                    continue
                column = show_plain_argument(reference)
                read = show_scalar(map_column_references(operand, make_plain))
                if plan.staging:
                    read = f"{variable_read}.{column}"
                if variable_read == subject.name:
                    yield warnings.compared_with_own(
                        comparison.span, read=read, column=column, stage=variable_read
                    )
                else:
                    yield warnings.compared_with_later(
                        comparison.span, read=read, other=variable_read, variable=subject.name
                    )


class EarlyVariables:
    """The variables that may have rows when the conditions of a plan are tested."""

    def __init__(self, plan: MatchPlan) -> None:
        """Find these variables for the tests of stages, if the plan has stages."""
        self.plan = plan
        self.variables = patterns.list_variable_names(plan.pattern)
        # The tests of stages, by their names: for parts of conditions that need not hold.
        self.tests_of_events: Mapping[str, StageTest] = {}
        # The same for parts that must hold.
        self.tests_of_first_events: Mapping[str, StageTest] = {}
        if plan.staging is not None:
            from matchrec.plan import stages  # SQL has no stages

            self.tests_of_events = stages.find_tests_of_events(plan.staging.steps)
            self.tests_of_first_events = stages.find_tests_of_first_events(plan.staging.steps)

    def find_subject(self, variable: str, is_required: bool) -> Subject:
        """Return the subject of a part of a condition.

        Args:
            variable: the variable or the test whose condition it is.
            is_required: whether the part must hold for the condition to hold. If so, it must hold
                for the first row, too: see `find_variables_before`.
        """
        if self.plan.staging is not None:
            tests = self.tests_of_first_events if is_required else self.tests_of_events
            if variable not in tests:
                return Subject(variable, self.variables)
            return Subject(tests[variable].subject, tests[variable].stages_before)
        if variable in self.plan.absent:
            return Subject(variable, self.variables)
        before = find_variables_before(variable, self.plan.pattern, first=is_required)
        return Subject(variable, {variable} | before)


def find_variables_before(name: str, pattern: patterns.RowPattern, *, first: bool) -> set[str]:
    """Return the variables that may have rows before a row of a variable.

    In `(A B)+`, there is no row of B before the first row of A. If each row of A needs a row of B
    before it, then no row can ever be mapped to A.

    Args:
        name: the name of the variable.
        pattern: a row pattern.
        first: whether to look at the first row of the variable only.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> loop = parse_row_pattern("(A B)+")
    >>> find_variables_before("A", loop, first=True)
    set()
    >>> sorted(find_variables_before("A", loop, first=False))
    ['A', 'B']
    """
    parts = patterns.list_children(pattern)
    indexes = [
        index for index, part in enumerate(parts) if name in patterns.list_variable_names(part)
    ]
    if not indexes:
        return set()
    # The parts of this node that may have been matched before the variable gets a row.
    earlier: tuple[patterns.RowPattern, ...] = ()
    if isinstance(pattern, patterns.Concatenation):
        earlier = parts[: indexes[-1]]
    elif isinstance(pattern, patterns.Permutation) or is_loop(pattern):
        earlier = parts
    if first:
        # After a part that has a row of the variable in any case, no row of it is the first one.
        earlier = tuple(
            part for part in earlier if not patterns.always_has_row(part, frozenset({name}))
        )
    variables: set[str] = set()
    for index in indexes:
        variables |= find_variables_before(name, parts[index], first=first)
    for part in earlier:
        variables.update(patterns.list_variable_names(part))
    return variables


def is_loop(pattern: patterns.RowPattern) -> bool:
    """Return whether a node is a quantifier that may repeat its part."""
    return isinstance(pattern, patterns.Quantified) and pattern.most != 1


def normalize(operand: Scalar, definition: Definition, plan: MatchPlan) -> tuple[TextPiece, ...]:
    """Return the pieces of an operand's text in a form in which equal operands are equal.

    Several blanks become one, and all ways to read a column of the current row become the same.
    """
    pieces: list[TextPiece] = []
    for piece in operand.pieces:
        if isinstance(piece, str):
            pieces.append(" ".join(piece.split()))
        elif isinstance(piece, ColumnReference) and reads_current_row(piece, definition, plan):
            pieces.append(replace(piece, navigation=Navigation(definition.variable)))
        else:
            pieces.append(piece)
    return tuple(pieces)


def reads_current_row(
    reference: ColumnReference, definition: Definition, plan: MatchPlan, step: int = 0
) -> bool:
    """Return whether a reference reads the row that a condition tests, or a row near it.

    Args:
        reference: a reference of the condition.
        definition: the condition.
        plan: the plan of the condition.
        step: how many rows after the tested row to read; negative for rows before it.
    """
    navigation = reference.navigation
    if not navigation.is_last or navigation.physical_offset != step:
        return False
    # The test of a stage reads the row that it tests only through its own name.
    if plan.staging is not None or definition.variable == plan.match_condition:
        return navigation.variable == definition.variable
    return plan.ids[definition.variable] in plan.members[navigation.variable]


def show_plain_argument(reference: ColumnReference) -> str:
    """Return the argument of a reference, without backticks that a column does not need."""
    name = reference.names[0] if len(reference.names) == 1 else ""
    return name if name.isascii() and name.isidentifier() else reference.argument


def make_plain(reference: ColumnReference) -> ColumnReference:
    """Return the reference with the text that `show_plain_argument` gives it."""
    return replace(reference, argument=show_plain_argument(reference))


def is_false(comparison: Operation) -> bool:
    """Return whether an operation is a comparison of two literal numbers that does not hold."""
    amounts = [find_amount(operand) for operand in comparison.operands]
    numbers = [amount.value for amount in amounts if amount is not None and not amount.is_time]
    holds = _PYTHON_OPERATORS.get(comparison.operator)
    return holds is not None and len(numbers) == 2 and not holds(*numbers)


def find_literal_text(operand: Scalar) -> str:
    """Return a literal text with its quotes; the empty string for any other operand.

    Texts that contain quotes or escapes are not returned, either.
    """
    if operand.references:
        return ""
    text = render(operand, str).strip()
    quote = text[:1]
    is_quoted = quote in ("'", '"') and len(text) > 1 and text[-1] == quote
    if not is_quoted or quote in text[1:-1] or "\\" in text[1:-1]:
        return ""
    return text


# Wildcards that an operator does not know.

# Operators and functions that compare with a text as it is, and those whose patterns are of LIKE or
# are regular expressions.
_EQUALITIES = frozenset({"=", "<>", "<=>", "IN", "NOT IN"})
_TEXT_FUNCTIONS = frozenset({"STARTSWITH", "ENDSWITH", "CONTAINS"})
_LIKES = frozenset({"LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"})
_REGEX_OPERATORS = frozenset({"RLIKE", "NOT RLIKE", "REGEXP_LIKE"})

# `payment%`, `%payment`; not `10%`, `100 %` or `%`, which are texts of their own.
_PERCENT_AS_WILDCARD = re.compile(r"%+[^\W\d_].*|.*[^\W\d_]%+", re.DOTALL)

# `payment*`, `*payment*`, `payment.*`; not `*`, `a*b`, or a text with a wildcard of LIKE.
_STAR_AS_WILDCARD = re.compile(r"(?=.*[^\W\d_])((\.?\*)?[^%*]+\*|\.?\*[^%*]+)", re.DOTALL)

_REGEX_SYNTAX = re.compile(r"[.\[\](){}^$|+*?\\]")


def warn_about_wildcards(operation: Operation) -> Iterator[warnings.MatchRecognizeWarning]:
    """Yield a warning for each text with a wildcard that the operator does not know.

    `kind LIKE 'payment*'` looks for an asterisk, and `kind = 'payment%'` for a percent sign. Texts
    that may hold such a sign for its own sake, such as `'10%'`, raise no warning.
    """
    operator = operation.operator
    if operator in _LIKES:
        yield from warn_about_star(operation)
        return
    for operand in operation.operands:
        text = find_literal_text(operand)[1:-1]
        if not _PERCENT_AS_WILDCARD.fullmatch(text):
            continue
        if operator in _EQUALITIES:
            like = "NOT LIKE" if operator in ("<>", "NOT IN") else "LIKE"
            yield warnings.percent_in_equality(
                operation.span, operator=operator, text=text, like=like
            )
        elif operator in _TEXT_FUNCTIONS:
            yield warnings.percent_in_function(
                operation.span, function=operator.lower(), text=text, intended=text.strip("%")
            )
        elif operator in _REGEX_OPERATORS and not _REGEX_SYNTAX.search(text):
            like = "NOT LIKE" if operator.startswith("NOT") else "LIKE"
            yield warnings.percent_in_regex(operation.span, operator=operator, text=text, like=like)


def warn_about_star(operation: Operation) -> Iterator[warnings.MatchRecognizeWarning]:
    """Yield a warning if the pattern of LIKE has a wildcard of a shell or a regular expression."""
    for pattern in operation.operands[1:2]:
        text = find_literal_text(pattern)[1:-1]
        if _STAR_AS_WILDCARD.fullmatch(text):
            like_pattern = text.replace(".*", "%").replace("*", "%")
            yield warnings.star_in_like(
                operation.span, operator=operation.operator, text=text, intended=like_pattern
            )


# PREV where rows may be skipped.


def warn_about_skipped_rows(plan: MatchPlan) -> Iterator[warnings.MatchRecognizeWarning]:
    """Yield a warning for PREV of the current row if rows may be skipped.

    The row before may be one that the match has skipped. PREV of the first variable looks at the
    row before the match, so it raises no warning.
    """
    if plan.selection is EventSelection.STRICT_CONTIGUITY or plan.staging is not None:
        return
    first = find_first_variables(plan.pattern)
    for definition in plan.definitions:
        if definition.variable in first:
            continue
        for reference in definition.condition.references:
            if isinstance(reference, ColumnReference) and reads_current_row(
                reference, definition, plan, step=-1
            ):
                yield warnings.skipped_row(
                    reference.span,
                    selection=plan.selection.value,
                    argument=show_plain_argument(reference),
                )


def find_first_variables(pattern: patterns.RowPattern) -> frozenset[str]:
    """Return the variables to which the first row of a match may be mapped.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> sorted(find_first_variables(parse_row_pattern("A? (B | C)+ D")))
    ['A', 'B', 'C']
    """
    match pattern:
        case patterns.Variable(name):
            return frozenset((name,))
        case patterns.Concatenation(parts):
            variables: frozenset[str] = frozenset()
            for part in parts:
                variables |= find_first_variables(part)
                if not patterns.may_be_empty(part):
                    break
            return variables
        case _:
            parts_below = patterns.list_children(pattern)
            return frozenset().union(*(find_first_variables(part) for part in parts_below))


# The end of a row pattern, and row patterns that have only empty matches.
#
# Only the last part raises a warning. Before it, a variable without a condition is useful: for the
# first row of `STRT DOWN+`, or the rows between A and B of `A X*? B`. It is also useful to classify
# all rows, `(UP | DOWN | X)+`, and in a window, `A X*`.


def warn_about_ends(plan: MatchPlan) -> Iterator[warnings.MatchRecognizeWarning]:
    """Yield a warning if all matches are empty, or the last loop takes no row or any row."""
    is_preferred = plan.output is MatchOutput.PREFERRED
    has_empty_preferred = is_preferred and prefers_empty(plan.pattern)
    if has_empty_preferred or not patterns.list_variable_names(plan.pattern):
        yield warnings.empty_matches(plan.pattern.span, pattern=patterns.show_pattern(plan.pattern))
        return
    defined = {definition.variable for definition in plan.definitions}
    windows = (plan.within, plan.within_rows, plan.row_gap)
    has_window = any(window is not None for window in windows)
    for loop in find_last_loops(plan.pattern):
        if not loop.greedy:
            if is_preferred:
                yield warnings.reluctant_end(
                    loop.span,
                    loop=patterns.show_pattern(loop),
                    least=loop.least,
                    greedy_loop=patterns.show_pattern(replace(loop, greedy=True)),
                    fewest_rows=show_fewest(loop),
                )
            continue
        takes_any_row = isinstance(loop.part, patterns.Variable) and loop.part.name not in defined
        if takes_any_row and loop.most is None and defined and not has_window:
            yield warnings.any_rows(
                loop.span,
                loop=patterns.show_pattern(loop),
                variable=patterns.show_pattern(loop.part),
            )


def show_fewest(loop: patterns.Quantified) -> str:
    """Return a pattern that takes as few rows as a reluctant loop; empty if it takes no row."""
    if loop.least == 0:
        return ""
    if loop.least == 1:
        return patterns.show_pattern(loop.part)
    return patterns.show_pattern(replace(loop, most=loop.least, greedy=True))


def warn_about_early_ends(plan: MatchPlan) -> Iterator[warnings.MatchRecognizeWarning]:
    """Yield a warning for each loop at the end of PATTERN that ends earlier than its rows do.

    With SKIP TILL, a preferred match ends before the first row that it would have to skip there.
    A non-overlapping match ends as soon as it is complete, whether or not it may skip rows.
    """
    skips = plan.selection is not EventSelection.STRICT_CONTIGUITY
    completes_first = plan.output is MatchOutput.NON_OVERLAPPING
    if not completes_first and not (skips and plan.output is MatchOutput.PREFERRED):
        return
    restricted = {
        definition.variable for definition in plan.definitions if not is_true(definition.condition)
    }
    for loop in find_last_loops(plan.pattern):
        if not loop.greedy:
            continue
        if completes_first:
            yield warnings.loop_that_completes_first(
                loop.span, loop=patterns.show_pattern(loop), least=loop.least
            )
        elif not restricted.isdisjoint(patterns.list_variable_names(loop)):
            # A loop without restricted variables takes every row, so it never skips one.
            yield warnings.end_before_skipped_row(
                loop.span, loop=patterns.show_pattern(loop), selection=plan.selection.value
            )


def is_true(condition: Scalar) -> bool:
    """Return whether a condition is the literal TRUE, perhaps in parentheses."""
    return not condition.references and render(condition, str).strip(" ()").upper() == "TRUE"


def warn_about_negated_ends(plan: MatchPlan) -> Iterator[warnings.MatchRecognizeWarning]:
    """Yield a warning for each NOT at the end of PATTERN that tests only the next row of a window.

    If rows may be skipped, such a NOT holds until the window ends. Most readers expect that from
    WITHIN in any case.
    """
    has_window = plan.within is not None or plan.within_rows is not None
    if has_window and plan.selection is EventSelection.STRICT_CONTIGUITY and not plan.selects:
        for negation in find_last_negations(plan.pattern):
            yield warnings.not_for_next_row(negation.span, negation=patterns.show_pattern(negation))


def find_last_negations(pattern: patterns.RowPattern) -> Iterator[patterns.Negation]:
    """Yield each NOT with which the pattern ends, except inside loops.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> pattern = parse_row_pattern("A NOT B C (D | E NOT F)")
    >>> [patterns.show_pattern(negation) for negation in find_last_negations(pattern)]
    ['NOT F']
    """
    match pattern:
        case patterns.Negation():
            yield pattern
        case patterns.Concatenation(parts):
            yield from find_last_negations(parts[-1])
        case patterns.Alternation(parts):
            for part in parts:
                yield from find_last_negations(part)
        case patterns.Exclusion(part):
            yield from find_last_negations(part)


def prefers_empty(pattern: patterns.RowPattern) -> bool:
    """Return whether the most preferred word of a row pattern has no rows, NOTs or anchors.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> [prefers_empty(parse_row_pattern(text)) for text in ("A*", "A*?", "A*? | B", "A?? $")]
    [False, True, True, False]
    """
    match pattern:
        case patterns.Empty():
            return True
        case patterns.Concatenation() | patterns.Permutation() | patterns.Exclusion():
            return all(prefers_empty(part) for part in patterns.list_children(pattern))
        case patterns.Alternation(parts):
            return prefers_empty(parts[0])
        case patterns.Quantified(most=0):
            return True
        case patterns.Quantified(part, least, _, greedy):
            return prefers_empty(part) if greedy or least else True
        case _:
            return False


# Nodes without rows that hold only at some positions. A part that contains one cannot be left out
# everywhere.
_CONDITIONAL = patterns.PartitionStart | patterns.PartitionEnd | patterns.Negation


def find_last_loops(pattern: patterns.RowPattern) -> Iterator[patterns.Quantified]:
    """Yield the quantified parts after which a match may end, whatever rows follow.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> pattern = parse_row_pattern("A+ B* (C? | D E{2})")
    >>> [patterns.show_pattern(loop) for loop in find_last_loops(pattern)]
    ['C?', 'B*', 'A+']
    """
    match pattern:
        case patterns.Concatenation(parts):
            for part in reversed(parts):
                yield from find_last_loops(part)
                if not can_be_left_out(part):
                    return
        case patterns.Alternation(parts):
            for part in parts:
                yield from find_last_loops(part)
        case patterns.Exclusion(part):
            yield from find_last_loops(part)
        case patterns.Quantified(least=least, most=most) if least != most:
            yield pattern


def can_be_left_out(part: patterns.RowPattern) -> bool:
    """Return whether a match may have no row of a part, at any position of the partition."""
    is_conditional = any(isinstance(node, _CONDITIONAL) for node in patterns.walk_pattern(part))
    return patterns.may_be_empty(part) and not is_conditional


# Clauses that are missing, and variables that were written as something else.


def find_place_of_order(plan: MatchPlan) -> Span | None:
    """Return where to write ORDER BY: after PARTITION BY, or before the first measure.

    Without either, this is the row pattern.
    """
    if plan.partition_by:
        span = plan.partition_by[-1].span
        return span and Span(span.end, span.end)
    if plan.measures:
        return plan.measures[0].value.span
    return plan.pattern.span


def warn_about_order(plan: MatchPlan) -> Iterator[warnings.MatchRecognizeWarning]:
    """Yield a warning if there is no ORDER BY."""
    if not plan.order_by:
        yield warnings.no_order(find_place_of_order(plan))


def warn_about_conditions(plan: MatchPlan) -> Iterator[warnings.MatchRecognizeWarning]:
    """Yield a warning if there are no conditions, and no window that limits which rows match."""
    names = patterns.list_variable_names(plan.pattern)
    if names and not plan.definitions and not plan.intervals:
        yield warnings.no_conditions(plan.pattern.span, variable=names[0])


def warn_about_eaten_braces(plan: MatchPlan) -> Iterator[warnings.MatchRecognizeWarning]:
    """Yield a warning for a variable without a condition that is a defined variable plus digits.

    A Python f-string turns `B{3}` into `B3`.
    """
    defined = {definition.variable for definition in plan.definitions}
    reported: set[str] = set()
    for node in patterns.walk_pattern(plan.pattern):
        if not isinstance(node, patterns.Variable) or node.name in defined | reported:
            continue
        name = name_without_digits(node.name)
        if name in defined:
            reported.add(node.name)
            digits = node.name.removeprefix(name)
            yield warnings.braces_of_f_string(
                node.span, variable=patterns.show_name(node.name), name=name, count=digits
            )


def name_without_digits(name: str) -> str:
    """Return a name without the digits at its end.

    >>> name_without_digits("UP30"), name_without_digits("UP")
    ('UP', 'UP')
    """
    return name.rstrip("0123456789")


# All rules, over one plan.

WarningRule = Callable[[MatchPlan], Iterator[warnings.MatchRecognizeWarning]]

RULES: tuple[WarningRule, ...] = (warn_about_comparisons, warn_about_skipped_rows)
RULES_OF_SQL: tuple[WarningRule, ...] = (
    warn_about_order,
    warn_about_conditions,
    warn_about_ends,
    warn_about_early_ends,
    warn_about_negated_ends,
    warn_about_eaten_braces,
    *RULES,
)


def find_warnings(plan: MatchPlan) -> tuple[warnings.MatchRecognizeWarning, ...]:
    """Return warnings about what in a plan is probably not meant, in the order of the rules.

    A warning that several rules give is returned once. The rules depend on the language of the
    query: in SASE+ and in a Pattern, events may be of any type, and the user says for each stage
    which events may be skipped.

    Args:
        plan: a resolved plan, so that each column has one name.
    """
    rules = RULES_OF_SQL if current_language() is SQL else RULES
    unique: dict[object, warnings.MatchRecognizeWarning] = {}
    for rule in rules:
        for warning in rule(plan):
            unique[type(warning), warning.message, warning.spans] = warning
    return tuple(unique.values())
