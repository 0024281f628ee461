"""Explanation: what a query's clauses compile to, stage by stage, and which engine runs them."""

from __future__ import annotations

import html
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import indent

from matchrec.executable import Executable
from matchrec.output.reads import Read
from matchrec.plan.clauses import AfterMatchSkip
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.row_column import RowColumn, Shifted


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
        yield "conditions", "\n".join(condition_lines(executable))
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


def show_column(column: RowColumn) -> str:
    """A column's text, with rows at a distance written as PREV and NEXT."""
    return "".join(show_piece(piece) for piece in column.pieces)


def show_piece(piece: str | Shifted) -> str:
    if isinstance(piece, str) or not piece.offset:
        return piece if isinstance(piece, str) else piece.argument
    direction = "PREV" if piece.offset < 0 else "NEXT"
    return f"{direction}({piece.argument}, {abs(piece.offset)})"


def condition_lines(executable: Executable) -> Iterator[str]:
    conditions = zip(executable.task.variables, executable.task.conditions, strict=True)
    for variable, condition in conditions:
        parts = []
        if condition.row_condition is not None:
            parts.append(f"bit {condition.row_condition}")
        if condition.glue is not None:
            parts.append("a condition on the run, evaluated by the engine")
        yield f"{variable}: {' and '.join(parts) or 'true'}"
    depends = not executable.task.looks_only_at_data
    yield "they depend on the run" if depends else "they look only at the data"


def row_lines(plan: MatchPlan) -> Iterator[str]:
    yield plan.rows_per_match.value
    yield f"AFTER MATCH SKIP {show_skip(plan.after_match)}"


def show_skip(skip: AfterMatchSkip) -> str:
    return f"{skip.to.value} {skip.variable}" if skip.variable else skip.to.value


def after_lines(executable: Executable) -> Iterator[str]:
    for output in executable.outputs:
        text = "".join(
            piece if isinstance(piece, str) else show_read(executable.reads[piece])
            for piece in output.pieces
        )
        yield f"{output.name} = {text}"


def show_read(read: Read) -> str:
    """A read as `kind(fields)`."""
    fields = [str(getattr(read, name)) for name in read.__dataclass_fields__]
    return f"{type(read).__name__.removeprefix('Read')}({', '.join(fields)})"
