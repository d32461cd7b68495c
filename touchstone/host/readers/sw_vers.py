"""`sw_vers`: lines `Label:` and a value after tabs, in no promised order."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MacVersion:
    """Product name, version, the letter of a rapid security response such as `(c)`, and the build."""

    name: str | None
    version: str | None
    extra: str | None
    build: str | None

    @property
    def title(self) -> str | None:
        """As a person reads it: `macOS 13.4.1 (c), build 22F770820d`; None without a version."""
        if self.version is None:
            return None
        words = " ".join(part for part in (self.name, self.version, self.extra) if part)
        return f"{words}, build {self.build}" if self.build else words


def mac_version_of(text: str) -> MacVersion:
    """The four fields, each by its label."""
    fields = {}
    for line in text.splitlines():
        label, _, value = line.partition(":")
        fields[label.strip()] = value.strip() or None
    return MacVersion(
        name=fields.get("ProductName"),
        version=fields.get("ProductVersion"),
        extra=fields.get("ProductVersionExtra"),
        build=fields.get("BuildVersion"),
    )
