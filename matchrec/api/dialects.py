"""`dialect=` of the public functions: a query of another product, read as Spark SQL.

Where the dialect that was passed does not read a query, an error names the one that does. The
rules of products are loaded for those who ask for them.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from matchrec.api import inputs
from matchrec.api.evaluate import SqlQuery, lower_site
from matchrec.dialects.products import PRODUCTS, SPARK, Product, products_shown
from matchrec.errors import MatchRecognizeError
from matchrec.errors.kinds import shown_in
from matchrec.errors.sql.foreign_names import or_dialect
from matchrec.errors.warnings import other_in_product, warn_caller
from matchrec.shortcuts import once
from matchrec.source import Source
from matchrec.spark.backends import backend_of
from matchrec.spark.errors.users_terms import InUsersTerms
from matchrec.spark.question import NO_OPTIONS
from matchrec.syntax import tokens as lexing
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.locate import QueryNode, parse
from matchrec.syntax.nodes import MatchRecognize
from matchrec.syntax.spellings import find_spellings

if TYPE_CHECKING:
    from matchrec.dialects.rules.place import ClauseKinds, Kinds, Tables
    from matchrec.dialects.translate import Translation

parse_once, parse_clause_once = once(parse), once(parse_clause)
find_spellings_once = once(find_spellings)


def parse_query(
    spark: SparkSession, text: str, args: inputs.Arguments, frames: inputs.Frames, dialect: str
) -> QueryNode:
    """Parse a query in the SQL of `dialect`.

    Spark is asked for types of columns only if they change the meaning of the query.
    """
    product, quotes = PRODUCTS[dialect], inputs.find_quote_dialect(spark, text)
    if product is SPARK:
        return spelt_for(spark, parse_once(text, tuple(frames), quotes), quotes)
    values, tables = args if isinstance(args, dict) else {}, tables_of(spark)
    from matchrec.dialects.translate import Knowledge, translate_query

    def read(kinds: Sequence[ClauseKinds]) -> tuple[Translation, QueryNode]:
        translation = translate_query(text, product, SPARK, Knowledge(kinds, values, tables))
        query = parse(translation.text, frames, quotes, translation.source.origin)
        query = spelt_for(spark, query, quotes)
        sites = (replace(s, clause=replace(s.clause, columns=product.columns)) for s in query.sites)
        return translation, replace(query, sites=tuple(sites))

    translation, query = read(())
    for turn in range(len(query.sites) + 1):
        if not translation.missed or not query.sites:
            break
        runner = inputs.build_runner(spark, query, args, frames)
        translation, query = read(find_kinds(SqlQuery(query, runner, NO_OPTIONS), turn))
    warn_of(translation, Source(text), product)
    return query


def spelt_for(spark: SparkSession, query: QueryNode, quotes: lexing.Dialect) -> QueryNode:
    """Return the query with the spellings that the session's engine reads.

    Raises MatchRecognizeUnsupportedError for what Sail reads otherwise than Spark.
    """
    if not query.sites or backend_of(spark).reads_sql_of_spark:
        return query
    with shown_in(query.source):
        spellings = find_spellings_once(query.source.text, quotes)
    return replace(query, spellings=spellings) if spellings else query


def parse_clause_of(
    df: DataFrame, text: str, dialect: str, values: Mapping[str, str] | None = None
) -> tuple[MatchRecognize, Source]:
    """Parse a clause over `df` in the SQL of `dialect`, and return it with its text.

    Args:
        df: the input of the clause.
        text: the clause as the user wrote it.
        dialect: the product whose SQL it is.
        values: the values of its markers, as SQL.
    """
    product, quotes = PRODUCTS[dialect], inputs.find_quote_dialect(df.sparkSession, text)
    if product is SPARK:
        if values is None:
            return parse_clause_once(text, quotes), Source(text)
        source = inputs.fill_markers(Source(text), values)
        return parse_clause(source.text, quotes, source.origin), source
    from matchrec.dialects.translate import translate_clause

    found = translate_clause(text, product, SPARK)
    if found.missed:
        found = translate_clause(text, product, SPARK, kinds_of(df))
    warn_of(found, Source(text), product)
    source = found.source if values is None else inputs.fill_markers(found.source, values)
    clause = parse_clause(source.text, quotes, source.origin)
    return replace(clause, columns=product.columns), source


# Mistakes that show before there is a session, which takes seconds to start. What was read here is
# not read again once there is one, unless that says what double quotes are, or types of columns.


def check_query(text: str, language: str, values: Mapping[str, object]) -> None:
    """Raise an error for a mistake that can be found without a session.

    Args:
        text: the query.
        language: a dialect, or "sase".
        values: the values of its `:name` markers.
    """
    with said_alone(text):
        if language == "sase":
            from matchrec.patterns.sase.parser import parse_once as parse_sase_once

            parse_sase_once(text, None)
        elif PRODUCTS[language] is SPARK:
            query = parse_once(text, (), lexing.SPARK)
            with shown_in(query.source):
                for site in query.sites:
                    lower_site(site, values)
        else:
            from matchrec.dialects.translate import Knowledge, translate_query

            translate_query(text, PRODUCTS[language], SPARK, Knowledge(values=values))
        inputs.refuse_unused(text, values)


def check_clause(text: str) -> None:
    """Raise MatchRecognizeError for a mistake in the syntax of a clause of Spark SQL."""
    with said_alone(text):
        parse_clause_once(text, lexing.SPARK)


@contextmanager
def said_alone(text: str) -> Iterator[None]:
    """Drop an error raised inside if a session would report more about it.

    A session does so if a setting decides what double quotes mean, and if another product reads
    the text.
    """
    try:
        yield
    except MatchRecognizeError as error:
        if '"' not in text and not products_shown(f"{text}\n{error}"):
            raise


def find_kinds(query: SqlQuery, count: int) -> list[ClauseKinds]:
    """Return the types of columns around the first `count` clauses, and before the next one.

    Each clause has the types of its input and of its result; the next clause has only the types of
    its input, because it may not be planned before its text is translated with them.
    """
    from matchrec.dialects.rules.place import ClauseKinds

    with shown_in(query.source):
        evaluated = query.evaluate_first(count)
        found = [
            ClauseKinds(kinds_of(planned.clause.relation.rows), kinds_of(planned.result.dataframe))
            for planned in evaluated.clauses
        ]
        if count < len(query.node.sites):
            next_clause = evaluated.build_clause(query.node.sites[count])
            found.append(ClauseKinds(kinds_of(next_clause.relation.rows)))
    return found


def tables_of(spark: SparkSession) -> Tables:
    """Return a function that looks up the columns of a table or view of the session."""

    @cache
    def columns(name: str) -> Kinds | None:
        try:
            return kinds_of(spark.table(name))
        except PySparkException:  # no such table: Spark will say so
            return None

    return columns


def kinds_of(df: DataFrame) -> Kinds:
    from matchrec.dialects.rules.place import kind_named

    return {one.name.lower(): kind_named(one.dataType.simpleString()) for one in df.schema.fields}


def warn_of(translation: Translation, source: Source, product: Product) -> None:
    notes = (note.shown(source) for note in translation.notes if not note.is_met)
    warn_caller(*(other_in_product(title=product.title, message=note) for note in notes))


# The dialect that reads a query, where the one that was passed does not.

Plan = Callable[[str], object]  # what plans a query in a dialect


@contextmanager
def naming_dialect(text: str, dialect: str, plan: Plan) -> Iterator[None]:
    """Make errors raised inside name another dialect, if the text can be planned in it."""
    try:
        yield
    except (MatchRecognizeError, AnalysisException) as error:
        shown = str(error)
        if re.search(r"dialect=|--dialect ", shown) is None:
            others = (one for one in products_shown(f"{text}\n{shown}") if one != dialect)
            found = next((one for one in others if is_planned(plan, one)), None)
            if found is not None and isinstance(error, InUsersTerms):
                error.add_cure(or_dialect(None, found))
            elif found is not None and isinstance(error, MatchRecognizeError):
                error.hint = or_dialect(error.hint, found)
        raise


def is_planned(plan: Plan, dialect: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plan(dialect)
        except (PySparkException, LookupError, ValueError):  # ours, or sqlglot's on what is no SQL
            return False
    return True


_QUERY = re.compile(
    r"(\s|--[^\n]*\n|/\*([^*]|\*(?!/))*\*/|\()*(SELECT|WITH|FROM|VALUES)\b", re.IGNORECASE
)
_WRITES = re.compile(r"\b(INSERT|UPDATE|DELETE|MERGE)\b", re.IGNORECASE)


def only_reads(text: str) -> bool:
    """Return whether a statement can only be a query.

    >>> only_reads("-- all\\nSELECT 1"), only_reads("WITH c AS (SELECT 1) INSERT INTO t FROM c")
    (True, False)
    """
    return _QUERY.match(text) is not None and _WRITES.search(text) is None
