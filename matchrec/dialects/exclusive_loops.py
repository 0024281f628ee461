"""Quantifiers of Flink SQL: exclusive loops, which give no row back, and a `?` that is reluctant.

In `PATTERN (A+ C)` of Flink, the loop must not be able to take the row of C as another row of A.
In other products, a loop gives rows back if the rest of the pattern needs them. For these products,
a condition in DEFINE has the same effect:

    SUBSET LOOP_A_C = (A, C)  DEFINE C AS (...) AND NOT COALESCE((condition of A), FALSE)

`LOOP_A_C` replaces A in the condition: its rows are the rows of A and the current row. The number
of rows of the loop does not matter: in `A{1,2} C`, the row of C must not satisfy A's condition
after two rows, either.
Source: Flink CEP, NFACompiler: a greedy state is left on the negation of its condition.

In Flink, `D?` is neither a loop nor greedy: in `D? E`, a row that can be E is E. So it means `D??`.
Source: Flink, CommonExecMatch.applyQuantifier: `optional()`, without `greedy()`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from matchrec.dialects.edits import Edit, TranslationNote, apply_edits
from matchrec.dialects.features import Feature, find_repeated_variables, is_optional
from matchrec.dialects.limits import has_feature
from matchrec.dialects.products import Product
from matchrec.errors.sql.products import unsupported_by_product
from matchrec.plan.pattern import Quantified, RowPattern, Variable, list_top_level_parts, show_name
from matchrec.source import Span
from matchrec.syntax.nodes import MatchRecognize
from matchrec.syntax.tokenize import read_tokens


@dataclass(frozen=True, slots=True)
class LoopExit:
    """A variable whose row may come right after a greedy loop."""

    # The variable of the loop.
    loop: str
    # The variable that follows.
    follower: str
    # The variables between the loop and the follower, which have no rows in this case.
    between: tuple[str, ...]
    # Whether the follower may have several rows.
    is_repeated: bool

    @property
    def union(self) -> str:
        """Return the name of the union variable for the rows of the loop and of the follower."""
        return show_name(f"LOOP_{self.loop}_{self.follower}")


def edit_exclusive_loops(
    clause: MatchRecognize, write: Product, translate: Callable[[Span], str]
) -> Iterator[Edit]:
    """Yield the edits that make the greedy loops of a clause exclusive.

        PATTERN (A+ C) DEFINE A AS x > 1, C AS y > 1

        PATTERN (A+ C) SUBSET LOOP_A_C = (A, C)
        DEFINE A AS x > 1, C AS (y > 1) AND NOT COALESCE((LOOP_A_C.x > 1), FALSE)

    Args:
        clause: the clause.
        write: the product that is written.
        translate: returns a condition, given its span, in the SQL of that product.

    Raises:
        MatchRecognizeError: a variable is repeated in the pattern, or there is no SUBSET in the
            product that is written.
    """
    exits = tuple(_find_loop_exits(clause.pattern))
    if not exits:
        return
    repeated_variable = next(find_repeated_variables(clause.pattern), None)
    if repeated_variable is not None:
        raise unsupported_by_product(
            repeated_variable, product="Flink SQL", what="repeated variables in PATTERN", hint=None
        )
    if not has_feature(write, Feature.SUBSET):
        raise unsupported_by_product(
            clause.pattern_span,
            product=write.title,
            what="SUBSET, without which a greedy loop gives rows back",
            hint="write {2} or *?",
        )
    subsets = [
        f"{loop_exit.union} = ({show_name(loop_exit.loop)}, {show_name(loop_exit.follower)})"
        for loop_exit in exits
    ]
    end = clause.windows[-1].span.end if clause.windows else clause.pattern_span.end
    yield Edit(Span(end, end), f" SUBSET {', '.join(subsets)}")  # Flink SQL itself has no SUBSET
    conditions = {
        definition.name: definition.expression.full_span for definition in clause.definitions
    }
    guards_by_follower: dict[str, list[str]] = {}
    for loop_exit in exits:
        guard = _write_guard(loop_exit, conditions, translate)
        guards_by_follower.setdefault(loop_exit.follower, []).append(guard)
    yield from _add_guards(clause, conditions, guards_by_follower, end)


def _add_guards(
    clause: MatchRecognize,
    conditions: Mapping[str, Span],
    guards_by_follower: Mapping[str, list[str]],
    subset_end: int,
) -> Iterator[Edit]:
    """Yield the edits that add guards to the conditions in DEFINE.

    A guard is what `_write_guard` returns: a condition that must also hold for a variable.

    Args:
        clause: the clause.
        conditions: the spans of the conditions in DEFINE, by variable.
        guards_by_follower: the guards of each variable, by its name.
        subset_end: the offset after SUBSET, at which a missing DEFINE is inserted.
    """
    new_definitions = []
    for follower, guards in guards_by_follower.items():
        guard = " AND ".join(guards)
        span = conditions.get(follower)
        if span is None:
            new_definitions.append(f"{show_name(follower)} AS {guard}")
        else:
            yield Edit(Span(span.start, span.start), "(")
            yield Edit(Span(span.end, span.end), f") AND {guard}")
    if not new_definitions:
        return
    text = ", ".join(new_definitions)
    if clause.definitions:
        end = clause.definitions[-1].expression.full_span.end
        yield Edit(Span(end, end), f", {text}")
    else:
        yield Edit(Span(subset_end, subset_end), f" DEFINE {text}")


def _write_guard(
    loop_exit: LoopExit, conditions: Mapping[str, Span], translate: Callable[[Span], str]
) -> str:
    """Return the condition that the loop could not have taken the follower's row.

        PATTERN (A+ B? C*)   for A and C   NOT COALESCE(COUNT(B.*) = 0 AND COUNT(C.*) = 1
                                           AND (condition of A), FALSE)

    The loop could have taken the row only if no variable between the two has a row, and if the row
    is the first row of the follower.

    Args:
        loop_exit: the loop and the follower.
        conditions: the spans of the conditions in DEFINE, by variable.
        translate: see `edit_exclusive_loops`.
    """
    parts = [f"COUNT({show_name(name)}.*) = 0" for name in loop_exit.between]
    if loop_exit.is_repeated:
        parts.append(f"COUNT({show_name(loop_exit.follower)}.*) = 1")
    condition = conditions.get(loop_exit.loop)
    if condition is not None:
        parts.append(f"({_rename_loop(translate(condition), loop_exit)})")
    return f"NOT COALESCE({' AND '.join(parts) or 'TRUE'}, FALSE)"


def _rename_loop(condition: str, loop_exit: LoopExit) -> str:
    """Return the condition of a loop with its variable replaced by the union variable.

    `LAST(A.x) > 1` becomes `LAST(LOOP_A_C.x) > 1`.
    """
    tokens = read_tokens(condition)
    edits = [
        Edit(token.span, loop_exit.union)
        for index, token in enumerate(tokens.tokens)
        if token.is_name and token.variable == loop_exit.loop and tokens.key(index + 1) == "."
    ]
    return apply_edits(condition, edits).text


def _find_loop_exits(row_pattern: RowPattern) -> Iterator[LoopExit]:
    """Yield the variables that may follow each greedy loop at once.

    Flink's patterns are sequences of variables with quantifiers:

        A+ B? C    the loop A may be followed by B, and by C if B has no row
    """
    parts = [
        part if isinstance(part, Quantified) else Quantified(part, 1, 1)
        for part in list_top_level_parts(row_pattern)
    ]
    parts = [part for part in parts if part.most != 0]
    for index, loop in enumerate(parts):
        is_loop = loop.is_greedy and loop.least != loop.most and not is_optional(loop)
        if not is_loop or not isinstance(loop.part, Variable):
            continue
        between: list[str] = []
        for follower in parts[index + 1 :]:
            variable = follower.part
            if not isinstance(variable, Variable) or variable.name == loop.part.name:
                break
            yield LoopExit(loop.part.name, variable.name, tuple(between), follower.most != 1)
            if follower.least > 0:
                break
            between.append(variable.name)


def edit_optional_parts(clause: MatchRecognize, read: Product, write: Product) -> Iterator[Edit]:
    """Yield the edits that write Flink's `D?` as `D??` elsewhere, and `D??` as `D?` for Flink.

    The last part of a pattern stays as it is, because Flink does not allow `?` there.
    """
    if read.has_exclusive_loops is write.has_exclusive_loops:
        return
    for part in _find_optional_parts(clause.pattern):
        if part.span is None:
            continue
        end = part.span.end
        if read.has_exclusive_loops and part.is_greedy:
            yield Edit(Span(end, end), "?")
        elif write.has_exclusive_loops and not part.is_greedy:
            yield Edit(Span(end - 1, end), "")


def _find_optional_parts(row_pattern: RowPattern) -> Iterator[Quantified]:
    """Yield the parts of a pattern with `?` or `??`, except for the last part."""
    for part in list_top_level_parts(row_pattern)[:-1]:
        if isinstance(part, Quantified) and is_optional(part):
            yield part


def note_exclusive_loops(clause: MatchRecognize, write: Product) -> Iterator[TranslationNote]:
    """Yield notes on matches that are lost because only the written product has exclusive loops.

    In such a product, `?` is reluctant as well.

    Args:
        clause: the clause, in the SQL of a product in which loops give rows back.
        write: the product that is written.
    """
    for part in _find_optional_parts(clause.pattern):
        if part.is_greedy:
            message = (
                f"`?` means `??` in {write.title}: a row that fits what follows is mapped to that"
            )
            yield TranslationNote(message, part.span or clause.pattern_span)
    never = f"a loop never gives rows back in {write.title}"
    for loop_exit in _find_loop_exits(clause.pattern):
        message = (
            f"{never}: a row that fits `{loop_exit.loop}` is never mapped to `{loop_exit.follower}`"
        )
        yield TranslationNote(message, clause.pattern_span)
