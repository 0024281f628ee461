"""Compile a row pattern to an NFA^b program.

A pattern is compiled from its end, because the edges of a part lead to states for the parts after
it. The *continuations* of a part are the states in which a run goes on after it. Each part has two,
because an iteration that consumes no row ends a loop in SQL. For `(A* | B)* C`:

    after A* or B, if a row has been consumed    back to the loop
    after A* without a row                       on to C, at this place in the preferment order

So the search need not test for empty iterations, and proceed edges form no cycle. Empty iterations
count towards the least number of iterations. Parts outside of loops have the same continuation
twice.

Cost: a part is compiled once for each pair of continuations. Each `*`, `+` or `?` around a part
adds at most a few pairs, so d nested loops take about d^2 states. A quantifier with a number is
compiled as often as its part can be repeated, so nested numbers multiply: `((A{10}){10}){10}` takes
1,000 states. A PERMUTE of n parts takes about 2^n states if rows can match each part in one way
only, and about n! otherwise.

Sources: SASE+, "Query compilation" (one BEGIN state and one TAKE state for a Kleene plus);
ISO/IEC 19075-5, 7.2.8 (loops over parts that can be empty).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations

from typing_extensions import assert_never

from matchrec.automaton.program import (
    ANCHOR_END,
    ANCHOR_START,
    Action,
    Edge,
    Program,
    State,
    StateId,
    order_states,
    renumber_states,
)
from matchrec.errors.sql.pattern import pattern_too_large
from matchrec.plan.clauses import EventSelection
from matchrec.plan.pattern import (
    Alternation,
    Concatenation,
    Empty,
    Exclusion,
    Negation,
    PartitionEnd,
    PartitionStart,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
    list_children,
)

# The most states of a program.
MAX_STATES = 20_000


def compile_program(
    pattern: RowPattern,
    variables: tuple[str, ...],
    selection: EventSelection = EventSelection.STRICT_CONTIGUITY,
) -> Program:
    """Compile a row pattern to a program.

    Args:
        pattern: the row pattern.
        variables: names of variables; the id of a variable is its index.
        selection: the event selection strategy, which says which rows a run may skip.

    Raises:
        MatchRecognizePlanError: quantifiers or PERMUTE make the program too large.

    >>> a, b = Variable("A"), Variable("B")
    >>> print(compile_program(Concatenation((Quantified(a, 1, None), b)), ("A", "B")))
    0 start
        begin A -> 1
    1
        take A -> 1
        proceed -> 2
    2
        begin B -> 3
    3 final
    """
    variable_ids = {name: variable_id for variable_id, name in enumerate(variables)}
    compiler = _PatternCompiler(pattern, variable_ids)
    final = compiler.add_state()
    start = compiler.compile_node(pattern, _Continuations(final, final))
    new_ids = order_states(compiler.states, start, (final,))
    states = renumber_states(compiler.states, new_ids)
    program = Program(
        states=states, start=new_ids[start], final=new_ids[final], variables=variables
    ).check()
    return add_ignore_edges(program, selection)


@dataclass(frozen=True, slots=True)
class _Continuations:
    """The two continuations of a part: the states in which a run goes on after it."""

    # The state if a row has been consumed since the innermost iteration began.
    after_row: StateId
    # The state if no row has been consumed since the innermost iteration began.
    without_row: StateId


# Keys of compiled parts. Two parts with equal keys have the same state. A part is identified by its
# `id`, so that equal parts at different places of the pattern have states of their own.


@dataclass(frozen=True, slots=True)
class _NodeKey:
    """The key of the state that matches a part."""

    node_id: int
    continuations: _Continuations
    # Whether the part is in an exclusion.
    is_excluded: bool


@dataclass(frozen=True, slots=True)
class _PermutationKey:
    """The key of the state before the last parts of a PERMUTE."""

    node_id: int
    # The indices of the parts that are still missing.
    missing_indices: frozenset[int]
    continuations: _Continuations
    # Whether the part is in an exclusion.
    is_excluded: bool


@dataclass(frozen=True, slots=True)
class _LoopKey:
    """The key of the state between two iterations of an unbounded loop."""

    node_id: int
    # The state in which a run goes on after the loop.
    exit_state: StateId
    # Whether the loop is in an exclusion.
    is_excluded: bool


_PartKey = _NodeKey | _PermutationKey | _LoopKey


@dataclass(frozen=True, slots=True)
class _PatternCompiler:
    """A compiler of the parts of one row pattern, from its end to its beginning.

    The part in an exclusion is compiled by a copy of the compiler with `is_excluded` set, which
    shares the states.
    """

    pattern: RowPattern
    # The id of each variable, by its name.
    variable_ids: dict[str, int]
    # All states so far.
    states: list[State] = field(default_factory=list)
    # The state of each part that has been compiled.
    state_by_key: dict[_PartKey, StateId] = field(default_factory=dict)
    # Whether rows are matched inside an exclusion.
    is_excluded: bool = False

    def add_state(self, *edges: Edge) -> StateId:
        """Add a state with some edges, and return it.

        Raises:
            MatchRecognizePlanError: there are more than MAX_STATES states.
        """
        if len(self.states) >= MAX_STATES:
            raise pattern_too_large(self.pattern.span, limit=MAX_STATES, what="states")
        self.states.append(State(edges))
        return len(self.states) - 1

    def _build_begin_edge(self, variable: Variable, target: StateId) -> Edge:
        """Return the edge on which a row is mapped to `variable`."""
        return Edge(
            Action.BEGIN, target, self.variable_ids[variable.name], is_excluded=self.is_excluded
        )

    def compile_node(self, node: RowPattern, continuations: _Continuations) -> StateId:
        """Return the state in which a run begins a part of the pattern.

        Args:
            node: a part of the row pattern. The same object must be passed for the same place of
                the pattern, because keys have its `id`.
            continuations: the states in which a run goes on after the part.
        """
        key = _NodeKey(id(node), continuations, self.is_excluded)
        if key not in self.state_by_key:
            self.state_by_key[key] = self._compile_new_part(node, continuations)
        return self.state_by_key[key]

    def _compile_new_part(self, node: RowPattern, continuations: _Continuations) -> StateId:
        """Compile a part for a new key, and return the state in which a run begins it."""
        match node:
            case Empty():
                return continuations.without_row
            case PartitionStart():
                return self.add_state(
                    Edge(Action.PROCEED, continuations.without_row, anchor=ANCHOR_START)
                )
            case PartitionEnd():
                return self.add_state(
                    Edge(Action.PROCEED, continuations.without_row, anchor=ANCHOR_END)
                )
            case Negation(names):
                forbidden = tuple(self.variable_ids[name] for name in names)
                return self.add_state(
                    Edge(Action.PROCEED, continuations.without_row, forbidden_variables=forbidden)
                )
            case Variable():
                return self.add_state(self._build_begin_edge(node, continuations.after_row))
            case Concatenation(parts):
                return self._compile_sequence(parts, continuations)
            case Alternation(parts):  # earlier alternatives are preferred
                return self.add_state(
                    *(_build_proceed_edge(self.compile_node(part, continuations)) for part in parts)
                )
            case Permutation(parts):
                return self._compile_permutation(node, frozenset(range(len(parts))), continuations)
            case Quantified():
                return self._compile_quantified(node, continuations)
            case Exclusion(part):
                return replace(self, is_excluded=True).compile_node(part, continuations)
            case _:
                assert_never(node)

    def _compile_sequence(
        self, parts: Sequence[RowPattern], continuations: _Continuations
    ) -> StateId:
        """Return the state that matches parts one after the other, before `continuations`."""
        for part in reversed(parts):
            continuations = self._compile_before(
                part, after_row=continuations.after_row, without_row=continuations
            )
        return continuations.without_row

    def _compile_before(
        self, part: RowPattern, *, after_row: StateId, without_row: _Continuations
    ) -> _Continuations:
        """Return the continuations of the part before `part`.

        Args:
            part: the part that a run matches first.
            after_row: the state in which a run goes on if `part` consumes a row.
            without_row: the states in which a run goes on if `part` consumes no row: one if a row
                was consumed before `part`, and one if no row was.
        """
        return _Continuations(
            after_row=self.compile_node(part, _Continuations(after_row, without_row.after_row)),
            without_row=self.compile_node(part, _Continuations(after_row, without_row.without_row)),
        )

    def _compile_permutation(
        self, node: Permutation, missing_indices: frozenset[int], continuations: _Continuations
    ) -> StateId:
        """Return the state in which a run begins the missing parts of a PERMUTE.

        Their orders are tried in lexicographic order of the indices.

        Args:
            node: the PERMUTE with all of its parts.
            missing_indices: the indices of the parts that a run has not matched yet.
            continuations: the states in which a run goes on after the last part.
        """
        if not missing_indices:
            return continuations.without_row
        key = _PermutationKey(id(node), missing_indices, continuations, self.is_excluded)
        if key not in self.state_by_key:
            edges = [
                edge
                for next_index in sorted(missing_indices)
                for edge in self._build_permutation_edges(
                    node, missing_indices, next_index, continuations
                )
            ]
            self.state_by_key[key] = self.add_state(*edges)
        return self.state_by_key[key]

    def _build_permutation_edges(
        self,
        node: Permutation,
        missing_indices: frozenset[int],
        next_index: int,
        continuations: _Continuations,
    ) -> list[Edge]:
        """Return the edges to the orders of the missing parts that begin with part `next_index`.

        These orders share their first part only if rows can match it in one way: `b a c | b c a`
        tries all ways to match b before `a c`, and then all these ways again before `c a`. So a
        PERMUTE of n variables needs a state for each set of missing parts: 2^n states instead of
        n!.
        """
        other_indices = missing_indices - {next_index}
        if len(other_indices) < 2 or _matches_in_one_way(node.parts[next_index]):
            return [
                self._build_shared_permutation_edge(node, next_index, other_indices, continuations)
            ]
        edges = []
        for order in permutations(sorted(other_indices)):
            parts = [node.parts[index] for index in (next_index, *order)]
            edges.append(_build_proceed_edge(self._compile_sequence(parts, continuations)))
        return edges

    def _build_shared_permutation_edge(
        self,
        node: Permutation,
        next_index: int,
        other_indices: frozenset[int],
        continuations: _Continuations,
    ) -> Edge:
        """Return the edge to a part after which the other missing parts follow in any order."""
        part = node.parts[next_index]
        after_row = _Continuations(continuations.after_row, continuations.after_row)
        other_parts_after_row = self._compile_permutation(node, other_indices, after_row)
        if isinstance(part, Variable):
            return self._build_begin_edge(part, other_parts_after_row)
        other_parts_without_row = self._compile_permutation(node, other_indices, continuations)
        state = self.compile_node(
            part, _Continuations(other_parts_after_row, other_parts_without_row)
        )
        return _build_proceed_edge(state)

    def _compile_quantified(self, node: Quantified, continuations: _Continuations) -> StateId:
        """Return the state before the first iteration of a quantified part.

        `A{2,4}` is compiled much like `A A (A A?)?`, and `A{2,}` like `A A A*`, from the end.
        """
        if node.most is None:
            loop = self._compile_loop(node, continuations.after_row)
            next_iteration = _Continuations(loop, self._compile_loop_entry(node, continuations))
        else:
            next_iteration = continuations
            for _ in range(node.most - node.least):
                next_iteration = self._compile_optional_iteration(
                    node, next_iteration, continuations
                )
        if node.least > 0:
            # The last required iteration: if it is empty, the loop ends.
            next_iteration = self._compile_before(
                node.part, after_row=next_iteration.after_row, without_row=continuations
            )
        for _ in range(node.least - 1):
            # An empty iteration counts, and the next iteration follows.
            next_iteration = self._compile_before(
                node.part, after_row=next_iteration.after_row, without_row=next_iteration
            )
        return next_iteration.without_row

    def _compile_loop(self, node: Quantified, exit_state: StateId) -> StateId:
        """Return the state between two iterations of an unbounded loop that has consumed a row."""
        key = _LoopKey(id(node), exit_state, self.is_excluded)
        if key not in self.state_by_key:
            loop = self.add_state()
            # The part leads back to the loop, so the loop gets its key before the part is compiled.
            self.state_by_key[key] = loop
            iteration_edge = self._build_edge_into(node.part, _Continuations(loop, exit_state))
            # In SASE+, the edge on which a Kleene plus keeps a later row is a TAKE edge.
            if iteration_edge.action is Action.BEGIN:
                iteration_edge = replace(iteration_edge, action=Action.TAKE)
            self.states[loop] = State(
                _order_edges(node, iteration_edge, _build_proceed_edge(exit_state))
            )
        return self.state_by_key[key]

    def _compile_loop_entry(self, node: Quantified, continuations: _Continuations) -> StateId:
        """Return the state before the first iteration of an unbounded loop.

        In this state, a run can leave the loop without a row.
        """
        loop = self._compile_loop(node, continuations.after_row)
        if continuations.after_row == continuations.without_row:
            return loop
        iteration_edge = self._build_edge_into(
            node.part, _Continuations(loop, continuations.without_row)
        )
        return self.add_state(
            *_order_edges(node, iteration_edge, _build_proceed_edge(continuations.without_row))
        )

    def _build_edge_into(self, part: RowPattern, continuations: _Continuations) -> Edge:
        """Return the edge on which a run begins `part`, which goes on at `continuations`."""
        if isinstance(part, Variable):
            return self._build_begin_edge(part, continuations.after_row)
        return _build_proceed_edge(self.compile_node(part, continuations))

    def _compile_optional_iteration(
        self, node: Quantified, next_iteration: _Continuations, continuations: _Continuations
    ) -> _Continuations:
        """Return the continuations before an optional iteration. An empty iteration ends the loop.

        Args:
            node: the loop, with an upper bound.
            next_iteration: the continuations before the iteration that follows.
            continuations: the states in which a run goes on after the loop.
        """
        after_row = self._add_optional_entry(
            node, next_iteration.after_row, continuations.after_row
        )
        if continuations.after_row == continuations.without_row:
            return _Continuations(after_row, after_row)
        without_row = self._add_optional_entry(
            node, next_iteration.after_row, continuations.without_row
        )
        return _Continuations(after_row, without_row)

    def _add_optional_entry(
        self, node: Quantified, after_row: StateId, exit_state: StateId
    ) -> StateId:
        """Add a state from which a run can enter an optional iteration of a loop or leave the loop.

        Args:
            node: the loop, with an upper bound.
            after_row: the state in which a run goes on after the iteration.
            exit_state: the state in which a run goes on if it leaves the loop, or if the iteration
                consumes no row.
        """
        first_state = self.compile_node(node.part, _Continuations(after_row, exit_state))
        return self.add_state(
            *_order_edges(node, _build_proceed_edge(first_state), _build_proceed_edge(exit_state))
        )


def _matches_in_one_way(node: RowPattern) -> bool:
    """Return whether rows can match `node` in at most one way."""
    match node:
        case Quantified(least=least, most=most) if least != most:
            return False
        case Alternation() | Permutation():
            return False
        case _:
            return all(_matches_in_one_way(child) for child in list_children(node))


def _build_proceed_edge(target: StateId) -> Edge:
    """Return an unconditional proceed edge."""
    return Edge(Action.PROCEED, target)


def _order_edges(node: Quantified, iteration_edge: Edge, exit_edge: Edge) -> tuple[Edge, Edge]:
    """Return two edges in preferment order.

    A greedy quantifier prefers one more iteration; a reluctant quantifier prefers the exit.
    """
    return (iteration_edge, exit_edge) if node.is_greedy else (exit_edge, iteration_edge)


def add_ignore_edges(program: Program, selection: EventSelection) -> Program:
    """Add the ignore edges of an event selection strategy, on which a run skips a row.

    A run waits in the states to which a mapped row leads. Each of these states gets an ignore edge
    as its least preferred edge. With skip till any match, the run may skip every row. With skip
    till next match, the search does not let a run skip a row that it has to take: in a loop over
    one variable, a row that the loop could take again; elsewhere, a row that any edge could take.

    The starting state gets an ignore edge only if a mapped row leads back to it, as in `A* B`.

    Source: SASE+, "Query compilation", step 3, and the constrained proceed edges of step 6.
    """
    if selection is EventSelection.STRICT_CONTIGUITY:
        return program
    mapping_actions = (Action.BEGIN, Action.TAKE)
    waiting_states = {
        edge.target
        for state in program.states
        for edge in state.edges
        if edge.action in mapping_actions and edge.target != program.final
    }
    states = list(program.states)
    for state_id in waiting_states:
        states[state_id] = State((*states[state_id].edges, Edge(Action.IGNORE, state_id)))
    return replace(program, states=tuple(states)).check()
