"""A query that holds clauses on its way to a DataFrame."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from matchrec.api.inputs import run_around
from matchrec.api.remarks import Remarks, remarks_on, warn
from matchrec.errors.calls import another_clause_over_a_stream
from matchrec.errors.kinds import shown_in
from matchrec.frontends.sql.locate import (
    in_scope,
    markers_of_outer,
    markers_of_rows,
    outer,
    rows_alone,
    rows_of,
    select_from,
)
from matchrec.frontends.sql.lower import lower
from matchrec.frontends.sql.nodes import Query, Site
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.text import Template, parameter_name
from matchrec.source import Span
from matchrec.spark.execute import ClauseResult, execute
from matchrec.spark.question import Options, is_streaming
from matchrec.spark.session import Relation, Runner

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Evaluation:
    """One query on its way to a DataFrame: clause after clause, innermost first."""

    def __init__(self, query: Query, runner: Runner, options: Options) -> None:
        self.query = query
        self.runner = runner
        self.options = options
        self.has_stream = False

    def dataframe(self) -> DataFrame:
        """The result of the whole query. Warns of what is probably not meant, before it can run."""
        warn(*(remark for one in self.all() for remark in self.remarks(one)))
        return self.outer()

    def remarks(self, result: ClauseResult) -> Remarks:
        """The remarks on one clause."""
        return remarks_on(result, self.query.source)

    def outer(self) -> DataFrame:
        """The query around the clauses, once these are evaluated."""
        text = outer(self.query)
        alone = rows_alone(text)
        if alone is not None:
            rows: DataFrame = self.runner.frames[alone.view.name]
            return rows if alone.alias is None else rows.alias(alone.alias)
        return run_around(self.query, self.as_written(markers_of_outer(self.query)), text)

    def as_written(self, markers: tuple[Span, ...]) -> Runner:
        """What runs text in which the user's keeps its place, and the `?` in it stay."""
        args = self.runner.args
        if isinstance(args, dict) and markers:
            args = [args[name] for name in map(parameter_name, markers) if name in args]
        return replace(self.runner, args=args, source=self.query.source)

    def all(self) -> list[ClauseResult]:
        """Every clause's result, each a view for the ones after it."""
        with shown_in(self.query.source):
            return [self.site(site) for site in self.query.sites]

    def check(self) -> None:
        """Raise what is wrong in a clause by itself."""
        with shown_in(self.query.source):
            for site in self.query.sites:
                self.plan(site)

    def plan(self, site: Site) -> MatchPlan:
        """What a clause asks for."""
        values = self.runner.args
        known = values if isinstance(values, dict) else {}
        if site.window is not None:
            from matchrec.frontends.sql.lower_windows import lower_window

            return lower_window(site.clause, site.window, known)
        return lower(site.clause, known)

    def site(self, site: Site) -> ClauseResult:
        """The result of a clause, from now on a view for others."""
        plan, relation = self.plan(site), self.relation(site)
        if self.has_stream and is_streaming(relation.rows):
            raise another_clause_over_a_stream(plan.pattern.span)
        result = execute(plan, relation, site.relation_alias, self.options, site.use)
        self.has_stream |= result.is_stream
        self.runner = self.runner.having(**{site.view.name: result.dataframe})
        if site.window is not None:
            self.name_columns(site, result.dataframe.columns)
        return result

    def name_columns(self, site: Site, columns: list[str]) -> None:
        """Says what `*` stands for around a window: the columns of its input."""
        own = {one.column for two in self.query.sites if two.window for one in two.window.calls}
        shown = tuple(name for name in columns if name not in own)
        blocks = (
            replace(one, columns=shown) if one.rows == site.whole else one
            for one in self.query.blocks
        )
        self.query = replace(self.query, blocks=tuple(blocks))

    def relation(self, site: Site) -> Relation:
        """The input of a clause, once those in it are evaluated."""

        def select_list_from(select_list: Template) -> Template:
            return select_from(self.query, site, select_list)

        def after_with(text: Template) -> Template:
            return in_scope(self.query, site, text)

        runner = replace(self.runner, in_scope=after_with)
        if site.window is not None and site.window.before is not None:
            return Relation(runner, select_list_from)
        as_written = self.as_written(markers_of_rows(self.query, site))
        query = rows_of(self.query, site)
        return Relation(runner, select_list_from, lambda: as_written.sql(query))
