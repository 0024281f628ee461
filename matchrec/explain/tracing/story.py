"""Turn a trace into a story: the sentences that `why` shows as text, as a table or as a picture.

A trace consists of attempts and trials, with positions of rows, ids of variables and outcomes. A
story says the same with names, values and reasons, for a reader who knows only the query.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from matchrec.errors.wording import join_alternatives, show_count
from matchrec.explain.tracing.explainer import ExplainedConjunct
from matchrec.explain.tracing.trace import SearchMatch, Trace
from matchrec.explain.tracing.trials import Attempt, MappedRow, Outcome, PathRows, Trial, TrialKey
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import show_pattern
from matchrec.search.task import Task

# The most matches that a story lists.
MAX_MATCHES = 10


@dataclass(frozen=True, slots=True)
class Line:
    """A trial in words: one line of the story of an attempt."""

    # The number of the row in its partition, from 1.
    row: int
    # The values of the row in the ORDER BY columns, joined by commas.
    order_values: str
    # The name of the variable for which the row was tried; empty if the trial has no variable.
    variable: str
    outcome: Outcome
    # A sentence for each conjunct of the condition; empty if the trial evaluated no condition.
    conditions: tuple[str, ...]
    # The number of rows that were mapped before the trial.
    depth: int
    # Whether the trial belongs to the best path, or is a reason why that path ended.
    is_key: bool
    # The number of rows after `row` that are not shown, because they have the same outcomes.
    folded: int = 0
    # Those of `conditions` whose conjunct is known to be true, so that it is not a reason why the
    # row was not mapped.
    true_conditions: tuple[str, ...] = ()

    @property
    def fold_note(self) -> str:
        """The text that is shown instead of the folded rows; empty if no rows are folded."""
        if not self.folded:
            return ""
        return f"... {show_count(self.folded, 'more row')} with the same outcomes"


@dataclass(frozen=True, slots=True)
class AttemptStory:
    """An attempt in words."""

    # The number of the starting row, from 1.
    start: int
    # The starting row, and the result of the attempt.
    title: str
    # All trials, in the order of the search.
    lines: tuple[Line, ...]
    # Sentences about the end of the attempt: how many rows the attempt mapped, and which variable
    # the next row had to be.
    ends: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Story:
    """A trace in words."""

    # Two lines: the pattern, then the partition with its number of rows.
    heading: tuple[str, ...]
    # The names of the ORDER BY columns, joined by commas: the title above `Line.order_values`.
    order_title: str
    # Lines about the matches; or, if rows were chosen, the reason why no search started from some
    # of them.
    results: tuple[str, ...]
    attempts: tuple[AttemptStory, ...]


@dataclass(frozen=True)
class TracedRows:
    """The rows of the partition that is traced, as texts."""

    # The value of each PARTITION BY column, by the name of the column.
    keys: Mapping[str, str]
    # The names of the ORDER BY columns.
    order_columns: Sequence[str]
    # For each row of the partition, its values in these columns.
    order_values: Sequence[Sequence[str]]
    # The positions of the irrelevant rows, which an ordinary search leaves out.
    irrelevant: frozenset[int]

    def show_order_values(self, row: int) -> str:
        """Return the values of a row in the ORDER BY columns, joined by commas.

        Args:
            row: the position of the row, from 0. After the last row, the text is "end".
        """
        return ", ".join(self.order_values[row]) if row < len(self.order_values) else "end"

    def name_row(self, row: int) -> str:
        """Return how a sentence names a row: position 2 is `row 3 (day = 2024-01-03)`."""
        if row >= len(self.order_values) or not self.order_columns:
            return f"row {row + 1}"
        pairs = zip(self.order_columns, self.order_values[row], strict=True)
        return f"row {row + 1} ({', '.join(f'{name} = {value}' for name, value in pairs)})"


@dataclass(frozen=True)
class StoryWriter:
    """A writer of the story of a trace."""

    plan: MatchPlan
    task: Task
    rows: TracedRows
    trace: Trace
    # For each trial whose condition is explained, an explanation of each conjunct.
    conditions: Mapping[TrialKey, tuple[ExplainedConjunct, ...]]

    def write_story(self) -> Story:
        """Return the story of the whole trace."""
        pattern = f"PATTERN ({show_pattern(self.plan.pattern)}){self.write_window_of_heading()}"
        keys = ", ".join(f"{name} = {value}" for name, value in self.rows.keys.items())
        partition = f"partition {keys}" if keys else "the only partition"
        row_count = show_count(len(self.rows.order_values), "row")
        if self.trace.skipped_rows is None:
            results = self.describe_matches()
        else:
            results = self.explain_skipped_rows(self.trace.skipped_rows)
        attempts = [
            self.describe_attempt(index, attempt)
            for index, attempt in enumerate(self.trace.attempts)
        ]
        return Story(
            heading=(pattern, f"{partition}: {row_count}"),
            order_title=", ".join(self.rows.order_columns),
            results=tuple(results),
            attempts=tuple(attempts),
        )

    def describe_matches(self) -> Iterator[str]:
        """Yield a line for each match of the partition, at most MAX_MATCHES, or a line "no match".

        If the trace gave up at some row, the last line says so.
        """
        matches = self.trace.matches
        if not matches:
            yield f"no match; {show_count(self.trace.starting_row_count, 'starting row')} tried"
        for match in matches[:MAX_MATCHES]:
            yield f"match {match.number}: {self.describe_rows(match.mapped, match.start)}"
        if len(matches) > MAX_MATCHES:
            more = len(matches) - MAX_MATCHES
            yield f"and {show_count(more, 'more match', 'more matches')}"
        if self.trace.gave_up_at is not None:
            yield f"too many trials: attempts are traced only up to row {self.trace.gave_up_at}"

    def explain_skipped_rows(self, rows: Mapping[int, SearchMatch | None]) -> Iterator[str]:
        """Yield lines that say why no search started from some rows.

        Args:
            rows: the positions of the rows, each with the match that skips it, as in
                `Trace.skipped_rows`.
        """
        for row, match in rows.items():
            yield f"{self.rows.name_row(row)}: no search started here"
            if match is None:
                yield f"  FIRST {self.task.max_matches} MATCHES: the search ended before this row"
                continue
            variables = [mapped.variable for mapped in match.mapped if mapped.row == row]
            # Event selection may have skipped the row, so that it is not mapped.
            variable = f", mapped to {self.task.variables[variables[0]]}" if variables else ""
            match_rows = self.describe_rows(match.mapped, match.start)
            yield f"  it is inside match {match.number}, {match_rows}{variable}"
            if match.number == self.task.max_matches:
                yield f"  FIRST {self.task.max_matches} MATCHES: the search ended after this match"
                continue
            skip = self.plan.after_match.words
            yield f"  {skip}: the search continued at row {match.next_start + 1}"
            yield "  write AFTER MATCH SKIP TO NEXT ROW to search from every row"

    def describe_rows(self, mapped: PathRows, start: int) -> str:
        """Return mapped rows and their variables as text: `rows 2 to 5: A B{3}`.

        Args:
            mapped: the rows of a match or of a path.
            start: the position of the starting row. Only the text of an empty match names it.
        """
        if not mapped:
            return f"empty, at row {start + 1}"
        first = mapped[0].row + 1
        last = mapped[-1].row + 1
        rows = f"row {first}" if first == last else f"rows {first} to {last}"
        names = [self.task.variables[row.variable] for row in mapped]
        variables = []
        for name, same_names in groupby(names):
            count = len(list(same_names))
            variables.append(name if count == 1 else f"{name}{{{count}}}")
        return f"{rows}: {' '.join(variables)}"

    def describe_attempt(self, attempt_index: int, attempt: Attempt) -> AttemptStory:
        """Return the story of an attempt.

        Args:
            attempt_index: the index of the attempt in the trace.
            attempt: an attempt of the trace.
        """
        key_trials = {*attempt.best_path, *attempt.stopping_trials}
        lines = []
        for trial_index, trial in enumerate(attempt.trials):
            key = TrialKey(attempt_index, trial_index)
            is_key = trial_index in key_trials
            lines.append(self.describe_trial(trial, key, attempt, is_key=is_key))
        return AttemptStory(
            start=attempt.start + 1,
            title=self.write_attempt_title(attempt),
            lines=tuple(lines),
            ends=tuple(self.describe_end(attempt)),
        )

    def describe_trial(
        self, trial: Trial, key: TrialKey, attempt: Attempt, *, is_key: bool
    ) -> Line:
        """Return the line of a trial.

        Args:
            trial: a trial of the attempt.
            key: the indices of the attempt and of its trial.
            attempt: the attempt that made the trial.
            is_key: see `Line.is_key`.
        """
        is_given_back = trial.outcome is Outcome.TAKEN and key.trial_index not in attempt.best_path
        outcome = Outcome.GIVEN_BACK if is_given_back else trial.outcome
        conjuncts = self.conditions.get(key, ())
        return Line(
            row=trial.row + 1,
            order_values=self.rows.show_order_values(trial.row),
            variable=self.name_variable(trial),
            outcome=outcome,
            conditions=tuple(conjunct.sentence for conjunct in conjuncts),
            depth=trial.depth,
            is_key=is_key,
            true_conditions=tuple(conjunct.sentence for conjunct in conjuncts if conjunct.is_true),
        )

    def name_variable(self, trial: Trial) -> str:
        """Return the name of the variable for which a row was tried; empty if there is none.

        A trial that cannot map the row, such as the test of a forbidden event, is named by the
        condition that it evaluates.
        """
        variable = trial.variable if trial.variable >= 0 else trial.condition_variable
        if variable < 0:
            return ""
        # The condition of a stage belongs to a variable whose name is the stage's after a colon.
        return self.task.variables[variable].removeprefix(":")

    def write_attempt_title(self, attempt: Attempt) -> str:
        """Return the title of an attempt: its starting row and its result."""
        name = self.rows.name_row(attempt.start)
        matches = [match for match in self.trace.matches if match.start == attempt.start]
        if matches and self.task.output is not MatchOutput.ALL:
            match = matches[0]
            rows = self.describe_rows(match.mapped, match.start)
            return f"{name}: match {match.number}, {rows}"
        if matches:
            return f"{name}: {show_count(len(matches), 'match', 'matches')}"
        if attempt.matches:
            return f"{name}: a match that is not in the result, because of other matches"
        return f"{name}: no match"

    def describe_end(self, attempt: Attempt) -> Iterator[str]:
        """Yield sentences about the end of an attempt, see `AttemptStory.ends`.

        For an attempt that found a match, the sentences say at most that the trace is incomplete.
        """
        if attempt.start in self.rows.irrelevant:
            yield "this row is left out before the search: only loops could take it"
        if attempt.is_truncated:
            count = len(attempt.trials)
            yield f"the trace stops after {count:,} trials, and the next lines are about these"
        if attempt.matches:
            return
        stopping_trials = [attempt.trials[index] for index in attempt.stopping_trials]
        reasons = self.explain_stop(stopping_trials, attempt.start)
        if not attempt.best_path:
            yield "no row could be mapped"
            # nothing precedes these sentences, so they do not begin with "then"
            reasons = (reason.removeprefix("then ") for reason in reasons)
        else:
            best_trials = [attempt.trials[index] for index in attempt.best_path]
            path = tuple(MappedRow(trial.row, trial.variable) for trial in best_trials)
            yield f"got as far as {self.describe_rows(path, attempt.start)}"
        yield from reasons

    def explain_stop(self, stopping_trials: Sequence[Trial], start: int) -> Iterator[str]:
        """Yield lines that say why the best path of an attempt ended.

        Args:
            stopping_trials: the trials at the end of the path that did not lead on.
            start: the position of the starting row.
        """
        yield from self.explain_missing_variables(stopping_trials, start)
        for trial in stopping_trials:
            if trial.outcome in (Outcome.ENDED, Outcome.BLOCKED):
                row_name = self.rows.name_row(trial.row)
                yield f"{row_name} ended it, because it satisfies {self.name_variable(trial)}"
        if any(
            trial.outcome is Outcome.ANCHOR_FAILED and trial.variable < 0
            for trial in stopping_trials
        ):
            yield "then ^ or $ failed: this is not the start or the end of the partition"
        if any(trial.outcome is Outcome.REJECTED for trial in stopping_trials):
            yield "then a negation or the closing condition rejected the whole match"

    def explain_missing_variables(
        self, stopping_trials: Sequence[Trial], start: int
    ) -> Iterator[str]:
        """Yield a line with the variables to which the next row had to be mapped, if there are any.

        Args:
            stopping_trials: the trials at the end of the path that did not lead on.
            start: the position of the starting row.
        """
        trials = [
            trial
            for trial in stopping_trials
            if trial.variable >= 0 and trial.outcome is not Outcome.TRIED_BEFORE
        ]
        without_row = [trial for trial in trials if trial.outcome is Outcome.NO_ROW]
        if without_row:
            names = self.join_variables(without_row)
            reason = self.explain_missing_row(without_row[0].row, start)
            yield f"then it needed a row for {names}, but {reason}"
        elif trials:
            rows = sorted({trial.row for trial in trials})
            names = self.join_variables(trials)
            if len(rows) == 1:
                yield f"then {self.rows.name_row(rows[0])} had to be {names}"
            else:
                yield f"then one of the rows {rows[0] + 1} to {rows[-1] + 1} had to be {names}"

    def join_variables(self, trials: Iterable[Trial]) -> str:
        """Return the names of the variables of trials, each name once: `A, B or C`."""
        names = dict.fromkeys(self.task.variables[trial.variable] for trial in trials)
        return join_alternatives(tuple(names))

    def explain_missing_row(self, row: int, start: int) -> str:
        """Return why an attempt cannot map a row: the partition or the window ends before the row.

        Args:
            row: the position of the row; the number of rows if the partition has ended.
            start: the position of the starting row.
        """
        if row >= len(self.rows.order_values):
            return "the partition has no more rows"
        length = self.write_window_length()
        window = f"the window of {self.rows.name_row(start)}, {length}" if length else "the window"
        return f"{self.rows.name_row(row)} is outside {window}"

    def write_window_of_heading(self) -> str:
        """Return the window as the heading shows it after `PATTERN (...)`: ` WITHIN 5 MINUTES`.

        The text is empty if the plan has no window, or a window whose length is neither an interval
        nor a distance.
        """
        within = self.plan.within
        if within is None:
            return ""
        if within.interval.text:
            return f" WITHIN {within.interval.text}"
        return "" if within.distance is None else f", window: {within.distance.text}"

    def write_window_length(self) -> str:
        """Return how far the last row of a match can be from its first one: `WITHIN 5 MINUTES`.

        The text is empty if the plan has no window, or a window whose length is neither an interval
        nor a distance.
        """
        within = self.plan.within
        if within is None:
            return ""
        if within.interval.text:
            return f"WITHIN {within.interval.text}"
        return "" if within.distance is None else f"{within.distance.text} after it"
