"""Room: the verdicts. Deterministic checks, the judge's prompt and reply parser, the judging phase."""
