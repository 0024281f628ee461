"""Apply every rule to a plan, and return its warnings."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from matchrec.errors.language import SQL, current_language
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.warning_rules.anchors import warn_about_anchors
from matchrec.plan.warning_rules.comparisons import warn_about_comparisons
from matchrec.plan.warning_rules.counts import warn_about_counted_conditions
from matchrec.plan.warning_rules.omissions import (
    warn_about_conditions,
    warn_about_lost_braces,
    warn_about_negations,
    warn_about_order,
)
from matchrec.plan.warning_rules.pattern_ends import (
    warn_about_early_ends,
    warn_about_ends,
    warn_about_negated_ends,
)
from matchrec.plan.warning_rules.skipped_rows import warn_about_skipped_rows

WarningRule = Callable[[MatchPlan], Iterator[MatchRecognizeWarning]]


def warn_about_stages(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Warn about windows and timeouts without effect, if a plan has stages.

    The rule is loaded only then, because most queries have no stages.
    """
    if plan.staging is not None:
        from matchrec.plan.warning_rules.idle_windows import warn_about_idle_windows

        yield from warn_about_idle_windows(plan.staging)


# The rules for plans in every language.
RULES: tuple[WarningRule, ...] = (
    warn_about_comparisons,
    warn_about_counted_conditions,
    warn_about_skipped_rows,
    warn_about_stages,
)

# The rules for plans in SQL.
RULES_OF_SQL: tuple[WarningRule, ...] = (
    warn_about_order,
    warn_about_conditions,
    warn_about_anchors,
    warn_about_ends,
    warn_about_early_ends,
    warn_about_negated_ends,
    warn_about_negations,
    warn_about_lost_braces,
    *RULES,
)


def find_warnings(plan: MatchPlan) -> tuple[MatchRecognizeWarning, ...]:
    """Return the warnings about probable mistakes in a plan, in the order of the rules.

    If several rules give the same warning, it is returned once. Fewer rules apply to SASE+ and to a
    Pattern: there, a variable without a condition is usual, because it means an event of any type,
    and the user says for each stage which events may be skipped.

    Args:
        plan: a resolved plan, so that each column has one name.
    """
    rules = RULES_OF_SQL if current_language() is SQL else RULES
    unique: dict[object, MatchRecognizeWarning] = {}
    for rule in rules:
        for warning in rule(plan):
            unique[type(warning), warning.message, warning.spans] = warning
    return tuple(unique.values())
