"""Room: the words. Pure: a result or a comparison in, text out; no renderer decides anything."""
