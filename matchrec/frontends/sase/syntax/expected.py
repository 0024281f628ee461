"""The terminals that a parser would accept, in plain words."""

from __future__ import annotations

Terminals = frozenset[str]

EVENT_TYPE = frozenset({"NAME", "STRING", "BACKQUOTED", "ANY", "STAR"})
VALUE = frozenset(
    {"NAME", "NUMBER", "STRING", "CONSTANT", "PERCENTAGE", "INTERVAL", "LPAR", "_CASE", "_CAST"}
    | {"PLUS", "MINUS"}
)
OPERATOR = frozenset(
    {"COMPARISON", "PLUS", "MINUS", "STAR", "SLASH", "MODULO", "DIV", "CONCAT", "LIKE", "NOT"}
    | {"_IS", "_IN", "_BETWEEN", "LSQB", "DOT"}
)
GROUPS: tuple[tuple[Terminals, Terminals, str], ...] = (
    (frozenset({"NUMBER", "_CASE", "LSQB"}), VALUE | {"NOT", "BANG", "LSQB"}, "an expression"),
    (frozenset({"NUMBER", "_CASE"}), VALUE | {"NOT", "BANG"}, "a value such as a.x or 1"),
    (frozenset({"ANY", "STAR"}), EVENT_TYPE, "an event type"),
    (frozenset({"COMPARISON", "PLUS"}), OPERATOR, "an operator"),
    (frozenset({"PLUS", "MINUS"}), OPERATOR, "an operator"),
    (frozenset({"NAME", "BACKQUOTED"}), frozenset({"NAME", "BACKQUOTED"}), "a name"),
    (frozenset({"TILDE", "BANG"}), frozenset({"TILDE", "BANG", "_SEQ"}), "`~` for a negation"),
)
"""Of several terminals: those that give a group away, all that are in it, and what it is."""

WORDS = {
    "NAME": "a name",
    "NUMBER": "a number",
    "STRING": "a string",
    "STRATEGY": "an event selection strategy such as skip_till_next_match",
    "TRUTH": "NULL, TRUE or FALSE",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQB": "`[`",
    "RSQB": "`]`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "COMMA": "`,`",
    "DOT": "`.`",
    "DOTS": "`..`",
    "PLUS": "`+`",
    "MINUS": "`-`",
    "STAR": "`*`",
    "$END": "the end",
}


def in_words(accepted: Terminals) -> str:
    """What is accepted, as a sentence lists it.

    >>> in_words(frozenset({"_WITHIN", "_RETURN", "$END"}))
    'RETURN, WITHIN or the end'
    """
    phrases: list[str] = []
    for evidence, members, phrase in GROUPS:
        if evidence <= accepted:
            phrases.append(phrase)
            accepted -= members
    phrases += sorted(_word(terminal) for terminal in accepted)
    return " or ".join(part for part in (", ".join(phrases[:-1]), phrases[-1]) if part)


def _word(terminal: str) -> str:
    """A terminal that is in no group; the name of a keyword is that keyword."""
    return WORDS.get(terminal, terminal.lstrip("_"))
