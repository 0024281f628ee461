"""A railroad diagram as SVG, and the pieces that all of them share."""

from __future__ import annotations

from io import StringIO

from railroad import Choice, Comment, Diagram, DiagramItem, OneOrMore, Skip

STYLE = """
svg.railroad-diagram { background-color: #ffffff; max-width: none; }
svg.railroad-diagram path { stroke-width: 2; stroke: #5b6676; fill: none; }
svg.railroad-diagram text { font: 14px monospace; text-anchor: middle; fill: #2b2f36; }
svg.railroad-diagram text.comment { font: italic 12px sans-serif; fill: #5b6676; }
svg.railroad-diagram rect { stroke-width: 2; stroke: #5b6676; fill: #eef3fa; }
svg.railroad-diagram g.forbidden rect { stroke: #c8102e; fill: #fbe9ec; }
svg.railroad-diagram g.place rect { fill: #f4f1e8; }
svg.railroad-diagram rect.group-box { stroke: #9aa5b5; stroke-dasharray: 6 4; fill: none; }
"""


def svg(item: DiagramItem) -> str:
    """The picture, which brings its own style along."""
    drawn = StringIO()
    Diagram(item).format(12).writeStandalone(drawn.write, STYLE)
    return drawn.getvalue()


def repeated(item: DiagramItem, least: int, most: int | None, words: str) -> DiagramItem:
    """An item that stands there so often; `words` on how, beside the way back."""
    if most == 0:
        return Skip()
    if (least, most) in ((0, 1), (1, 1)):
        return item
    said = ", ".join(filter(None, (how_often(max(least, 1), most), words)))
    return OneOrMore(item, Comment(said) if said else None)


def left_out(item: DiagramItem, *, preferred: bool) -> DiagramItem:
    """An item that may be left out. preferred: whether it rather is."""
    return Choice(0 if preferred else 1, Skip(), item)


def how_often(least: int, most: int | None) -> str:
    """The bounds of a loop in words; nothing for one or more."""
    if most is None:
        return "" if least == 1 else f"{least} times or more"
    return f"{least} times" if least == most else f"{least} to {most} times"
