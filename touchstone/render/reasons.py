"""Why there is no verdict: the codes of `judgements.jsonl` in words, in both languages."""

from __future__ import annotations

from touchstone.render.words import Words

REASON_WORDS: dict[str, tuple[str, str]] = {
    "generation_failed": ("the request failed", "die Anfrage schlug fehl"),
    "reasoning_only": ("reasoning only", "nur Denktext"),
    "check_error": ("a check could not run", "ein Check konnte nicht laufen"),
    "no_class": ("no class found", "keine Klasse gefunden"),
    "empty": ("empty", "leer"),
    "reference_not_judged": ("the reference has no verdict", "die Referenz hat kein Urteil"),
    # what was wrong with the judge's reply
    "only_thinking": ("the judge only thought", "der Judge dachte nur"),
    "no_verdict": ("no verdict in the judge's reply", "kein Urteil in der Antwort des Judge"),
    "cut": ("the judge's reply was cut", "die Antwort des Judge wurde abgeschnitten"),
    "broken": ("the judge's JSON is broken", "das JSON des Judge ist defekt"),
    "array": ("an array instead of a verdict", "eine Liste statt eines Urteils"),
    "several": ("several verdicts", "mehrere Urteile"),
    "repeated_key": ("a repeated key in the verdict", "ein doppelter Schlüssel im Urteil"),
    "not_json": ("no JSON", "kein JSON"),
    "nesting": ("the verdict is nested too deep", "das Urteil ist zu tief verschachtelt"),
    "missing": ("something is missing from the verdict", "im Urteil fehlt etwas"),
    "extra": ("something in the verdict was not asked for", "im Urteil steht Ungefragtes"),
    "wrong_type": ("a value of the wrong type", "ein Wert vom falschen Typ"),
    "not_whole": ("a score that is no whole number", "ein Wert, der keine ganze Zahl ist"),
    "out_of_scale": ("a score outside the scale", "ein Wert außerhalb der Skala"),
    "quoted": ("a verdict quoted from the answer", "ein aus der Antwort zitiertes Urteil"),
    "judge_error": ("the judge gave no reply", "der Judge gab keine Antwort"),
}


def verdict_reason(code: str | None, words: Words) -> str:
    """The code in words; one that is not known here as it stands."""
    if code is None:
        return words["error"]
    if code not in REASON_WORDS:
        return code.replace("_", " ")
    return REASON_WORDS[code][words.language == "de"]
