"""A package's page: its README and its URLs, with the repository whose GitHub Actions build it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)(\[[^]]*\])\((?!https?:|#)([^)]+)\)")


class PackagePage(MetadataHookInterface):
    """What hatch calls to complete the metadata; elsewhere than in Actions no address is known."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Adds the README and the addresses."""
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
    """Markdown whose links to files of the repository are addresses: a page has no such files.

    >>> with_addresses("[How](docs/how.md), [top](#top)", "https://x.org/a/b")
    '[How](https://x.org/a/b/blob/main/docs/how.md), [top](#top)'
    """

    def addressed(link: re.Match[str]) -> str:
        image, words, path = link.groups()
        return f"{image}{words}({address}/{'raw' if image else 'blob'}/main/{path})"

    return LINK.sub(addressed, text)
