"""Ground: the base of every record we keep, and the one way it becomes JSON."""

from __future__ import annotations

from typing import Any, Self, cast

from pydantic import BaseModel, ConfigDict

from touchstone.errors import BadInputError


def check_schema(document: object, known: int, source: str) -> None:
    """Raise BadInputError where a kept document's schema number is newer than `known`, or no number.

    A missing number, or one that never was, is left to the document's class.
    """
    version = document.get("schema_version") if isinstance(document, dict) else None
    if isinstance(version, bool):
        raise BadInputError(f"{source}: schema_version: a number is due, not true or false")
    if isinstance(version, int) and version > known:
        raise BadInputError(
            f"{source}: schema {version} is newer than this touchstone reads ({known})", "Update touchstone."
        )


class Record(BaseModel):
    """A frozen, fully typed record. Unknown fields are refused: a newer file has a newer schema number."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    def to_json(self) -> dict[str, Any]:
        """The record as plain JSON values, field aliases applied."""
        return self.model_dump(mode="json", by_alias=True)

    def replaced(self, **values: Any) -> Self:
        """The record with some fields replaced, unvalidated; cheaper in time and memory than a copy."""
        made = type(self).model_construct(_fields_set=self.model_fields_set, **(self.__dict__ | values))
        return cast("Self", made)
