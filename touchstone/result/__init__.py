"""Room: the numbers. Pure: verdicts in, result.json out."""
