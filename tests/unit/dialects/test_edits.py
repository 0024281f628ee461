"""Edits of a text keep positions: each position in the new text has one in the old text."""

from hypothesis import given
from hypothesis import strategies as st

from matchrec.dialects.edits import Edit, apply_edits
from matchrec.source import Span


@st.composite
def draw_text_and_edits(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    """Draw a text and edits of it."""
    text = draw(st.text("abc \n", max_size=30))
    bounds = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8, unique=True)))
    spans = [Span(start, end) for start, end in zip(bounds[::2], bounds[1::2], strict=False)]
    return text, [Edit(span, draw(st.text("XYZ", max_size=5))) for span in spans]


@given(draw_text_and_edits())
def test_characters_that_no_edit_touches_are_found_again(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    new = apply_edits(text, edits)
    for offset, character in enumerate(new.text):
        old_span = new.find_old_span(Span(offset, offset + 1))
        if character in "XYZ":
            assert old_span in [edit.span for edit in edits]
        else:
            assert old_span.end == old_span.start + 1
            assert text[old_span.start] == character


@given(draw_text_and_edits())
def test_the_new_text_keeps_all_characters_outside_of_edits(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    new = apply_edits(text, edits)
    kept_text = [
        character
        for offset, character in enumerate(text)
        if not any(edit.span.start <= offset < edit.span.end for edit in edits)
    ]
    assert kept_text == [character for character in new.text if character not in "XYZ"]


def test_an_inserted_text_is_found_at_its_insertion() -> None:
    new = apply_edits("ORDER BY ts)", [Edit(Span(11, 11), " NULLS LAST")])
    assert new.text == "ORDER BY ts NULLS LAST)"
    assert new.find_old_span(Span(12, 17)) == Span(11, 11)
    assert new.find_old_span(Span(22, 23)) == Span(11, 12)
