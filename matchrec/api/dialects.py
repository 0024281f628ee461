"""`dialect=` of the public functions: a query of another product, read as Spark SQL."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import replace

from matchrec.frontends.dialects.product import SPARK, Product
from matchrec.frontends.dialects.products import PRODUCTS
from matchrec.frontends.dialects.translate import (
    Translation,
    translate_clause,
    translate_query,
)
from matchrec.frontends.lexing import dialect as lexing
from matchrec.frontends.sql import MatchRecognize, Query, parse, parse_clause
from matchrec.source import Origin, Source


def parse_query(text: str, frames: Collection[str], quotes: lexing.Dialect, dialect: str) -> Query:
    """A query in the SQL of `dialect`. quotes: how Spark's session reads texts."""
    product = PRODUCTS[dialect]
    if product is SPARK:
        return parse(text, frames, quotes)
    translation = translate_query(text, product, SPARK)
    query = parse(translation.text, frames, quotes, origin_of(translation, product))
    clauses = (replace(site.clause, columns=product.columns) for site in query.sites)
    sites = (replace(site, clause=one) for site, one in zip(query.sites, clauses, strict=True))
    return replace(query, sites=tuple(sites))


def parse_clause_of(
    text: str, quotes: lexing.Dialect, dialect: str
) -> tuple[MatchRecognize, Source]:
    """A clause in the SQL of `dialect`, and the text that it was read from."""
    product = PRODUCTS[dialect]
    if product is SPARK:
        return parse_clause(text, quotes), Source(text)
    translation = translate_clause(text, product, SPARK)
    origin = origin_of(translation, product)
    clause = parse_clause(translation.text, quotes, origin)
    return replace(clause, columns=product.columns), Source(translation.text, origin)


def origin_of(translation: Translation, product: Product) -> Origin:
    """Where the places of a translated text were; warns of what means something else in Spark."""
    source = Source(translation.edited.original)
    for note in translation.notes:
        warnings.warn(f"{product.title}: {note.shown(source)}", UserWarning, stacklevel=4)
    return Origin(source, translation.edited.before)
