"""Row pattern to NFA^b program, back to front: what follows a part exists before the part.

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

from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from graphlib import CycleError, TopologicalSorter
from itertools import permutations
from operator import or_

from typing_extensions import assert_never

from matchrec.automaton.closure import Folding, FollowSets, fold, reachable, targets
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
    children,
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


def with_selection(program: Program, selection: EventSelection) -> Program:
    """The program with the ignore edges of a strategy, least preferred in their states."""
    if selection is EventSelection.STRICT_CONTIGUITY:
        return program
    mapping = (Action.BEGIN, Action.TAKE)
    waiting = {
        edge.target for state in program.states for edge in state.edges if edge.action in mapping
    } - {program.final}
    states = tuple(
        State((*state.edges, Edge(Action.IGNORE, number))) if number in waiting else state
        for number, state in enumerate(program.states)
    )
    return replace(program, states=states).check()


MOST_STATES = 20_000


def compile_program(
    pattern: RowPattern,
    variables: tuple[str, ...],
    selection: EventSelection = EventSelection.STRICT_CONTIGUITY,
) -> Program:
    """The program of `pattern`; ids are indices in `variables`. Raises MatchRecognizePlanError."""
    compiler = _PatternCompiler(pattern, {name: number for number, name in enumerate(variables)})
    final = compiler.add_state()
    start = compiler.compile_node(pattern, _Then(final, final))
    order = order_states(compiler.states, start, (final,))
    states = renumber_states(compiler.states, order)
    program = Program(states, order[start], order[final], variables).check()
    return with_selection(program, selection)


@dataclass(frozen=True, slots=True)
class _Then:
    """Where to go on: when a row has been consumed, and when the iteration is empty so far."""

    consumed: StateId
    empty: StateId


@dataclass(frozen=True, slots=True)
class _PatternCompiler:
    """The states so far, shared by the compilers inside and outside of exclusions."""

    pattern: RowPattern
    ids: dict[str, int]
    states: list[State] = field(default_factory=list)
    compiled: dict[tuple[object, ...], StateId] = field(default_factory=dict)
    excluded: bool = False

    def add_state(self, *edges: Edge) -> StateId:
        if len(self.states) >= MOST_STATES:
            raise pattern_too_large(self.pattern.span, limit=MOST_STATES, what="states")
        self.states.append(State(edges))
        return len(self.states) - 1

    def begin(self, variable: Variable, target: StateId) -> Edge:
        return Edge(Action.BEGIN, target, self.ids[variable.name], excluded=self.excluded)

    def compile_node(self, node: RowPattern, then: _Then) -> StateId:
        key = ("node", id(node), then, self.excluded)
        if key not in self.compiled:
            self.compiled[key] = self._compile_new(node, then)
        return self.compiled[key]

    def _compile_new(self, node: RowPattern, then: _Then) -> StateId:
        match node:
            case Empty():
                return then.empty
            case PartitionStart():
                return self.add_state(Edge(Action.PROCEED, then.empty, anchor=GUARD_START))
            case PartitionEnd():
                return self.add_state(Edge(Action.PROCEED, then.empty, anchor=GUARD_END))
            case Negation(names):
                forbids = tuple(self.ids[name] for name in names)
                return self.add_state(Edge(Action.PROCEED, then.empty, forbids=forbids))
            case Variable():
                return self.add_state(self.begin(node, then.consumed))
            case Concatenation(parts):
                return reduce(self._before, reversed(parts), then).empty
            case Alternation(parts):  # earlier alternatives are preferred
                return self.add_state(*(_proceed(self.compile_node(p, then)) for p in parts))
            case Permutation(parts):
                return self._compile_permutation(node, frozenset(range(len(parts))), then)
            case Quantified():
                return self._compile_quantified(node, then)
            case Exclusion(part):
                return replace(self, excluded=True).compile_node(part, then)
            case _:
                assert_never(node)

    def _before(self, then: _Then, part: RowPattern) -> _Then:
        """Continuations of what stands before `part`: a row consumed there counts here as well."""
        return self._last_required(part, then, then)

    def _compile_permutation(self, node: Permutation, left: frozenset[int], then: _Then) -> StateId:
        """The state before the parts still `left`, tried in lexicographic order of position.

        Orders that begin with the same part share it only where it has one word: `b a c | b c a`
        tries all words of b before a c, and then all of them again before c a. So variables take
        one state for each set of missing parts, 2^n and not n!, from which the row is mapped.
        """
        if not left:
            return then.empty
        key = ("permutation", id(node), left, then, self.excluded)
        if key not in self.compiled:
            edges = []
            for chosen in sorted(left):
                rest = left - {chosen}
                if len(rest) < 2 or _has_one_word(node.parts[chosen]):
                    edges.append(self._chosen(node, rest, chosen, then))
                    continue
                for order in permutations(sorted(rest)):
                    parts = [node.parts[place] for place in (chosen, *order)]
                    edges.append(_proceed(reduce(self._before, reversed(parts), then).empty))
            self.compiled[key] = self.add_state(*edges)
        return self.compiled[key]

    def _chosen(self, node: Permutation, rest: frozenset[int], chosen: int, then: _Then) -> Edge:
        """The edge to one part of a permutation, and from there to the rest in any order."""
        part = node.parts[chosen]
        after = self._compile_permutation(node, rest, _Then(then.consumed, then.consumed))
        if isinstance(part, Variable):
            return self.begin(part, after)
        empty = self._compile_permutation(node, rest, then)
        return _proceed(self.compile_node(part, _Then(after, empty)))

    def _compile_quantified(self, node: Quantified, then: _Then) -> StateId:
        """Required iterations before optional ones, each compiled before its predecessor."""
        if node.most is None:
            after = _Then(self._compile_loop(node, then.consumed), self._compile_entry(node, then))
        else:
            after = then
            for _ in range(node.most - node.least):
                after = self._optional(node, after, then)
        if node.least > 0:
            after = self._last_required(node.part, after, then)
        for _ in range(node.least - 1):  # an empty iteration counts, and the next one runs
            after = self._before(after, node.part)
        return after.empty

    def _compile_loop(self, node: Quantified, exit_state: StateId) -> StateId:
        """The state between two iterations of an unbounded loop that has consumed a row."""
        key = ("loop", id(node), exit_state, self.excluded)
        if key not in self.compiled:
            loop = self.compiled[key] = self.add_state()
            if isinstance(node.part, Variable):
                again = replace(self.begin(node.part, loop), action=Action.TAKE)
            else:
                again = _proceed(self.compile_node(node.part, _Then(loop, exit_state)))
            self.states[loop] = State(_ordered(node, again, _proceed(exit_state)))
        return self.compiled[key]

    def _compile_entry(self, node: Quantified, then: _Then) -> StateId:
        """The state before the first iteration, where the loop may leave without any row."""
        loop = self._compile_loop(node, then.consumed)
        if then.consumed == then.empty:
            return loop
        if isinstance(node.part, Variable):
            first = self.begin(node.part, loop)
        else:
            first = _proceed(self.compile_node(node.part, _Then(loop, then.empty)))
        return self.add_state(*_ordered(node, first, _proceed(then.empty)))

    def _optional(self, node: Quantified, after: _Then, then: _Then) -> _Then:
        """Continuations before one more optional iteration; an empty one ends the loop."""

        def entry(leave: StateId) -> StateId:
            again = _proceed(self.compile_node(node.part, _Then(after.consumed, leave)))
            return self.add_state(*_ordered(node, again, _proceed(leave)))

        consumed = entry(then.consumed)
        same = then.consumed == then.empty
        return _Then(consumed, consumed if same else entry(then.empty))

    def _last_required(self, part: RowPattern, after: _Then, then: _Then) -> _Then:
        """Continuations before the iteration that reaches the least number of them."""
        return _Then(
            self.compile_node(part, _Then(after.consumed, then.consumed)),
            self.compile_node(part, _Then(after.consumed, then.empty)),
        )


def _has_one_word(node: RowPattern) -> bool:
    """Whether rows can match `node` in one way at most."""
    match node:
        case Quantified(least=least, most=most) if least != most:
            return False
        case Alternation() | Permutation():
            return False
        case _:
            return all(map(_has_one_word, children(node)))


def _proceed(target: StateId) -> Edge:
    return Edge(Action.PROCEED, target)


def _ordered(node: Quantified, again: Edge, leave: Edge) -> tuple[Edge, Edge]:
    """Greedy prefers one more iteration, reluctant prefers to stop."""
    return (again, leave) if node.greedy else (leave, again)


# The row pattern of a plan, compiled: its program, the program folded, and facts about them.
#
# Made once for a query, right after `plan.resolve`. Pruning, the choice of the algorithm,
# lookaround and cost ask it for facts; the engine makes its arrays from the folding.


MOST_SEARCHED = 60  # states from each of which all others are looked for


@dataclass(frozen=True)
class CompiledPattern:
    """A program and its folding, which says what a row does to a run in each state.

    Facts are found out when they are first asked for. Picklable; a worker folds nothing again. Its
    hash does not look at every edge.
    """

    program: Program
    folding: Folding

    def __hash__(self) -> int:
        return hash((self.program, len(self.folding.choices)))

    @cached_property
    def longest(self) -> int | None:
        folded = self.folding.choices
        onward = {state: targets(folded, state) for state in range(len(folded))}
        longest: dict[int, int] = {}
        try:
            for state in TopologicalSorter(onward).static_order():  # after all that it leads to
                longest[state] = max((longest[target] + 1 for target in onward[state]), default=0)
        except CycleError:
            return None
        return longest[0]

    @cached_property
    def is_deterministic(self) -> bool:
        """Whether no state is left in two ways, be it by stopping, whatever the conditions say."""
        return all(len(choices) <= 1 for choices in self.folding.choices)

    @cached_property
    def is_exponentially_ambiguous(self) -> bool:
        """Whether the ways over k rows may grow exponentially with k.

        That is so where two different ways of equal length lead from a state back to itself.
        Conditions are unknown here, so any variables may hold for the same row, and of two choices
        that lead back, after m and n rows, the one n times and the other m times are such ways. A
        program of over MOST_SEARCHED states counts as ambiguous.

        Source: Weber and Seidl, "On the degree of ambiguity of finite automata", criterion EDA.
        """
        folded = self.folding.choices
        if len(folded) > MOST_SEARCHED:
            return True
        onward = partial(targets, folded)
        reached = [set(reachable([state], onward)) for state in range(len(folded))]
        return any(
            sum(way.target is not None and state in reached[way.target] for way in choices) > 1
            for state, choices in enumerate(folded)
        )

    @cached_property
    def guards(self) -> int:
        every = (choice.guard for choices in self.folding.choices for choice in choices)
        return reduce(or_, every, 0)

    @cached_property
    def follow(self) -> FollowSets:
        return FollowSets.of(self.folding.choices)


def compile_pattern(plan: MatchPlan) -> CompiledPattern:
    """The row pattern of a resolved plan, compiled. Raises MatchRecognizePlanError if too large."""
    if plan.staging is not None:
        from matchrec.automaton import compile_stages as stages  # few plans have any

        steps, names, windowed = plan.staging.steps, plan.variables, plan.within is not None
        program, tests = stages.compile_stages(steps, names), stages.compose_tests(steps, names)
        places = stages.fold_places(program, tests, plan.staging.near, windowed=windowed)
        return CompiledPattern(program, places)
    pattern = simplify(plan.pattern)
    program = compile_program(pattern, plan.variables, plan.selection)
    every_way = plan.output is not MatchOutput.PREFERRED
    return CompiledPattern(program, fold(program, every_way=every_way, span=pattern.span))
