"""A change under test: its base, the settings that count, and what it does to the baselines themselves."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from touchstone.baseline import store
from touchstone.errors import BadInputError
from touchstone.gate.agreed import Agreed
from touchstone.gate.base import Base
from touchstone.gate.brought import Brought, brought_baseline
from touchstone.gate.reference import Reference, committed_reference
from touchstone.gate.start import suite_for
from touchstone.git import Repository
from touchstone.pack.load import PACK_SUFFIXES, LoadedPack


@dataclass(frozen=True)
class Change:
    """What is checked, in this repository, against which base, under which settings."""

    repository: Repository
    base: Base
    agreed: Agreed
    today: date

    def reference(self, pack: str) -> Reference | None:
        """The base's baseline of a pack; None where it has none."""
        effective = self.agreed.effective
        return committed_reference(effective.config, effective.root, pack, self.today, self.base.commit)

    def brought(self, loaded: LoadedPack) -> Brought | None:
        """The baseline of a pack that the change brings along; None where it leaves it alone."""
        own = self.agreed.own.config
        return brought_baseline(
            self.repository,
            self.base,
            self.path_of(loaded.pack.id),
            suite_for(own, loaded),
            renamed={model.was: model.id for model in own.models if model.was is not None},
            today=self.today,
        )

    def is_only_promotions(self) -> bool:
        """Whether nothing but baselines changed, and none went."""
        changed, folder = self._changed(), f"{self._folder()}/"
        return bool(changed) and all(
            path.startswith(folder) and path.endswith(".json") and self._has(path) for path in changed
        )

    def promoted_elsewhere(self, packs: Collection[str]) -> list[str]:
        """The changed files that are no baseline of `packs` here: another tenant's, another target's."""
        own = {self.path_of(pack) for pack in packs}
        return [path for path in self._changed() if path not in own]

    def require_whole(self, path: str) -> None:
        """BadInputError for a changed file that is no baseline, was edited, or lies at another's place."""
        content = self.repository.read(self.base.tested, path) or b""
        baseline = store.parse(content, f"{self.base.tested[:12]}:{path}")
        store.require_place(baseline, Path(path))

    def deletes(self, pack: str) -> bool:
        """Whether the change takes a pack's baseline away."""
        path = self.path_of(pack)
        return self.repository.read(self.base.commit, path) is not None and not self._has(path)

    def lost_packs(self, packs: Collection[str]) -> Iterator[tuple[str, bool]]:
        """The base's baselines that belong to none of `packs`: the pack's id, whether its file goes too."""
        config = self.agreed.effective.config
        folder = f"{self._folder()}/{config.tenant}"
        for path in self.repository.files_at(self.base.commit, folder):
            pack, _, target = Path(path).name.removesuffix(".json").partition(".")
            is_ours = path.endswith(".json") and (target or None) == config.target
            if is_ours and pack not in packs:
                yield pack, not self._has(path)

    def unnamed_file_of(self, pack: str) -> str | None:
        """The file of a pack that no entry of `packs` leads to; None where no such file is found."""
        found = self.repository.files_with_line(
            self.base.tested,
            rf"^id:[[:space:]]*[\"']?{re.escape(pack)}[\"']?[[:space:]]*(#.*)?$",
            *PACK_SUFFIXES,
        )
        return next(iter(found), None)

    def path_of(self, pack: str) -> str:
        """Where a pack's baseline lies, as git names it."""
        effective = self.agreed.effective
        folder = effective.root / effective.config.baselines_dir
        return self.repository.relative(
            store.path_of(folder, effective.config.tenant, pack, effective.config.target)
        )

    def _folder(self) -> str:
        effective = self.agreed.effective
        return self.repository.relative(effective.root / effective.config.baselines_dir)

    def _changed(self) -> list[str]:
        return self.repository.changed(self.base.commit, self.base.tested)

    def _has(self, path: str) -> bool:
        try:
            return self.repository.read(self.base.tested, path) is not None
        except BadInputError:
            return True  # something else lies there; whoever reads it says so
