"""Hook of hatch: set the README and the URLs on the page of the package.

The URLs point to the repository in which GitHub Actions builds the package. No file of the
project contains an address, so a fork never links to another repository.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)(\[[^]]*\])\((?!https?:|#)([^)]+)\)")


class PackagePage(MetadataHookInterface):
    """The README and the URLs of the package. Outside of GitHub Actions there are no URLs."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README and the URLs to the metadata."""
        text = Path(self.root, "README.md").read_text()
        repository = os.environ.get("GITHUB_REPOSITORY")
        if repository is not None:
            address = f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{repository}"
            text = with_addresses(text, address)
            metadata["urls"] = {
                "Repository": address,
                "Documentation": f"{address}/blob/main/docs/README.md",
                "Changelog": f"{address}/blob/main/CHANGELOG.md",
                "Issues": f"{address}/issues",
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def with_addresses(text: str, address: str) -> str:
    """Return Markdown with full URLs instead of relative links, which a package page cannot follow.

    >>> with_addresses("[How](docs/how.md), [top](#top)", "https://x.org/a/b")
    '[How](https://x.org/a/b/blob/main/docs/how.md), [top](#top)'
    """

    def addressed(link: re.Match[str]) -> str:
        image, words, path = link.groups()
        return f"{image}{words}({address}/{'raw' if image else 'blob'}/main/{path})"

    return LINK.sub(addressed, text)
