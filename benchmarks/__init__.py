"""How fast touchstone is, beside what it should be: `make bench`. Nothing here is a test."""
