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

from dataclasses import field, replace
from functools import reduce
from itertools import permutations

from typing_extensions import assert_never

from matchrec.dataclass import dataclass
from matchrec.errors.sql.pattern import pattern_too_large
from matchrec.nfa.program import (
    Action,
    Anchor,
    Edge,
    Program,
    State,
    StateId,
    order_states,
    renumber_states,
)
from matchrec.nfa.selection import with_selection
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
)

MOST_STATES = 20_000


def compile_program(
    pattern: RowPattern,
    variables: tuple[str, ...],
    selection: EventSelection = EventSelection.STRICT_CONTIGUITY,
    *,
    constrain_proceed: bool = True,
) -> Program:
    """The program of `pattern`; a variable's id is its index in `variables`.

    constrain_proceed: see `selection`; it decides which states have ignore edges.

    Raises MatchRecognizePlanError where quantifiers or PERMUTE make it too large.
    """
    compiler = _Compiler(pattern, {name: number for number, name in enumerate(variables)})
    final = compiler.add_state()
    start = compiler.compile_node(pattern, _Then(final, final))
    order = order_states(compiler.states, start, (final,))
    states = renumber_states(compiler.states, order)
    program = Program(states, order[start], order[final], variables).check()
    return with_selection(program, selection, constrain_proceed=constrain_proceed)


@dataclass(frozen=True, slots=True)
class _Then:
    """Where to go on: when a row has been consumed, and when the iteration is empty so far."""

    consumed: StateId
    empty: StateId


_Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Compiler:
    """The states so far, shared by the compilers inside and outside of exclusions."""

    pattern: RowPattern
    ids: dict[str, int]
    states: list[State] = field(default_factory=list)
    compiled: dict[_Key, StateId] = field(default_factory=dict)
    excluded: bool = False

    def add_state(self, *edges: Edge) -> StateId:
        """A new state, which must not outgrow the limit."""
        if len(self.states) >= MOST_STATES:
            raise pattern_too_large("states", MOST_STATES, self.pattern.span)
        self.states.append(State(edges))
        return len(self.states) - 1

    def begin(self, variable: Variable, target: StateId) -> Edge:
        """The edge on which a row is mapped to `variable`."""
        return Edge(Action.BEGIN, target, self.ids[variable.name], excluded=self.excluded)

    def compile_node(self, node: RowPattern, then: _Then) -> StateId:
        """State that matches `node` and goes on at `then`."""
        key = ("node", id(node), then, self.excluded)
        if key not in self.compiled:
            self.compiled[key] = self._compile_new(node, then)
        return self.compiled[key]

    def _compile_new(self, node: RowPattern, then: _Then) -> StateId:
        match node:
            case Empty():
                return then.empty
            case PartitionStart():
                return self._compile_anchor(Anchor.PARTITION_START, then)
            case PartitionEnd():
                return self._compile_anchor(Anchor.PARTITION_END, then)
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

    def _compile_anchor(self, anchor: Anchor, then: _Then) -> StateId:
        return self.add_state(Edge(Action.PROCEED, then.empty, anchor=anchor))

    def _before(self, then: _Then, part: RowPattern) -> _Then:
        """Continuations of what stands before `part`: a row consumed there counts here as well."""
        return _Then(
            self.compile_node(part, _Then(then.consumed, then.consumed)),
            self.compile_node(part, then),
        )

    def _compile_permutation(
        self, node: Permutation, missing: frozenset[int], then: _Then
    ) -> StateId:
        """The state before the parts still `missing`, tried in lexicographic order of position.

        Orders that begin with the same part share it only where it has one word: `b a c | b c a`
        tries all words of b before a c, and then all of them again before c a. So variables take
        one state for each set of missing parts, 2^n and not n!, from which the row is mapped.
        """
        if not missing:
            return then.empty
        key = ("permutation", id(node), missing, then, self.excluded)
        if key not in self.compiled:
            edges = []
            for chosen in sorted(missing):
                rest = missing - {chosen}
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
            after = _Then(
                self._compile_loop(node, then.consumed), self._compile_loop_entry(node, then)
            )
        else:
            after = then
            for _ in range(node.most - node.least):
                after = self._optional(node, after, then)
        if node.least > 0:
            after = self._last_required(node, after, then)
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

    def _compile_loop_entry(self, node: Quantified, then: _Then) -> StateId:
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

    def _last_required(self, node: Quantified, after: _Then, then: _Then) -> _Then:
        """Continuations before the iteration that reaches the least number; an empty one
        ends the loop.
        """
        return _Then(
            self.compile_node(node.part, _Then(after.consumed, then.consumed)),
            self.compile_node(node.part, _Then(after.consumed, then.empty)),
        )


def _has_one_word(node: RowPattern) -> bool:
    """Whether rows can match `node` in one way at most."""
    match node:
        case Empty() | PartitionStart() | PartitionEnd() | Variable() | Negation():
            return True
        case Concatenation(parts):
            return all(map(_has_one_word, parts))
        case Exclusion(part):
            return _has_one_word(part)
        case Quantified(part, least, most):
            return least == most and _has_one_word(part)
        case Alternation() | Permutation():
            return False
        case _:
            assert_never(node)


def _proceed(target: StateId) -> Edge:
    return Edge(Action.PROCEED, target)


def _ordered(node: Quantified, again: Edge, leave: Edge) -> tuple[Edge, Edge]:
    """Greedy prefers one more iteration, reluctant prefers to stop."""
    return (again, leave) if node.greedy else (leave, again)
