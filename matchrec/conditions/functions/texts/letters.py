"""Upper and lower case of letters, masks of them, and what a word sounds like."""

from __future__ import annotations

import re
import unicodedata

from matchrec.conditions.functions.function import UndecidedError

NEW_CASES = re.compile(
    "[\u019b\u0264\u1c89\u1c8a\u2c2f\u2c5f\ua7c0-\ua7ff\U00010570-\U000105bf\U00010d50-\U00010d8f"
    "\U00016ea0-\U00016edf]"
)
"""Letters with a case that Unicode 12 did not have, the oldest of a Spark or a Python."""
MASKS = {"Lu": "X", "Ll": "x", "Nd": "n"}


def settled(text: str) -> str:
    """The text, if its letters have had their cases for long."""
    found = NEW_CASES.search(text)
    if found is not None:
        raise UndecidedError(f"the case of U+{ord(found[0]):04X} depends on the version of Unicode")
    return text


def upper(text: str) -> str:
    return settled(text).upper()


def lower(text: str) -> str:
    return settled(text).lower()


def capitalise(text: str) -> str:
    """Each word, between blanks, with a capital and small letters."""
    return " ".join(
        word[:1].title() + word.lower()[len(word[:1].lower()) :]
        for word in settled(text).split(" ")
    )


def mask(text: str) -> str:
    """X for capitals, x for small letters, n for digits."""
    return "".join(map(masked, text))


def masked(one: str) -> str:
    if unicodedata.ucd_3_2_0.category(one) == "Cn":
        raise UndecidedError(f"whether U+{ord(one):04X} is a letter depends on Unicode's version")
    return MASKS.get(unicodedata.category(one), one)


SOUNDS = dict(
    zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "01230127022455012623017202", strict=True)
)  # 7 is of H and W: the same sounds beside them are one; 0 keeps them apart


def soundex(text: str) -> str:
    """A letter and three digits, for texts that begin with a letter of English."""
    letters = "".join(chr(ord(one) - 32) if "a" <= one <= "z" else one for one in text)
    if not letters or letters[0] not in SOUNDS:
        return text
    code, last = letters[0], SOUNDS[letters[0]]
    for letter in letters[1:]:
        sound = SOUNDS.get(letter, "0")
        if sound != "7":
            if sound not in ("0", last):
                code += sound
            last = sound
        if len(code) == 4:
            break
    return code.ljust(4, "0")
