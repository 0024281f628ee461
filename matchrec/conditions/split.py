"""Split a DEFINE condition into what is computed before the match and what the search computes.

1. A conjunct that reads only the row itself goes to Spark.
2. A conjunct that also reads rows at a fixed distance is computed by whoever `RowScope` names,
   nearly always by the worker. If the worker or Spark computes it, the search gets the truth value
   on each row as one bit.
3. Any other conjunct depends on the run. Its largest subexpressions that read one position of the
   run become columns: Spark computes the columns for every row, and the search reads them at that
   position. A tree of `Step`s says how the search combines the values.

    price > 0 AND price < PREV(price) AND price > 2 * LAST(A.price) AND count(A.*) < 9
      row_test:     price > 0
      nearby_test:  <(price, PREV(price))
      run_step:     AND(>(price, `2 * price` at LAST(A)), <(count(A), 9))

This is the scope WORKER. In the scope SPARK there is no nearby test, and the row test is
`price > 0 AND price < lag(price)`. In the scope SEARCH, `<(price, PREV(price))` is one more operand
of the run step.

A subexpression can fail where the condition would not evaluate it: in `x <> 0 AND 1 / x < A.y`,
Spark would compute `1 / x` for every row. So while a condition is split, its *guards* are passed
down: the conditions under which a subexpression is evaluated. Where the guards read the same rows
as a column that can fail, they become part of the column. `guards` explains the rewriting,
`rows_read` which rows an expression reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

from matchrec.conditions.aggregates import build_framed_aggregate, split_aggregate
from matchrec.conditions.column_arithmetic import build_column_arithmetic
from matchrec.conditions.computed_operations import (
    build_not_computed_error,
    find_run_operation,
    find_worker_operation,
    has_repeated_field,
)
from matchrec.conditions.guards import GuardedPart, add_guards_to_expression, find_guarded_operands
from matchrec.conditions.mapped_rows import find_mapped_row_condition
from matchrec.conditions.residual import (
    ClassifierChoice,
    ColumnRead,
    CombinedStep,
    NearbyTest,
    SplitCondition,
    Step,
    TypedStep,
    read_current_row,
)
from matchrec.conditions.row_column import (
    ColumnPiece,
    RowColumn,
    ShiftedValue,
    build_row_column,
    join_columns,
    join_pieces,
)
from matchrec.conditions.rows_read import (
    always_exists,
    find_distance,
    find_distances,
    find_single_position,
    is_null_without_row,
    is_single_reference,
)
from matchrec.conditions.run_condition import TriedMatchNumber
from matchrec.conditions.types import BIGINT
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.plan.change_expressions import map_references
from matchrec.plan.expression import (
    MATCH_NUMBER,
    Aggregate,
    Classifier,
    ColumnReference,
    Frame,
    Navigation,
    Operation,
    Reference,
    Scalar,
    TextPiece,
    find_amount,
    reads_columns_only,
    render,
    split_conjuncts,
    write_argument,
    write_operand,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.operations import can_fail, can_fail_besides_overflow
from matchrec.plan.text import quote_string
from matchrec.source import Span


class RowScope(Enum):
    """Who computes conditions that read rows at a fixed distance, such as `price < PREV(price)`.

    In every scope, Spark computes what reads only the row itself, before the match. The scope does
    not say who sorts: the workers read neighbouring rows even if Spark sorts the rows for them, for
    instance because only Spark knows the order of a type. `spark.compile.find_scope` chooses the
    scope.
    """

    # Spark, over the window by which it sorts the rows, before the match. This is the scope if only
    # Spark can compute some value of several rows, and for a trace.
    SPARK = "spark"
    # The worker, for all rows before the search: see `search.nearby`. This is the usual scope.
    WORKER = "worker"
    # The search, when a run reaches a row: in a stream, whose next rows are not there yet, and if
    # the shortcut `neighbours` is off.
    SEARCH = "search"


def split_conditions(plan: MatchPlan, scope: RowScope) -> tuple[SplitCondition, ...]:
    """Return the split conditions of all variables that have one, in the order of DEFINE.

    Args:
        plan: the plan of the query.
        scope: who computes conditions that read rows at a fixed distance.

    Raises:
        MatchRecognizeUnsupportedError: an expression reads several positions of the run, and the
            search cannot compute it.
    """
    return tuple(
        ConditionSplitter(plan, definition.variable, scope).split(definition.condition)
        for definition in plan.definitions
    )


# Returns the SQL of a reference.
WriteReference = Callable[[Reference], str]


class RowsRead(NamedTuple):
    """Which rows an expression reads.

    A guard and an expression that read the same rows can be computed together, in one column:

        x <> 0               RowsRead(is_for_spark=True, position=None)
        LAST(A.x) <> 0       RowsRead(is_for_spark=False, position=LAST(A))
        x <> LAST(A.x)       OTHER_ROWS
    """

    # Whether Spark computes the expression for every row, before the match: see
    # `ConditionSplitter.is_for_spark`.
    is_for_spark: bool
    # The position of the run at which all columns of the expression are read. None if Spark
    # computes the expression; otherwise, None if there are several positions: see OTHER_ROWS.
    position: Navigation | None


# What any other expression reads: columns at several positions, or more than columns. Two such
# expressions need not read the same rows.
OTHER_ROWS = RowsRead(is_for_spark=False, position=None)


@dataclass(frozen=True, slots=True)
class ConditionSplitter:
    """A splitter of the condition of one variable, for expressions that have the same guards.

    For a subexpression with more guards, `add_guards` makes another splitter.
    """

    # The plan of the query.
    plan: MatchPlan
    # The variable whose condition is split.
    variable: str
    # Who computes conditions that read rows at a fixed distance.
    scope: RowScope
    # Conditions that hold wherever the expression is evaluated, by the rows that they read.
    guards: Mapping[RowsRead, tuple[Scalar, ...]] = field(default_factory=dict)

    def split(self, condition: Scalar) -> SplitCondition:
        """Split a condition into the conjuncts computed before the match and those during it.

        Raises:
            MatchRecognizeUnsupportedError: the search cannot compute a conjunct over the run.
        """
        tests: list[RowColumn | NearbyTest] = []
        test_conjuncts: list[Scalar] = []
        run_conjuncts: list[Scalar] = []
        run_steps: list[Step] = []
        # A conjunct is evaluated only if all conjuncts before it are true.
        guarded_conjuncts = [
            GuardedPart(conjunct, later_guards=(conjunct,))
            for conjunct in split_conjuncts(condition)
        ]
        for splitter, conjunct in self.pair_with_splitters(guarded_conjuncts):
            test = splitter.build_test(conjunct)
            if test is not None:
                tests.append(test)
                test_conjuncts.append(conjunct)
            else:
                run_conjuncts.append(conjunct)
                run_steps.append(splitter.build_step(self.replace_current_classifier(conjunct)))
        row_tests = tuple(test for test in tests if isinstance(test, RowColumn))
        nearby_tests = [test for test in tests if isinstance(test, NearbyTest)]
        return SplitCondition(
            variable=self.variable,
            span=condition.span,
            row_test=join_columns(row_tests) if row_tests else None,
            nearby_test=join_nearby_tests(nearby_tests, condition.span) if nearby_tests else None,
            run_step=join_steps(run_steps, condition.span) if run_steps else None,
            tests=tuple(tests),
            test_conjuncts=tuple(test_conjuncts),
            run_conjuncts=tuple(run_conjuncts),
        )

    def build_test(self, scalar: Scalar) -> RowColumn | NearbyTest | None:
        """Return the column or the test that Spark or the worker computes for a conjunct.

        Return None if the search computes the conjunct, because the conjunct depends on the run or
        because of the scope.
        """
        if self.is_for_spark(scalar):
            return self.build_fixed_distance_column(scalar)
        if self.is_for_worker(scalar):
            splitter = NearbySplitter(
                plan=self.plan, variable=self.variable, scope=self.scope, guards=self.guards
            )
            return NearbyTest(self.build_fixed_distance_column(scalar), splitter.build_step(scalar))
        return None

    def replace_current_classifier(self, scalar: Scalar) -> Scalar:
        """Return the expression with CLASSIFIER() of the current row replaced by its value.

        That value is the variable that the condition defines, as the current row is mapped to it.
        """

        def replace_reference(reference: Reference) -> Reference | str:
            """Return the variable as a literal for CLASSIFIER() of the current row."""
            is_classifier = isinstance(reference, Classifier)
            if is_classifier and find_distance(self.plan, self.variable, reference) == 0:
                return quote_string(self.variable)
            return reference

        return map_references(scalar, replace_reference)

    # Guards.

    def pair_with_splitters(
        self, parts: Iterable[GuardedPart]
    ) -> Iterator[tuple[ConditionSplitter, Scalar]]:
        """Yield each part with the splitter for it, which has the guards of the part.

        These are the guards of the part itself and the guards from the parts before it. A part that
        cannot fail needs no guards, so it gets this splitter without more of them. For
        `x <> 0 AND y > 1 AND 1 / x < LAST(A.y)`:

            x <> 0               this splitter
            y > 1                this splitter
            1 / x < LAST(A.y)    a splitter with the guards `x <> 0` and `y > 1`
        """
        guarded_splitter: ConditionSplitter = self
        # Guards from earlier parts that `guarded_splitter` does not have yet.
        pending_guards: list[Scalar] = []
        for part, guards, later_guards in parts:
            if can_fail(part.operations):
                guarded_splitter = guarded_splitter.add_guards(pending_guards)
                pending_guards = []
                yield guarded_splitter.add_guards(guards), part
            else:
                yield self, part
            pending_guards += later_guards

    def add_guards(self, guards: Sequence[Scalar]) -> ConditionSplitter:
        """Return a splitter for expressions that are evaluated only if these guards hold too."""
        if not guards:
            return self
        guards_by_rows = dict(self.guards)
        for guard in guards:
            rows = self.find_rows_read(guard)
            guards_by_rows[rows] = (*guards_by_rows.get(rows, ()), guard)
        return replace(self, guards=guards_by_rows)

    def add_row_guards(self, scalar: Scalar) -> Scalar:
        """Return an expression that is NULL on rows where its guards do not hold.

        Only guards over the same rows count. If the expression is read at a row that is mapped to a
        variable, the condition that every such row satisfies is one more guard. An expression that
        cannot fail is returned unchanged.
        """
        if not can_fail(scalar.operations):
            return scalar
        rows = self.find_rows_read(scalar)
        guards = () if rows == OTHER_ROWS else self.guards.get(rows, ())
        position = rows.position
        if (
            position is not None
            and not position.physical_offset
            and can_fail_besides_overflow(scalar.operations)
        ):
            # The row is mapped to the variable, so it satisfies the condition of the variable.
            mapped_row_condition = find_mapped_row_condition(self.plan, position.variable)
            if mapped_row_condition is not None:
                guards = (mapped_row_condition, *guards)
        return add_guards_to_expression(guards, scalar)

    def has_guards_over_other_rows(self, scalar: Scalar) -> bool:
        """Return whether there are guards that `add_row_guards` cannot add to an expression.

        They read other rows than the expression, or columns at several positions.
        """
        rows_of_scalar = self.find_rows_read(scalar)
        return any(rows == OTHER_ROWS or rows != rows_of_scalar for rows in self.guards)

    # Who computes an expression.

    def find_rows_read(self, scalar: Scalar) -> RowsRead:
        """Return which rows an expression reads."""
        if self.is_for_spark(scalar):
            return RowsRead(is_for_spark=True, position=None)
        position = find_single_position(scalar)
        if position is not None and reads_columns_only(scalar):
            return RowsRead(is_for_spark=False, position=position)
        return OTHER_ROWS

    def is_for_spark(self, scalar: Scalar) -> bool:
        """Return whether Spark computes an expression for every row, before the match.

        Such an expression reads only rows at a fixed distance. In the scopes WORKER and SEARCH, it
        reads only the row itself.
        """
        distances = find_distances(self.plan, self.variable, scalar)
        if distances is None:
            return False
        reads_only_row_itself = distances <= {0}
        return reads_only_row_itself or self.scope is RowScope.SPARK

    def is_for_worker(self, scalar: Scalar) -> bool:
        """Return whether an expression is left to the worker, for all rows before the match.

        Such an expression reads only rows at a fixed distance, and not only the row itself. In the
        scopes SPARK and SEARCH there are none.
        """
        if self.scope is not RowScope.WORKER or self.is_for_spark(scalar):
            return False
        return find_distances(self.plan, self.variable, scalar) is not None

    # Columns of expressions that read only rows at a fixed distance.

    def build_fixed_distance_column(self, scalar: Scalar) -> RowColumn:
        """Return the column of an expression that reads only rows at a fixed distance.

        For `price < PREV(price)` the column has the pieces `price`, `<` and `price` shifted by -1.
        """
        write_reference = choose_writer(scalar)
        column = join_pieces(
            self.build_fixed_distance_piece(piece, write_reference) for piece in scalar.pieces
        )
        return replace(column, can_fail=can_fail(scalar.operations), amount=find_amount(scalar))

    def build_fixed_distance_piece(
        self, piece: TextPiece, write_reference: WriteReference
    ) -> ColumnPiece:
        """Return a piece of a column that reads only rows at a fixed distance.

        Args:
            piece: text, or a reference.
            write_reference: writes a column of the row itself as SQL.
        """
        match piece:
            case ColumnReference(argument=argument):
                distance = find_distance(self.plan, self.variable, piece)
                assert distance is not None, piece
                # The value of another row is an argument of `lag` or `lead`, so the text of the
                # reference needs no parentheses there.
                return ShiftedValue(write_reference(piece) if distance == 0 else argument, distance)
            case Classifier():
                return quote_string(self.variable)
            case Aggregate(frame=Frame()):
                return build_framed_aggregate(piece)
            case str():
                return piece
            case _:
                raise AssertionError(piece)

    # Steps of expressions that the search computes.

    def build_step(self, scalar: Scalar) -> Step:
        """Return the step by which the search computes an expression during the match.

        1. An expression that Spark computes for every row is a column, read on the current row.
        2. An aggregate over the run, and MATCH_NUMBER(), are values that the search keeps.
        3. An expression over columns at one position is a column that is read there.
        4. An expression over the CLASSIFIER of one row is a choice among constants, one for each
           variable. If it can fail, it is an operation instead, if possible, so that it fails only
           for the variable to which the row is mapped.
        5. Any other operation that the search has is computed from the steps of its operands.
        6. Any other expression over neighbouring rows is a column, read on the current row. It is a
           column of several rows, which only Spark can compute.

        Raises:
            MatchRecognizeUnsupportedError: the search cannot compute the expression.
        """
        if has_repeated_field(scalar):
            raise build_not_computed_error(scalar)
        if self.is_for_spark(scalar):
            return self.read_fixed_distance_column(scalar)
        if is_single_reference(scalar):
            (reference,) = scalar.references
            if isinstance(reference, Aggregate):
                variables = find_listing_variables(self.plan, reference)
                return split_aggregate(reference, variables, self.split_aggregate_term, scalar.span)
            if reference == MATCH_NUMBER:
                return TypedStep(TriedMatchNumber(), BIGINT, scalar.span)
        position = find_single_position(scalar)
        if position is not None and reads_columns_only(scalar):
            return self.read_at_position(scalar, position)
        operation = find_run_operation(scalar)
        if position is not None and (operation is None or not can_fail(scalar.operations)):
            return choose_by_classifier(scalar, position, self.plan.variables)
        if operation is not None:
            return self.combine_operands(operation)
        if self.is_for_worker(scalar):
            # Because of a column of several rows, Spark sorts the rows and computes all values of
            # neighbouring rows: see `SplitQuery.reason_for_spark_sort`.
            return read_current_row(self.build_fixed_distance_column(scalar), scalar.span)
        raise build_not_computed_error(scalar)

    def read_fixed_distance_column(self, scalar: Scalar) -> ColumnRead:
        """Return the read of the column that Spark computes for an expression, with its guards."""
        column = self.build_fixed_distance_column(self.add_row_guards(scalar))
        read = read_current_row(column, scalar.span)
        return replace(read, deferred_operation=self.build_deferred_operation(scalar))

    def read_at_position(self, scalar: Scalar, position: Navigation) -> ColumnRead:
        """Return f(LAST(A.x)) as the column f(x) that is read at LAST(A).

        If there is no such row, the value is f(NULL), which can differ from NULL.

        Args:
            scalar: the expression, whose references all read columns at one position.
            position: the position, which is the only one that the expression reads.
        """
        guarded_scalar = self.add_row_guards(scalar)
        column = build_row_column(render(guarded_scalar, choose_writer(guarded_scalar)))
        column_without_row = None
        is_null = is_null_without_row(scalar)
        if not is_null and not always_exists(self.plan, self.variable, position):
            column_without_row = build_row_column(render(scalar, write_typed_null))
        return ColumnRead(
            column=column,
            navigation=position,
            column_without_row=column_without_row,
            span=scalar.span,
            deferred_operation=self.build_deferred_operation(scalar),
        )

    def combine_operands(self, operation: Operation) -> CombinedStep:
        """Return an operation that the search computes from the steps of its operands."""
        steps = [
            splitter.build_step(operand)
            for splitter, operand in self.pair_with_splitters(find_guarded_operands(operation))
        ]
        return CombinedStep(operation.operator, tuple(steps), operation.span, operation.words)

    def build_deferred_operation(self, scalar: Scalar) -> CombinedStep | None:
        """Return the operation that the search can compute instead of a column of Spark.

        Spark computes the column for every row, even if a guard over other rows does not hold. The
        condition would not evaluate the expression then, but the column might fail. The result is
        None if that cannot happen, or if the search cannot compute the expression.
        """
        if not can_fail(scalar.operations) or not self.has_guards_over_other_rows(scalar):
            return None
        operation = find_run_operation(scalar)
        if operation is None:
            return None
        try:
            return self.combine_operands(operation)
        except MatchRecognizeUnsupportedError:
            return None

    def split_aggregate_term(self, variable: str, term: Scalar) -> Step:
        """Return the step by which the search computes a term of an aggregate on a listed row.

        The guards are dropped: they hold for the current row, and not for a row of the list.

        Args:
            variable: the variable to which the listed row is mapped.
            term: an argument or the FILTER of the aggregate.
        """
        return replace(self, variable=variable, guards={}).build_step(term)


class NearbySplitter(ConditionSplitter):
    """A splitter that builds the step of a `NearbyTest`, which the worker computes for all rows.

    It works in the scope WORKER.

    All expressions that it gets read only rows at a fixed distance.
    """

    __slots__ = ()

    def build_step(self, scalar: Scalar) -> Step:
        """Return the step by which the worker computes an expression.

        1. An expression over the row itself is a column, read on that row.
        2. An expression over one neighbour is a column that is read there. An operation that is not
           NULL if there is no neighbour is left to step 3, because otherwise a second column would
           be needed for its value without the neighbour.
        3. An operation that the worker has is computed from the steps of its operands.
        4. Anything else is a column of several rows, which only Spark can compute.
        """
        if self.is_for_spark(scalar):
            return replace(
                self.read_fixed_distance_column(scalar),
                arithmetic=build_column_arithmetic(scalar, None),
            )
        distances = find_distances(self.plan, self.variable, scalar)
        assert distances is not None, scalar
        operation = find_worker_operation(scalar)
        if len(distances) == 1 and (operation is None or is_null_without_row(scalar)):
            (distance,) = distances
            position = Navigation(physical_offset=distance)
            read = self.read_at_position(scalar, position)
            return replace(read, arithmetic=build_column_arithmetic(scalar, position))
        if operation is not None:
            return self.combine_operands(operation)
        return read_current_row(self.build_fixed_distance_column(scalar), scalar.span)


# Parts of steps.


def find_listing_variables(plan: MatchPlan, aggregate: Aggregate) -> tuple[str, ...]:
    """Return, for each primary variable by id, the variable for which an aggregate is split.

    The arguments of an aggregate are split once for each variable, because CLASSIFIER() in them is
    the variable of the listed row. But `A.x` cannot be split for a variable other than A. A
    variable that the aggregate is not over has no listed rows, so any variable of the aggregate
    replaces it. With the variables A and B, the result for `stddev(A.x)` is ("A", "A").
    """
    members = plan.members[aggregate.variable]
    substitute = plan.variables[min(members)]
    return tuple(name if plan.ids[name] in members else substitute for name in plan.variables)


def join_steps(steps: list[Step], span: Span) -> Step:
    """Return a step that is true if all of the steps, at least one, are true."""
    return steps[0] if len(steps) == 1 else CombinedStep("AND", tuple(steps), span)


def join_nearby_tests(tests: Sequence[NearbyTest], span: Span) -> NearbyTest:
    """Return the test that a row passes if it passes all of the tests, at least one."""
    column = join_columns(tuple(test.column for test in tests))
    return NearbyTest(column, join_steps([test.step for test in tests], span))


def choose_by_classifier(
    scalar: Scalar, position: Navigation, variables: Sequence[str]
) -> ClassifierChoice:
    """Return an expression over one classifier as a choice among constants.

    There is a constant for each variable to which the row can be mapped, and a constant for the
    case that there is no such row. For `LAST(CLASSIFIER(), 1) = 'A'` they are `'A' = 'A'`,
    `'B' = 'A'` and so on, and `CAST(NULL AS STRING) = 'A'`.

    Args:
        scalar: the expression. All its references are CLASSIFIER of one row.
        position: the position of that row.
        variables: the primary variables, by id.
    """

    def build_column(name_sql: str) -> RowColumn:
        """Return the column of the expression with the classifier replaced by SQL."""
        return build_row_column(render(scalar, lambda _: name_sql))

    return ClassifierChoice(
        navigation=position,
        columns_by_variable=tuple(build_column(quote_string(name)) for name in variables),
        column_without_row=build_column("CAST(NULL AS STRING)"),
        span=scalar.span,
    )


def choose_writer(scalar: Scalar) -> WriteReference:
    """Return the function that writes the column references of an expression as SQL.

    `write_operand` adds the parentheses that a reference needs inside of an operation.
    """
    return write_argument if is_single_reference(scalar) else write_operand


def write_typed_null(reference: Reference) -> str:
    """Return SQL that is NULL and has the type of the value that a reference reads."""
    return f"IF(FALSE, {write_argument(reference)}, NULL)"
