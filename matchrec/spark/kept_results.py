"""Keep results that were computed for the plan of a clause, so that later queries can reuse them.

Two examples of such results are the rewritten plan and the compiled query. The plan of a text is
built once, see `syntax.lower`, so a query with the same text has the same plan object, even with
other values of its parameters. A result depends on more than the plan. It is reused only if all of
these are the same:

- the text and the columns of the input, the types of its columns and of parameters, the settings of
  the session, and the `inputs` of `open_slot`;
- the types of expressions that only the session knows. They are requested again for each query: for
  example, the user can have replaced a function.

A kept result must not depend on the values of parameters. It must hold no DataFrame, because a
DataFrame would keep the rows of somebody's query alive.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from pyspark.sql.types import StructField

from matchrec.plan.match_plan import MatchPlan
from matchrec.shortcuts import current_shortcuts
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.relation import Relation, find_parameter_type
from matchrec.spark.session import cache_per_session
from matchrec.spark.session_errors import QUERY_ERRORS

T = TypeVar("T")

# The attribute of a session that holds the results.
RESULTS_ATTRIBUTE = "_matchrec_kept_results"


@dataclass(frozen=True)
class KeptResult(Generic[T]):
    """A result for a plan, and the types on which it depends."""

    # The plan. As long as it is kept, no other object has its id. `open_slot` compares ids.
    plan: MatchPlan
    # The fields of expressions whose types only the session knew when the result was computed.
    fields: dict[str, StructField]
    value: T


@dataclass(frozen=True)
class ResultSlot(Generic[T]):
    """The place where one result of a plan is kept. `open_slot` returns it."""

    plan: MatchPlan
    # The input of the plan in the current query.
    relation: Relation
    # The kept result; empty if there is none. The session has this list.
    results: list[KeptResult[T]]
    # The expressions whose types were known when the slot was opened.
    known_texts: frozenset[str]

    def find(self) -> T | None:
        """Return the kept result; None if nothing is kept, or if a type has changed.

        The session analyses all expressions together. If it rejects them, for instance an aggregate
        next to a column, the result is None, too.
        """
        for result in self.results:
            with silence_analysis(), suppress(*QUERY_ERRORS):
                current_fields = self.relation.find_fields(result.fields)
                if current_fields == list(result.fields.values()):
                    return result.value
        return None

    def keep(self, value: T) -> None:
        """Keep a result that was computed after the slot was opened, instead of an older one."""
        fields = self.relation.known_fields
        new_fields = {text: fields[text] for text in fields if text not in self.known_texts}
        self.results[:] = [KeptResult(self.plan, new_fields, value)]


def open_slot(name: str, plan: MatchPlan, relation: Relation, *inputs: Hashable) -> ResultSlot[T]:
    """Return the slot for a result of a plan.

    Args:
        name: the name of the result. A plan can have several results.
        plan: the plan.
        relation: the input of the plan.
        inputs: values on which the result depends, in addition to plan, relation and session.
    """
    runner = relation.runner
    known_texts = frozenset(relation.known_fields)
    values = runner.args or {}
    if isinstance(values, list):  # nothing is kept for values without names
        return ResultSlot(plan, relation, [], known_texts)
    parameter_types = tuple(
        (parameter, str(find_parameter_type(value))) for parameter, value in values.items()
    )
    # Returns an empty list at the first call with some arguments, and the same list at later calls.
    find_results = cache_per_session(runner.spark, RESULTS_ATTRIBUTE, lambda *_: [])
    results = find_results(
        str(relation.text),
        name,
        id(plan),
        relation.rows.schema.json(),
        parameter_types,
        tuple(runner.settings.items()),
        current_shortcuts(),
        *inputs,
    )
    return ResultSlot(plan, relation, results, known_texts)
