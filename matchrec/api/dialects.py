"""`dialect=` of the public functions: a query of another product, read as Spark SQL.

The rules of products are loaded for those who ask for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from matchrec.api.evaluation import Evaluation
from matchrec.api.inputs import Arguments, dialect_of, runner_for
from matchrec.api.remarks import warn
from matchrec.errors.kinds import shown_in
from matchrec.errors.warnings.wording import other_in_product
from matchrec.frontends.dialects.products import PRODUCTS, SPARK, Product
from matchrec.frontends.sql import MatchRecognize, Query, parse, parse_clause
from matchrec.source import Origin, Source
from matchrec.spark.question import Options

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from matchrec.frontends.dialects.rules.place import ClauseKinds, Kinds, Tables
    from matchrec.frontends.dialects.translate import Translation

_UTC = frozenset({"UTC", "Etc/UTC", "GMT", "Z"})


def parse_query(
    spark: SparkSession, text: str, args: Arguments, frames: dict[str, Any], dialect: str
) -> Query:
    """A query in the SQL of `dialect`. Spark is asked for types where these change its meaning."""
    product, quotes = PRODUCTS[dialect], dialect_of(spark, text)
    if product is SPARK:
        return parse(text, frames, quotes)
    values, tables = args if isinstance(args, dict) else {}, tables_of(spark)
    shows_utc = spark.conf.get("spark.sql.session.timeZone") in _UTC
    from matchrec.frontends.dialects.translate import Knowledge, translate_query

    def read(kinds: Sequence[ClauseKinds]) -> tuple[Translation, Query]:
        known = Knowledge(kinds, values, tables, shows_utc)
        translation = translate_query(text, product, SPARK, known)
        query = parse(translation.text, frames, quotes, origin_of(translation))
        clauses = [replace(site.clause, columns=product.columns) for site in query.sites]
        sites = zip(query.sites, clauses, strict=True)
        return translation, replace(query, sites=tuple(replace(s, clause=c) for s, c in sites))

    translation, query = read(())
    for turn in range(len(query.sites) + 1):
        if not translation.missed or not query.sites:
            break
        evaluation = Evaluation(query, runner_for(spark, query, args, frames), Options())
        translation, query = read(_known_kinds(evaluation, turn))
    warn_of(translation, product)
    return query


def parse_clause_of(df: DataFrame, text: str, dialect: str) -> tuple[MatchRecognize, Source]:
    """A clause over `df` in the SQL of `dialect`, and the text that it was read from."""
    product, quotes = PRODUCTS[dialect], dialect_of(df.sparkSession, text)
    if product is SPARK:
        return parse_clause(text, quotes), Source(text)
    from matchrec.frontends.dialects.translate import translate_clause

    translation = translate_clause(text, product, SPARK)
    if translation.missed:
        translation = translate_clause(text, product, SPARK, kinds_of(df))
    warn_of(translation, product)
    origin = origin_of(translation)
    clause = parse_clause(translation.text, quotes, origin)
    return replace(clause, columns=product.columns), Source(translation.text, origin)


def _known_kinds(evaluation: Evaluation, turn: int) -> list[ClauseKinds]:
    """The columns of clauses up to one of them: of that one, those of its input."""
    from matchrec.frontends.dialects.rules.place import ClauseKinds

    sites = evaluation.query.sites
    with shown_in(evaluation.query.source):
        found = [_both_kinds(evaluation, index) for index in range(turn)]
        if turn < len(sites):
            found.append(ClauseKinds(kinds_of(evaluation.relation(sites[turn]).rows)))
    return found


def _both_kinds(evaluation: Evaluation, index: int) -> ClauseKinds:
    from matchrec.frontends.dialects.rules.place import ClauseKinds

    site = evaluation.query.sites[index]
    inputs = kinds_of(evaluation.relation(site).rows)
    return ClauseKinds(inputs, kinds_of(evaluation.site(site).dataframe))


def tables_of(spark: SparkSession) -> Tables:
    """What tells the columns of a table or view of the session, once it is asked."""
    from pyspark.errors import PySparkException

    @cache
    def columns(name: str) -> Kinds | None:
        try:
            return kinds_of(spark.table(name))
        except PySparkException:  # no such table: Spark will say so
            return None

    return columns


def kinds_of(df: DataFrame) -> Kinds:
    """The kinds of columns."""
    from matchrec.frontends.dialects.rules.place import kind_named

    return {one.name.lower(): kind_named(one.dataType.simpleString()) for one in df.schema.fields}


def origin_of(translation: Translation) -> Origin:
    """Where the places of a translated text were."""
    return Origin(Source(translation.edited.original), translation.edited.before)


def warn_of(translation: Translation, product: Product) -> None:
    """Warns of what means something else in Spark."""
    source = Source(translation.edited.original)
    notes = (one.shown(source) for one in translation.notes if not one.is_met)
    warn(*(other_in_product(product.title, note) for note in notes))
