"""What `match_all` asks for: rules over an input, and how they are run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from matchrec.dataclass import dataclass
from matchrec.errors import MatchRecognizeError
from matchrec.errors.kinds import shown_in
from matchrec.errors.language import Language
from matchrec.errors.run.rule_sets import of_rule
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import InputColumns
from matchrec.plan.use import EVERYTHING
from matchrec.source import Source
from matchrec.spark.execute import is_streaming
from matchrec.spark.options import Options
from matchrec.spark.prepare import Execution
from matchrec.spark.relation import Relation
from matchrec.spark.rule_sets.worker import OnError


@dataclass(frozen=True)
class Rule:
    """What a rule asks for. source, language: of its text, for messages."""

    name: str
    plan: MatchPlan
    source: Source
    language: Language | None = None

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Errors raised inside name the rule and show its text."""
        try:
            with shown_in(self.source, self.language):
                yield
        except MatchRecognizeError as error:
            raise of_rule(self.name, error) from error.__cause__


@dataclass(frozen=True)
class RuleSetOptions:
    """How a rule set is run. engine, max_steps: as of `Options`, for each rule; sort: as there."""

    engine: str = "auto"
    max_steps: int | None = None
    on_error: OnError = OnError.RAISE
    sort: str = "auto"


@dataclass(frozen=True)
class Input:
    """What rules are over. columns: the names by which they know its columns."""

    relation: Relation
    columns: InputColumns
    events: tuple[str, ...]


@dataclass(frozen=True)
class Asked:
    """Rules over an input, and how they are run."""

    rules: Sequence[Rule]
    given: Input
    options: RuleSetOptions

    @property
    def is_stream(self) -> bool:
        """Whether the rows come little by little."""
        return is_streaming(self.given.relation.rows)

    @property
    def execution(self) -> Execution:
        """What tells who sorts the rows of all rules."""
        options = Options(self.options.engine, sort=self.options.sort)
        given = self.given
        return Execution(self.rules[0].plan, given.relation, given.columns, options, EVERYTHING)
