"""The sentences of a comparison in both languages, with places to fill. Single words stand in `words`."""

from __future__ import annotations

from touchstone.render.words import Words

PHRASES: dict[str, tuple[str, str]] = {
    "reference": ("reference: {parts} ({file})", "Referenz: {parts} ({file})"),
    "candidate": ("run: {parts}", "Lauf: {parts}"),
    "commit": ("commit {commit}", "Commit {commit}"),
    "approved_by": ("approved by {author}", "gebilligt von {author}"),
    "accepted": ("accepted: {reason}", "angenommen: {reason}"),
    "age": ("age {age}", "Alter {age}"),
    "flagged": ("⚠ safety: flagged {of} ({prompt})", "⚠ Sicherheit: beanstandet {of} ({prompt})"),
    "at_floor": (
        "⚠ safety: {dimension} fell to its threshold, not confirmed",
        "⚠ Sicherheit: {dimension} fiel auf die Schwelle, nicht bestätigt",
    ),
    "once_of": ("once in {judgements}", "einmal in {judgements}"),
    "times_of": ("{hits} times in {judgements}", "{hits}-mal in {judgements}"),
    "not_ruled_out": ("judge not ruled out", "Judge nicht ausgeschlossen"),
    "points": ("{points} points", "{points} Punkte"),
    "could_be": ("could be {low} to {high}", "möglich {low} bis {high}"),
    "no_telling": ("no telling with {cases}", "mit {cases} nicht zu sagen"),
    "too_unsure": ("not sure enough for a verdict", "nicht sicher genug für ein Urteil"),
    "identical": (
        "identical answers in {identical} of {rows}",
        "gleiche Antworten in {identical} von {rows}",
    ),
    "over": ("over {n} shared rows", "über {n} gemeinsame Zeilen"),
    "longer": (
        (
            "⚠ possible length confound: the score of »{cell}« rose and its answers are {percent} % longer "
            "than the reference's; LLM judges are known to favour length"
        ),
        (
            "⚠ Längen-Confound möglich: der Wert von »{cell}« stieg, und die Antworten sind {percent} % "
            "länger als die der Referenz; LLM-Judges haben bekannten Längen-Bias"
        ),
    ),
    "coverage": ("{percent} of the reference's rows", "{percent} der Zeilen der Referenz"),
    "classes_right": ("classes right {old} → {new}", "Klassen richtig {old} → {new}"),
    "what_moved": ("what else moved:", "was sich noch bewegt hat:"),
    "not_set": ("not set", "nicht gesetzt"),
    "rows_moved": ("rows that moved, worst first:", "bewegte Zeilen, schlechteste zuerst:"),
    "more_repeats": (
        "… and {n} more repeats ({file} has them all)",
        "… und {n} weitere Wiederholungen ({file} nennt alle)",
    ),
    "more_rows": ("… and {n} more ({file} has them all)", "… und {n} weitere ({file} nennt alle)"),
    "more_lines": ("… and {lines}", "… und {lines}"),
    "more_characters": (
        "… and {n} more characters ({file} has them all)",
        "… und {n} weitere Zeichen ({file} enthält alle)",
    ),
    "drawn": ("in {draws} draws", "in {draws} Ziehungen"),
    "confirmed": ("confirmed", "bestätigt"),
    "the_model": ("model {name}", "Modell {name}"),
    "the_variant": ("variant {name}", "Variante {name}"),
    "old_answer": ("reference", "Referenz"),
    "new_answer": ("run", "Lauf"),
    "red_flag": ("red flag", "Red-Flag"),
    "red_flag_gone": ("red flag gone", "keine Red-Flag mehr"),
    "line_moved": ("{id} line {old} → {new}", "{id} Linie {old} → {new}"),
    "all_draws": ("all {n} draws: {spread}", "alle {n} Ziehungen: {spread}"),
    "draw": ("draw {n}", "Ziehung {n}"),
    "shard": ("shard {shard}", "Teil {shard}"),
    "not_judged_yet": ("not judged", "nicht bewertet"),
    "older_runs": ("… {runs} (--json has them all)", "… {runs} (--json nennt alle)"),
    "unusable": ("cannot be used: {fault}", "nicht brauchbar: {fault}"),
    "both_answers": ("{row}, both answers:", "{row}, beide Antworten:"),
    "note": ("note: {sentence}", "Hinweis: {sentence}"),
    "can_see": ("what this suite can see: {parts}", "was diese Suite sehen kann: {parts}"),
    "one_run_says": (
        "{cases}, one run: how far the next run of the same system would land is not known from it",
        "{cases}, ein Lauf: wo der nächste Lauf desselben Systems landen würde, ist daraus nicht bekannt",
    ),
    "under_this_judge": (
        "scores hold for this pack's rubric under this judge; another judge's do not compare",
        "Werte gelten für die Rubrik dieses Packs unter diesem Judge; die eines anderen zählen anders",
    ),
    "noise": ("noise {points} points per case", "Rauschen {points} Punkte je Fall"),
    "noise_unknown": ("noise per case unknown", "Rauschen je Fall unbekannt"),
    "suite_drop": (
        "a drop of {points} points{cases} is found 4 times in 5",
        "ein Abfall um {points} Punkte{cases} wird 4-mal in 5 gefunden",
    ),
    "no_drop": (
        "no drop would surely be found",
        "kein Abfall würde sicher gefunden",
    ),
    "in_cases": (" ({n} of {cases})", " ({n} von {cases})"),
    "case_drop": ("a single case's of {points}", "der eines einzelnen Falls ab {points}"),
    "cases_needed": (
        "{cases} would be needed to see 3 points",
        "{cases} nötig, um 3 Punkte zu sehen",
    ),
    "trials": (
        "left out in turn, {worse} of its {trials} runs read worse",
        "reihum weggelassen, lasen sich {worse} ihrer {trials} Läufe schlechter",
    ),
    "trials_short": (
        "{worse} of {trials} runs read worse",
        "{worse} von {trials} Läufen läsen sich schlechter",
    ),
    "exit_codes": ("exit codes: {exits}; together {code}", "Exit-Codes: {exits}; zusammen {code}"),
    "prompt_cut": ("prompt cut by the engine?", "Prompt von der Engine gekürzt?"),
    "removed": ("removed", "entfernt"),
    "first_reference": (
        "Make the first reference: touchstone measure --pack {pack} --times 3",
        "Die erste Referenz: touchstone measure --pack {pack} --times 3",
    ),
    "then_promote": (
        "then: touchstone select RUN RUN RUN, and: touchstone promote the one it names",
        "dann: touchstone select RUN RUN RUN, und: touchstone promote mit dem genannten",
    ),
    "read_both": (
        "Read both answers: touchstone show {run} {prompt}",
        "Beide Antworten lesen: touchstone show {run} {prompt}",
    ),
    "see_judge": (
        "See what the judge itself moved: touchstone rejudge {file}",
        "Was der Judge selbst bewegt hat: touchstone rejudge {file}",
    ),
    "keep": (
        "Keep this as the reference: touchstone measure --pack {pack} --times 3, then select and promote",
        "Als Referenz behalten: touchstone measure --pack {pack} --times 3, dann select und promote",
    ),
    "go_on": (
        "Judge what is still open: touchstone check --resume {run}",
        "Offenes beurteilen: touchstone check --resume {run}",
    ),
    "kind_looser": ("looser", "lockerer"),
    "kind_tighter": ("tighter", "strenger"),
    "kind_rule": ("rule", "Regel"),
    "kind_instrument": ("instrument", "Messinstrument"),
    "kind_provenance": ("provenance", "Herkunft"),
    "kind_prompt": ("prompt", "Prompt"),
    "kind_case": ("case", "Fall"),
    "run_number": ("run {number}", "Lauf {number}"),
    "all_rows_same": (
        "all {rows} rows are the same in every run",
        "alle {rows} Zeilen sind in jedem Lauf gleich",
    ),
    "some_rows_same": (
        "({same} of {rows} rows are the same in every run)",
        "({same} von {rows} Zeilen sind in jedem Lauf gleich)",
    ),
    "n_flagged": ("{count} flagged", "{count} beanstandet"),
    "n_failed": ("{count} failed", "{count} nicht bestanden"),
    "typical": ("typical: {run} ({how})", "typisch: {run} ({how})"),
    "decided_by_votes": ("most often in the middle", "am häufigsten in der Mitte"),
    "decided_by_tokens": (
        "tied in the middle; fewest tokens",
        "in der Mitte gleichauf; die wenigsten Tokens",
    ),
    "decided_by_calls": (
        "tied in the middle; fewest calls",
        "in der Mitte gleichauf; die wenigsten Aufrufe",
    ),
    "decided_by_age": (
        "tied in the middle and in cost; the oldest",
        "in der Mitte und im Aufwand gleichauf; der älteste",
    ),
    "outlier_total": (
        (
            "⚠ The vote fell on a run whose total is not the middle one of the totals. "
            "All draws are kept and tested against, so the reference does not lean on this choice alone."
        ),
        (
            "⚠ Die Wahl fiel auf einen Lauf, dessen Gesamtwert nicht der mittlere ist. Alle Ziehungen "
            "bleiben und werden verglichen, die Referenz stützt sich also nicht auf diese Wahl allein."
        ),
    ),
    "same_launch": (
        "⚠ At least two runs come from one launch of the engine; what a restart changes is not in them.",
        (
            "⚠ Mindestens zwei Läufe stammen aus einem Start der Engine; was ein Neustart ändert, "
            "steckt nicht darin."
        ),
    ),
    "promote_it": (
        "Promote it with all its draws: {command}",
        "Mit allen Ziehungen zur Referenz machen: {command}",
    ),
    "promoted": ("promoted {pack}: {runs} of {date}", "Referenz {pack}: {runs} vom {date}"),
    "diff_variant": ("variant {id}:", "Variante {id}:"),
    "diff_input": ("prompt {id}:", "Prompt {id}:"),
    "diff_rubric": ("rubric of {id}:", "Bewertungsregeln von {id}:"),
}

COUNTED: dict[str, tuple[tuple[str, str], tuple[str, str]]] = {
    "runs": (("run", "runs"), ("Lauf", "Läufe")),
    "draws": (("draw", "draws"), ("Ziehung", "Ziehungen")),
    "prompts": (("prompt", "prompts"), ("Prompt", "Prompts")),
    "rows": (("row", "rows"), ("Zeile", "Zeilen")),
    "of_cases": (("case", "cases"), ("Fall", "Fällen")),
    "judgements": (("judgement", "judgements"), ("Bewertung", "Bewertungen")),
    "more_lines": (("more line", "more lines"), ("weitere Zeile", "weitere Zeilen")),
    "older_runs": (("older run", "older runs"), ("älterer Lauf", "ältere Läufe")),
    "days": (("day", "days"), ("Tag", "Tage")),
    "months": (("month", "months"), ("Monat", "Monate")),
    "cases": (("case", "cases"), ("Fall", "Fälle")),
    "baseline_runs": (("baseline run", "baseline runs"), ("Referenzlauf", "Referenzläufe")),
}


def phrase(words: Words, key: str, **values: object) -> str:
    """A sentence in the reader's language, its places filled."""
    return PHRASES[key][words.language == "de"].format(**values)


def counted(words: Words, key: str, number: int | str) -> str:
    """A number and the thing counted: `1 run`, `3 runs`. Of a file it may be any text, and stays that."""
    one, many = COUNTED[key][words.language == "de"]
    return f"{number} {one if str(number) == '1' else many}"
