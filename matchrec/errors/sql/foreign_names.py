"""Functions of other engines that Spark lacks, each with what to write in Spark SQL.

The functions are in the table `foreign_names.txt`. In a hint, x and y are numbers, s is a string, d
is a date and a is an array; t, t1 and t2 are timestamps. The tests run each hint, and fail if Spark
has added a function that is in the table. Sources: the SQL function references of Oracle,
Snowflake, Trino, Flink, BigQuery, Databricks, SQL Server and DuckDB, and sqlglot's translations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from matchrec.errors.misspellings import find_nearest
from matchrec.errors.surface import current_surface
from matchrec.source import read_package_table

# If the name of an unknown table ends with one of these, it is probably a path without quotes.
FILE_ENDINGS = ("csv", "tsv", "json", "jsonl", "parquet")

# Functions that exist only in a clause.
CLAUSE_FUNCTIONS = frozenset({"CLASSIFIER", "MATCH_NUMBER", "MATCH_ROW_NUMBER", "PREV", "NEXT"})

# The help for such a function outside a clause.
INSIDE_CLAUSE = "write it in MEASURES of the clause, with a name, and select that name"


class ForeignFunction(NamedTuple):
    """An entry of the table `foreign_names.txt`."""

    hint: str  # what to write in Spark SQL
    product: str  # the product that has the function; "" if several have it


@cache
def read_foreign_functions() -> dict[str, ForeignFunction]:
    """Return the table, by the names of the functions in upper case.

    A name that ends with `(` is a function that Spark has as well, but with other arguments.
    """
    functions = {}
    for hint, entries in read_package_table("matchrec.errors.sql", "foreign_names.txt"):
        for entry in entries.split():
            name, _, product = entry.partition("@")
            functions[name] = ForeignFunction(f"write {hint}", product)
    return functions


# The letters in hints that stand for arguments, and the arguments that can replace them: columns,
# calls with columns, and literals.
_LETTERS = re.compile(r"""(?<![\w'"])(?:t1|t2|[xysdt]|a(?=[,)\[]))(?![\w'"(])""")
_COLUMN = re.compile(r"[A-Za-z_`][\w.`]*(\([\w.`, ]*\))?")
_LITERAL = re.compile(r"-?[\d.]+|'[^']*'")


def write_arguments(hint: str, text: str | None, function: str) -> str:
    """Return a hint in which the user's arguments replace the letters that stand for arguments.

    An alternative of the hint keeps its letters unless it is clear which arguments they stand for.

    Args:
        hint: the hint, whose alternatives are separated by ", or ".
        text: a text of the user with the call; None if it is not known.
        function: the name of the called function.

    >>> write_arguments("write CAST(s AS DOUBLE), or to_number(s, '9999')", "NUM(sym) > 1", "NUM")
    "write CAST(sym AS DOUBLE), or to_number(sym, '9999')"
    >>> write_arguments("write if(x > y, x, y)", "IFF(price > 1, 2, 3)", "IFF")
    'write if(price > 1, 2, 3)'
    >>> write_arguments("write coalesce(x, 0)", "FILLNA(price + 1)", "FILLNA")
    'write coalesce(price + 1, 0)'
    """
    arguments = read_arguments(text or "", function)
    if not arguments:
        return hint
    alternatives = [_fill_letters(part, arguments) for part in hint.split(", or ")]
    return ", or ".join(alternatives)


def read_arguments(text: str, function: str) -> list[str]:
    """Return the arguments of the first call of a function in a text; [] without a call.

    >>> read_arguments("price > F(x, abs(y, 1))", "F")
    ['x', 'abs(y, 1)']
    """
    call = rf"(?i)\b{re.escape(function)}\s*\((?P<arguments>[^()]*(\([^()]*\)[^()]*)*)\)"
    match = re.search(call, text)
    if match is None:
        return []
    return [part.strip() for part in re.split(r",(?![^()]*\))", match["arguments"])]


def _fill_letters(alternative: str, arguments: Sequence[str]) -> str:
    """Return an alternative of a hint with arguments instead of its letters.

    The alternative stays as it is if the numbers of letters and arguments differ. It also stays as
    it is if a letter is an operand, as in `x / y`, and an argument is more than a column or a
    literal. A single letter stands for the first argument.

    >>> _fill_letters("coalesce(x, 0)", ["price", "1"]), _fill_letters("count_if(x > 0)", ["p < 2"])
    ('coalesce(price, 0)', 'count_if(p < 2)')
    >>> _fill_letters("x / y", ["a + b", "c"]), _fill_letters("max_by(x, y)", ["a + b", "c"])
    ('x / y', 'max_by(a + b, c)')
    """
    if len(arguments) == 1 and "(x > 0)" in alternative:
        return alternative.replace("(x > 0)", f"({arguments[0]})")
    if len(arguments) == 3 and alternative.endswith("if(x > y, x, y)"):
        return alternative.replace("(x > y, x, y)", f"({', '.join(arguments)})")
    letters = list(dict.fromkeys(_LETTERS.findall(alternative)))
    is_plain = [
        bool(_COLUMN.fullmatch(argument) or _LITERAL.fullmatch(argument)) for argument in arguments
    ]
    if not arguments[0] or _LITERAL.fullmatch(arguments[0]):
        return alternative
    are_plain = all(is_plain)
    if not are_plain and not _takes_any_text(alternative):
        return alternative
    if len(letters) not in (1, len(arguments)):
        return alternative
    argument_by_letter = dict(zip(letters, arguments, strict=False))
    return _LETTERS.sub(lambda match: argument_by_letter[match[0]], alternative)


def _takes_any_text(alternative: str) -> bool:
    """Return whether any expression can replace the letters: each is a whole argument of a call.

    >>> _takes_any_text("coalesce(x, 0)"), _takes_any_text("x + y"), _takes_any_text("f(x > y)")
    (True, False, False)
    """
    return all(
        alternative[: letter.start()].endswith(("(", ", "))
        and re.match(r"[,)]| AS\b", alternative[letter.end() :])
        for letter in _LETTERS.finditer(alternative)
    )


# Calls with a unit of time or a type as an argument, as other products write them and Spark does
# not: the functions, the arguments, and what to write in Spark SQL.
_VALUE = r"(?P<{}>[^(),]+(?:\([^()]*\))?)"
_UNIT = r"(?P<unit>YEAR|QUARTER|MONTH|WEEK|DAY|HOUR|MINUTE|SECOND)"
_TYPE = r"(?P<type>[a-z]\w*)(?P<size>\s*\([\d, ]*\))?"
_CALLS_WITH_KEYWORDS = {
    r"CONVERT": (rf"{_TYPE},{_VALUE.format('value')}(?:,[^()]*)?", "CAST({value} AS {type})"),
    # MySQL's order of the arguments. The key differs from the one above, but means the same name.
    r"CONVERT(?=\s*\()": (rf"{_VALUE.format('value')},\s*{_TYPE}", "CAST({value} AS {type})"),
    r"TRY_CONVERT": (
        rf"{_TYPE},{_VALUE.format('value')}(?:,[^()]*)?",
        "TRY_CAST({value} AS {type})",
    ),
    r"DATEPART|DATE_PART": (rf"{_UNIT},{_VALUE.format('value')}", "extract({unit} FROM {value})"),
    r"DATEDIFF|DATE_DIFF": (
        rf"{_VALUE.format('end')},{_VALUE.format('start')},\s*{_UNIT}",
        "timestampdiff({unit}, {start}, {end})",
    ),
}
# For types of T-SQL and MySQL: the types of Spark SQL. Other types have the same name in both.
_TYPES_OF_CONVERT = {
    **dict.fromkeys(("VARCHAR", "NVARCHAR", "CHAR", "NCHAR", "TEXT", "NTEXT"), "STRING"),
    **dict.fromkeys(("DATETIME", "DATETIME2", "SMALLDATETIME", "DATETIMEOFFSET"), "TIMESTAMP"),
    **dict.fromkeys(("MONEY", "SMALLMONEY"), "DECIMAL(19, 4)"),
    **dict.fromkeys(("NUMERIC", "DEC"), "DECIMAL"),
    **dict.fromkeys(("SIGNED", "UNSIGNED"), "BIGINT"),
    "REAL": "FLOAT",
    "FLOAT": "DOUBLE",
    "BIT": "BOOLEAN",
}
_STANDARD_TYPES = ("INT", "INTEGER", "BIGINT", "SMALLINT", "TINYINT", "DECIMAL", "DATE", "DOUBLE")


def find_keyword_argument_hint(name: str, text: str, start: int = 0) -> str | None:
    """Return what to write for a call with a unit or a type as an argument that Spark lacks.

    Returns None if no such call in the text has the argument.

    Args:
        name: the unit or the type, which Spark reads as a column or a function; or the function.
        text: a text of the user with the call.
        start: calls that end before this position in the text are ignored.

    >>> find_keyword_argument_hint("INT", "CONVERT(INT, price) > 1")
    'write CAST(price AS INT)'
    >>> find_keyword_argument_hint("SIGNED", "CONVERT(A.price, SIGNED) > 1")
    'write CAST(A.price AS BIGINT)'
    >>> find_keyword_argument_hint("VARCHAR", "TRY_CONVERT(VARCHAR(10), price) = '1'")
    'write TRY_CAST(price AS STRING)'
    >>> find_keyword_argument_hint("hour", "DATEPART(hour, ts) = 12")
    'write extract(hour FROM ts)'
    >>> find_keyword_argument_hint("DAY", "DATE_DIFF(LAST(ts), A.ts, DAY) > 1")
    'write timestampdiff(DAY, A.ts, LAST(ts))'
    >>> find_keyword_argument_hint("DAY", "DATE_DIFF(ts, DAY)")
    """
    for functions, (arguments, replacement) in _CALLS_WITH_KEYWORDS.items():
        call = rf"(?i)(?<![\w.])(?P<function>{functions})\s*\(\s*{arguments}\s*\)"
        for match in re.finditer(call, text):
            parts = {key: (value or "").strip() for key, value in match.groupdict().items()}
            keyword = parts.get("unit") or parts["type"]
            is_named = name.upper() in (keyword.upper(), parts["function"].upper())
            if match.end() <= start or not is_named:
                continue
            if "type" in parts:
                type_name = _find_type_of_convert(parts["type"].upper(), parts["size"])
                if type_name is None:
                    continue
                parts["type"] = type_name
            return f"write {replacement.format(**parts)}"
    return None


def _find_type_of_convert(name: str, size: str) -> str | None:
    """Return Spark's type for a type of T-SQL or MySQL; None for a name that is not a type.

    Args:
        name: the name of the type in upper case.
        size: the parentheses after it, such as `(18, 2)`, or "".

    >>> _find_type_of_convert("NUMERIC", "(18, 2)"), _find_type_of_convert("VARCHAR", "(10)")
    ('DECIMAL(18, 2)', 'STRING')
    """
    type_name = _TYPES_OF_CONVERT.get(name, name if name in _STANDARD_TYPES else None)
    return f"{type_name}{size}" if type_name == "DECIMAL" else type_name


def find_function_hint(name: str) -> str | None:
    """Return what to write for a function of another engine, or of a clause; None for others.

    >>> find_function_hint("match_rowtime"), find_function_hint("ARG_MAX")
    ('write LAST(t), with the column of ORDER BY', 'write max_by(x, y)')
    """
    if name.upper() in CLAUSE_FUNCTIONS:
        return INSIDE_CLAUSE
    function = read_foreign_functions().get(name.upper())
    if function is None or not function.product:
        return None if function is None else function.hint
    return add_dialect_hint(function.hint, function.product)


def find_arguments_hint(name: str) -> str | None:
    """Return what to write for a function that takes other arguments in other engines.

    Returns None for other functions.

    >>> find_arguments_hint("dateadd")
    'write d + INTERVAL 1 DAY, or timestampadd(HOUR, 1, t)'
    """
    function = read_foreign_functions().get(f"{name.upper()}(")
    return None if function is None else function.hint


def find_table_hint(name: str, tables: Iterable[str] = ()) -> str | None:
    """Return what to write for a table that does not exist; None if we have no advice.

    Args:
        name: the table as the query names it; "" if the engine does not say.
        tables: tables that exist.

    >>> find_table_hint("`dual`")
    'leave FROM dual out: SELECT without FROM gives one row'
    >>> find_table_hint("`db`.`tiks`", ["trades", "ticks"])
    'write ticks, or look at the tables of db: SHOW TABLES IN db'
    >>> find_table_hint("`ticks`").partition(", or ")[2]
    'write {ticks} and pass ticks=df'
    """
    plain = name.replace("`", "")
    if plain.upper() == "DUAL":
        return "leave FROM dual out: SELECT without FROM gives one row"
    if plain.upper() == "TABLE":
        return "remove TABLE: FROM t, with the name of your table"
    database, _, last_part = plain.rpartition(".")
    known_tables = list(tables)
    near = find_nearest(plain, known_tables) or find_nearest(last_part, known_tables)
    surface = current_surface()
    hints = []
    if near:
        hints.append(f"write {near}")
    if last_part.lower() in FILE_ENDINGS:
        hints.append(surface.advice_on_file_name or surface.advice_on_file)
    elif database:
        hints.append(f"look at the tables of {database}: SHOW TABLES IN {database}")
    elif plain.isidentifier() and not (near and surface.has_python_calls):
        # in a shell, a table with a similar name may be one whose --table is missing
        hints.append(surface.advise_on_table(plain))
    return ", or ".join(hints) or None


def find_target_hint(name: str, tables: Iterable[str] = ()) -> str:
    """Return what to write for a table that does not exist and into which a query writes.

    Args:
        name: the table as the query names it.
        tables: tables that exist.

    >>> find_target_hint("`runs`")
    'make the table first: CREATE TABLE runs AS SELECT ..., instead of INSERT'
    >>> find_target_hint("runz", ["runs"]).partition(", or ")[0]
    'write runs'
    """
    plain = name.replace("`", "")
    near = find_nearest(plain, list(tables))
    hint = f"make the table first: CREATE TABLE {plain} AS SELECT ..., instead of INSERT"
    return f"write {near}, or {hint}" if near else hint


# `(+)` of Oracle after a column of a join: `t.x = u.x(+)`. The call `abs(+)` lacks an argument.
_OUTER_JOIN_SIGN = re.compile(
    r"(?:[.=]\s*|\b(?:WHERE|AND)\s+)(?:\w+|`[^`]+`)\s*\(\s*\+\s*\)$", re.IGNORECASE
)


def find_dialect_syntax_hint(text: str) -> str | None:
    """Return what to write if Spark cannot read the last word of a text, but another product can.

    Args:
        text: the query up to the word at which Spark's parser fails.

    >>> find_dialect_syntax_hint("SELECT TOP 5 *")
    'write LIMIT 5 at the end, or pass dialect="snowflake"'
    >>> find_dialect_syntax_hint('SELECT * FROM "ticks"')
    'write `ticks` in backticks'
    >>> find_dialect_syntax_hint("SELECT * FROM t, u WHERE t.x = u.x(+)")
    'write LEFT JOIN'
    >>> find_dialect_syntax_hint("SELECT abs(+)")
    """
    top = re.search(r"\bTOP\s*\(?\s*(\d+)\s*\)?\s*\S?$", text, re.IGNORECASE)
    if top is not None:
        return add_dialect_hint(f"write LIMIT {top[1]} at the end", "snowflake")
    if re.search(r"\bQUALIFY$", text, re.IGNORECASE):
        return add_dialect_hint("write SELECT * FROM (SELECT ...) WHERE ... around it", "snowflake")
    if re.search(r"\b(RUNNING|FINAL)\s+\w+\s*\($", text, re.IGNORECASE):
        return INSIDE_CLAUSE
    if _OUTER_JOIN_SIGN.search(text):
        return "write LEFT JOIN"
    name = re.search(r'"([^"\n]+)"$', text)
    return f"write `{name[1]}` in backticks" if name else None


def add_dialect_hint(hint: str | None, *dialects: str) -> str:
    """Return a hint, with the advice to pass a dialect that understands the user's spelling.

    Args:
        hint: the hint; None to return only this advice.
        dialects: the dialects.

    >>> add_dialect_hint("write CLASSIFIER()", "snowflake")
    'write CLASSIFIER(), or pass dialect="snowflake"'
    """
    passed = f"pass {current_surface().write_option('dialect', *dialects)}"
    return f"{hint}, or {passed}" if hint else passed
