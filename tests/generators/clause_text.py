"""The text of a clause's syntax node, which parses back to an equal node."""

from __future__ import annotations

import re
from collections.abc import Iterable

from matchrec.plan.clauses import AfterMatchSkip, Subset
from matchrec.plan.pattern import show_name, show_pattern
from matchrec.syntax.nodes import MatchRecognize, PartitionKey, SortKey, WindowNode


def clause_text(clause: MatchRecognize) -> str:
    words = "".join(f" {one.value}" for one in (clause.selection, clause.output) if one)
    within = f" {part('WITHIN', map(window, clause.windows))}" if clause.windows else ""
    measures = (f"{one.expression.text} AS {column(one.name)}" for one in clause.measures)
    conditions = (f"{show_name(one.name)} AS {one.expression.text}" for one in clause.definitions)
    lines = (
        part("PARTITION BY", map(partition_key, clause.partition_by)),
        part("ORDER BY", map(sort_key, clause.order_by)),
        part("MEASURES", measures),
        rows(clause),
        skip(clause.after_match) if clause.after_match else "",
        clause.search.value if clause.search else "",
        f"PATTERN ({show_pattern(clause.pattern)}){words}{within}",
        part("SUBSET", map(subset, clause.subsets)),
        part("DEFINE", conditions),
    )
    return "\n".join(line for line in lines if line)


def rows(clause: MatchRecognize) -> str:
    if clause.rows_per_match is None:
        return ""
    partial = f" {clause.partial.words}" if clause.partial else ""
    return f"{clause.rows_per_match.value}{partial}"


def part(keyword: str, items: Iterable[str]) -> str:
    text = ", ".join(items)
    return f"{keyword} {text}" if text else ""


def partition_key(key: PartitionKey) -> str:
    name = f" AS {column(key.name)}" if key.name else ""
    return f"{key.expression.text}{name}"


def sort_key(key: SortKey) -> str:
    direction = {None: "", True: " DESC", False: " ASC"}[key.descending]
    nulls = {None: "", True: " NULLS FIRST", False: " NULLS LAST"}[key.nulls_first]
    return f"{key.expression.text}{direction}{nulls}"


def skip(skip: AfterMatchSkip) -> str:
    variable = "" if skip.variable is None else f" {show_name(skip.variable)}"
    return f"AFTER MATCH SKIP {skip.to.value}{variable}"


def subset(subset: Subset) -> str:
    members = ", ".join(show_name(member) for member in subset.members)
    return f"{show_name(subset.name)} = ({members})"


def window(window: WindowNode) -> str:
    if window.between_rows:
        return f"{window.interval.text} BETWEEN ROWS"
    if window.after is None or window.to is None:
        return window.interval.text
    return f"{window.interval.text} FROM {show_name(window.after)} TO {show_name(window.to)}"


def column(name: str) -> str:
    quoted = name.replace("`", "``")
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else f"`{quoted}`"
