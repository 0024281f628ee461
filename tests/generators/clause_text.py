"""Write the syntax node of a clause as text, which the parser reads as an equal node."""

from __future__ import annotations

import re
from collections.abc import Iterable

from matchrec.plan.clauses import AfterMatchSkip, Subset
from matchrec.plan.pattern import show_name, show_pattern
from matchrec.syntax.nodes import MatchRecognize, PartitionKey, SortKey, WindowNode


def write_clause(clause: MatchRecognize) -> str:
    """Return the text of a clause."""
    choices = (clause.selection, clause.output)
    words = "".join(f" {choice.value}" for choice in choices if choice)
    within = f" {write_part('WITHIN', map(write_window, clause.windows))}" if clause.windows else ""
    measures = (
        f"{measure.expression.text} AS {write_column(measure.name)}" for measure in clause.measures
    )
    conditions = (
        f"{show_name(definition.name)} AS {definition.expression.text}"
        for definition in clause.definitions
    )
    lines = (
        write_part("PARTITION BY", map(write_partition_key, clause.partition_by)),
        write_part("ORDER BY", map(write_sort_key, clause.order_by)),
        write_part("MEASURES", measures),
        write_rows(clause),
        write_skip(clause.after_match) if clause.after_match else "",
        clause.search.value if clause.search else "",
        f"PATTERN ({show_pattern(clause.pattern)}){words}{within}",
        write_part("SUBSET", map(write_subset, clause.subsets)),
        write_part("DEFINE", conditions),
    )
    return "\n".join(line for line in lines if line)


def write_rows(clause: MatchRecognize) -> str:
    """Return ROWS PER MATCH and SHOW ... MATCHES."""
    if clause.rows_per_match is None:
        return ""
    partial = f" {clause.partial.words}" if clause.partial else ""
    return f"{clause.rows_per_match.value}{partial}"


def write_part(keyword: str, items: Iterable[str]) -> str:
    """Return a keyword and its items; empty without items."""
    text = ", ".join(items)
    return f"{keyword} {text}" if text else ""


def write_partition_key(key: PartitionKey) -> str:
    """Return an item of PARTITION BY."""
    name = f" AS {write_column(key.name)}" if key.name else ""
    return f"{key.expression.text}{name}"


def write_sort_key(key: SortKey) -> str:
    """Return an item of ORDER BY."""
    direction = {None: "", True: " DESC", False: " ASC"}[key.is_descending]
    nulls = {None: "", True: " NULLS FIRST", False: " NULLS LAST"}[key.nulls_first]
    return f"{key.expression.text}{direction}{nulls}"


def write_skip(skip: AfterMatchSkip) -> str:
    """Return AFTER MATCH SKIP."""
    variable = "" if skip.variable is None else f" {show_name(skip.variable)}"
    return f"AFTER MATCH SKIP {skip.to.value}{variable}"


def write_subset(subset: Subset) -> str:
    """Return an item of SUBSET."""
    members = ", ".join(show_name(member) for member in subset.members)
    return f"{show_name(subset.name)} = ({members})"


def write_window(window: WindowNode) -> str:
    """Return an item of WITHIN."""
    if window.is_between_rows:
        return f"{window.interval.text} BETWEEN ROWS"
    if window.from_variable is None or window.to_variable is None:
        return window.interval.text
    variables = f"{show_name(window.from_variable)} TO {show_name(window.to_variable)}"
    return f"{window.interval.text} FROM {variables}"


def write_column(name: str) -> str:
    """Return the name of a column, in backticks unless it is a word."""
    quoted = name.replace("`", "``")
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else f"`{quoted}`"
