"""What mkdocs.yml cannot say: every decision there is stands in the site's navigation, in its order."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Called by mkdocs when it has read its settings."""
    pages = sorted(Path(config.docs_dir, "adr").glob("*.md"))
    config.nav = [*(config.nav or []), {"Decisions": [f"adr/{page.name}" for page in pages]}]
    return config
