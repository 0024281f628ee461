"""Pictures of matches without any rows."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib")

from matchrec.explain.charts.plot import WIDTH, draw_lines
from matchrec.explain.pictures.figures import make_figure


def test_a_picture_without_series_is_empty() -> None:
    figure = make_figure(WIDTH, 1)
    draw_lines(figure, {}, [], "price")
    assert not any(panel.get_visible() for panel in figure.axes)
