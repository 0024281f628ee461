"""A query that holds MATCH_RECOGNIZE clauses: its text, and what stands where in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matchrec.dataclass import dataclass
from matchrec.frontends.sql.clause.nodes import MatchRecognize
from matchrec.plan.text.template import View
from matchrec.plan.use import EVERYTHING, Use
from matchrec.source import Source, Span

if TYPE_CHECKING:
    from matchrec.frontends.sql.windows.nodes import Block, RowPatternWindow


@dataclass(frozen=True, slots=True)
class Site:
    """One clause and the relation that it applies to.

    index: its turn in the order of evaluation. relation_alias: by which its columns may be
    qualified, or None. view: what stands for the clause's rows once it is evaluated.
    relation: the input's text, its alias included. whole: relation and clause, without the alias
    after it. with_clauses: of every WITH around the relation, outermost first, the part that can be
    used in it. use: what the query around the clause uses of its rows. window: what a row pattern
    window has beside its clause; its relation includes WHERE.
    """

    index: int
    clause: MatchRecognize
    relation_alias: str | None
    view: View
    relation: Span
    whole: Span
    with_clauses: tuple[Span, ...]
    use: Use = EVERYTHING
    window: RowPatternWindow | None = None


def view_name(index: int) -> str:
    """The view of a site's rows."""
    return f"match_recognize_{index}"


@dataclass(frozen=True, slots=True)
class Frame:
    """`{name}`, where a DataFrame of that name was passed."""

    view: View
    span: Span


@dataclass(frozen=True, slots=True)
class Query:
    """sites: in the order of evaluation. frames: outside clauses, left to right.

    markers: every `?` of a query with sites, left to right; pieces of the query name the marker at
    `span` by `parameter_name(span)`, because their order is lost when the text is cut up.
    keeps_text: Spark stores the text of the outer query, as in CREATE TEMPORARY VIEW and CACHE
    TABLE, and reads it again later: what fills its holes must stay. blocks: the SELECTs with row
    pattern windows.
    """

    source: Source
    sites: tuple[Site, ...] = ()
    frames: tuple[Frame, ...] = ()
    markers: tuple[Span, ...] = ()
    keeps_text: bool = False
    blocks: tuple[Block, ...] = ()
