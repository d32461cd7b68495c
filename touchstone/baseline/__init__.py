"""Room: the kept truth. The baseline file, its self-check, the comparison with a run, the refusals."""
