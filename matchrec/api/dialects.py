"""`dialect=` of the public functions: parse a query of another product as Spark SQL.

1. `parse_query` translates the text to Spark SQL, and parses the result. Some expressions mean
   different things for columns of different types, so the translation may need types.
2. The types of a clause's columns are known only after the clauses before it have been planned. So
   `QueryTranslator` translates and plans a query in turns, clause by clause.

`parse_clause_in_dialect` does the same for a clause over a DataFrame, whose types are known.

The rules of products are imported by the functions that need them, because most users write Spark
SQL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from matchrec.api import inputs
from matchrec.api.evaluate import SqlQuery
from matchrec.api.parameters import fill_parameters
from matchrec.arguments import Arguments
from matchrec.dialects.products import PRODUCTS, SPARK, Product
from matchrec.errors import MatchRecognizeError
from matchrec.errors.kinds import locate_errors
from matchrec.errors.sql.refused_parts import reject_invalid_literals
from matchrec.errors.warn_caller import warn_caller
from matchrec.errors.warnings import differs_in_product
from matchrec.shortcuts import keep_parsed
from matchrec.source import Source
from matchrec.spark.backends import find_backend
from matchrec.spark.request import NO_OPTIONS
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.locate import QueryNode, has_clause, may_have_clause, parse_sql
from matchrec.syntax.nodes import MatchRecognize
from matchrec.syntax.spellings import find_spellings
from matchrec.syntax.tokenize import read_query_tokens
from matchrec.syntax.tokens import QuoteDialect

if TYPE_CHECKING:
    from matchrec.dialects.rules.visible_columns import ClauseKinds, ColumnKinds, TableLookup
    from matchrec.dialects.translate import Translation

# The same text may be parsed for a check, then for the query, and again for its explanation.
parse_once = keep_parsed(parse_sql)
parse_clause_once = keep_parsed(parse_clause)
find_spellings_once = keep_parsed(find_spellings)


def parse_query(
    spark: SparkSession,
    text: str,
    args: Arguments | None,
    frames: inputs.FramesByName,
    dialect: str,
) -> QueryNode:
    """Parse a query in the SQL of `dialect`.

    Args:
        spark: the session. Types of columns are looked up in it only if they change the meaning of
            the query.
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
    with locate_errors(Source(text)):
        reject_invalid_literals(text)
    translator = QueryTranslator(
        spark, text, product, quotes, frames, args, look_up_table=make_table_lookup(spark)
    )
    return translator.parse()


class TranslatedQuery(NamedTuple):
    """A query of another product in Spark SQL."""

    translation: Translation
    # The text of the translation, parsed.
    node: QueryNode


@dataclass(frozen=True)
class QueryTranslator:
    """A translator of one query to Spark SQL, which finds the types of columns that it needs."""

    spark: SparkSession
    # The query as the user wrote it.
    text: str
    product: Product
    # What double quotes mean in the session.
    quotes: QuoteDialect
    # The DataFrames that the query names as `{name}`.
    frames: inputs.FramesByName
    # The values of the query's parameters.
    args: Arguments | None
    # Finds the types of the columns of a table.
    look_up_table: TableLookup

    def parse(self) -> QueryNode:
        """Translate and parse the query, and warn about what the translation may change.

        Each turn plans one more clause, and then translates the whole query again with the types of
        the columns of this clause. The turns end when no expression needs further types.

        Raises:
            MatchRecognizeError: the query has a mistake, or cannot be translated.
        """
        query = self.translate(())
        for planned_count in range(len(query.node.sites) + 1):
            if not query.translation.untyped_columns or not query.node.sites:
                break
            runner = inputs.build_runner(self.spark, query.node, self.args, self.frames)
            kinds = find_clause_kinds(SqlQuery(query.node, runner, NO_OPTIONS), planned_count)
            query = self.translate(kinds)
        warn_about_differences(query.translation, Source(self.text), self.product)
        return query.node

    def translate(self, kinds: Sequence[ClauseKinds]) -> TranslatedQuery:
        """Translate and parse the query with the types of columns that are known.

        Args:
            kinds: the types of the columns of the first clauses, in order. For later clauses, no
                types are known.
        """
        from matchrec.dialects.translate import QueryKnowledge, translate_query

        values = self.args if isinstance(self.args, Mapping) else {}
        knowledge = QueryKnowledge(kinds, values, self.look_up_table)
        translation = translate_query(self.text, self.product, SPARK, knowledge)
        node = parse_sql(translation.text, self.frames, self.quotes, translation.source.origin)
        node = add_spellings(self.spark, node, self.quotes)
        sites = [
            replace(site, clause=replace(site.clause, column_order=self.product.column_order))
            for site in node.sites
        ]
        return TranslatedQuery(translation, replace(node, sites=tuple(sites)))


def has_clause_in_dialect(spark: SparkSession, text: str, dialect: str) -> bool:
    """Return whether a query in the SQL of `dialect` has a clause, without parsing the clause.

    True also if the text cannot be read: parsing it raises the error.
    """
    if not may_have_clause(text):
        return False
    product = PRODUCTS[dialect]
    try:
        if product is SPARK:
            tokens = read_query_tokens(text, inputs.find_quote_dialect(spark, text))
        else:
            from matchrec.dialects.product_tokens import read_product_tokens

            tokens = read_product_tokens(text, product)
        return has_clause(tokens)
    except MatchRecognizeError:
        return True


def add_spellings(spark: SparkSession, query: QueryNode, quotes: QuoteDialect) -> QueryNode:
    """Return the query with other spellings of the parts that Sail reads differently from Spark.

    Args:
        spark: the session. On Spark, the query stays as it is.
        query: the query.
        quotes: what double quotes mean in it.

    Raises:
        MatchRecognizeUnsupportedError: there is no other spelling of a part.
    """
    if not query.sites or find_backend(spark).can_read_spark_sql:
        return query
    with locate_errors(query.source):
        spellings = find_spellings_once(query.source.text, quotes)
    return replace(query, spellings=spellings) if spellings else query


def parse_clause_in_dialect(
    df: DataFrame,
    text: str,
    dialect: str,
    quotes: QuoteDialect,
    values: Mapping[str, str] | None = None,
) -> tuple[MatchRecognize, Source]:
    """Parse a clause over `df` in the SQL of `dialect`, and return it with its text.

    Args:
        df: the input of the clause.
        text: the clause as the user wrote it.
        dialect: the product whose SQL it is.
        quotes: what double quotes mean in the session: see `inputs.find_quote_dialect`.
        values: the values of its parameters, as SQL. None leaves the parameters in the text.

    Raises:
        MatchRecognizeError: the clause has a mistake, or cannot be translated.
    """
    product = PRODUCTS[dialect]
    if product is SPARK:
        if values is None:
            return parse_clause_once(text, quotes), Source(text)
        source = fill_parameters(Source(text), values)
        return parse_clause(source.text, quotes, source.origin), source
    from matchrec.dialects.translate import translate_clause

    with locate_errors(Source(text)):
        reject_invalid_literals(text)
    translation = translate_clause(text, product, SPARK)
    if translation.untyped_columns:
        translation = translate_clause(text, product, SPARK, find_column_kinds(df))
    warn_about_differences(translation, Source(text), product)
    source = translation.source
    if values is not None:
        source = fill_parameters(source, values)
    clause = parse_clause(source.text, quotes, source.origin)
    return replace(clause, column_order=product.column_order), source


def find_clause_kinds(query: SqlQuery, count: int) -> list[ClauseKinds]:
    """Return the types of columns of the first `count` clauses and, if there is one, the next.

    The first `count` clauses are planned, so the types of their inputs and results are known. For
    the next clause, only the types of its input are known: its text must be translated with these
    types before the clause can be planned.
    """
    from matchrec.dialects.rules.visible_columns import ClauseKinds

    with locate_errors(query.source):
        first_clauses = query.evaluate_first(count)
        kinds = []
        for evaluated_clause in first_clauses:
            input_kinds = find_column_kinds(evaluated_clause.clause.relation.rows)
            result_kinds = find_column_kinds(evaluated_clause.result.dataframe)
            kinds.append(ClauseKinds(input_kinds, result_kinds))
        if count < len(query.node.sites):
            next_clause = query.build_clause(query.node.sites[count], first_clauses)
            kinds.append(ClauseKinds(find_column_kinds(next_clause.relation.rows)))
    return kinds


def make_table_lookup(spark: SparkSession) -> TableLookup:
    """Return a function that finds the types of the columns of a table or view of the session."""

    @cache
    def find_table(name: str) -> ColumnKinds | None:
        """Return the types of the columns of a table; None if Spark cannot read the table."""
        try:
            return find_column_kinds(spark.table(name))
        except PySparkException:  # the query will raise the same error
            return None

    return find_table


def find_column_kinds(df: DataFrame) -> ColumnKinds:
    """Return the kinds of types that the rules of dialects tell apart, by column in lower case."""
    from matchrec.dialects.rules.value_kinds import find_kind_of_type_name

    fields = df.schema.fields
    return {
        field.name.lower(): find_kind_of_type_name(field.dataType.simpleString())
        for field in fields
    }


def warn_about_differences(translation: Translation, source: Source, product: Product) -> None:
    """Warn about each part of a query whose result may differ between the product and Spark.

    Args:
        translation: the translation with its notes.
        source: the text that was translated.
        product: the product whose SQL it is.
    """
    messages = [note.show(source) for note in translation.notes if not note.is_compensated]
    warn_caller(*(differs_in_product(title=product.title, message=message) for message in messages))
