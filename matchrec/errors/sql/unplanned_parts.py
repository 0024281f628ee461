"""Find the part of a query that Sail cannot run, if Sail's message does not say where it is.

    SELECT price IN (SELECT low FROM t) ...     logical expression InSubquery(...)
    SELECT * FROM t GROUP BY sym                logical expression Wildcard {...}

The `find_` functions read such a message, and look for the part in the user's text. They take the
arguments of `refused_parts.find_refused_part`, and return what it returns.
"""

from __future__ import annotations

import re

from matchrec.errors.kinds import MatchRecognizePlanError, MatchRecognizeUnsupportedError
from matchrec.errors.language import name_part
from matchrec.errors.run.expression_text import (
    blank_comments,
    find_closing,
    find_operand_start,
    fit_on_line,
    split_tokens,
)
from matchrec.errors.wording import join_lines
from matchrec.source import Span

# IN (SELECT ...).

# A subquery that `collect_list` can turn into an array: a name or literal, FROM, perhaps WHERE.
_SUBQUERY = re.compile(
    r"SELECT\s+(?:DISTINCT\s+)?(?P<item>[\w.`]+|'[^']*')\s*"
    r"(?P<rest>(?:FROM\s(?:(?!\b(?:GROUP|HAVING|ORDER|LIMIT|UNION|EXCEPT|INTERSECT)\b).)*)?)",
    re.IGNORECASE | re.DOTALL,
)


def find_in_subquery(
    message: str, text: str, clause: str = ""
) -> MatchRecognizeUnsupportedError | None:
    """Return the error for the only IN (SELECT ...) of a text, if Sail cannot run it.

    If the text has several, some of them may be in WHERE, where Sail can run them.

    >>> message = "Physical plan does not support logical expression InSubquery(...)"
    >>> error = find_in_subquery(message, "price IN (SELECT low FROM t)", "DEFINE")
    >>> print(error.message, error.hint, sep="\\n")
    IN (SELECT ...) in DEFINE is not supported on Sail
    write array_contains((SELECT collect_list(low) FROM t), price)
    """
    if "logical expression InSubquery" not in message:
        return None
    tokens = split_tokens(blank_comments(text))
    words = [token.text.upper() for token in tokens]
    indices = [i for i in range(1, len(words)) if words[i : i + 3] == ["IN", "(", "SELECT"]]
    if len(indices) != 1:
        return None
    (index,) = indices
    is_negated = words[index - 1] == "NOT"
    value_end = index - 1 if is_negated else index
    start = tokens[find_operand_start(tokens, value_end)].start
    closing = tokens[find_closing(tokens, index + 1)]
    value = text[start : tokens[value_end - 1].end]
    subquery = text[tokens[index + 1].end : closing.start]
    return in_subquery(
        Span(start, closing.end),
        value=value,
        subquery=subquery,
        is_negated=is_negated,
        clause=clause,
    )


def in_subquery(
    span: Span, *, value: str, subquery: str, is_negated: bool, clause: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for IN (SELECT ...) in a position in which Sail cannot run it.

    Args:
        span: the whole condition in the text of the query.
        value: the value before IN, as the user wrote it.
        subquery: the subquery without its parentheses.
        is_negated: whether the condition is NOT IN.
        clause: the clause of the condition, such as DEFINE; "" for a query.
    """
    parts = _SUBQUERY.fullmatch(join_lines(subquery))
    sql = None
    if parts is not None:
        array = f"SELECT collect_list({parts['item']}) {parts['rest']}".strip()
        sql = fit_on_line(f"array_contains(({array}), {join_lines(value)})")
    sql = sql or "array_contains((SELECT collect_list(COLUMN) FROM TABLE), VALUE)"
    place = f"in {name_part(clause)}" if clause else "outside of WHERE"
    return MatchRecognizeUnsupportedError(
        f"{'NOT IN' if is_negated else 'IN'} (SELECT ...) {place} is not supported on Sail",
        span,
        notes=("array_contains needs a value that has the type of the elements",),
        hint=f"write {'NOT ' if is_negated else ''}{sql}",
        code="in-subquery-on-sail",
    )


# `*` in a query over groups of rows.

# The parts of a SELECT that matter here. A `*` is an item of it if a comma or FROM follows. The
# keys of GROUP BY are "" if a call is among them.
_PART_OF_SELECT = re.compile(
    r"'(?:[^'\\]|\\.)*'|`[^`]*`|(?P<opening>\()|(?P<closing>\))|(?P<select>\bSELECT\b)"
    r"|(?P<star>(?:\b\w+\.)?\*)(?=\s*(?:,|FROM\b))|\bGROUP\s+BY\b(?P<keys>(?:[\s\w.,]*(?![\s\w.,(]))?)"
    r"|(?P<having>\bHAVING\b)",
    re.IGNORECASE,
)
# The words that can follow the keys of GROUP BY.
_AFTER_KEYS = re.compile(r"\b(?:HAVING|ORDER|LIMIT|WINDOW|UNION|EXCEPT|INTERSECT)\b", re.IGNORECASE)


def find_star_over_groups(message: str, text: str) -> MatchRecognizePlanError | None:
    """Return the error for the first `*` in the items of a query with GROUP BY or HAVING.

    >>> message = "Physical plan does not support logical expression Wildcard { ... }"
    >>> error = find_star_over_groups(message, "SELECT * FROM (SELECT * FROM t) GROUP BY sym")
    >>> error.message, error.span, error.hint
    ('`*` is not allowed with GROUP BY', Span(start=7, end=8), 'write SELECT sym, count(*)')
    """
    if "logical expression Wildcard" not in message:
        return None
    # The `*` of each SELECT that is not complete, from the outermost to the innermost.
    stars: list[Span | None] = [None]
    for part in _PART_OF_SELECT.finditer(blank_comments(text)):
        match part.lastgroup:
            case "opening":
                stars.append(None)
            case "closing" if len(stars) > 1:
                stars.pop()
            case "select":
                stars[-1] = None
            case "star":
                stars[-1] = Span(*part.span("star"))
            case "keys" | "having" if stars[-1] is not None:
                keys = None if part["keys"] is None else _AFTER_KEYS.split(part["keys"])[0]
                return star_over_groups(stars[-1], keys=keys)
    return None


def star_over_groups(span: Span, *, keys: str | None) -> MatchRecognizePlanError:
    """Return the error for `*` in a query with GROUP BY or HAVING.

    Args:
        span: the `*`.
        keys: the keys of GROUP BY as the user wrote them; "" if they are not names, None for HAVING
            without GROUP BY.
    """
    if keys is None:
        notes: tuple[str, ...] = ("HAVING without GROUP BY makes one group of all rows",)
        hint = "write WHERE for a condition on each row, or aggregates instead of `*`"
    else:
        notes = ()
        hint = f"write SELECT {join_lines(keys).strip() or 'KEY'}, count(*)"
    return MatchRecognizePlanError(
        f"`*` is not allowed with {'HAVING' if keys is None else 'GROUP BY'}",
        span,
        notes=notes,
        hint=hint,
        code="star-over-groups",
    )
