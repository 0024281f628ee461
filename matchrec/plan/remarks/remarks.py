"""All rules, over one plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from matchrec.errors.language import SQL, current
from matchrec.errors.warnings.kinds import MatchRecognizeWarning
from matchrec.errors.warnings.wording import no_conditions, no_order
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import variable_names
from matchrec.plan.remarks.of_conditions import comparisons, physical_navigation
from matchrec.plan.remarks.of_pattern import ends

Rule = Callable[[MatchPlan], Iterator[MatchRecognizeWarning]]


def remarks(plan: MatchPlan) -> tuple[MatchRecognizeWarning, ...]:
    """What in a plan is nearly never meant, each once, in the order of the rules.

    plan: resolved, so that a column has one name. The rules are those of its language: events of
    SASE+ and stages of a Pattern may be of any kind, and what may be skipped is said of each.
    """
    rules = RULES_OF_SQL if current() is SQL else RULES
    found = (remark for rule in rules for remark in rule(plan))
    return tuple({(type(one), one.message, one.spans): one for one in found}.values())


def order(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """No ORDER BY."""
    if not plan.order_by:
        yield no_order(plan.pattern.span)


def conditions(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """No DEFINE."""
    names = variable_names(plan.pattern)
    if names and not plan.definitions:
        yield no_conditions(names[0], plan.pattern.span)


RULES: tuple[Rule, ...] = (comparisons, physical_navigation)
RULES_OF_SQL: tuple[Rule, ...] = (order, conditions, ends, *RULES)
