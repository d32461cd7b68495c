"""Room: the asking. A plan, the records of what came back, the bundle they lie in, the runner."""
