"""`dialect=` of the public functions: parse a query of another product as Spark SQL.

The text is translated to Spark SQL first. Some expressions mean different things for columns of
different types, so the translation may need the types of columns. These are known only when the
clauses before have been planned. So a query is translated and planned in turns, clause by clause.

If the dialect that the user named does not read a query, but another dialect does, the error names
that one.

The rules of products are imported by the functions that need them, because most users write Spark
SQL.
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
from matchrec.arguments import Arguments
from matchrec.dialects.products import PRODUCTS, SPARK, Product, find_likely_products
from matchrec.errors import MatchRecognizeError
from matchrec.errors.kinds import locate_errors
from matchrec.errors.sql.foreign_names import add_dialect_cure
from matchrec.errors.warnings import other_in_product, warn_caller
from matchrec.shortcuts import keep_parsed
from matchrec.source import Source
from matchrec.spark.backends import find_backend
from matchrec.spark.errors.users_terms import InUsersTerms
from matchrec.spark.question import NO_OPTIONS
from matchrec.syntax import tokens as lexing
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.locate import QueryNode, parse_sql
from matchrec.syntax.nodes import MatchRecognize
from matchrec.syntax.spellings import find_spellings

if TYPE_CHECKING:
    from matchrec.dialects.rules.context import ClauseKinds, ColumnKinds, TableLookup
    from matchrec.dialects.translate import Translation

# The same text may be parsed for a check, then for the query, and again for its explanation.
parse_once = keep_parsed(parse_sql)
parse_clause_once = keep_parsed(parse_clause)
find_spellings_once = keep_parsed(find_spellings)


def parse_query(
    spark: SparkSession, text: str, args: Arguments | None, frames: inputs.Frames, dialect: str
) -> QueryNode:
    """Parse a query in the SQL of `dialect`.

    Args:
        spark: the session. It is asked for types of columns only if they change the meaning of the
            query.
        text: the query.
        args: the values of its parameters.
        frames: the DataFrames that it names as `{name}`.
        dialect: the product whose SQL it is.

    Raises:
        MatchRecognizeError: the query has a mistake, or cannot be translated.
    """
    product = PRODUCTS[dialect]
    quotes = inputs.find_quote_dialect(spark, text)
    if product is SPARK:
        return add_spellings(spark, parse_once(text, tuple(frames), quotes), quotes)
    from matchrec.dialects.translate import QueryKnowledge, translate_query

    values = args if isinstance(args, Mapping) else {}
    tables = find_tables(spark)

    def translate(kinds: Sequence[ClauseKinds]) -> tuple[Translation, QueryNode]:
        """Translate and parse the text, given the types of columns of its first clauses."""
        translation = translate_query(text, product, SPARK, QueryKnowledge(kinds, values, tables))
        query = parse_sql(translation.text, frames, quotes, translation.source.origin)
        query = add_spellings(spark, query, quotes)
        sites = [
            replace(site, clause=replace(site.clause, columns=product.columns))
            for site in query.sites
        ]
        return translation, replace(query, sites=tuple(sites))

    translation, query = translate(())
    for count in range(len(query.sites) + 1):
        if not translation.untyped_columns or not query.sites:
            break
        runner = inputs.build_runner(spark, query, args, frames)
        kinds = find_kinds(SqlQuery(query, runner, NO_OPTIONS), count)
        translation, query = translate(kinds)
    warn_about_differences(translation, Source(text), product)
    return query


def add_spellings(spark: SparkSession, query: QueryNode, quotes: lexing.Dialect) -> QueryNode:
    """Return the query with what Sail must get instead of some of its words.

    Raises:
        MatchRecognizeUnsupportedError: Sail reads a part of the query differently from Spark, and
            there is no other spelling.
    """
    if not query.sites or find_backend(spark).reads_sql_of_spark:
        return query
    with locate_errors(query.source):
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
        values: the values of its parameters, as SQL. None leaves the parameters in the text.

    Raises:
        MatchRecognizeError: the clause has a mistake, or cannot be translated.
    """
    product = PRODUCTS[dialect]
    quotes = inputs.find_quote_dialect(df.sparkSession, text)
    if product is SPARK:
        if values is None:
            return parse_clause_once(text, quotes), Source(text)
        source = inputs.fill_parameters(Source(text), values)
        return parse_clause(source.text, quotes, source.origin), source
    from matchrec.dialects.translate import translate_clause

    translation = translate_clause(text, product, SPARK)
    if translation.untyped_columns:
        translation = translate_clause(text, product, SPARK, find_column_kinds(df))
    warn_about_differences(translation, Source(text), product)
    source = translation.source
    if values is not None:
        source = inputs.fill_parameters(source, values)
    clause = parse_clause(source.text, quotes, source.origin)
    return replace(clause, columns=product.columns), source


# Checks before there is a session, which takes seconds to start. A text that is parsed here is not
# parsed again later, unless settings of the session or types of columns change its meaning.


def check_query(text: str, language: str, values: Mapping[str, object]) -> None:
    """Raise an error for a mistake that can be found without a session.

    Args:
        text: the query.
        language: a dialect, or "sase".
        values: the values of its `:name` parameters.

    Raises:
        MatchRecognizeError: the query has a mistake.
    """
    with leave_rest_to_session(text):
        if language == "sase":
            from matchrec.patterns.sase.parser import parse_once as parse_sase_once

            parse_sase_once(text, None)
        elif PRODUCTS[language] is SPARK:
            query = parse_once(text, (), lexing.SPARK)
            with locate_errors(query.source):
                for site in query.sites:
                    lower_site(site, values)
        else:
            from matchrec.dialects.translate import QueryKnowledge, translate_query

            translate_query(text, PRODUCTS[language], SPARK, QueryKnowledge(values=values))
        inputs.reject_unused(text, values)


def check_clause(text: str) -> None:
    """Check the syntax of a clause of Spark SQL.

    Raises:
        MatchRecognizeError: the clause has a mistake.
    """
    with leave_rest_to_session(text):
        parse_clause_once(text, lexing.SPARK)


@contextmanager
def leave_rest_to_session(text: str) -> Iterator[None]:
    """Drop an error raised inside if only a session can tell whether it is right and complete.

    A setting of the session decides what double quotes mean. And if the text may be of another
    product, the session can try that product's dialect, so that the error names it.
    """
    try:
        yield
    except MatchRecognizeError as error:
        depends_on_settings = '"' in text
        other_products = find_likely_products(f"{text}\n{error}")
        if not depends_on_settings and not other_products:
            raise


def find_kinds(query: SqlQuery, count: int) -> list[ClauseKinds]:
    """Return the types of columns around the first `count` clauses, and before the next one.

    Each clause has the types of its input and of its result; the next clause has only the types of
    its input, because it may not be planned before its text is translated with them.
    """
    from matchrec.dialects.rules.context import ClauseKinds

    with locate_errors(query.source):
        evaluated = query.evaluate_first(count)
        kinds = []
        for first in evaluated.clauses:
            input_kinds = find_column_kinds(first.clause.relation.rows)
            kinds.append(ClauseKinds(input_kinds, find_column_kinds(first.result.dataframe)))
        if count < len(query.node.sites):
            next_clause = evaluated.build_clause(query.node.sites[count])
            kinds.append(ClauseKinds(find_column_kinds(next_clause.relation.rows)))
    return kinds


def find_tables(spark: SparkSession) -> TableLookup:
    """Return a function that finds the types of the columns of a table or view of the session."""

    @cache
    def find_table(name: str) -> ColumnKinds | None:
        """Return the types of the columns of a table; None if Spark cannot read it."""
        try:
            return find_column_kinds(spark.table(name))
        except PySparkException:  # Spark raises it again when it runs the query
            return None

    return find_table


def find_column_kinds(df: DataFrame) -> ColumnKinds:
    """Return the types of the columns of a DataFrame, as the rules of dialects know them."""
    from matchrec.dialects.rules.context import find_kind_of_type_name

    fields = df.schema.fields
    return {
        field.name.lower(): find_kind_of_type_name(field.dataType.simpleString())
        for field in fields
    }


def warn_about_differences(translation: Translation, source: Source, product: Product) -> None:
    """Warn about everything that may have another result in the product than here.

    Args:
        translation: the translation with its notes.
        source: the text that was translated.
        product: the product whose SQL it is.
    """
    messages = [note.show(source) for note in translation.notes if not note.is_compensated]
    warn_caller(*(other_in_product(title=product.title, message=message) for message in messages))


# Naming the dialect that reads a query if the one that the user named does not

Plan = Callable[[str], object]  # plans a query in the dialect with this name, or raises an error


@contextmanager
def suggest_dialect(text: str, dialect: str, plan: Plan) -> Iterator[None]:
    """Make errors raised inside name another dialect, if the text can be planned in it.

    Args:
        text: the query.
        dialect: the dialect that the user named.
        plan: plans the query in another dialect.
    """
    try:
        yield
    except (MatchRecognizeError, AnalysisException) as error:
        message = str(error)
        names_dialect = re.search(r"dialect ?=|--dialect ", message) is not None
        if not names_dialect:
            other_dialect = find_other_dialect(f"{text}\n{message}", dialect, plan)
            if other_dialect is not None and isinstance(error, InUsersTerms):
                error.add_cure(add_dialect_cure(None, other_dialect))
            elif other_dialect is not None and isinstance(error, MatchRecognizeError):
                error.hint = add_dialect_cure(error.hint, other_dialect)
        raise


def find_other_dialect(text: str, dialect: str, plan: Plan) -> str | None:
    """Return the first other dialect in which a query can be planned, or None.

    Args:
        text: the query and the error. Only products whose words it has are tried.
        dialect: the dialect in which the query cannot be planned.
        plan: plans the query in a dialect.
    """
    for product in find_likely_products(text):
        if product != dialect and can_plan(plan, product):
            return product
    return None


def can_plan(plan: Plan, dialect: str) -> bool:
    """Return whether a query can be planned in a dialect. Warnings of the attempt are dropped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plan(dialect)
        except (PySparkException, LookupError, ValueError):
            # An error of ours or of Spark, or one of sqlglot, which fails on what is not SQL.
            return False
    return True


# The beginning of a query, after comments and parentheses.
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
