"""Turn a trace into a story: the texts of which its table, its text and its picture are made.

A trace has attempts with trials: row positions, ids of variables and outcomes. A story has the same
with names, values and reasons, for a reader who knows only the query.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from matchrec.errors.wording import join_alternatives, show_count
from matchrec.explain.tracing.trace import SearchMatch, Trace
from matchrec.explain.tracing.trials import Attempt, Mapped, MappedRow, Outcome, Trial, TrialKey
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import show_pattern
from matchrec.search.task import Task

# The number of matches that are listed.
MOST_MATCHES = 10


@dataclass(frozen=True, slots=True)
class Line:
    """The text of a trial."""

    # The number of the row, from 1.
    row: int
    # The values of the row in the ORDER BY columns.
    order_values: str
    # The name of the variable; empty if the trial is about no variable.
    variable: str
    outcome: Outcome
    # Each part of the condition with its values.
    conditions: tuple[str, ...]
    # The number of rows that were mapped before.
    depth: int
    # Whether the trial belongs to the best path, or is a reason why that path ended.
    is_key: bool
    # The number of rows after this one that are not shown, because they have the same outcomes.
    folded: int = 0

    @property
    def fold(self) -> str:
        """The text that is shown instead of the folded rows; empty if there are none."""
        if not self.folded:
            return ""
        return f"... {show_count(self.folded, 'more row')} with the same outcomes"


@dataclass(frozen=True, slots=True)
class AttemptStory:
    """The text of an attempt."""

    # The number of the starting row, from 1.
    start: int
    # The starting row, and the result of the attempt.
    title: str
    lines: tuple[Line, ...]
    # The lines about its end: how many rows it mapped, and what it needed next.
    ends: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Story:
    """The text of a trace."""

    # The pattern, and the partition with its number of rows.
    heading: tuple[str, ...]
    # The ORDER BY columns.
    orders: str
    # The matches; for chosen rows from which no search started, the reason.
    results: tuple[str, ...]
    attempts: tuple[AttemptStory, ...]


@dataclass(frozen=True)
class TracedRows:
    """The rows of the partition that is traced."""

    # The values of the PARTITION BY columns, by their names.
    keys: Mapping[str, str]
    # The names of the ORDER BY columns.
    orders: Sequence[str]
    # The values of each row in the ORDER BY columns.
    order_values: Sequence[Sequence[str]]
    # The positions of the rows that are left out before the search.
    irrelevant: frozenset[int]

    def show_order_values(self, row: int) -> str:
        """Return the values of a row in the ORDER BY columns; "end" after the last row."""
        return ", ".join(self.order_values[row]) if row < len(self.order_values) else "end"

    def name_row(self, row: int) -> str:
        """Return a row as a sentence names it: `row 3 (day = 2024-01-03)`."""
        if row >= len(self.order_values) or not self.orders:
            return f"row {row + 1}"
        pairs = zip(self.orders, self.order_values[row], strict=True)
        return f"row {row + 1} ({', '.join(f'{name} = {value}' for name, value in pairs)})"


@dataclass(frozen=True)
class StoryWriter:
    """A writer of the text of a trace."""

    plan: MatchPlan
    task: Task
    rows: TracedRows
    trace: Trace
    # For each trial a sentence for each part of its condition.
    conditions: Mapping[TrialKey, tuple[str, ...]]

    def write_story(self) -> Story:
        """Return the text of the whole trace."""
        pattern = f"PATTERN ({show_pattern(self.plan.pattern)}){self.show_window()}"
        keys = ", ".join(f"{name} = {value}" for name, value in self.rows.keys.items())
        partition = f"partition {keys}" if keys else "the only partition"
        row_count = show_count(len(self.rows.order_values), "row")
        if self.trace.skipped_rows is None:
            results = self.describe_matches()
        else:
            results = self.explain_passed_rows(self.trace.skipped_rows)
        attempts = [
            self.describe_attempt(number, attempt)
            for number, attempt in enumerate(self.trace.attempts)
        ]
        return Story(
            heading=(pattern, f"{partition}: {row_count}"),
            orders=", ".join(self.rows.orders),
            results=tuple(results),
            attempts=tuple(attempts),
        )

    def describe_matches(self) -> Iterator[str]:
        """Yield a line for each match of the partition, or a line that says that there is none.

        The last line says if attempts from some rows are not traced.
        """
        matches = self.trace.matches
        if not matches:
            yield f"no match; {show_count(self.trace.traced_rows, 'starting row')} tried"
        for match in matches[:MOST_MATCHES]:
            yield f"match {match.number}: {self.describe_rows(match.mapped, match.start)}"
        if len(matches) > MOST_MATCHES:
            more = len(matches) - MOST_MATCHES
            yield f"and {show_count(more, 'more match', 'more matches')}"
        if self.trace.gave_up_at is not None:
            yield f"too many trials: attempts are traced only up to row {self.trace.gave_up_at}"

    def explain_passed_rows(self, rows: Mapping[int, SearchMatch | None]) -> Iterator[str]:
        """Yield lines that say why no search started from some rows.

        Args:
            rows: for each row the match that the search went past, as `Trace.skipped_rows`.
        """
        for row, match in rows.items():
            yield f"{self.rows.name_row(row)}: no search started here"
            if match is None:
                continue
            variables = [mapped.variable for mapped in match.mapped if mapped.row == row]
            variable = f", mapped to {self.task.variables[variables[0]]}" if variables else ""
            match_rows = self.describe_rows(match.mapped, match.start)
            yield f"  it is inside match {match.number}, {match_rows}{variable}"
            skip = self.plan.after_match.words
            yield f"  {skip}: the search continued at row {match.next_start + 1}"
            yield "  write AFTER MATCH SKIP TO NEXT ROW to search from every row"

    def describe_rows(self, mapped: Mapped, start: int) -> str:
        """Return mapped rows and their variables as text: `rows 2 to 5: A B{3}`.

        Args:
            mapped: the rows of a match or of a path.
            start: the starting row, which an empty match is at.
        """
        if not mapped:
            return f"empty, at row {start + 1}"
        first = mapped[0].row + 1
        last = mapped[-1].row + 1
        rows = f"row {first}" if first == last else f"rows {first} to {last}"
        names = (self.task.variables[row.variable] for row in mapped)
        runs = ((name, len(list(same_names))) for name, same_names in groupby(names))
        word = " ".join(name if count == 1 else f"{name}{{{count}}}" for name, count in runs)
        return f"{rows}: {word}"

    def describe_attempt(self, number: int, attempt: Attempt) -> AttemptStory:
        """Return the text of an attempt.

        Args:
            number: the index of the attempt in the trace.
            attempt: the attempt.
        """
        key_trials = {*attempt.best_path, *attempt.stopping_trials}
        lines = [
            self.describe_trial(trial, TrialKey(number, index), attempt, is_key=index in key_trials)
            for index, trial in enumerate(attempt.trials)
        ]
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
            key: which trial it is.
            attempt: the attempt.
            is_key: see `Line`.
        """
        is_given_back = trial.outcome is Outcome.TAKEN and key.trial not in attempt.best_path
        outcome = Outcome.GIVEN_BACK if is_given_back else trial.outcome
        return Line(
            row=trial.row + 1,
            order_values=self.rows.show_order_values(trial.row),
            variable=self.name_variable(trial),
            outcome=outcome,
            conditions=self.conditions.get(key, ()),
            depth=trial.depth,
            is_key=is_key,
        )

    def name_variable(self, trial: Trial) -> str:
        """Return the name of the variable of a trial, or of the condition that it evaluates.

        The condition of a stage is named as its call. Empty if the trial has neither.
        """
        variable = trial.variable if trial.variable >= 0 else trial.condition_variable
        return self.task.variables[variable].removeprefix(":") if variable >= 0 else ""

    def write_attempt_title(self, attempt: Attempt) -> str:
        """Return the title of an attempt: its row and its result."""
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
        """Yield how many rows an attempt without a match mapped, and what it needed next."""
        if attempt.start in self.rows.irrelevant:
            yield "this row is left out before the search: only loops could take it"
        if attempt.is_cut:
            count = len(attempt.trials)
            yield f"the trace stops after {count:,} trials, and the next lines are about these"
        if attempt.matches:
            return
        if not attempt.best_path:
            yield "no row could be mapped"
        else:
            best_trials = [attempt.trials[index] for index in attempt.best_path]
            path = tuple(MappedRow(trial.row, trial.variable) for trial in best_trials)
            yield f"got as far as {self.describe_rows(path, attempt.start)}"
        stopping_trials = [attempt.trials[index] for index in attempt.stopping_trials]
        yield from self.explain_stop(stopping_trials, attempt.start)

    def explain_stop(self, stopping_trials: Sequence[Trial], start: int) -> Iterator[str]:
        """Yield lines that say why the best path of an attempt ended.

        Args:
            stopping_trials: the trials at its end that did not lead on.
            start: the starting row.
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
        """Yield a line that says which variables the path needed a row for, if any.

        Args:
            stopping_trials: the trials at the end of the path that did not lead on.
            start: the starting row.
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
        """Return the names of the variables of trials, each once: `A, B or C`."""
        names = dict.fromkeys(self.task.variables[trial.variable] for trial in trials)
        return join_alternatives(tuple(names))

    def explain_missing_row(self, row: int, start: int) -> str:
        """Return why an attempt cannot map a row: its partition or its window has ended."""
        if row >= len(self.rows.order_values):
            return "the partition has no more rows"
        length = self.describe_window()
        window = f"the window of {self.rows.name_row(start)}, {length}" if length else "the window"
        return f"{self.rows.name_row(row)} is outside {window}"

    def show_window(self) -> str:
        """Return the window as the heading shows it after PATTERN; empty if there is none."""
        within = self.plan.within
        if within is None:
            return ""
        if within.interval.text:
            return f" WITHIN {within.interval.text}"
        return "" if within.distance is None else f", window: {within.distance.text}"

    def describe_window(self) -> str:
        """Return how far the last row of a match may be from its first one.

        Empty if there is no window, or one whose length is neither an interval nor a distance.
        """
        within = self.plan.within
        if within is None:
            return ""
        if within.interval.text:
            return f"WITHIN {within.interval.text}"
        return "" if within.distance is None else f"{within.distance.text} after it"
