"""Makes the dark versions of the pictures of notebooks, from the screenshots on light ground.

    python -m tests.pages.dark

Colours keep their hue: light ones become dark, and dark ones light.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

IMAGES = Path(__file__).parent.parent.parent / "docs" / "images"
SCREENSHOTS = ("notebook_table", "notebook_error")

# The levels of grey, from 0 to 255, that white and black become.
GROUND = 30
TEXT = 230


def darken(picture: Image.Image) -> Image.Image:
    """Return a picture on dark ground."""
    pixels = np.asarray(picture.convert("RGB"), dtype=float)
    lowest = pixels.min(axis=2, keepdims=True)
    highest = pixels.max(axis=2, keepdims=True)
    # Mirror the lightness, (lowest + highest) / 2, and keep the distances between the channels.
    mirrored = pixels + 255 - lowest - highest
    levels = GROUND + mirrored * ((TEXT - GROUND) / 255)
    return Image.fromarray(levels.round().astype(np.uint8))


if __name__ == "__main__":
    for name in SCREENSHOTS:
        with Image.open(IMAGES / f"{name}.png") as picture:
            darken(picture).save(IMAGES / f"{name}_dark.png", optimize=True)
