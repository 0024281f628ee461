"""Project URLs of a package: those of the repository whose GitHub Actions build it."""

from __future__ import annotations

import os
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ProjectUrls(MetadataHookInterface):
    """What hatch calls to complete the metadata; elsewhere than in Actions no address is known."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Adds the addresses."""
        repository = os.environ.get("GITHUB_REPOSITORY")
        if repository is None:
            return
        address = f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{repository}"
        metadata["urls"] = {
            "Repository": address,
            "Documentation": f"{address}/blob/main/docs/README.md",
            "Changelog": f"{address}/blob/main/CHANGELOG.md",
            "Issues": f"{address}/issues",
        }
