"""Functions of other engines that Spark lacks, each with what to write in Spark SQL.

sqlglot is asked what Spark calls a function, and which product knows it; kept by hand is what it
cannot know, or gets wrong. In a cure of ours x and y are numbers, s is a text, d a date, a an
array; t, t1 and t2 are timestamps. The tests run each of them, and ask Spark whether it has come to
know a name. Sources: the references of SQL functions of Oracle, Snowflake, Trino, Flink, BigQuery,
Databricks, SQL Server and DuckDB.
"""

from __future__ import annotations

import re
from typing import Any

from matchrec.errors.surface import here

_NAMES = {  # by what to write in their place
    "INTERVAL '1 12:30:00' DAY TO SECOND": "TO_DSINTERVAL",
    "INTERVAL '1-6' YEAR TO MONTH": "TO_YMINTERVAL",
    "INTERVAL 1 HOUR, or make_dt_interval(0, x)": "NUMTODSINTERVAL",
    "INTERVAL 1 MONTH, or make_ym_interval(0, x)": "NUMTOYMINTERVAL",
    "LAST(t), with the column of ORDER BY": "MATCH_ROWTIME",
    "MATCH_ROW_NUMBER()": "MATCH_SEQUENCE_NUMBER",
    "NEXT(x)": "MATCH_RECOGNIZE_NEXT",
    "NOT coalesce(x > y, FALSE)": "LNNVL",
    "NOT exists(a, e -> e > 0)": "NONE_MATCH",
    "PREV(x)": "MATCH_RECOGNIZE_PREV PREVIOUS",
    "CAST(s AS BOOLEAN)": "TO_BOOLEAN",
    "CAST(s AS DECIMAL(18, 2))": "TO_DECIMAL TO_NUMERIC",
    "aggregate(a, 0, (acc, e) -> acc + e)": "ARRAY_SUM",
    "aggregate(a, 0, (acc, e) -> acc + e) / size(a)": "ARRAY_AVERAGE",
    "approx_percentile(x, array(0.25, 0.5, 0.75))": "APPROX_QUANTILES",
    "array(x, y)": "ARRAY_CONSTRUCT",
    "array_join(collect_list(s), ',')": "GROUP_CONCAT LISTAGG STRING_AGG WM_CONCAT",
    "array_contains(a, x)": "LIST_CONTAINS",
    "arrays_zip(a, a)": "ZIP",
    "ascii(s)": "CODEPOINT",
    "bit_xor(xxhash64(x))": "CHECKSUM HASH_AGG",
    "coalesce(try_divide(x, y), 0)": "DIV0 DIV0NULL",
    "coalesce(x, 0)": "ZEROIFNULL",
    "collect_list(x)": "COLLECT",
    "concat(a, a)": "ARRAY_CAT ARRAY_CONCAT",
    "conv(s, 16, 10)": "FROM_BASE",
    "conv(x, 10, 16)": "TO_BASE",
    "convert_timezone('Europe/Berlin', CAST(t AS TIMESTAMP_NTZ))": "AT_TIMEZONE",
    "count_if(x > 0)": "COUNTIF",
    "current_timestamp()": """
        CURRENT_ROW_TIMESTAMP GETDATE MATCH_PROCTIME PROCTIME SYSDATE SYSTIMESTAMP
        """,
    "current_timezone()": "SESSIONTIMEZONE",
    "date_format(d, 'EEE')": "DAYNAME",
    "date_format(d, 'MMM')": "MONTHNAME",
    "date_format(d, 'yyyy-MM-dd')": "FORMAT_DATE",
    "date_format(t, 'EEEE')": "DATENAME",
    "date_format(t, 'yyyy-MM-dd HH:mm:ss')": "FORMAT_DATETIME FORMAT_TIMESTAMP STRFTIME",
    "date_format(t, \"yyyy-MM-dd'T'HH:mm:ss.SSSXXX\")": "TO_ISO8601",
    "date_trunc('HOUR', t)": "DATETIME_TRUNC DATE_BIN TIMESTAMP_TRUNC TIME_SLICE",
    "decode(encode(s, 'UTF-8'), 'UTF-8')": "FROM_UTF8",
    "double(x)": "FLOAT64",
    "encode(s, 'UTF-8')": "TO_UTF8",
    "exists(a, e -> e > 0)": "ANY_MATCH",
    "exp(avg(ln(x)))": "GEOMETRIC_MEAN",
    "extract(YEAROFWEEK FROM d)": "YEAROFWEEK YEAR_OF_WEEK YOW",
    "forall(a, e -> e > 0)": "ALL_MATCH",
    "format_string('%s', s)": "FORMAT",
    "get_json_object(s, '$.x')": "GET_PATH JSON_EXTRACT JSON_EXTRACT_SCALAR JSON_QUERY JSON_VALUE",
    "hash(s)": "ORA_HASH",
    "hex(s)": "RAWTOHEX",
    "histogram_numeric(x, 10)": "NUMERIC_HISTOGRAM",
    "if(x > y, x, y)": "IFF IIF",
    "instr(s, 'x')": "INSTRB STRPOS",
    "last_day(d)": "EOMONTH",
    "levenshtein(s, 'x')": "EDITDISTANCE EDIT_DISTANCE LEVENSHTEIN_DISTANCE",
    "localtimestamp()": "CURRENT_DATETIME",
    "make_date(2024, 1, 31)": "DATEFROMPARTS DATE_FROM_PARTS",
    "make_timestamp(2024, 1, 31, 12, 0, 0)": "TIMESTAMPFROMPARTS TIMESTAMP_FROM_PARTS",
    "make_timestamp_ntz(2024, 1, 31, 12, 0, 0)": "TIMESTAMP_NTZ_FROM_PARTS",
    "map_from_entries(collect_list(struct(s, x)))": "OBJECT_AGG",
    "map_from_entries(collect_list(struct(x, y)))": "MAP_AGG",
    "mod(x, y)": "REMAINDER",
    "mode(x)": "STATS_MODE",
    "named_struct('x', x)": "OBJECT_CONSTRUCT",
    "nullif(x, 0)": "NULLIFZERO",
    "octet_length(s)": "BYTE_LENGTH LENGTHB",
    "parse_url(s, 'HOST')": "URL_EXTRACT_HOST",
    "parse_url(s, 'PATH')": "URL_EXTRACT_PATH",
    "power(x, 2)": "SQUARE",
    "regexp_instr(s, 'x')": "REGEXP_POSITION",
    "reverse(a)": "ARRAY_REVERSE",
    "slice(a, 1, 2)": "ARRAY_SLICE",
    "split_part(s, ',', 1)": "STRTOK",
    "stddev(x)": "STDEV",
    "stddev_pop(x)": "STDEVP",
    "str_to_map(s, ',', '=')": "SPLIT_TO_MAP",
    "substr(s, 1, 2)": "SUBSTRB",
    "t + INTERVAL 1 HOUR": "DATETIME_ADD TIMEADD TIMESTAMP_ADD",
    "t - INTERVAL 1 HOUR": "DATETIME_SUB TIMESTAMP_SUB",
    "timestampdiff(SECOND, t1, t2)": "DATETIME_DIFF TIMEDIFF TIMESTAMP_DIFF",
    "to_json(struct(x))": "TO_JSON_STRING",
    "to_timestamp(s)": "TO_TIMESTAMP_TZ",
    "to_timestamp(s, 'yyyy-MM-dd HH:mm:ss')": "PARSE_DATETIME PARSE_TIMESTAMP STRPTIME DATE_PARSE",
    "to_utc_timestamp(t, 'Europe/Berlin')": "FROM_TZ",
    "try_divide(x, y)": "IEEE_DIVIDE",
    "unhex(s)": "FROM_HEX HEXTORAW",
    "uuid()": "GENERATE_UUID SYS_GUID UUID_STRING",
    "var_pop(x)": "VARP",
    "weekday(d) + 1": "DAYOFWEEKISO DAYOFWEEK_ISO DAY_OF_WEEK DOW",
    "xxhash64(s)": "FARM_FINGERPRINT",
}
CURES = {name: cure for cure, names in _NAMES.items() for name in names.split()}
"""What to write for what sqlglot does not know or gets wrong."""

OTHER_ARGUMENTS = {  # Spark has a function of this name, which takes something else
    "DATEADD": "d + INTERVAL 1 DAY, or timestampadd(HOUR, 1, t)",
    "DATEDIFF": "datediff(d, DATE'2024-01-31'), or timestampdiff(SECOND, t1, t2)",
    "DATE_ADD": "d + INTERVAL 1 DAY, or timestampadd(HOUR, 1, t)",
    "DATE_DIFF": "datediff(d, DATE'2024-01-31'), or timestampdiff(SECOND, t1, t2)",
    "DATE_SUB": "d - INTERVAL 1 DAY, or timestampadd(HOUR, -1, t)",
    "TO_NUMBER": "CAST(s AS DOUBLE), or to_number(s, '9999')",
    "TRUNC": "CAST(x AS BIGINT) for a number, or date_trunc('HOUR', t)",
}
_OWN = {  # what sqlglot does not know of a product
    "MATCH_RECOGNIZE_NEXT": "databricks",
    "MATCH_RECOGNIZE_PREV": "databricks",
    "MATCH_SEQUENCE_NUMBER": "snowflake",
    "SYSDATE": "oracle",
}
_PRODUCTS = ("snowflake", "bigquery", "trino", "oracle")
_OTHERS = ("tsql", "duckdb")
_UNREAD = {"DAYOFWEEKISO", "DOW", "GET", "TIMEDIFF", "TO_TIME"}  # refused with `dialect=` too
_ARGUMENTS = ("", "x", "x, y", "x, y, z")
_SIMPLE = re.compile(r"(\w+)\([\w ,']*\)|x ([&|^]|RLIKE) y")


def cure_of(name: str) -> str | None:
    """What to write for a function of another engine, or None.

    >>> cure_of("match_rowtime"), cure_of("ARG_MAX")
    ('write LAST(t), with the column of ORDER BY', 'write MAX_BY(x, y)')
    """
    upper = name.upper()
    cure = CURES.get(upper) or _translated(upper)
    dialect = _OWN.get(upper) or _only_product(upper) if cure else None
    return _written(cure) if dialect is None else or_dialect(_written(cure), dialect)


def _translated(name: str) -> str | None:
    """A call of a function as sqlglot writes it for Spark, None where it has no word for it."""
    from sqlglot import Dialect
    from sqlglot.errors import ErrorLevel, SqlglotError

    spark = Dialect.get_or_raise("spark").generator_class
    for product in (*_PRODUCTS, *_OTHERS):
        dialect = Dialect.get_or_raise(product)
        for arguments in _ARGUMENTS if name in dialect.parser_class.FUNCTIONS else ():
            text = f"{name}({arguments})"
            try:
                (call,) = dialect.parser().parse(dialect.tokenize(text), text)
                if call is None or lacks_argument(call):
                    continue
                written = call.sql("spark", unsupported_level=ErrorLevel.IGNORE)
            except (SqlglotError, LookupError, AttributeError, TypeError, ValueError):
                continue  # it takes other arguments
            knows = type(call) in spark.TRANSFORMS or hasattr(spark, f"{call.key}_sql")
            found = _SIMPLE.fullmatch(written) if knows else None
            return written if found and found[1] != name else None
    return None


def lacks_argument(call: Any) -> bool:
    """Whether sqlglot has read a call without an argument that it needs, as it raises for none.

    Its own `error_messages` raises in a process that has loaded unittest, in its oldest version.
    """
    needed = (name for name, is_needed in call.arg_types.items() if is_needed)
    return any(call.args.get(name) in (None, []) for name in needed)


def _only_product(name: str) -> str | None:
    """The product that alone knows a function, and reads it by `dialect=`."""
    from sqlglot import Dialect, Parser

    known = [
        product
        for product in _PRODUCTS
        if name in Dialect.get_or_raise(product).parser_class.FUNCTIONS
    ]
    is_own = len(known) == 1 and name not in Parser.FUNCTIONS and name not in _UNREAD
    return known[0] if is_own else None


def cure_of_arguments(name: str) -> str | None:
    """What to write where another engine's function takes other arguments than Spark's, or None."""
    return _written(OTHER_ARGUMENTS.get(name.upper()))


def cure_of_table(name: str) -> str | None:
    """What to write for a table that is not there, if the name tells, or the surface has tables.

    >>> cure_of_table("`dual`")
    'leave FROM dual out: SELECT without FROM gives one row, or pass dialect="oracle"'
    """
    if name.strip("`").upper() != "DUAL":
        return here().table(name.replace("`", "")) if name else None
    return or_dialect("leave FROM dual out: SELECT without FROM gives one row", "oracle")


def or_dialect(cure: str | None, *dialects: str) -> str:
    """The cure of a spelling that `dialect=` understands, and that; None is no other cure.

    >>> or_dialect("write CLASSIFIER()", "snowflake")
    'write CLASSIFIER(), or pass dialect="snowflake"'
    """
    passed = f"pass {here().option('dialect', *dialects)}"
    return f"{cure}, or {passed}" if cure else passed


def _written(cure: str | None) -> str | None:
    return None if cure is None else f"write {cure}"
