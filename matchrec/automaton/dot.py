"""Draw a program in DOT, Graphviz's language.

An edge of `A+` is drawn as `1 -> 1 [label="1: take A", style=bold];`. The number in a label is the
edge's place in the preferment order of its state.
"""

from __future__ import annotations

from matchrec.automaton.program import NO_FORMULAS, Action, Formulas, Program

_LINE_STYLES = {
    Action.BEGIN: "solid",
    Action.TAKE: "bold",
    Action.IGNORE: "dashed",
    Action.PROCEED: "dotted",
}


def draw_dot(program: Program, formulas: Formulas = NO_FORMULAS) -> str:
    """Return the program in DOT.

    Args:
        program: the program of a row pattern or of stages.
        formulas: the formulas to add to the labels of edges, for the edges that have one.
    """
    lines = [
        "digraph program {",
        "  rankdir=LR; node [shape=circle];",
        '  start [shape=point, label=""];',
        f"  start -> {program.start};",
        f"  {program.final} [shape=doublecircle];",
    ]
    for number, name in enumerate(program.names):
        lines.append(f'  {number} [label="{escape_dot_text(name)}"];')
    for number, state in enumerate(program.states):
        for index, edge in enumerate(state.edges):
            label = escape_dot_text(program.describe_edge(edge))
            formula = formulas.get((number, index))
            if formula is not None:
                label += f"\\n{escape_dot_text(formula)}"
            attributes = f'label="{index + 1}: {label}", style={_LINE_STYLES[edge.action]}'
            lines.append(f"  {number} -> {edge.target} [{attributes}];")
    return "\n".join([*lines, "}"])


def escape_dot_text(text: str) -> str:
    """Escape text for a string in DOT."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
