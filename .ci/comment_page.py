"""The comment a pull request would get for a check that was made, as a page that looks like GitHub's."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from markdown_it import MarkdownIt

from touchstone.baseline.comparison import Comparison
from touchstone.files import read_text
from touchstone.render.comment import comment_text
from touchstone.render.comparison import Answers
from touchstone.render.review import Occasion, PackReview

_STYLE = """
body { margin: 0; background: #fff; color: #1f2328; font: 14px/1.5 "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; }
article { border: 1px solid #d0d7de; border-radius: 6px; margin: 12px; width: 876px; }
header { background: #f6f8fa; border-bottom: 1px solid #d0d7de; border-radius: 6px 6px 0 0; color: #59636e; padding: 8px 16px; }
div { padding: 4px 16px 12px; }
h2 { border-bottom: 1px solid #d0d7de; font-size: 20px; margin: 14px 0; padding-bottom: 6px; }
h2 i { background: #d1242f; border-radius: 50%; display: inline-block; height: .8em; width: .8em; }
table { border-collapse: collapse; font-size: 13px; }
th, td { border: 1px solid #d0d7de; padding: 5px 9px; text-align: left; }
code { background: #eff1f3; border-radius: 5px; font: 12px "DejaVu Sans Mono", monospace; padding: .15em .35em; }
pre { background: #f6f8fa; border-radius: 6px; font: 12px/1.45 "DejaVu Sans Mono", monospace; padding: 10px 14px; }
pre code { background: none; padding: 0; }
pre b { display: inline-block; font-weight: normal; width: 100%; }
pre .old { background: #ffebe9; } pre .new { background: #dafbe1; } pre .place { color: #6639ba; }
details { margin: 6px 0; }
"""  # noqa: E501  a line per rule
_CLASSES = {"-": "old", "+": "new", "@": "place"}


def comment_page(run: Path, baseline: Path) -> str:
    """The page of a run's comparison; the answers are the run's first and those the baseline keeps."""
    comparison = Comparison.model_validate_json(read_text(run / "comparison.json"))
    occasion = Occasion(run_id=1, attempt=1, head_sha=comparison.candidate.commit or "")
    review = PackReview(comparison.pack, comparison=comparison, answers=_answers(run, baseline))
    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(comment_text([review], occasion))
    body = re.sub(r'<pre><code class="language-diff">(.*?)</code></pre>', _coloured, body, flags=re.DOTALL)
    body = body.replace("🔴", "<i></i>").replace("<details>", "<details open>", 1)
    top = f'<!doctype html><meta charset="utf-8"><style>{_STYLE}</style>'
    head = "<header><b>github-actions</b> bot commented on this pull request</header>"
    return f"{top}<article>{head}<div>{body}</div></article>"


def _answers(run: Path, baseline: Path) -> Answers:
    lines = [json.loads(line) for line in read_text(run / "responses.jsonl").splitlines()]
    planned = min(line["draw"] for line in lines)
    new = {_key(line): [line["response_text"]] for line in lines if line["draw"] == planned}
    old = {_key(kept): kept["texts"] for kept in json.loads(read_text(baseline))["answers"]}
    return {key: (texts, new[key]) for key, texts in old.items() if key in new}


def _key(record: dict[str, str]) -> tuple[str, str, str]:
    return record["model"], record["variant"], record["prompt"]


def _coloured(found: re.Match[str]) -> str:
    marked = [_marked(html.escape(line), line[:1]) for line in html.unescape(found[1]).split("\n")]
    return "<pre>" + "\n".join(marked) + "</pre>"


def _marked(line: str, sign: str) -> str:
    return f'<b class="{_CLASSES[sign]}">{line}</b>' if sign in _CLASSES else line
