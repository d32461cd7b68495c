"""Ground: the base of every record we keep, and the one way it becomes JSON."""

from __future__ import annotations

from typing import Any, Self, cast

from pydantic import BaseModel, ConfigDict


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
