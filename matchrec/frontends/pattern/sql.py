"""A pattern as MATCH_RECOGNIZE with the clause's event selection, where both mean the same.

    next, consecutive()                  STRICT CONTIGUITY
    followed_by, single stages only      SKIP TILL NEXT MATCH
    followed_by_any, allow_combinations  SKIP TILL ANY MATCH

One strategy is for the whole clause. What it cannot say is refused: NOTs, until, greedy, windows
between neighbours, conditions on earlier events of the same stage, and a mixture of strategies.
"""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.errors import stages as errors
from matchrec.frontends.pattern import checks
from matchrec.frontends.pattern.lower import PatternQuery, lower_pattern
from matchrec.frontends.pattern.tree import (
    All,
    Condition,
    Contiguity,
    Either,
    Stage,
    all_stages,
    named_stages,
)
from matchrec.plan.clauses import EventSelection
from matchrec.plan.expression import Aggregate, Classifier, ColumnReference, references
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import show_name, show_quantifier

SELECTION = {
    Contiguity.STRICT: EventSelection.STRICT_CONTIGUITY,
    Contiguity.RELAXED: EventSelection.SKIP_TILL_NEXT_MATCH,
    Contiguity.ANY: EventSelection.SKIP_TILL_ANY_MATCH,
}


def to_sql(query: PatternQuery, table: str) -> str:
    """A query with a row for each match of the pattern, without skipping.

    Raises MatchRecognizeUnsupportedError for what the clause cannot say.
    """
    stages = query.pattern.stages
    selection = strategy_of(stages)
    plan, _ = lower_pattern(query)
    refuse_reading(plan)
    order = ", ".join(query.order_by)
    time = query.order_by[0]
    lines = [f"PARTITION BY {', '.join(query.partition_by)}"] * bool(query.partition_by)
    lines.append(f"ORDER BY {order}")
    lines.append(f"MEASURES FIRST({time}) AS start_time, LAST({time}) AS end_time")
    lines.append(f"PATTERN ({sequence(stages)}) {selection.value} ALL MATCHES")
    whole = checks.whole_window(stages)
    lines += [] if whole is None else [f"WITHIN {whole.sql}"]
    defined = ",\n         ".join(definitions(stages))
    lines += [f"DEFINE {defined}"] if defined else []
    body = "\n  ".join(lines)
    return f"SELECT * FROM {table} MATCH_RECOGNIZE (\n  {body}\n)"


def strategy_of(stages: tuple[Stage, ...]) -> EventSelection:
    """The one strategy of all stages."""
    found: dict[Contiguity, None] = {}
    for stage in all_stages(stages):
        obstacle = unsayable(stage)
        if obstacle is not None:
            raise errors.not_in_sql(stage.label, obstacle)
    for group in (stages, *(s.content for s in all_stages(stages) if isinstance(s.content, tuple))):
        found.update(dict.fromkeys(stage.contiguity for stage in group[1:]))
    for stage in all_stages(stages):
        if stage.quantified and stage.most != 1:
            found[stage.inner or Contiguity.RELAXED] = None
    kinds = tuple(found) or (Contiguity.STRICT,)
    if len(kinds) > 1:
        raise errors.not_in_sql("the pattern", f"mixes {' and '.join(k.value for k in kinds)}")
    if kinds == (Contiguity.RELAXED,):
        for stage in all_stages(stages):
            if stage.quantified or stage.optional or stage.is_group:
                what = "may be left otherwise than under SKIP TILL NEXT MATCH"
                raise errors.not_in_sql(stage.label, what)
    return SELECTION[kinds[0]]


def unsayable(stage: Stage) -> str | None:
    """What of a stage the clause cannot say, or None."""
    if stage.negated:
        return "is a NOT"
    if stage.until is not None:
        return "has until()"
    if stage.greedy:
        return "is greedy()"
    if stage.near is not None or stage.gap is not None:
        return "has a window between neighbours"
    return None


def refuse_reading(plan: MatchPlan) -> None:
    """Refuses conditions that read what in SQL includes the row itself, or counts NULL for none."""
    assert plan.staging is not None
    for definition in plan.definitions:
        own = definition.variable.removeprefix(":").removesuffix(" where")
        for one in references(definition.condition):
            variable = one.variable if isinstance(one, Aggregate) else None
            if isinstance(one, ColumnReference | Classifier):
                variable = one.navigation.variable
            if variable == own:
                raise errors.not_in_sql(f"stage `{own}`", "reads its own earlier events")
            if isinstance(one, Aggregate) and one.function == "sum":
                raise errors.not_in_sql(f"stage `{own}`", "has a sum, which is 0 of no events")


def sequence(stages: tuple[Stage, ...]) -> str:
    """The row pattern of stages in a row."""
    return " ".join(word(stage) for stage in stages)


def word(stage: Stage) -> str:
    """The row pattern of a stage."""
    content = stage.content
    text = named(content) if isinstance(content, str) else f"({sequence(content)})"
    if (stage.least, stage.most) != (1, 1):
        text += show_quantifier(stage.least, stage.most)
        return f"({text})?" if stage.optional else text
    return f"{text}?" if stage.optional else text


def named(stage: str) -> str:
    """A stage's name as conditions may write it without quotes, whatever their case."""
    return show_name(stage.upper() if stage.replace("_", "a").isalnum() else stage)


def definitions(stages: tuple[Stage, ...]) -> Iterator[str]:
    """What each stage's events must satisfy."""
    for stage in named_stages(stages):
        if stage.condition is not None:
            yield f"{named(str(stage.content))} AS {text_of(stage.condition, stage)}"


def text_of(condition: Condition, stage: Stage) -> str:
    """A condition as SQL."""
    match condition:
        case All(parts):
            return " AND ".join(f"({text_of(part, stage)})" for part in parts)
        case Either(parts):
            return " OR ".join(f"({text_of(part, stage)})" for part in parts)
        case _:
            if not isinstance(condition.expression, str):
                raise errors.not_in_sql(stage.label, "has a Column as condition")
            return condition.expression
