"""Find the warnings about a plan, by applying every rule that fits the plan's language."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from matchrec.errors.language import SQL, current_language
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.warning_rules.alternatives import warn_about_dead_alternatives
from matchrec.plan.warning_rules.anchors import warn_about_anchors
from matchrec.plan.warning_rules.comparisons import warn_about_comparisons
from matchrec.plan.warning_rules.contradictions import (
    warn_about_contradictions,
    warn_about_short_windows,
)
from matchrec.plan.warning_rules.counts import warn_about_counted_conditions
from matchrec.plan.warning_rules.omissions import (
    warn_about_conditions,
    warn_about_lost_braces,
    warn_about_negations,
    warn_about_order,
    warn_about_permutations,
)
from matchrec.plan.warning_rules.parameters import warn_about_parameters
from matchrec.plan.warning_rules.pattern_ends import (
    warn_about_early_ends,
    warn_about_last_loops,
    warn_about_negated_ends,
)
from matchrec.plan.warning_rules.skip_targets import warn_about_skip_targets
from matchrec.plan.warning_rules.skipped_rows import warn_about_skipped_rows

WarningRule = Callable[[MatchPlan], Iterator[MatchRecognizeWarning]]


def warn_about_stages(plan: MatchPlan) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for windows and timeouts without effect, if a plan has stages.

    The module of the rule is loaded only then, because most queries have no stages.
    """
    if plan.staging is not None:
        from matchrec.plan.warning_rules.idle_windows import warn_about_idle_windows

        yield from warn_about_idle_windows(plan.staging)


# The rules for plans in every language.
RULES: tuple[WarningRule, ...] = (
    warn_about_comparisons,
    warn_about_contradictions,
    warn_about_short_windows,
    warn_about_counted_conditions,
    warn_about_skipped_rows,
    warn_about_stages,
)

# The rules for plans in SQL.
RULES_OF_SQL: tuple[WarningRule, ...] = (
    warn_about_order,
    warn_about_conditions,
    warn_about_anchors,
    warn_about_dead_alternatives,
    warn_about_last_loops,
    warn_about_early_ends,
    warn_about_negated_ends,
    warn_about_negations,
    warn_about_lost_braces,
    warn_about_permutations,
    warn_about_skip_targets,
    *RULES,
)


def find_warnings(
    plan: MatchPlan, parameter_values: Mapping[str, object] | None = None
) -> tuple[MatchRecognizeWarning, ...]:
    """Return the warnings about probable mistakes in a plan, in the order of the rules.

    If several rules find the same warning, the result has it once. Fewer rules apply to SASE+ and
    to a Pattern, because stages without a condition are usual there: they match events of any type,
    and the user says for each stage which events can be skipped.

    Args:
        plan: a resolved plan, in which each column has one name.
        parameter_values: the values of the query's parameters, by their names, if it has any.
    """
    rules = RULES_OF_SQL if current_language() is SQL else RULES
    found_warnings = [warning for rule in rules for warning in rule(plan)]
    if parameter_values:
        found_warnings += warn_about_parameters(plan, parameter_values)
    unique_warnings: dict[object, MatchRecognizeWarning] = {}
    for warning in found_warnings:
        unique_warnings[type(warning), warning.message, warning.spans] = warning
    return tuple(unique_warnings.values())
