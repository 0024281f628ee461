"""Functions of other engines that Spark lacks, each with what to write in Spark SQL.

In a cure x and y are numbers, s is a text, d a date, a an array; t, t1 and t2 are timestamps. The
tests run every cure, and ask Spark whether it has come to know the name. Sources: the references of
SQL functions of Oracle, Snowflake, Trino, Flink, BigQuery, Databricks, SQL Server and DuckDB.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from matchrec.errors.surface import here

OF_THE_CLAUSE = {
    "MATCH_PROCTIME": "current_timestamp()",  # Flink
    "MATCH_RECOGNIZE_NEXT": "NEXT(x)",  # Databricks
    "MATCH_RECOGNIZE_PREV": "PREV(x)",
    "MATCH_ROWTIME": "LAST(t), with the column of ORDER BY",  # Flink
    "MATCH_SEQUENCE_NUMBER": "MATCH_ROW_NUMBER()",  # Snowflake
    "PREVIOUS": "PREV(x)",
}

AGGREGATES = {
    "APPROX_DISTINCT": "approx_count_distinct(x)",
    "APPROX_QUANTILES": "approx_percentile(x, array(0.25, 0.5, 0.75))",
    "ARBITRARY": "any_value(x)",
    "ARG_MAX": "max_by(x, y)",
    "ARG_MIN": "min_by(x, y)",
    "BITAND_AGG": "bit_and(x)",
    "BITOR_AGG": "bit_or(x)",
    "BITWISE_AND_AGG": "bit_and(x)",
    "BITWISE_OR_AGG": "bit_or(x)",
    "BITWISE_XOR_AGG": "bit_xor(x)",
    "BITXOR_AGG": "bit_xor(x)",
    "BOOLAND_AGG": "bool_and(x > 0)",
    "BOOLOR_AGG": "bool_or(x > 0)",
    "CHECKSUM": "bit_xor(xxhash64(x))",
    "COLLECT": "collect_list(x)",
    "COUNTIF": "count_if(x > 0)",
    "GEOMETRIC_MEAN": "exp(avg(ln(x)))",
    "GROUP_CONCAT": "array_join(collect_list(s), ',')",
    "HASH_AGG": "bit_xor(xxhash64(x))",
    "LOGICAL_AND": "bool_and(x > 0)",
    "LOGICAL_OR": "bool_or(x > 0)",
    "MAP_AGG": "map_from_entries(collect_list(struct(x, y)))",
    "NUMERIC_HISTOGRAM": "histogram_numeric(x, 10)",
    "OBJECT_AGG": "map_from_entries(collect_list(struct(s, x)))",
    "QUANTILE": "percentile(x, 0.5)",
    "STATS_MODE": "mode(x)",
    "STDEV": "stddev(x)",
    "STDEVP": "stddev_pop(x)",
    "VARP": "var_pop(x)",
    "WM_CONCAT": "array_join(collect_list(s), ',')",
}

TIMES = {
    "AT_TIMEZONE": "convert_timezone('Europe/Berlin', CAST(t AS TIMESTAMP_NTZ))",
    "CURRENT_DATETIME": "localtimestamp()",
    "CURRENT_ROW_TIMESTAMP": "current_timestamp()",
    "DATENAME": "date_format(t, 'EEEE')",
    "DATETIME_ADD": "t + INTERVAL 1 HOUR",
    "DATETIME_DIFF": "timestampdiff(SECOND, t1, t2)",
    "DATETIME_SUB": "t - INTERVAL 1 HOUR",
    "DATETIME_TRUNC": "date_trunc('HOUR', t)",
    "DATEFROMPARTS": "make_date(2024, 1, 31)",
    "DATE_BIN": "date_trunc('HOUR', t)",
    "DATE_FROM_PARTS": "make_date(2024, 1, 31)",
    "DATE_PARSE": "to_timestamp(s, 'yyyy-MM-dd HH:mm:ss')",
    "DAYOFWEEKISO": "weekday(d) + 1",
    "DAYOFWEEK_ISO": "weekday(d) + 1",
    "DAY_OF_MONTH": "dayofmonth(d)",
    "DAY_OF_WEEK": "weekday(d) + 1",
    "DAY_OF_YEAR": "dayofyear(d)",
    "DOW": "weekday(d) + 1",
    "DOY": "dayofyear(d)",
    "EOMONTH": "last_day(d)",
    "EPOCH": "unix_timestamp(t)",
    "FORMAT_DATE": "date_format(d, 'yyyy-MM-dd')",
    "FORMAT_DATETIME": "date_format(t, 'yyyy-MM-dd HH:mm:ss')",
    "FORMAT_TIMESTAMP": "date_format(t, 'yyyy-MM-dd HH:mm:ss')",
    "FROM_ISO8601_DATE": "CAST(s AS DATE)",
    "FROM_ISO8601_TIMESTAMP": "CAST(s AS TIMESTAMP)",
    "FROM_TZ": "to_utc_timestamp(t, 'Europe/Berlin')",
    "GETDATE": "current_timestamp()",
    "LAST_DAY_OF_MONTH": "last_day(d)",
    "NUMTODSINTERVAL": "INTERVAL 1 HOUR, or make_dt_interval(0, x)",
    "NUMTOYMINTERVAL": "INTERVAL 1 MONTH, or make_ym_interval(0, x)",
    "PARSE_DATE": "to_date(s, 'yyyy-MM-dd')",
    "PARSE_DATETIME": "to_timestamp(s, 'yyyy-MM-dd HH:mm:ss')",
    "PARSE_TIMESTAMP": "to_timestamp(s, 'yyyy-MM-dd HH:mm:ss')",
    "PROCTIME": "current_timestamp()",
    "SESSIONTIMEZONE": "current_timezone()",
    "STRFTIME": "date_format(t, 'yyyy-MM-dd HH:mm:ss')",
    "STRPTIME": "to_timestamp(s, 'yyyy-MM-dd HH:mm:ss')",
    "SYSDATE": "current_timestamp()",
    "SYSTIMESTAMP": "current_timestamp()",
    "TIMEADD": "t + INTERVAL 1 HOUR",
    "TIMEDIFF": "timestampdiff(SECOND, t1, t2)",
    "TIMESTAMPFROMPARTS": "make_timestamp(2024, 1, 31, 12, 0, 0)",
    "TIMESTAMP_ADD": "t + INTERVAL 1 HOUR",
    "TIMESTAMP_DIFF": "timestampdiff(SECOND, t1, t2)",
    "TIMESTAMP_FROM_PARTS": "make_timestamp(2024, 1, 31, 12, 0, 0)",
    "TIMESTAMP_NTZ_FROM_PARTS": "make_timestamp_ntz(2024, 1, 31, 12, 0, 0)",
    "TIMESTAMP_SUB": "t - INTERVAL 1 HOUR",
    "TIMESTAMP_TRUNC": "date_trunc('HOUR', t)",
    "TIME_SLICE": "date_trunc('HOUR', t)",
    "TO_DSINTERVAL": "INTERVAL '1 12:30:00' DAY TO SECOND",
    "TO_ISO8601": "date_format(t, \"yyyy-MM-dd'T'HH:mm:ss.SSSXXX\")",
    "TO_TIMESTAMP_TZ": "to_timestamp(s)",
    "TO_UNIXTIME": "unix_timestamp(t)",
    "TO_YMINTERVAL": "INTERVAL '1-6' YEAR TO MONTH",
    "WEEKISO": "weekofyear(d)",
    "WEEK_OF_YEAR": "weekofyear(d)",
    "YEAROFWEEK": "extract(YEAROFWEEK FROM d)",
    "YEAR_OF_WEEK": "extract(YEAROFWEEK FROM d)",
    "YOW": "extract(YEAROFWEEK FROM d)",
}

NUMBERS = {
    "BITAND": "x & y",
    "BITOR": "x | y",
    "BITSHIFTLEFT": "shiftleft(x, 1)",
    "BITSHIFTRIGHT": "shiftright(x, 1)",
    "BITWISE_AND": "x & y",
    "BITWISE_OR": "x | y",
    "BITWISE_XOR": "x ^ y",
    "BITXOR": "x ^ y",
    "DIV0": "coalesce(try_divide(x, y), 0)",
    "DIV0NULL": "coalesce(try_divide(x, y), 0)",
    "FLOAT64": "double(x)",
    "FROM_BASE": "conv(s, 16, 10)",
    "IEEE_DIVIDE": "try_divide(x, y)",
    "INT64": "bigint(x)",
    "IS_NAN": "isnan(x)",
    "REMAINDER": "mod(x, y)",
    "SAFE_ADD": "try_add(x, y)",
    "SAFE_DIVIDE": "try_divide(x, y)",
    "SAFE_MULTIPLY": "try_multiply(x, y)",
    "SAFE_SUBTRACT": "try_subtract(x, y)",
    "SQUARE": "power(x, 2)",
    "TO_BASE": "conv(x, 10, 16)",
    "TO_BOOLEAN": "CAST(s AS BOOLEAN)",
    "TO_DECIMAL": "CAST(s AS DECIMAL(18, 2))",
    "TO_DOUBLE": "CAST(s AS DOUBLE)",
    "TO_NUMERIC": "CAST(s AS DECIMAL(18, 2))",
    "TRUNCATE": "CAST(x AS BIGINT)",
}

TEXTS = {
    "BYTE_LENGTH": "octet_length(s)",
    "CODEPOINT": "ascii(s)",
    "EDITDISTANCE": "levenshtein(s, 'x')",
    "EDIT_DISTANCE": "levenshtein(s, 'x')",
    "ENDS_WITH": "endswith(s, 'x')",
    "FARM_FINGERPRINT": "xxhash64(s)",
    "FORMAT": "format_string('%s', s)",
    "FROM_BASE64": "unbase64(s)",
    "FROM_HEX": "unhex(s)",
    "FROM_UTF8": "decode(encode(s, 'UTF-8'), 'UTF-8')",
    "GENERATE_UUID": "uuid()",
    "GET_PATH": "get_json_object(s, '$.x')",
    "HEXTORAW": "unhex(s)",
    "INSTRB": "instr(s, 'x')",
    "JSON_EXTRACT": "get_json_object(s, '$.x')",
    "JSON_EXTRACT_SCALAR": "get_json_object(s, '$.x')",
    "JSON_QUERY": "get_json_object(s, '$.x')",
    "JSON_VALUE": "get_json_object(s, '$.x')",
    "LENGTHB": "octet_length(s)",
    "LEVENSHTEIN_DISTANCE": "levenshtein(s, 'x')",
    "ORA_HASH": "hash(s)",
    "RAWTOHEX": "hex(s)",
    "REGEXP_CONTAINS": "regexp_like(s, 'x')",
    "REGEXP_MATCHES": "regexp_like(s, 'x')",
    "REGEXP_POSITION": "regexp_instr(s, 'x')",
    "SHA256": "sha2(s, 256)",
    "SHA512": "sha2(s, 512)",
    "SPLIT_TO_MAP": "str_to_map(s, ',', '=')",
    "STARTS_WITH": "startswith(s, 'x')",
    "STRPOS": "instr(s, 'x')",
    "STRTOK": "split_part(s, ',', 1)",
    "SUBSTRB": "substr(s, 1, 2)",
    "SYS_GUID": "uuid()",
    "TO_BASE64": "base64(s)",
    "TO_HEX": "hex(s)",
    "TO_JSON_STRING": "to_json(struct(x))",
    "TO_UTF8": "encode(s, 'UTF-8')",
    "URL_EXTRACT_HOST": "parse_url(s, 'HOST')",
    "URL_EXTRACT_PATH": "parse_url(s, 'PATH')",
    "UUID_STRING": "uuid()",
}

OTHERS = {
    "ALL_MATCH": "forall(a, e -> e > 0)",
    "ANY_MATCH": "exists(a, e -> e > 0)",
    "ARRAY_AVERAGE": "aggregate(a, 0, (acc, e) -> acc + e) / size(a)",
    "ARRAY_CAT": "concat(a, a)",
    "ARRAY_CONCAT": "concat(a, a)",
    "ARRAY_CONSTRUCT": "array(x, y)",
    "ARRAY_LENGTH": "size(a)",
    "ARRAY_REVERSE": "reverse(a)",
    "ARRAY_SLICE": "slice(a, 1, 2)",
    "ARRAY_SUM": "aggregate(a, 0, (acc, e) -> acc + e)",
    "ARRAY_TO_STRING": "array_join(a, ',')",
    "GENERATE_ARRAY": "sequence(1, x)",
    "IFF": "if(x > y, x, y)",
    "IIF": "if(x > y, x, y)",
    "LIST_CONTAINS": "array_contains(a, x)",
    "LNNVL": "NOT coalesce(x > y, FALSE)",
    "NONE_MATCH": "NOT exists(a, e -> e > 0)",
    "OBJECT_CONSTRUCT": "named_struct('x', x)",
    "ZIP": "arrays_zip(a, a)",
}

OF_SPARK_4 = {  # which Spark 3.5 lacks
    "DAYNAME": "date_format(d, 'EEE')",
    "LISTAGG": "array_join(collect_list(s), ',')",
    "MONTHNAME": "date_format(d, 'MMM')",
    "NULLIFZERO": "nullif(x, 0)",
    "STRING_AGG": "array_join(collect_list(s), ',')",
    "ZEROIFNULL": "coalesce(x, 0)",
}

OTHER_ARGUMENTS = {  # Spark has a function of this name, which takes something else
    "DATEADD": "d + INTERVAL 1 DAY, or timestampadd(HOUR, 1, t)",
    "DATEDIFF": "datediff(d, DATE'2024-01-31'), or timestampdiff(SECOND, t1, t2)",
    "DATE_ADD": "d + INTERVAL 1 DAY, or timestampadd(HOUR, 1, t)",
    "DATE_DIFF": "datediff(d, DATE'2024-01-31'), or timestampdiff(SECOND, t1, t2)",
    "DATE_SUB": "d - INTERVAL 1 DAY, or timestampadd(HOUR, -1, t)",
    "TO_NUMBER": "CAST(s AS DOUBLE), or to_number(s, '9999')",
    "TRUNC": "CAST(x AS BIGINT) for a number, or date_trunc('HOUR', t)",
}

READ_BY = {  # what `dialect=` understands, of the products that have the name
    "bigquery": """
        COUNTIF FORMAT_DATE GENERATE_ARRAY LOGICAL_AND LOGICAL_OR
        PARSE_DATE PARSE_TIMESTAMP REGEXP_CONTAINS TO_JSON_STRING
        """,
    "databricks": "MATCH_RECOGNIZE_NEXT MATCH_RECOGNIZE_PREV",
    "snowflake": """
        ARRAY_CONSTRUCT BITAND BITOR BITSHIFTLEFT BITSHIFTRIGHT BITXOR BOOLAND_AGG BOOLOR_AGG
        DATE_FROM_PARTS DIV0 DIV0NULL EDITDISTANCE GET_PATH IFF MATCH_SEQUENCE_NUMBER
        OBJECT_CONSTRUCT TIMESTAMP_NTZ_FROM_PARTS TO_DECIMAL TO_NUMERIC ZEROIFNULL
        """,
    "trino": """
        APPROX_DISTINCT ARBITRARY BITWISE_AND BITWISE_OR BITWISE_XOR DATE_PARSE
        LEVENSHTEIN_DISTANCE SPLIT_TO_MAP TO_UNIXTIME TO_UTF8
        """,
}
_DIALECT = {name: dialect for dialect, names in READ_BY.items() for name in names.split()}

CURES: Mapping[str, str] = MappingProxyType(
    {**OF_THE_CLAUSE, **AGGREGATES, **TIMES, **NUMBERS, **TEXTS, **OTHERS, **OF_SPARK_4}
)


def cure_of(name: str) -> str | None:
    """What to write for a function of another engine, or None.

    >>> cure_of("match_rowtime")
    'write LAST(t), with the column of ORDER BY'
    """
    cure, dialect = _written(CURES.get(name.upper())), _DIALECT.get(name.upper())
    return cure if cure is None or dialect is None else or_dialect(cure, dialect)


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
