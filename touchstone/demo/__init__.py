"""Beside the front door: the story in a scratch repository, and the embedded engine's process."""
