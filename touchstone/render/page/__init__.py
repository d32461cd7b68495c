"""Pages: one file that needs nothing else, no script, no request; templates filled with autoescape on."""

from touchstone.render.page.history import history_html
from touchstone.render.page.page import page_html

__all__ = ["history_html", "page_html"]
