"""What a reader of a pull request is told first: which commit counts, what of the change does not yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from touchstone.render.plain import one_line
from touchstone.render.words import Words
from touchstone.run.records import Manifest

NAMED_MAX = 8
VALUE_WIDTH = 80

_FIRST: dict[str, tuple[str, str]] = {
    "merged_into": (
        "Checked: the merge of {head} into {base}. What counts (baselines, settings) is that of {base}.",
        "Geprüft: der Merge von {head} in {base}. Es gilt (Referenzen, Einstellungen), was {base} sagt.",
    ),
    "event": (
        "Checked: commit {tested}. What counts (baselines, settings) is that of {base}, the base.",
        "Geprüft: Commit {tested}. Es gilt (Referenzen, Einstellungen), was die Basis {base} sagt.",
    ),
    "queue": (
        "Checked: commit {tested} of the merge queue. What counts (baselines, settings) is that of {base}.",
        "Geprüft: Commit {tested} der Merge-Queue. Es gilt (Referenzen, Einstellungen), was {base} sagt.",
    ),
    "before": (
        "Checked: commit {tested}. What counts (baselines, settings) is that of {base}, the commit before.",
        "Geprüft: Commit {tested}. Es gilt (Referenzen, Einstellungen), was der Stand davor sagt, {base}.",
    ),
    "merge_base": (
        "Checked: commit {tested}. What counts (baselines, settings) is that of {base}, where it parted.",
        "Geprüft: Commit {tested}. Es gilt (Referenzen, Einstellungen), was {base} sagt, der Abzweig.",
    ),
    "itself": (
        "Checked: commit {tested}, which is no change: its own baselines and settings count.",
        "Geprüft: Commit {tested}, keine Änderung: Es gelten seine eigenen Referenzen und Einstellungen.",
    ),
    "named": (
        "Checked: commit {tested}. What counts (baselines, settings) is that of {base} (baseline-from).",
        "Geprüft: Commit {tested}. Es gilt (Referenzen, Einstellungen), was {base} sagt, laut Workflow.",
    ),
    "no_settings": (
        "The base has no touchstone.yaml: its defaults and the workflow's inputs count.",
        "Die Basis hat keine touchstone.yaml: Es gelten deren Vorgaben und die Eingaben des Workflows.",
    ),
    "own_server": (
        (
            "The base has no touchstone.yaml: defaults and the workflow's inputs count. This change's server "
            "is asked, for it is on this machine: {url}"
        ),
        (
            "Die Basis hat keine touchstone.yaml: Es gelten Vorgaben und die Eingaben des Workflows. Gefragt "
            "wird der Server dieser Änderung, denn er ist auf dieser Maschine: {url}"
        ),
    ),
    "settings_deleted": (
        "This change deletes the settings {path}. The base's still count.",
        "Diese Änderung löscht die Einstellungen {path}. Die der Basis gelten weiter.",
    ),
    "unused": (
        "Settings of this change that do not count before it is merged (counts → proposed): {told}",
        "Einstellungen dieser Änderung, die erst nach dem Merge gelten (gilt → vorgeschlagen): {told}",
    ),
    "shard": (
        "Pack {pack}: shard {shard} is measured and judged ({run}). The verdict is that of all, merged.",
        "Pack {pack}: Teil {shard} ist gemessen und bewertet ({run}). Das Urteil gilt allen Teilen zusammen.",
    ),
    "more": ("… and {n} more", "… und {n} weitere"),
    "deleted": (
        "This change deletes the baseline {path}. The base's still counts.",
        "Diese Änderung löscht die Referenz {path}. Die der Basis gilt weiter.",
    ),
    "retired": (
        "This change retires pack {pack}: the pack and its baseline are deleted.",
        "Diese Änderung legt Pack {pack} still: Pack und Referenz sind gelöscht.",
    ),
    "brings": (
        "This change brings a baseline for {pack}: {runs} runs of {day}, {replaces}.",
        "Diese Änderung bringt eine Referenz für {pack} mit: {runs} Läufe vom {day}, {replaces}.",
    ),
    "brings_first": ("the first one", "die erste"),
    "brings_instead": ("in place of {digest}", "anstelle von {digest}"),
    "reason": ("Its reason: {reason}", "Ihre Begründung: {reason}"),
    "no_reason": (
        "It gives no reason, and needs one for: {what}. Promote again with --reason.",
        "Sie nennt keine Begründung und braucht eine für: {what}. Erneut promoten mit --reason.",
    ),
    "worse": ("what is worse", "das Schlechtere"),
    "safety": ("safety that is not confirmed", "die nicht bestätigte Sicherheit"),
    "rows_gone": ("the rows that are gone", "die entfallenen Zeilen"),
    "not_accepted": (
        "accept_promotions is off: a promotion inside a change does not turn it green.",
        "accept_promotions ist aus: Eine Promotion in einer Änderung macht sie nicht grün.",
    ),
    "no_comment": (
        "There is no comment of this run on the pull request; the verdict is the same.",
        "Der Pull Request trägt keinen Kommentar dieses Laufs; das Urteil ist dasselbe.",
    ),
    "no_token": (
        "The step was given no token: github-token",
        "Der Schritt bekam kein Token: github-token",
    ),
    "no_place": (
        "The job's environment does not name the repository: GITHUB_REPOSITORY, as OWNER/NAME",
        "Die Umgebung des Jobs nennt das Repository nicht: GITHUB_REPOSITORY, als OWNER/NAME",
    ),
    "only_promotion": (
        "Only baselines changed: they were verified, nothing was measured.",
        "Nur Referenzen haben sich geändert: Sie wurden geprüft, gemessen wurde nichts.",
    ),
}


def first_sentence(key: str, words: Words, **values: object) -> str:
    """One of the sentences; texts from outside are cut to a line."""
    told = {name: one_line(str(value), 200) for name, value in values.items()}
    return _FIRST[key][words.language == "de"].format(**told)


def shard_sentence(manifest: Manifest, words: Words) -> str:
    """What is to be said of a run that is one shard of another."""
    told = {"pack": manifest.suite.pack_id, "shard": manifest.shard, "run": manifest.id}
    return first_sentence("shard", words, **told)


def unused_sentence(settings: Sequence[tuple[str, Any, Any]], words: Words) -> list[str]:
    """Which settings do not count yet; nothing where all do."""
    if not settings:
        return []
    shown = settings[:NAMED_MAX]
    told = [f"{name} {_value(counts)} → {_value(proposed)}" for name, counts, proposed in shown]
    left = len(settings) - NAMED_MAX
    told += [first_sentence("more", words, n=left)] if left > 0 else []
    return [_FIRST["unused"][words.language == "de"].format(told="; ".join(told))]


def unexplained_sentence(codes: Sequence[str], words: Words) -> list[str]:
    """What a promotion gives no reason for; nothing where it needs none."""
    if not codes:
        return []
    return [first_sentence("no_reason", words, what=", ".join(first_sentence(code, words) for code in codes))]


def _value(value: Any) -> str:
    return "–" if value is None else one_line(str(value), VALUE_WIDTH)
