"""A plan that may be run → warnings about what is probably not meant.

A rule is one function, and one class of `errors.warnings`, whose sentence says when it applies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import cache, partial
from operator import eq, ge, gt, le, lt, ne

from matchrec.errors import warnings
from matchrec.errors.language import SQL, current
from matchrec.plan import pattern as patterns
from matchrec.plan.clauses import Definition, EventSelection, MatchOutput
from matchrec.plan.expression import (
    ColumnReference,
    Navigation,
    Operation,
    Piece,
    Scalar,
    Term,
    amount_of,
    conjuncts,
    is_null,
    render,
    subexpressions,
    with_columns,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.show import show_scalar

# Remarks on comparisons in conditions, and on PREV where rows may be skipped.

HOLDS = dict(zip(("=", "<>", "<", "<=", ">", ">="), (eq, ne, lt, le, gt, ge), strict=True))
COMPARISONS = HOLDS.keys() | {"==", "!=", "<=>"}

# What a part of a condition is about, and the variables that may have rows when it is tested.
Tested = tuple[str, Collection[str]]


def comparisons(plan: MatchPlan) -> Iterator[warnings.MatchRecognizeWarning]:
    """Comparisons of a value with itself or with NULL, and of constants."""
    when_tested = cache(early_rows(plan))
    for definition in plan.definitions:
        required = conjuncts(definition.condition)
        needed = set(map(id, required))
        for subexpression in subexpressions(definition.condition):
            if isinstance(subexpression, Operation):
                yield from unused_wildcards(subexpression)
            if isinstance(subexpression, Operation) and subexpression.operator in COMPARISONS:
                is_needed = id(subexpression) in needed
                tested = partial(when_tested, definition.variable, is_needed)
                yield from comparison(subexpression, definition, plan, tested)
        for conjunct in required:
            if conjunct.references or not isinstance(conjunct, Operation):
                continue
            texts = [text_of(operand) for operand in conjunct.operands]
            differ = len({text[1:-1].strip().casefold() for text in texts}) == 2
            if is_false(conjunct):
                yield warnings.false_constants(conjunct.span)
            elif conjunct.operator in ("=", "==") and all(texts) and differ:
                yield warnings.false_texts(
                    conjunct.span, next((x for x in texts if x[0] == '"'), "")
                )


def comparison(
    operation: Operation, definition: Definition, plan: MatchPlan, tested: Callable[[], Tested]
) -> Iterator[warnings.MatchRecognizeWarning]:
    left, right = (values(operand, definition, plan) for operand in operation.operands)
    if left == right and operation.operands[0].references:
        yield warnings.same_value(operation.span)
    if operation.operator != "<=>" and (plan.staging or current() is SQL):
        yield from comparison_with_later(operation, plan, tested)
    others = [operand for operand in operation.operands if not is_null(operand)]
    if operation.operator != "<=>" and len(others) == 1:
        sign = {"==": "=", "!=": "<>"}.get(operation.operator, operation.operator)
        written = "x" if plan.staging else show_scalar(with_columns(others[0], plainly))
        yield warnings.compared_with_null(operation.span, operator=sign, other=written)


def comparison_with_later(
    operation: Operation, plan: MatchPlan, tested: Callable[[], Tested]
) -> Iterator[warnings.MatchRecognizeWarning]:
    """A comparison with a column of a variable that has no row so early.

    A stage may be its own: of its events those before the one that is tested are read.
    """
    for operand in operation.operands:
        match operand:
            case Term((ColumnReference(Navigation(str(other))) as one,)):
                name, early = tested()
                if other in early or other not in patterns.variable_names(plan.pattern):
                    continue
                read = show_scalar(with_columns(operand, plainly))
                if plan.staging:
                    read = f"{other}.{plain(one)}"
                if other == name:
                    yield warnings.compared_with_own(
                        operation.span, read=read, column=plain(one), own=other
                    )
                else:
                    yield warnings.compared_with_later(
                        operation.span, read=read, other=other, variable=name
                    )


def early_rows(plan: MatchPlan) -> Callable[[str, bool], Tested]:
    """The variables that may have rows where a condition is tested: see `stages.mapped_before`."""
    names = patterns.variable_names(plan.pattern)
    if plan.staging is not None:
        from matchrec.plan.stages import mapped_before  # of no use in SQL

        steps = plan.staging.steps
        of_stages = [mapped_before(steps, is_needed=needed) for needed in (False, True)]
        return lambda variable, is_needed: of_stages[is_needed].get(variable, (variable, names))

    def when_tested(variable: str, is_needed: bool) -> Tested:
        if variable in plan.absent:
            return variable, names
        return variable, {variable} | variables_before(variable, plan.pattern, first=is_needed)

    return when_tested


def variables_before(name: str, pattern: patterns.RowPattern, *, first: bool) -> set[str]:
    """The variables that may have rows before a row of another, or before its first one.

    In `(A B)+` a first row of A has none before it: what it needs of B, no row of A has.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> loop = parse_row_pattern("(A B)+")
    >>> variables_before("A", loop, first=True), sorted(variables_before("A", loop, first=False))
    (set(), ['A', 'B'])
    """
    parts = patterns.children(pattern)
    places = [place for place, part in enumerate(parts) if name in patterns.variable_names(part)]
    is_loop = isinstance(pattern, patterns.Quantified) and pattern.most != 1
    earlier = parts[: places[-1]] if places and isinstance(pattern, patterns.Concatenation) else ()
    if places and (is_loop or isinstance(pattern, patterns.Permutation)):
        earlier = parts
    if first:
        earlier = tuple(one for one in earlier if not patterns.has_row(one, frozenset({name})))
    inside = (variables_before(name, parts[place], first=first) for place in places)
    return set[str]().union(*inside, *map(patterns.variable_names, earlier))


def values(operand: Scalar, definition: Definition, plan: MatchPlan) -> tuple[Piece, ...]:
    """The text of an operand; a column of the current row is written in one way."""
    return tuple(
        " ".join(piece.split())
        if isinstance(piece, str)
        else replace(piece, navigation=Navigation(definition.variable))
        if isinstance(piece, ColumnReference) and is_of_current_row(piece, definition, plan)
        else piece
        for piece in operand.pieces
    )


def is_of_current_row(
    reference: ColumnReference, definition: Definition, plan: MatchPlan, step: int = 0
) -> bool:
    """Whether a reference reads the row that is tested, or that so many rows after it."""
    navigation = reference.navigation
    if not navigation.is_last or navigation.physical_offset != step:
        return False
    if plan.staging is not None or definition.variable == plan.closing:
        return navigation.variable == definition.variable
    return plan.ids[definition.variable] in plan.members[navigation.variable]


def plain(reference: ColumnReference) -> str:
    """What a reference reads, without the backticks that a column does not need."""
    name = reference.names[0] if len(reference.names) == 1 else ""
    return name if name.isascii() and name.isidentifier() else reference.argument


def plainly(reference: ColumnReference) -> ColumnReference:
    return replace(reference, argument=plain(reference))


def is_false(one: Operation) -> bool:
    """Whether a comparison of two numbers does not hold."""
    found = map(amount_of, one.operands)
    numbers = [each.value for each in found if each is not None and not each.is_time]
    holds = HOLDS.get(one.operator)
    return holds is not None and len(numbers) == 2 and not holds(*numbers)


def text_of(operand: Scalar) -> str:
    """A text as it is written, with its quotes; nothing of anything else."""
    if operand.references:
        return ""
    written = render(operand, str).strip()
    quote = written[:1]
    is_text = quote in ("'", '"') and len(written) > 1 and written[-1] == quote
    return written if is_text and not {quote, "\\"} & set(written[1:-1]) else ""


# Operators and functions that compare with a text as it is, and those that take another pattern.
_EQUALITIES = frozenset({"=", "==", "<>", "!=", "<=>", "IN", "NOT IN"})
_TEXT_FUNCTIONS = frozenset({"STARTSWITH", "ENDSWITH", "CONTAINS"})
_LIKES = frozenset({"LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"})
_REGEX_OPERATORS = frozenset({"RLIKE", "NOT RLIKE", "REGEXP_LIKE"})

# `payment%`, `%payment`; not `10%`, `100 %` or `%`, which are texts of their own.
_PERCENT_AS_WILDCARD = re.compile(r"%+[^\W\d_].*|.*[^\W\d_]%+", re.DOTALL)

# `payment*`, `*payment*`, `payment.*`; not `*`, `a*b`, or a text with a wildcard of LIKE.
_STAR_AS_WILDCARD = re.compile(r"(?=.*[^\W\d_])((\.?\*)?[^%*]+\*|\.?\*[^%*]+)", re.DOTALL)

_REGEX_SYNTAX = re.compile(r"[.\[\](){}^$|+*?\\]")


def unused_wildcards(operation: Operation) -> Iterator[warnings.MatchRecognizeWarning]:
    """Yield a warning for each text with a wildcard that the operator does not know.

    `kind LIKE 'payment*'` looks for an asterisk, and `kind = 'payment%'` for a percent sign. Texts
    that may hold such a sign for its own sake, such as `'10%'`, raise no warning.
    """
    operator = operation.operator
    for operand in operation.operands[1:2] if operator in _LIKES else operation.operands:
        text = text_of(operand)[1:-1]
        if operator in _LIKES:
            if _STAR_AS_WILDCARD.fullmatch(text):
                meant = text.replace(".*", "%").replace("*", "%")
                yield warnings.star_in_like(
                    operation.span, operator=operator, text=text, meant=meant
                )
        elif not _PERCENT_AS_WILDCARD.fullmatch(text):
            continue
        elif operator in _EQUALITIES:
            like = "NOT LIKE" if operator in ("<>", "!=", "NOT IN") else "LIKE"
            yield warnings.percent_in_equality(
                operation.span, operator=operator, text=text, like=like
            )
        elif operator in _TEXT_FUNCTIONS:
            yield warnings.percent_in_function(
                operation.span, function=operator.lower(), text=text, meant=text.strip("%")
            )
        elif operator in _REGEX_OPERATORS and not _REGEX_SYNTAX.search(text):
            like = "NOT LIKE" if operator.startswith("NOT") else "LIKE"
            yield warnings.percent_in_regex(operation.span, operator=operator, text=text, like=like)


def physical_navigation(plan: MatchPlan) -> Iterator[warnings.MatchRecognizeWarning]:
    """PREV of the current row, in the condition of a variable that follows another."""
    if plan.selection is EventSelection.STRICT_CONTIGUITY or plan.staging is not None:
        return
    first = first_variables(plan.pattern)
    for definition in plan.definitions:
        if definition.variable in first:
            continue
        for one in definition.condition.references:
            if isinstance(one, ColumnReference) and is_of_current_row(one, definition, plan, -1):
                read = plain(one)
                yield warnings.skipped_row(one.span, selection=plan.selection.value, argument=read)


def first_variables(pattern: patterns.RowPattern) -> frozenset[str]:
    match pattern:
        case patterns.Variable(name):
            return frozenset((name,))
        case patterns.Concatenation(parts):
            found: frozenset[str] = frozenset()
            for part in parts:
                found |= first_variables(part)
                if not patterns.may_be_empty(part):
                    break
            return found
        case _:
            return frozenset().union(*map(first_variables, patterns.children(pattern)))


# Remarks on the end of a row pattern, and on one that has only empty matches.
#
# Only the last part is looked at. Before it a variable without a condition is of use: the first row
# of `STRT DOWN+`, what lies between in `A X*? B`. Classifying all rows, `(UP | DOWN | X)+`, is too,
# and so is `A X*` in a window.


def ends(plan: MatchPlan) -> Iterator[warnings.MatchRecognizeWarning]:
    """What the last part of the row pattern takes."""
    is_preferred = plan.output is MatchOutput.PREFERRED
    prefers = prefers_empty(plan.pattern) and is_preferred
    if prefers or not patterns.variable_names(plan.pattern):
        yield warnings.empty_matches(plan.pattern.span, written=patterns.show(plan.pattern))
        return
    defined = {definition.variable for definition in plan.definitions}
    is_open = (plan.within, plan.within_rows, plan.row_gap) == (None, None, None) and defined
    for loop in last_loops(plan.pattern):
        match loop:
            case patterns.Quantified(part, least, greedy=False) if is_preferred:
                fixed = replace(loop, most=least, greedy=True)
                fewest = {0: "", 1: patterns.show(part)}.get(least, patterns.show(fixed))
                instead = patterns.show(replace(loop, greedy=True)), fewest
                yield warnings.reluctant_end(patterns.show(loop), least, instead, loop.span)
            case patterns.Quantified(patterns.Variable(name) as part, _, None, True) if is_open:
                if name not in defined:
                    shown = patterns.show(loop)
                    yield warnings.any_rows(loop.span, written=shown, variable=patterns.show(part))


def skipping_ends(plan: MatchPlan) -> Iterator[warnings.MatchRecognizeWarning]:
    """A repeated or optional part at the end of PATTERN that ends earlier than its rows do.

    With SKIP TILL, a preferred match ends before the first row that it would have to skip there.
    A non-overlapping match ends as soon as it is complete, whether or not it may skip rows.
    """
    skips = plan.selection is not EventSelection.STRICT_CONTIGUITY
    completes_first = plan.output is MatchOutput.NON_OVERLAPPING
    if not completes_first and not (skips and plan.output is MatchOutput.PREFERRED):
        return
    restricted = {one.variable for one in plan.definitions if not is_true(one.condition)}
    for loop in last_loops(plan.pattern):
        if not loop.greedy:
            continue
        if completes_first:
            yield warnings.loop_that_completes_first(patterns.show(loop), loop.least, loop.span)
        elif not restricted.isdisjoint(patterns.variable_names(loop)):  # else no row is skipped
            yield warnings.end_before_skipped_row(
                loop.span, written=patterns.show(loop), selection=plan.selection.value
            )


def is_true(condition: Scalar) -> bool:
    """Return whether a condition is TRUE, as it is written."""
    return not condition.references and render(condition, str).strip(" ()").upper() == "TRUE"


def negated_ends(plan: MatchPlan) -> Iterator[warnings.MatchRecognizeWarning]:
    """A NOT at the end of PATTERN that tests the next row only, with WITHIN.

    Where rows may be skipped, such a NOT holds until the window ends, which is what WITHIN beside
    it says to most readers.
    """
    is_in_window = plan.within is not None or plan.within_rows is not None
    if is_in_window and plan.selection is EventSelection.STRICT_CONTIGUITY and not plan.selects:
        for negation in last_negations(plan.pattern):
            yield warnings.not_for_next_row(negation.span, written=patterns.show(negation))


def last_negations(pattern: patterns.RowPattern) -> Iterator[patterns.Negation]:
    """Yield each NOT with which the pattern ends, outside loops.

    >>> from matchrec.syntax.row_pattern import parse_row_pattern
    >>> pattern = parse_row_pattern("A NOT B C (D | E NOT F)")
    >>> [patterns.show(one) for one in last_negations(pattern)]
    ['NOT F']
    """
    match pattern:
        case patterns.Negation():
            yield pattern
        case patterns.Concatenation(parts):
            yield from last_negations(parts[-1])
        case patterns.Alternation(parts):
            for part in parts:
                yield from last_negations(part)
        case patterns.Exclusion(part):
            yield from last_negations(part)


def prefers_empty(pattern: patterns.RowPattern) -> bool:
    """Whether the most preferred word has no rows and needs nothing else."""
    match pattern:
        case patterns.Empty():
            return True
        case patterns.Concatenation() | patterns.Permutation() | patterns.Exclusion():
            return all(map(prefers_empty, patterns.children(pattern)))
        case patterns.Alternation(parts):
            return prefers_empty(parts[0])
        case patterns.Quantified(most=0):
            return True
        case patterns.Quantified(part, least, _, greedy):
            return prefers_empty(part) if greedy or least else True
        case _:
            return False


# A part with one of these may not be left out everywhere in a partition.
_CONDITIONAL = patterns.PartitionStart | patterns.PartitionEnd | patterns.Negation


def last_loops(pattern: patterns.RowPattern) -> Iterator[patterns.Quantified]:
    """The quantified parts after which a match may end whatever follows."""
    match pattern:
        case patterns.Concatenation(parts):
            for part in reversed(parts):
                yield from last_loops(part)
                conditional = any(isinstance(one, _CONDITIONAL) for one in patterns.walk(part))
                if conditional or not patterns.may_be_empty(part):
                    return
        case patterns.Alternation(parts):
            for part in parts:
                yield from last_loops(part)
        case patterns.Exclusion(part):
            yield from last_loops(part)
        case patterns.Quantified(least=least, most=most) if least != most:
            yield pattern


# All rules, over one plan.

Rule = Callable[[MatchPlan], Iterator[warnings.MatchRecognizeWarning]]


def remarks(plan: MatchPlan) -> tuple[warnings.MatchRecognizeWarning, ...]:
    """Warnings about what in a plan is probably not meant, each once, in the order of the rules.

    plan: resolved, so that a column has one name. The rules are those of its language: events of
    SASE+ and stages of a Pattern may be of any kind, and what may be skipped is said of each.
    """
    rules = RULES_OF_SQL if current() is SQL else RULES
    found = {(type(one), one.message, one.spans): one for rule in rules for one in rule(plan)}
    return tuple(found.values())


def order(plan: MatchPlan) -> Iterator[warnings.MatchRecognizeWarning]:
    if not plan.order_by:
        yield warnings.no_order(plan.pattern.span)


def eaten_braces(plan: MatchPlan) -> Iterator[warnings.MatchRecognizeWarning]:
    """A variable without a condition whose name is that of a defined variable plus digits.

    A Python f-string turns `B{3}` into `B3`.
    """
    defined = {definition.variable for definition in plan.definitions}
    reported = set[str]()
    for node in patterns.walk(plan.pattern):
        if not isinstance(node, patterns.Variable) or node.name in defined | reported:
            continue
        if (name := name_without_digits(node.name)) in defined:
            reported.add(node.name)
            repetitions = node.name.removeprefix(name)
            yield warnings.braces_of_f_string(
                node.span, variable=patterns.show_name(node.name), name=name, count=repetitions
            )


def name_without_digits(name: str) -> str:
    """Return a name without the digits at its end.

    >>> name_without_digits("UP30"), name_without_digits("UP")
    ('UP', 'UP')
    """
    return name.rstrip("0123456789")


def conditions(plan: MatchPlan) -> Iterator[warnings.MatchRecognizeWarning]:
    """No DEFINE, and no window that says which rows go together."""
    names = patterns.variable_names(plan.pattern)
    if names and not plan.definitions and not plan.intervals:
        yield warnings.no_conditions(plan.pattern.span, variable=names[0])


RULES: tuple[Rule, ...] = (comparisons, physical_navigation)
RULES_OF_SQL: tuple[Rule, ...] = (
    *(order, conditions, ends, skipping_ends, negated_ends, eaten_braces),
    *RULES,
)
