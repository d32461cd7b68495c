"""Room: the check. Measure, compare, confirm what is suspect, decide."""
