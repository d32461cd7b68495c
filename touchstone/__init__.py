"""touchstone: did this change make the answers worse than the ones we agreed to keep?"""

__version__ = "0.1.0"
