"""The query around the clauses: what it asks of their rows, and what they do not have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from matchrec.errors.sql import clause as errors
from matchrec.frontends.sql.nodes import Site
from matchrec.source import Source, counted
from matchrec.spark.errors.users_terms import InUsersTerms
from matchrec.spark.execute import ClauseResult
from matchrec.spark.sail.words import UNGROUPED


@dataclass(frozen=True)
class Evaluated:
    """A clause of a query, with what has come out. source: the query."""

    site: Site
    result: ClauseResult
    source: Source

    def check_renames(self) -> None:
        """Raises MatchRecognizeError where the alias names more or fewer columns than there are."""
        names = self.site.renames
        if names and len(names) != len(self.columns):
            raise errors.other_number_of_names(
                names[0].to(names[-1]),
                given=counted(len(names), "name"),
                found=counted(len(self.columns), "column"),
                columns=self.columns,
            )

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of the clause, also those that the query does not use."""
        question = self.result.prepared.question
        return question.columns_of(question.rules[0])

    def cure(self, qualifier: str, name: str) -> str | None:
        """What to write for a column that is not there; None where it is none of the clause's."""
        site, inside = self.site, self.result.prepared.question.columns
        renamed = tuple(map(self.source.at, site.renames))
        columns = renamed or self.columns
        if name.lower() in map(str.lower, columns):
            is_named = qualifier.lower() == (site.own_alias or "").lower()
            return None if is_named else errors.cure_of_qualifier(name, site.own_alias)
        qualifiers = {"", *(one.lower() for one in (site.own_alias, site.alias) if one)}
        if qualifier.lower() in qualifiers and inside.find((name,)) is not None:
            return errors.cure_of_column_inside(name, columns)
        return None

    @property
    def used(self) -> list[str]:
        """The columns that the query names; none where that may be all."""
        named = self.site.use.columns or ()
        return [name for name in self.columns if name.lower() in named]


def add_cure(error: Exception, clauses: Sequence[Evaluated]) -> None:
    """Adds what to write to the error of a column that the outermost clause does not have, or that
    is in no group, where the query names no other.
    """
    if not isinstance(error, InUsersTerms):
        return
    if str(error).startswith(UNGROUPED):
        used = [name for one in clauses for name in one.used]
        if len(used) == 1:
            error.add_cure(errors.cure_of_ungrouped(used[0]))
        return
    qualifier, _, name = error.getMessageParameters().get("objectName", "").rpartition(".")
    qualifier, name = (part.replace("`", "") for part in (qualifier, name))
    cures = (one.cure(qualifier, name) for one in reversed(clauses) if name)
    cure = next(filter(None, cures), None)
    if cure is not None:
        error.add_cure(cure)
