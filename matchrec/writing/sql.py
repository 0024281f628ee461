"""A plan as Spark SQL with a row for each match."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from matchrec.errors import calls as errors
from matchrec.frontends.dialects.edits import Note
from matchrec.frontends.sql.locate import parse
from matchrec.frontends.sql.lower import lower
from matchrec.plan.clauses import EventSelection, MatchOutput, RowExpression, SkipTo
from matchrec.plan.expression import (
    Aggregate,
    ColumnReference,
    Reference,
    Scalar,
    references,
    render,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import show, show_name
from matchrec.plan.show import show_reference
from matchrec.writing.forms import reads_whole_rows, variables_read
from matchrec.writing.names import WORD, column, renamed, tidy, with_inner_references
from matchrec.writing.reading import ReadQuery, frames_of, refuse_sase_only
from matchrec.writing.stages import pattern_with_absences

_ELEMENT = re.compile(r"(\w+)\[(1|i)\]")
LANGUAGE = "MATCH_RECOGNIZE"


def for_sql(reading: ReadQuery) -> tuple[MatchPlan, tuple[Note, ...]]:
    """The plan that SQL can say, and notes on what it cannot; refuses what changes the matches."""
    refuse_sase_only(reading, LANGUAGE)
    plan = reading.plan
    for definition in plan.definitions:
        for one in references(definition.condition):
            if isinstance(one, Aggregate) and one.so_far:
                what = "an aggregate over the rows before: in DEFINE it includes the row itself"
                raise errors.cannot_write(LANGUAGE, what, one.span)
    kept = replace(
        plan,
        measures=tuple(one for one in plan.measures if not reads_whole_rows(one.value)),
        partition_by=plan.keys,
        equal=(),
    )
    return renamed(kept, sql_names(kept)), tuple(_notes(reading))


def _notes(reading: ReadQuery) -> Iterator[Note]:
    plan = reading.plan
    for key in plan.equal:
        if key.span is not None:
            yield Note(f"`{key.text.strip('`')}` becomes a column of the result", key.span)
    if any(reads_whole_rows(one.value) for one in plan.measures):
        message = "the events do not come out: MEASURES takes columns by name, as RETURN does"
        yield Note(message, reading.places.pattern)


def sql_names(plan: MatchPlan) -> dict[str, str]:
    """Names in upper case that need no quotes: `a[1]` is A_1. Those that would clash stay."""
    known = [*plan.variables, *plan.unions]
    wanted = {name: _ELEMENT.sub(r"\1_\2", name).upper() for name in known}
    new = list(wanted.values())
    return {
        name: one
        for name, one in wanted.items()
        if WORD.fullmatch(one) and new.count(one) == 1 and (one not in known or one == name)
    }


def write_sql(plan: MatchPlan, table: str) -> str:
    """The query. The plan is one of `for_sql`."""
    body = "\n  ".join(_lines(plan))
    return f"SELECT * FROM {table} MATCH_RECOGNIZE (\n  {body}\n)"


def read_again(text: str) -> MatchPlan:
    """The plan of the text that was written."""
    (site,) = parse(text, frames_of(text)).sites
    return lower(site.clause)


def _partition_key(key: RowExpression) -> str:
    return key.text if key.name is None else f"{key.text} AS {column(key.name)}"


def _lines(plan: MatchPlan) -> Iterator[str]:
    if plan.partition_by:
        yield f"PARTITION BY {', '.join(map(_partition_key, plan.partition_by))}"
    if plan.order_by:
        yield f"ORDER BY {', '.join(item.expression.text for item in plan.order_by)}"
    if plan.measures:
        values = ((_scalar(one.value), column(one.name)) for one in plan.measures)
        yield _list("MEASURES", (f"{value} AS {name}" for value, name in values))
    if plan.output is MatchOutput.PREFERRED and plan.after_match.to is not SkipTo.PAST_LAST_ROW:
        yield plan.after_match.words
    yield " ".join([f"PATTERN ({show(pattern_with_absences(plan))})", *_selection(plan)])
    windows = list(_windows(plan))
    if windows:
        yield f"WITHIN {', '.join(windows)}"
    read = set(variables_read(plan))
    subsets = [one for one in plan.subsets if one.name in read]
    if subsets:
        members = ((show_name(s.name), ", ".join(map(show_name, s.members))) for s in subsets)
        yield _list("SUBSET", (f"{name} = ({of})" for name, of in members))
    if plan.definitions:
        conditions = ((show_name(d.variable), _scalar(d.condition)) for d in plan.definitions)
        yield _list("DEFINE", (f"{name} AS {condition}" for name, condition in conditions))


def _windows(plan: MatchPlan) -> Iterator[str]:
    """The windows of a match, and those inside of it."""
    if plan.within is not None:
        yield plan.within.interval.text
    if plan.within_rows is not None:
        yield f"{plan.within_rows} ROWS"
    for gap in plan.gaps:
        if gap.after is None or gap.to is None:
            yield f"{gap.interval.text} BETWEEN ROWS"
        else:
            yield f"{gap.interval.text} FROM {show_name(gap.after)} TO {show_name(gap.to)}"


def _selection(plan: MatchPlan) -> Iterator[str]:
    """What stands behind the row pattern; nothing where it says what the standard does."""
    preferred = plan.output is MatchOutput.PREFERRED
    if not preferred or plan.selection is not EventSelection.STRICT_CONTIGUITY:
        yield plan.selection.value
    if not preferred:
        yield plan.output.value
    if plan.first_matches is not None:
        yield plan.first_matches.words


def _list(keyword: str, items: Iterator[str]) -> str:
    indent = " " * (len(keyword) + 3)
    return f"{keyword} " + f",\n{indent}".join(items)


def _scalar(scalar: Scalar) -> str:
    return render(scalar, lambda one: show_reference(_tidy(one)))


def _tidy(reference: Reference) -> Reference:
    """The reference with no more quotes than it needs, those inside of an aggregate too."""
    match reference:
        case ColumnReference():
            return replace(reference, argument=tidy(reference.argument))
        case Aggregate():
            return with_inner_references(reference, _tidy)
        case _:
            return reference
