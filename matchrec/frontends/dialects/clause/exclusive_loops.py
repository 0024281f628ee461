"""Greedy loops of Flink SQL, which never give back a row that they could take.

`PATTERN (A+ C)` there: the row of C must not be one that A could go on with. Elsewhere a loop gives
rows back where the rest of the pattern needs them. In conditions of others this is

    SUBSET loop_A_C = (A, C)  DEFINE C AS (...) AND NOT COALESCE(condition of A, FALSE)

where the union variable stands for A: its rows are those of A with the current row.
Source: Flink CEP, NFACompiler: a greedy state is left on the negation of its condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from matchrec.dataclass import dataclass
from matchrec.errors.sql.dialects import not_in
from matchrec.frontends.dialects.clause.limits import Feature, repeated_variables
from matchrec.frontends.dialects.edits import Edit, edited
from matchrec.frontends.dialects.notes import Note
from matchrec.frontends.dialects.product import Product
from matchrec.frontends.lexing.token_sequence import read_tokens
from matchrec.frontends.sql.clause.nodes import ExpressionText, MatchRecognize
from matchrec.plan.pattern import Quantified, RowPattern, Variable, show_name, top
from matchrec.source import Span


@dataclass(frozen=True, slots=True)
class Exit:
    """A row of `follower` that may come right after a greedy loop.

    between: the variables that have no rows then. most: of the loop's rows, None for no limit.
    is_repeated: whether the follower may have several rows.
    """

    loop: str
    follower: str
    between: tuple[str, ...]
    most: int | None
    is_repeated: bool

    @property
    def union(self) -> str:
        """The variable of the loop's rows with the follower's."""
        return show_name(f"LOOP_{self.loop}_{self.follower}")


def exclusive_loop_edits(
    clause: MatchRecognize, written: Callable[[ExpressionText], str]
) -> Iterator[Edit]:
    """What makes greedy loops exclusive. written: a condition in the language to write."""
    exits = tuple(_exits(clause.pattern))
    if not exits:
        return
    for span in repeated_variables(clause.pattern):
        raise not_in("Flink SQL", Feature.REPEATED.value, span)
    names = ", ".join(f"{one.union} = {_members(one)}" for one in exits)
    place = clause.windows[-1].span.end if clause.windows else clause.pattern_span.end
    yield Edit(Span(place, place), f" SUBSET {names}")
    conditions = {one.variable: one.condition for one in clause.definitions}
    new = []
    for follower in dict.fromkeys(one.follower for one in exits):
        guards = (_guard(one, conditions, written) for one in exits if one.follower == follower)
        text = " AND ".join(guards)
        if follower in conditions:
            span = conditions[follower].span
            yield Edit(Span(span.start, span.start), "(")
            yield Edit(Span(span.end, span.end), f") AND {text}")
        else:
            new.append(f"{show_name(follower)} AS {text}")
    if new and clause.definitions:
        end = clause.definitions[-1].condition.span.end
        yield Edit(Span(end, end), "".join(f", {one}" for one in new))


def exclusive_loop_notes(clause: MatchRecognize, write: Product) -> Iterator[Note]:
    """What is lost where greedy loops are exclusive in the other product alone."""
    for one in _exits(clause.pattern):
        yield Note(
            f"a loop never gives rows back in {write.title}: no row that `{one.loop}` could go on "
            f"with is a row of `{one.follower}`",
            clause.pattern_span,
        )


def _members(one: Exit) -> str:
    return f"({show_name(one.loop)}, {show_name(one.follower)})"


def _guard(
    one: Exit, conditions: dict[str, ExpressionText], written: Callable[[ExpressionText], str]
) -> str:
    """That the loop could not take the row."""
    condition = conditions.get(one.loop)
    parts = [f"COUNT({show_name(name)}.*) = 0" for name in one.between]
    if one.is_repeated:
        parts.append(f"COUNT({show_name(one.follower)}.*) = 1")
    if one.most is not None:
        parts.append(f"COUNT({show_name(one.loop)}.*) < {one.most}")
    if condition is not None:
        parts.append(f"({_of_union(written(condition), one)})")
    return f"NOT COALESCE({' AND '.join(parts) or 'TRUE'}, FALSE)"


def _of_union(condition: str, one: Exit) -> str:
    """A condition of the loop with the union variable in its place."""
    tokens = read_tokens(condition)
    edits = [
        Edit(token.span, one.union)
        for index, token in enumerate(tokens.tokens)
        if token.is_name and token.variable == one.loop and tokens.key(index + 1) == "."
    ]
    return edited(condition, edits).text


def _exits(pattern: RowPattern) -> Iterator[Exit]:
    """Which variables may follow a loop at once, in a pattern as Flink has them: of variables."""
    parts = top(pattern)
    for index, part in enumerate(parts):
        if not isinstance(part, Quantified) or not isinstance(part.part, Variable):
            continue
        if not part.greedy or part.least == part.most or (part.least, part.most) == (0, 1):
            continue
        between: list[str] = []
        for follower in parts[index + 1 :]:
            inner = follower.part if isinstance(follower, Quantified) else follower
            if not isinstance(inner, Variable) or inner.name == part.part.name:
                break
            repeated = isinstance(follower, Quantified) and follower.most != 1
            yield Exit(part.part.name, inner.name, tuple(between), part.most, repeated)
            if not isinstance(follower, Quantified) or follower.least > 0:
                break
            between.append(inner.name)
