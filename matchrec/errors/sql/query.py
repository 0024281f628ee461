"""Errors in the query around a clause: where the clause is written, and what it is applied to.

`select_columns` has the advice on the columns that this query reads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
    point_at,
)
from matchrec.errors.language import name_part
from matchrec.errors.misspellings import find_nearest, find_query_keyword
from matchrec.errors.misspelt_keywords import misspelt_keyword
from matchrec.errors.sql.tokens import IN_DOUBLE_QUOTES, advise_backticks
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import (
    find_written_part,
    join_names,
    quote_in_backticks,
    shorten,
    show_list,
    write_name,
)
from matchrec.source import Span, read_package_table

# Notes of several errors.
_ONE_RELATION = (
    "MATCH_RECOGNIZE follows one relation in FROM: a table, a subquery, VALUES or a function"
)
_INPUT_READ_ONCE = "MATCH_RECOGNIZE reads its input once, not once for each row of another relation"


@dataclass(frozen=True, slots=True)
class _OtherLanguage:
    """A language other than SQL, as the table `foreign_languages.txt` describes it."""

    # What the text is, and what a clause says for it.
    description: str
    # A regular expression that finds the language in a text. Case does not matter.
    pattern: str


@cache
def _read_languages() -> tuple[_OtherLanguage, ...]:
    """Return the languages of the table, in the order in which texts are compared with them."""
    table = read_package_table("matchrec.errors.sql", "foreign_languages.txt")
    return tuple(_OtherLanguage(description, pattern) for description, pattern in table)


def reject_other_language(text: str, offset: int = 0) -> None:
    """Raise an error for a text that is written in another language, such as EPL.

    Args:
        text: the text.
        offset: where the text starts in the text of the query.

    Raises:
        MatchRecognizeParseError: the text is in one of the languages in `foreign_languages.txt`.
    """
    for language in _read_languages():
        match = re.search(language.pattern, text, re.IGNORECASE | re.DOTALL)
        if match is not None:
            span = Span(offset + match.start(), offset + match.end())
            raise MatchRecognizeParseError(
                "a pattern in another language is not supported",
                span,
                notes=(f"this is {language.description}",),
                hint=(
                    "write SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES "
                    "... PATTERN (A B) DEFINE ...)"
                ),
                code="pattern-of-other-language",
            )


def clause_without_parenthesis(
    span: Span, *, text: str, table: str = ""
) -> MatchRecognizeParseError:
    """Return the error for MATCH_RECOGNIZE that no parenthesis follows.

    Args:
        span: MATCH_RECOGNIZE in the text of the query.
        text: the first words after it.
        table: the word after it if a parenthesis follows that word, as in
            `MATCH_RECOGNIZE t (...)`; otherwise "".
    """
    hint = f"write MATCH_RECOGNIZE ({shorten(text)} ...)"
    if table:
        hint = f"write {table} MATCH_RECOGNIZE (...)"
    return MatchRecognizeParseError(
        "missing parenthesis after MATCH_RECOGNIZE",
        span,
        hint=hint,
        code="clause-without-parenthesis",
    )


def dot_before_clause(span: Span) -> MatchRecognizeParseError:
    """Return the error for FROM t.MATCH_RECOGNIZE (...)."""
    return MatchRecognizeParseError(
        "a dot is not allowed before MATCH_RECOGNIZE",
        span,
        hint="write a space instead",
        code="dot-before-clause",
    )


def blank_query(
    text: str, *, source: str = "", example: str = "SELECT * FROM t MATCH_RECOGNIZE (...)"
) -> MatchRecognizeParseError:
    """Return the error for a text without a statement, such as "" or a comment.

    Args:
        text: the text. The message shows an excerpt unless the text is blank.
        source: the origin of the text, such as "standard input"; "" if the user passed the text.
        example: the text that the help writes.
    """
    has_comments = bool(text.strip(" \t\r\n;"))
    return MatchRecognizeParseError(
        "the query is empty",
        find_written_part(text),
        notes=(
            "the text has only comments" if has_comments else "",
            f"it was read from {source}" if source else "",
        ),
        hint=f"write {example}",
        code="empty-query",
    )


def several_statements(span: Span) -> MatchRecognizeParseError:
    """Return the error for a text with two statements in a call that takes one."""
    return MatchRecognizeParseError(
        "a second statement after `;` is not allowed in one call",
        span,
        hint="pass each statement in its own call",
        code="several-statements",
    )


def clause_without_relation(span: Span, *, table: str = "") -> MatchRecognizeParseError:
    """Return the error for FROM MATCH_RECOGNIZE (...), and for FROM t, MATCH_RECOGNIZE (...).

    Args:
        span: MATCH_RECOGNIZE in the text of the query.
        table: the table before the comma; "" if there is no comma.
    """
    hint = "write FROM t MATCH_RECOGNIZE (...)"
    if table:
        hint = f"remove the comma: FROM {table} MATCH_RECOGNIZE (...)"
    return MatchRecognizeParseError(
        "missing table before MATCH_RECOGNIZE", span, hint=hint, code="clause-without-relation"
    )


def comma_before_from(span: Span) -> MatchRecognizeParseError:
    """Return the error for SELECT a, FROM t."""
    return MatchRecognizeParseError(
        "a comma is not allowed before FROM",
        span,
        hint="remove the comma",
        code="comma-before-from",
    )


def explain_misspelt_keyword(text: str, span: Span) -> MatchRecognizeParseError | None:
    """Return the error for a misspelt keyword that makes an engine's parser fail, or None.

    The parser may fail one word later, because it reads the first one as an alias: in
    `FROM t WHER x > 1` at `x`.

    Args:
        text: the query.
        span: the word at which the parser fails.
    """
    word_before = re.search(r"(?<![\w`.])[A-Za-z]+(?=\s+$)", text[: span.start])
    spans = [span] if word_before is None else [span, Span(*word_before.span())]
    for word_span in spans:
        word = text[word_span.start : word_span.end]
        keyword = find_query_keyword(word)
        if keyword is not None:
            return misspelt_keyword(word_span, text=word, keyword=keyword)
    return None


def explain_second_alias(text: str, span: Span) -> MatchRecognizeParseError | None:
    """Return the error for a second alias that makes an engine's parser fail, or None.

    Args:
        text: the query.
        span: the word at which the parser fails: AS, or the second alias.

    >>> print(explain_second_alias("SELECT x AS a b FROM t", Span(14, 15)))
    a column with two aliases is not allowed [two-aliases]
      help: write one alias, AS a, or a comma before b
    """
    before = re.search(r"(?i)\bAS\s+(\w+)\s+$", text[: span.start])
    if text[span.start : span.end].upper() == "AS":
        before = re.search(r"(?i)[\w)`]\s+(?:AS\s+)?([A-Za-z]\w*)\s+$", text[: span.start])
    after = re.match(r"(?i)(?:AS\s+)?([A-Za-z]\w*)\s*(?=,|FROM\b|$)", text[span.start :])
    if before is None or after is None:
        return None
    first, second = before[1], after[1]
    return MatchRecognizeParseError(
        "a column with two aliases is not allowed",
        Span(before.start(1), span.start + after.end(1)),
        hint=f"write one alias, AS {first}, or a comma before {second}",
        code="two-aliases",
    )


def table_in_quotes(span: Span, *, name: str) -> MatchRecognizeParseError:
    """Return the error for FROM 'stocks.csv' MATCH_RECOGNIZE (...), as DuckDB reads a file."""
    surface = current_surface()
    return MatchRecognizeParseError(
        "a string is not allowed before MATCH_RECOGNIZE",
        span,
        notes=(_ONE_RELATION,),
        hint=f"write {quote_in_backticks(name)} for a table of that name; {surface.advice_on_file}",
        code="table-in-quotes",
    )


def table_in_brackets(span: Span, *, name: str) -> MatchRecognizeParseError:
    """Return the error for FROM [ticks] MATCH_RECOGNIZE (...), as T-SQL quotes a name."""
    return MatchRecognizeParseError(
        "brackets are not allowed before MATCH_RECOGNIZE",
        span,
        notes=("Spark SQL writes quoted names in backticks",),
        hint=f"write {write_name(name)}",
        code="table-in-brackets",
    )


def clause_in_wrong_place(
    span: Span, *, relation: str = "", table: str = ""
) -> MatchRecognizeParseError:
    """Return the error for a clause that does not follow a relation in FROM.

    Args:
        span: MATCH_RECOGNIZE in the text of the query.
        relation: the text from the table up to the clause; "" if FROM does not precede the clause.
        table: the table that seems to be meant, as in `t MATCH_RECOGNIZE (...)` and in
            `SELECT MATCH_RECOGNIZE (...) FROM t`; "" if it is not known.
    """
    note = "" if table else _ONE_RELATION
    if relation.startswith(":"):
        note = "a parameter is a value, not a table"
        hint = f"write the name of the table instead of {shorten(relation)}"
    elif relation:
        hint = (
            f"wrap what precedes it in a subquery: FROM (SELECT * FROM {shorten(relation)}) "
            "MATCH_RECOGNIZE (...)"
        )
    else:
        hint = f"write SELECT * FROM {table or 't'} MATCH_RECOGNIZE (...)"
    return MatchRecognizeParseError(
        "MATCH_RECOGNIZE is not allowed here",
        span,
        notes=(note,),
        hint=hint,
        code="clause-in-wrong-place",
    )


def clause_in_clause(span: Span) -> MatchRecognizeUnsupportedError:
    """Return the error for a clause in a subquery of an expression of another clause."""
    return MatchRecognizeUnsupportedError(
        "MATCH_RECOGNIZE in an expression of another MATCH_RECOGNIZE is not supported",
        span,
        hint="name its result: WITH c AS (SELECT ... MATCH_RECOGNIZE (...)), and query c instead",
        code="clause-in-clause",
    )


def alias_in_unpivot(span: Span, *, column: str, alias: str) -> MatchRecognizeUnsupportedError:
    """Return the error for UNPIVOT (v FOR name IN (low AS bottom)), whose alias Sail ignores.

    Args:
        span: the location in the text of the query.
        column: the column, `low`.
        alias: its alias, `bottom`.
    """
    return MatchRecognizeUnsupportedError(
        "an alias in UNPIVOT is not supported on Sail",
        span,
        hint=(
            f"rename the column in a subquery: FROM (SELECT *, {column} AS {alias} FROM ...) "
            f"UNPIVOT (... IN ({alias}, ...))"
        ),
        code="alias-in-unpivot",
    )


def clause_on_changed_table(span: Span, *, word: str) -> MatchRecognizeParseError:
    """Return the error for a clause on the table that UPDATE, DELETE or MERGE changes."""
    return MatchRecognizeParseError(
        f"MATCH_RECOGNIZE is not allowed on the table of {word}",
        span,
        notes=(f"MATCH_RECOGNIZE returns new rows, but {word} changes the rows of a table",),
        hint=f"write the clause in a subquery of its condition: {word} ... WHERE x IN (SELECT ...)",
        code="clause-on-changed-table",
    )


def clause_after_lateral(span: Span) -> MatchRecognizeUnsupportedError:
    """Return the error for a clause on a LATERAL relation."""
    return MatchRecognizeUnsupportedError(
        "MATCH_RECOGNIZE after a LATERAL relation is not supported",
        span,
        notes=(_INPUT_READ_ONCE,),
        hint="remove LATERAL, or join the relations in a subquery and match its result",
        code="clause-after-lateral",
    )


def clause_after_table_call(span: Span, *, text: str, table: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a clause after `TABLE(t)`, as other products write the table `t`.

    Args:
        span: the call in the text of the query.
        text: the call.
        table: the name of the table, or a query in parentheses.
    """
    return MatchRecognizeUnsupportedError(
        f"MATCH_RECOGNIZE after {shorten(text)} is not supported",
        span,
        hint=f"write FROM {table}",
        code="clause-after-table-call",
    )


def correlated_clause_input(span: Span, *, name: str) -> MatchRecognizeUnsupportedError:
    """Return the error for the input of a clause that reads a column of the query around it."""
    return MatchRecognizeUnsupportedError(
        f"the input of MATCH_RECOGNIZE depends on `{name}` of the query around it",
        span,
        notes=(_INPUT_READ_ONCE,),
        hint="join the relations in a subquery, match its result, and add the key to PARTITION BY",
        code="correlated-clause-input",
    )


def clause_in_recursive_query(span: Span, *, name: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a clause in the recursive part of a WITH RECURSIVE query."""
    return MatchRecognizeUnsupportedError(
        f"MATCH_RECOGNIZE in the recursive definition of `{name}` is not supported",
        span,
        hint=f"match the finished rows instead: SELECT * FROM {name} MATCH_RECOGNIZE (...)",
        code="clause-in-recursive-query",
    )


def clause_in_stored_text(span: Span, *, kind: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a clause in a permanent view or function."""
    return MatchRecognizeUnsupportedError(
        f"MATCH_RECOGNIZE in {kind} is not supported",
        span,
        notes=("Spark stores the text, and cannot run the clause without matchrec",),
        hint=(
            "write CREATE TEMPORARY VIEW, once in each session, or CREATE TABLE ... AS to keep the "
            "rows"
        ),
        code="clause-in-stored-text",
    )


def clause_in_global_view(span: Span) -> MatchRecognizeUnsupportedError:
    """Return the error for a clause in CREATE GLOBAL TEMPORARY VIEW."""
    return MatchRecognizeUnsupportedError(
        "MATCH_RECOGNIZE in the text of a global temporary view is not supported",
        span,
        notes=(
            (
                "Spark stores the text, and other sessions do not have what matchrec replaces the "
                "clause with"
            ),
        ),
        hint=current_surface().advice_on_global_view,
        code="clause-in-global-view",
    )


def clause_in_script(span: Span) -> MatchRecognizeUnsupportedError:
    """Return the error for a clause in a SQL script."""
    return MatchRecognizeUnsupportedError(
        "MATCH_RECOGNIZE in a script, BEGIN ... END, is not supported",
        span,
        notes=("the table that a clause reads may be made by an earlier statement of the script",),
        hint=current_surface().advice_on_script,
        code="clause-in-script",
    )


def clause_in_execute_immediate(span: Span) -> MatchRecognizeUnsupportedError:
    """Return the error for a clause in the string of EXECUTE IMMEDIATE."""
    return MatchRecognizeUnsupportedError(
        "MATCH_RECOGNIZE in the text of EXECUTE IMMEDIATE is not supported",
        span,
        notes=("Spark reads this text itself, without matchrec",),
        hint=current_surface().advice_on_execute_immediate,
        code="clause-in-execute-immediate",
    )


def missing_dataframe(span: Span, *, name: str, frames: Sequence[str]) -> MatchRecognizePlanError:
    """Return the error for {name} in a query without a DataFrame of that name.

    Args:
        span: the location in the text of the query.
        name: the name in braces.
        frames: the names that have a DataFrame.
    """
    surface = current_surface()
    near = find_nearest(name, frames)
    hint = f"write {{{near}}}" if near else surface.advice_on_frame.format(name=name)
    note = surface.note_without_frames
    if frames:
        note = surface.note_on_frames.format(name=join_names(frames))
    return MatchRecognizePlanError(
        f"missing {surface.relation_noun} for `{{{name}}}`",
        span,
        notes=(note,),
        hint=hint,
        code="missing-dataframe",
    )


def missing_value_in_braces(
    span: Span | None, *, name: str, clause: str, values: Sequence[str], parameters: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for {name} in a clause for which no value was passed.

    Args:
        span: the expression in the text of the query.
        name: the name in braces.
        clause: the clause of the expression.
        values: the names for which something was passed.
        parameters: the parameters that have a value in `args`.
    """
    surface = current_surface()
    near = find_nearest(name, values)
    parameter = find_nearest(name, parameters) or name
    hint = f"write {{{near}}}" if near else f"write :{parameter}"
    if near is None and parameter not in parameters:
        hint += f", and {surface.advice_on_parameter.format(name=name)}"
    error = MatchRecognizePlanError(
        f"missing value for `{{{name}}}` in {name_part(clause)}",
        span,
        notes=(show_list(f"{surface.source_of_values} has", parameters, "") if parameters else "",),
        hint=hint,
        code="missing-value-in-braces",
    )
    return point_at(error, f"{{{name}}}")


def alias_in_double_quotes(span: Span, *, text: str) -> MatchRecognizeParseError:
    """Return the error for a double-quoted alias of a clause, as in AS "m"."""
    return MatchRecognizeParseError(
        "double quotes are not allowed around the alias of MATCH_RECOGNIZE",
        span,
        notes=(IN_DOUBLE_QUOTES,),
        hint=advise_backticks(text),
        code="alias-in-double-quotes",
    )


def wrong_number_of_column_names(
    span: Span, *, name_count: str, column_count: str, columns: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for a list of names after the clause that is too short or too long.

    Args:
        span: the list in the text of the query.
        name_count: the number of names, with its noun, such as "2 names".
        column_count: the number of columns of the clause, with its noun.
        columns: the columns that the clause returns.
    """
    return MatchRecognizePlanError(
        f"the list after MATCH_RECOGNIZE has {name_count}, but the clause returns {column_count}",
        span,
        notes=(show_list("the clause returns", columns, "columns"),),
        hint="write one name for each of these columns",
        code="wrong-number-of-column-names",
    )
