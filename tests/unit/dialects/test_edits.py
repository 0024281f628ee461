"""Edits of a text keep positions: each position in the new text has one in the old text."""

from hypothesis import given
from hypothesis import strategies as st

from matchrec.dialects.edits import Edit, apply_edits
from matchrec.source import Span


@st.composite
def texts_with_edits(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    """Draw a text and edits of it."""
    text = draw(st.text("abc \n", max_size=30))
    old_spans = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8, unique=True)))
    spans = [Span(a, b) for a, b in zip(old_spans[::2], old_spans[1::2], strict=False)]
    return text, [Edit(span, draw(st.text("XYZ", max_size=5))) for span in spans]


@given(texts_with_edits())
def test_characters_that_no_edit_touches_are_found_again(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    new = apply_edits(text, edits)
    for at, character in enumerate(new.text):
        old_span = new.find_old_span(Span(at, at + 1))
        if character in "XYZ":
            assert old_span in [edit.span for edit in edits]
        else:
            assert old_span.end == old_span.start + 1
            assert text[old_span.start] == character


@given(texts_with_edits())
def test_the_whole_new_text_was_the_whole_old_one(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    new = apply_edits(text, edits)
    kept = [
        at for at in range(len(text)) if not any(e.span.start <= at < e.span.end for e in edits)
    ]
    assert "".join(text[at] for at in kept) == "".join(c for c in new.text if c not in "XYZ")


def test_an_insertion_comes_from_where_it_was_inserted() -> None:
    new = apply_edits("ORDER BY ts)", [Edit(Span(11, 11), " NULLS LAST")])
    assert new.text == "ORDER BY ts NULLS LAST)"
    assert new.find_old_span(Span(12, 17)) == Span(11, 11)
    assert new.find_old_span(Span(22, 23)) == Span(11, 12)
