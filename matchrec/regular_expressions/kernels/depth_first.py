"""Finds programs of regular expressions in texts, compiled.

Depth-first. A choice at a place of the text that has been tried has failed, wherever the match
would begin, so no choice is tried twice.

Cost: choices of the program x characters of the text, in time and memory. Source: RE2's BitState.
"""

import numpy as np
import numpy.typing as npt

from matchrec.jit.decorators import inner, kernel, spliced
from matchrec.regular_expressions.program import IntArray

NOT_FOUND, FOUND, NO_ROOM = 0, 1, 2
CHARACTER, ONE_OF, SPLIT, JUMP, AT = 0, 1, 2, 3, 4
START, END, LAST_LINE = 0, 1, 2
CHOICES = 3  # the column of instructions with the numbers of choices

Text = npt.NDArray[np.uint32]
Flags = npt.NDArray[np.uint8]


@kernel
def search(
    instructions: IntArray, ranges: IntArray, text: Text, tried: Flags, stack: IntArray
) -> int:
    """Whether a program is found; with NO_ROOM, `stack` is too small to tell.

    instructions, ranges: see `Program`. text: n characters. tried: uint8[(n + 1) * c], choices at
    places. stack: of what to go back to, an instruction and a place.
    """
    for begin in range(len(text) + 1):
        status = match(instructions, ranges, text, tried, stack, begin)
        if status != NOT_FOUND:
            return int(status)
    return NOT_FOUND


@spliced
def match(
    code: IntArray, ranges: IntArray, text: Text, tried: Flags, stack: IntArray, begin: int
) -> int:
    """Whether a program is found in the text from `begin` on."""
    choices = code[-1, CHOICES]
    at, place, top = np.int64(0), np.int64(begin), np.int64(0)
    while True:
        operation, a, b = code[at, 0], code[at, 1], code[at, 2]
        leads_on = True
        if operation == CHARACTER:
            leads_on = place < len(text) and a <= text[place] <= b
            at, place = at + 1, place + 1
        elif operation == ONE_OF:
            leads_on = place < len(text) and is_one_of(ranges, a, b, text[place])
            at, place = at + 1, place + 1
        elif operation == SPLIT:
            choice = place * choices + code[at, CHOICES]
            leads_on = tried[choice] == 0
            tried[choice] = 1
            if leads_on:
                if top + 2 > len(stack):
                    return NO_ROOM
                stack[top], stack[top + 1] = b, place
                top += 2
            at = np.int64(a)
        elif operation == JUMP:
            at = np.int64(a)
        elif operation == AT:
            leads_on = is_edge(a, text, place)
            at += 1
        else:
            return FOUND
        if not leads_on:
            if top == 0:
                return NOT_FOUND
            top -= 2
            at, place = np.int64(stack[top]), np.int64(stack[top + 1])


@inner
def is_one_of(ranges: IntArray, begin: int, end: int, character: int) -> bool:
    """Whether a character is in one of the ranges begin .. end - 1."""
    one = begin
    while one < end and not ranges[one, 0] <= character <= ranges[one, 1]:
        one += 1
    return one < end


@inner
def is_edge(edge: int, text: Text, place: int) -> bool:
    end = len(text)
    if edge == START:
        return place == 0
    if edge == END or place == end:
        if edge <= LAST_LINE:
            return place == end
    elif edge == LAST_LINE:
        return is_before_last_end_of_line(text, place)
    before = place > 0 and is_letter(text[place - 1])
    after = place < end and is_letter(text[place])
    return before != after


@inner
def is_before_last_end_of_line(text: Text, place: int) -> bool:
    """Whether nothing comes but one end of a line, in the middle of which the place is not."""
    one = text[place]
    if place + 2 == len(text):
        return bool(one == 13 and text[place + 1] == 10)
    if place + 1 != len(text):
        return False
    if one == 10:
        return bool(place == 0 or text[place - 1] != 13)
    return bool(one == 13 or one == 0x85 or one == 0x2028 or one == 0x2029)


@inner
def is_letter(character: int) -> bool:
    """Whether it is in \\w; texts have only ASCII where this is asked."""
    return (
        48 <= character <= 57 or 65 <= character <= 90 or 97 <= character <= 122 or character == 95
    )
