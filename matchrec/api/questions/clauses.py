"""The one clause of a query that is asked about, and how its author wrote a condition."""

from __future__ import annotations

import re

from matchrec.errors.run import failures as errors
from matchrec.frontends.sql import Query
from matchrec.frontends.sql.nodes import Site
from matchrec.plan.expression import Scalar
from matchrec.plan.show import show_scalar
from matchrec.plan.text import is_reserved, unquoted
from matchrec.source import Source
from matchrec.tracing.parts import Write

ALIAS = re.compile(r"\s*(?:AS\s+)?(\w+|`[^`]+`)", re.IGNORECASE)


def chosen_clause(query: Query, asked: int | str | None) -> Site:
    """The clause with a number, as `explain` counts them from 1, or with an alias; the only one."""
    sites = query.sites
    if not sites:
        raise errors.no_clause()
    aliases = [alias_of(site, query.source) for site in sites]
    names = [f"{query.source.at(s.relation)} AS {a}" for s, a in zip(sites, aliases, strict=True)]
    if asked is None and len(sites) > 1:
        raise errors.several_clauses(names)
    if isinstance(asked, int) and not 1 <= asked <= len(sites):
        raise errors.unknown_clause(asked, names)
    if isinstance(asked, str):
        found = [i for i, one in enumerate(aliases) if one.lower() == asked.lower()]
        if len(found) != 1:
            raise errors.unknown_clause(asked, names)
        return sites[found[0]]
    return sites[(asked or 1) - 1]


def alias_of(site: Site, source: Source) -> str:
    """The alias of a clause's result, or that of its input, or nothing."""
    found = ALIAS.match(source.text, site.whole.end)
    if found and not is_reserved(found[1]):
        return unquoted(found[1])
    return site.relation_alias or ""


def written_in(source: Source) -> Write:
    """How the author of a text wrote an expression in it."""

    def write(scalar: Scalar) -> str:
        own, span = source.written(scalar.span)
        return " ".join(own.at(span).split()) or show_scalar(scalar)

    return write
