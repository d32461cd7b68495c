"""What each command of the system says, as plain values: one small pure parser over text per command.

What is absent is None, never a default; a word we do not know is kept as `other:<word as read>`. The
formats were collected from public reports and are held in `tests/samples/macos`.
"""
