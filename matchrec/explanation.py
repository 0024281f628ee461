"""Explanation: what a query's clauses compile to, stage by stage, and which engine runs them."""

from __future__ import annotations

import html
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import indent

from typing_extensions import assert_never

from matchrec.executable import Executable
from matchrec.output.reads import (
    Read,
    ReadAt,
    ReadAverage,
    ReadClassifierAt,
    ReadCollected,
    ReadCount,
    ReadExtreme,
    ReadIsMatched,
    ReadMatchedRows,
    ReadMatchNumber,
    ReadPointer,
    ReadPosition,
    ReadRow,
    ReadSum,
)
from matchrec.plan.clauses import AfterMatchSkip
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.show import (
    show_aggregate,
    show_classifier,
    show_column,
    show_navigation,
    show_scalar,
    show_semantics,
)


@dataclass(frozen=True)
class ExplainedClause:
    """One MATCH_RECOGNIZE clause: its plan, resolved, and what runs it."""

    plan: MatchPlan
    executable: Executable

    def __str__(self) -> str:
        return "\n".join(f"{title}\n{indent(text, '  ')}" for title, text in self.sections())

    def sections(self) -> Iterator[tuple[str, str]]:
        """Titles and texts, in the order of the stages."""
        executable = self.executable
        yield "row pattern", executable.pattern
        yield "partitions and order", "\n".join(partition_lines(self.plan))
        yield "computed by Spark before the match", "\n".join(before_lines(executable))
        yield "conditions", "\n".join(condition_lines(self.plan, executable))
        yield "program (NFA^b; edges in preferment order)", str(executable.task.program)
        yield "engine", f"{executable.engine.name}: {executable.reason}"
        yield "rows", "\n".join(row_lines(self.plan))
        yield "computed by Spark after the match", "\n".join(after_lines(executable))

    @property
    def dot(self) -> str:
        """The program in Graphviz's language."""
        return self.executable.task.program.dot()


@dataclass(frozen=True)
class Explanation:
    """What a query compiles to; prints as text, shows as a picture in a notebook."""

    clauses: tuple[ExplainedClause, ...]

    def __str__(self) -> str:
        if not self.clauses:
            return "no MATCH_RECOGNIZE clause: the query is Spark's alone"
        if len(self.clauses) == 1:
            return str(self.clauses[0])
        numbered = enumerate(self.clauses, 1)
        return "\n\n".join(f"clause {number}\n{indent(str(one), '  ')}" for number, one in numbered)

    @property
    def dot(self) -> str:
        """The programs of all clauses in Graphviz's language, one graph after the other."""
        return "\n".join(clause.dot for clause in self.clauses)

    def svg(self) -> list[str]:
        """A drawing of each clause's program. Raises RuntimeError without Graphviz's `dot`."""
        if shutil.which("dot") is None:
            raise RuntimeError("drawing needs the program `dot`: install Graphviz, then try again")
        import graphviz

        return [
            graphviz.Source(clause.dot).pipe("svg", encoding="utf-8") for clause in self.clauses
        ]

    def _repr_html_(self) -> str:
        drawings = self.svg() if shutil.which("dot") is not None else []
        return "".join(drawings) + f"<pre>{html.escape(str(self))}</pre>"


def partition_lines(plan: MatchPlan) -> Iterator[str]:
    keys = ", ".join(part.text for part in plan.partition_by)
    yield f"partition by {keys}" if keys else "all rows form one partition"
    orders = [
        item.expression.text
        + (" DESC" if item.descending else "")
        + ("" if item.nulls_first is None else f" NULLS {'FIRST' if item.nulls_first else 'LAST'}")
        for item in plan.order_by
    ]
    yield f"order by {', '.join(orders)}" if orders else "no order: the result may differ each time"


def before_lines(executable: Executable) -> Iterator[str]:
    for index, column in enumerate(executable.columns):
        yield f"c{index} = {show_column(column)}"
    for index, condition in enumerate(executable.conditions):
        yield f"bit {index} = {show_column(condition)}"
    if not executable.columns and not executable.conditions:
        yield "nothing"


def condition_lines(plan: MatchPlan, executable: Executable) -> Iterator[str]:
    written = {one.variable: show_scalar(one.condition) for one in plan.definitions}
    conditions = zip(executable.task.variables, executable.task.conditions, strict=True)
    for variable, condition in conditions:
        bit = None if condition.row_condition is None else f"bit {condition.row_condition}"
        if condition.glue is None:
            yield f"{variable}: {bit or 'true'}"
        else:
            also = f"{bit}, and " if bit else ""
            yield f"{variable}: {also}on the run: {written[variable]}"
    depends = not executable.task.looks_only_at_data
    yield "they depend on the run" if depends else "they look only at the data"


def row_lines(plan: MatchPlan) -> Iterator[str]:
    yield plan.rows_per_match.value
    yield f"AFTER MATCH SKIP {show_skip(plan.after_match)}"


def show_skip(skip: AfterMatchSkip) -> str:
    return f"{skip.to.value} {skip.variable}" if skip.variable else skip.to.value


def after_lines(executable: Executable) -> Iterator[str]:
    columns = [show_column(column) for column in executable.columns]
    for index, pieces in enumerate(executable.grouped):
        yield f"__g{index} = {''.join(show_part(part, executable, columns) for part in pieces)}"
    for output in executable.outputs:
        text = "".join(show_part(piece, executable, columns) for piece in output.pieces)
        yield f"{output.name} = {text}"


def show_part(piece: str | int, executable: Executable, columns: list[str]) -> str:
    """A piece of text, or a read as one would write it."""
    return piece if isinstance(piece, str) else show_read(executable.reads[piece], columns)


def show_read(read: Read, columns: list[str]) -> str:
    """A read as one would write it; columns: the texts of the columns that cross."""
    match read:
        case ReadRow(column):
            return columns[column]
        case ReadAt(column, navigation):
            return show_semantics(
                navigation.semantics, show_navigation(navigation, columns[column])
            )
        case ReadClassifierAt(navigation):
            return show_semantics(navigation.semantics, show_classifier(navigation))
        case ReadMatchNumber():
            return "MATCH_NUMBER()"
        case ReadMatchedRows():
            return "the rows of the match"
        case ReadPointer(field):
            return f"the pointer's {field.value}"
        case ReadPosition():
            return "the position in the match"
        case ReadIsMatched():
            return "whether the row is matched"
        case ReadCollected():
            text = show_aggregate("collect_list", read.variable, columns[read.column])
            return show_semantics(read.semantics, text)
        case ReadCount() | ReadSum() | ReadAverage() | ReadExtreme():
            argument = "*" if read.column is None else columns[read.column]
            text = show_aggregate(function_of(read), read.variable, argument)
            return show_semantics(read.semantics, text)
        case _:
            assert_never(read)


def function_of(read: ReadCount | ReadSum | ReadAverage | ReadExtreme) -> str:
    """The name of the aggregate function."""
    match read:
        case ReadCount():
            return "count"
        case ReadSum():
            return "sum"
        case ReadAverage():
            return "avg"
        case ReadExtreme(greatest=greatest):
            return "max" if greatest else "min"
        case _:
            assert_never(read)
