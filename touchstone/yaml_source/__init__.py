"""Ground: strict YAML. Bytes become a typed model, or every problem of the file with its place."""

from touchstone.yaml_source.nodes import Document
from touchstone.yaml_source.problem import KeyPath, Problem, ProblemsError, dotted, quoted, seen
from touchstone.yaml_source.reader import read_document
from touchstone.yaml_source.typed import Typed, path_of, read_typed, without
from touchstone.yaml_source.words import limit_words

__all__ = [
    "Document",
    "KeyPath",
    "Problem",
    "ProblemsError",
    "Typed",
    "dotted",
    "limit_words",
    "path_of",
    "quoted",
    "read_document",
    "read_typed",
    "seen",
    "without",
]
