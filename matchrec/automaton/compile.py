"""Compile a row pattern to an NFA^b program, back to front: what follows a part comes first.

An iteration that consumes no row counts towards the least number of iterations; from there on it
ends the loop, at its own place in the preferment order. No run-time guard watches for that: every
part is compiled with two continuations, one for "a row has been consumed since the innermost
iteration began" and one for "none yet". The first leads back to the loop, the second leaves it, so
proceed edges form no cycle. Parts outside of loops have the same continuation twice.

Cost: a part is compiled once for each pair of continuations, which nesting loops multiplies by
their depth, not by two for each level.
Sources: SASE+, "Query compilation" (one BEGIN state and one TAKE state for a Kleene plus);
ISO/IEC 19075-5, 7.2.8 (loops over parts that can be empty).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from graphlib import CycleError, TopologicalSorter
from itertools import permutations
from operator import or_

from typing_extensions import assert_never

from matchrec.automaton.facts import FollowSets, find_states_worth_remembering, find_targets
from matchrec.automaton.folding import Folding, find_reachable, fold
from matchrec.automaton.program import (
    GUARD_END,
    GUARD_START,
    Action,
    Edge,
    Program,
    State,
    StateId,
    order_states,
    renumber_states,
)
from matchrec.errors.sql.pattern import pattern_too_large
from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.plan.match_plan import MatchPlan
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
    simplify,
)

# Ignore edges: which rows a run may skip, by event selection strategy.
#
# A run waits in the states to which a mapped row leads. Under skip till any match it may skip every
# row there; under skip till next match every row that it does not have to take: in a loop over one
# variable a row that the loop could take again, elsewhere a row that any way on could take. The
# starting state has no ignore edge, so a match begins with a mapped row.
#
# Source: SASE+, "Query compilation", step 3, and the constrained proceed edges of step 6.


def add_ignore_edges(program: Program, selection: EventSelection) -> Program:
    """Add the ignore edges of an event selection strategy, least preferred in their states."""
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
    for number in waiting_states:
        states[number] = State((*states[number].edges, Edge(Action.IGNORE, number)))
    return replace(program, states=tuple(states)).check()


MOST_STATES = 20_000


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
    """
    compiler = _PatternCompiler(pattern, {name: number for number, name in enumerate(variables)})
    final = compiler.add_state()
    start = compiler.compile_node(pattern, _Continuations(final, final))
    order = order_states(compiler.states, start, (final,))
    states = renumber_states(compiler.states, order)
    program = Program(
        states=states, start=order[start], final=order[final], variables=variables
    ).check()
    return add_ignore_edges(program, selection)


@dataclass(frozen=True, slots=True)
class _Continuations:
    """The two continuations of a part: the states in which a run goes on after it."""

    # If a row has been consumed since the innermost iteration began.
    consumed: StateId
    # If no row has been consumed since then.
    empty: StateId


@dataclass(frozen=True, slots=True)
class _PatternCompiler:
    """A compiler of the parts of one row pattern, back to front.

    The compilers inside and outside of exclusions share their states.
    """

    pattern: RowPattern
    # The id of each variable, by its name.
    variable_ids: dict[str, int]
    # All states so far.
    states: list[State] = field(default_factory=list)
    # The state of each part that is compiled already, by the part and its continuations.
    compiled: dict[tuple[object, ...], StateId] = field(default_factory=dict)
    # Whether rows are matched inside an exclusion.
    excluded: bool = False

    def add_state(self, *edges: Edge) -> StateId:
        """Add a state.

        Raises:
            MatchRecognizePlanError: there are more than MOST_STATES.
        """
        if len(self.states) >= MOST_STATES:
            raise pattern_too_large(self.pattern.span, limit=MOST_STATES, what="states")
        self.states.append(State(edges))
        return len(self.states) - 1

    def build_begin_edge(self, variable: Variable, target: StateId) -> Edge:
        """Return the edge on which a row is mapped to `variable`."""
        return Edge(Action.BEGIN, target, self.variable_ids[variable.name], excluded=self.excluded)

    def compile_node(self, node: RowPattern, then: _Continuations) -> StateId:
        """Return the state that matches `node` and goes on at `then`."""
        key = ("node", id(node), then, self.excluded)
        if key not in self.compiled:
            self.compiled[key] = self._compile_new(node, then)
        return self.compiled[key]

    def _compile_new(self, node: RowPattern, then: _Continuations) -> StateId:
        """Compile a part that is not in `compiled` with these continuations."""
        match node:
            case Empty():
                return then.empty
            case PartitionStart():
                return self.add_state(Edge(Action.PROCEED, then.empty, anchor=GUARD_START))
            case PartitionEnd():
                return self.add_state(Edge(Action.PROCEED, then.empty, anchor=GUARD_END))
            case Negation(names):
                forbids = tuple(self.variable_ids[name] for name in names)
                return self.add_state(Edge(Action.PROCEED, then.empty, forbids=forbids))
            case Variable():
                return self.add_state(self.build_begin_edge(node, then.consumed))
            case Concatenation(parts):
                return self._compile_sequence(parts, then)
            case Alternation(parts):  # earlier alternatives are preferred
                return self.add_state(
                    *(_build_proceed_edge(self.compile_node(part, then)) for part in parts)
                )
            case Permutation(parts):
                return self._compile_permutation(node, frozenset(range(len(parts))), then)
            case Quantified():
                return self._compile_quantified(node, then)
            case Exclusion(part):
                return replace(self, excluded=True).compile_node(part, then)
            case _:
                assert_never(node)

    def _compile_sequence(self, parts: Sequence[RowPattern], then: _Continuations) -> StateId:
        """Return the state that matches parts one after the other and goes on at `then`."""
        for part in reversed(parts):
            then = self._compile_before(part, then)
        return then.empty

    def _compile_before(self, part: RowPattern, then: _Continuations) -> _Continuations:
        """Return the continuations of what precedes `part`.

        A row that is consumed there counts as consumed in `part` as well.
        """
        return self._compile_last_required(part, then, then)

    def _compile_permutation(
        self, node: Permutation, left: frozenset[int], then: _Continuations
    ) -> StateId:
        """Return the state before the parts still `left`, tried in lexicographic order of position.

        Orders that begin with the same part share it only if rows can match it in one way: `b a c |
        b c a` tries all ways of b before `a c`, and then all of them again before `c a`. So
        variables need one state for each set of missing parts, which is 2^n states instead of n!.
        """
        if not left:
            return then.empty
        key = ("permutation", id(node), left, then, self.excluded)
        if key not in self.compiled:
            edges = []
            for chosen in sorted(left):
                others = left - {chosen}
                if len(others) < 2 or _matches_in_one_way(node.parts[chosen]):
                    edges.append(self._build_permutation_edge(node, others, chosen, then))
                    continue
                for order in permutations(sorted(others)):
                    parts = [node.parts[index] for index in (chosen, *order)]
                    edges.append(_build_proceed_edge(self._compile_sequence(parts, then)))
            self.compiled[key] = self.add_state(*edges)
        return self.compiled[key]

    def _build_permutation_edge(
        self, node: Permutation, others: frozenset[int], chosen: int, then: _Continuations
    ) -> Edge:
        """Return the edge to the chosen part, from which the others follow in any order."""
        part = node.parts[chosen]
        after = self._compile_permutation(
            node, others, _Continuations(then.consumed, then.consumed)
        )
        if isinstance(part, Variable):
            return self.build_begin_edge(part, after)
        empty = self._compile_permutation(node, others, then)
        return _build_proceed_edge(self.compile_node(part, _Continuations(after, empty)))

    def _compile_quantified(self, node: Quantified, then: _Continuations) -> StateId:
        """Compile required iterations, then optional ones; the last one is compiled first."""
        if node.most is None:
            loop = self._compile_loop(node, then.consumed)
            after = _Continuations(loop, self._compile_entry(node, then))
        else:
            after = then
            for _ in range(node.most - node.least):
                after = self._compile_optional_iteration(node, after, then)
        if node.least > 0:
            after = self._compile_last_required(node.part, after, then)
        for _ in range(node.least - 1):  # an empty iteration counts, and the next one runs
            after = self._compile_before(node.part, after)
        return after.empty

    def _compile_loop(self, node: Quantified, exit_state: StateId) -> StateId:
        """Return the state between two iterations of an unbounded loop that has consumed a row."""
        key = ("loop", id(node), exit_state, self.excluded)
        if key not in self.compiled:
            loop = self.add_state()
            self.compiled[key] = loop  # before the part is compiled, which leads back to it
            if isinstance(node.part, Variable):
                again = replace(self.build_begin_edge(node.part, loop), action=Action.TAKE)
            else:
                again = _build_proceed_edge(
                    self.compile_node(node.part, _Continuations(loop, exit_state))
                )
            self.states[loop] = State(_order_edges(node, again, _build_proceed_edge(exit_state)))
        return self.compiled[key]

    def _compile_entry(self, node: Quantified, then: _Continuations) -> StateId:
        """Return the state before the first iteration, where the loop may leave without any row."""
        loop = self._compile_loop(node, then.consumed)
        if then.consumed == then.empty:
            return loop
        if isinstance(node.part, Variable):
            first = self.build_begin_edge(node.part, loop)
        else:
            first = _build_proceed_edge(
                self.compile_node(node.part, _Continuations(loop, then.empty))
            )
        return self.add_state(*_order_edges(node, first, _build_proceed_edge(then.empty)))

    def _compile_optional_iteration(
        self, node: Quantified, after: _Continuations, then: _Continuations
    ) -> _Continuations:
        """Return the continuations before one more optional iteration; an empty one ends the loop.

        Args:
            node: the loop.
            after: the continuations after the iteration.
            then: the continuations after the loop.
        """

        def add_entry(leave: StateId) -> StateId:
            """Add the state from which a run may enter the iteration or `leave` the loop."""
            again = _build_proceed_edge(
                self.compile_node(node.part, _Continuations(after.consumed, leave))
            )
            return self.add_state(*_order_edges(node, again, _build_proceed_edge(leave)))

        consumed = add_entry(then.consumed)
        if then.consumed == then.empty:
            return _Continuations(consumed, consumed)
        return _Continuations(consumed, add_entry(then.empty))

    def _compile_last_required(
        self, part: RowPattern, after: _Continuations, then: _Continuations
    ) -> _Continuations:
        """Return the continuations before the iteration that reaches the least number of them.

        An empty iteration ends the loop.
        """
        consumed = self.compile_node(part, _Continuations(after.consumed, then.consumed))
        empty = self.compile_node(part, _Continuations(after.consumed, then.empty))
        return _Continuations(consumed, empty)


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


def _order_edges(node: Quantified, again: Edge, leave: Edge) -> tuple[Edge, Edge]:
    """Return two edges in preferment order.

    A greedy quantifier prefers one more iteration, a reluctant one prefers to leave.
    """
    return (again, leave) if node.greedy else (leave, again)


# The row pattern of a plan, compiled: its program, the program folded, and facts about them.
#
# It is made once for a query, right after `plan.resolve`. Pruning, the choice of the algorithm,
# lookaround and cost read its facts. The search makes its arrays from the folding.


# A program with more states counts as ambiguous without a search, because the search takes the
# square of the number of states.
MOST_SEARCHED = 60


@dataclass(frozen=True)
class CompiledPattern:
    """A program and its folding, which says what a row does to a run in each state.

    Facts are computed when they are first read. It can be pickled, so that workers need not fold
    the program again. The hash does not visit every edge.
    """

    program: Program
    folding: Folding

    def __hash__(self) -> int:
        return hash((self.program, len(self.folding.choices)))

    @cached_property
    def longest(self) -> int | None:
        """Return the number of rows of the longest match, None if there is no bound."""
        folded = self.folding.choices
        targets_by_state = {state: find_targets(folded, state) for state in range(len(folded))}
        longest: dict[int, int] = {}
        try:
            # Each state comes after all states to which it leads.
            for state in TopologicalSorter(targets_by_state).static_order():
                lengths = (longest[target] + 1 for target in targets_by_state[state])
                longest[state] = max(lengths, default=0)
        except CycleError:
            return None
        return max(longest[state] for state in range(self.folding.start_count))

    @cached_property
    def is_deterministic(self) -> bool:
        """Return whether every state has at most one way out, stopping included.

        Conditions are unknown here, so two variables may hold for the same row.
        """
        return all(len(choices) <= 1 for choices in self.folding.choices)

    @cached_property
    def is_exponentially_ambiguous(self) -> bool:
        """Return whether the number of ways over k rows may grow exponentially with k.

        It does if two different ways of equal length lead from a state back to itself. Conditions
        are unknown here, so any variables may hold for the same row. If two choices of a state lead
        back to it, after m and n rows, there are such ways: the first choice n times and the second
        one m times. A program with more than MOST_SEARCHED states counts as ambiguous.

        Source: Weber and Seidl, "On the degree of ambiguity of finite automata", criterion EDA.
        """
        folded = self.folding.choices
        if len(folded) > MOST_SEARCHED:
            return True
        list_targets = partial(find_targets, folded)
        reached = [set(find_reachable([state], list_targets)) for state in range(len(folded))]
        for state, choices in enumerate(folded):
            leads_back = [
                choice.target is not None and state in reached[choice.target] for choice in choices
            ]
            if sum(leads_back) > 1:
                return True
        return False

    @cached_property
    def has_shared_states(self) -> bool:
        """Return whether two runs that begin with different rows can be in one state at one row.

        They cannot for `A B C D`: the state says how far a run is from its first row.
        """
        return any(find_states_worth_remembering(self.folding.choices))

    @cached_property
    def guards(self) -> int:
        """Return the guards of all choices, as one set of bits."""
        guards = (choice.guard for choices in self.folding.choices for choice in choices)
        return reduce(or_, guards, 0)

    @cached_property
    def follow(self) -> FollowSets:
        """Return which variables begin and end matches, and which follow each other."""
        return FollowSets.compute(self.folding)


def compile_pattern(plan: MatchPlan) -> CompiledPattern:
    """Compile the row pattern of a resolved plan.

    Raises:
        MatchRecognizePlanError: the program would be too large.
    """
    if plan.staging is not None:
        from matchrec.automaton import compile_stages, fold_stages  # few plans have stages

        steps = plan.staging.steps
        program = compile_stages.compile_stages(steps, plan.variables)
        tests = fold_stages.compose_tests(steps, plan.variables)
        window_tests = tuple(window.test for window in plan.staging.neighbour_windows)
        folding = fold_stages.fold_stages(
            program, tests, window_tests, has_window=plan.within is not None
        )
        return CompiledPattern(program, folding)
    pattern = simplify(plan.pattern)
    program = compile_program(pattern, plan.variables, plan.selection)
    every_way = plan.output is not MatchOutput.PREFERRED
    return CompiledPattern(program, fold(program, every_way=every_way, span=pattern.span))
