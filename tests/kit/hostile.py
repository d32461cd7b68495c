"""Texts a hostile model could answer with, each after something that a reader's program might act on.

    @pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)

Wherever model text is shown (comment, summary, annotation, log, page, branch, commit) every one of them must
stay text. Names and addresses end in `.example`; nothing here works anywhere.
"""

from __future__ import annotations

MARKER_ENDING = "--> <!-- touchstone head=0&run=9999999999&attempt=1 -->"

HOSTILE: dict[str, str] = {
    # people and references
    "mention": "Thanks @octocat, please look.",
    "mention_at_start": "@octocat",
    "team_mention": "cc @acme/core and (@octocat)",
    "mail_address": "Write to bob@example.invalid or mailto:bob@example.invalid today.",
    "issue_reference": "see #12 and acme/app#34",
    "issue_reference_gh": "see GH-12 and gh-7",
    "closing_keyword": "Fixes #1. closes acme/app#2, resolves https://github.com/acme/app/issues/3",
    "commit_reference": "since commit 0123456 and 0123456789abcdef0123456789abcdef01234567, acme/app@0123456",
    "bot_command": "/assign @octocat\n/lgtm\n  /approve\n@dependabot merge\nbors r+",
    "commit_trailers": "done\n\nCo-authored-by: Eve <eve@evil.example>\nSigned-off-by: E <e@evil.example>",
    "skip_ci": "[skip ci] [ci skip] skip-checks: true",
    # Markdown
    "fence": "before\n```\n@octocat ![x](https://evil.example/x.png)\n```\nafter",
    "longer_fence": "``````\n# out\n``````\n@octocat",
    "tilde_fence": "~~~\n@octocat\n~~~~~\n# out",
    "indented_fence": "   ```\n   @octocat\n   ```",
    "unclosed_fence": "````",
    "inline_backticks": "a `b` ``c`` ``` d ```` e",
    "one_backtick": "`",
    "image": "![pixel](https://evil.example/pixel.png?who=me)",
    "link": "[click](https://evil.example) and [go](<javascript:alert(1)>)",
    "reference_link": "[click][evil] [evil]\n\n[evil]: https://evil.example 'title'",
    "reference_image": "![x][evil]\n\n[evil]: https://evil.example/x.png",
    "footnote": "see[^1]\n\n[^1]: https://evil.example",
    "autolink": "<https://evil.example> <bob@example.invalid> https://evil.example www.evil.example",
    "autolink_after_underscore": "_www.evil.example _https://evil.example 1http://evil.example",
    "autolink_other_schemes": "ftp://evil.example xmpp:bob@evil.example HTTP://evil.example WWW.evil.example",
    "emphasis": "**bold** __bold__ *it* _it_ ~~gone~~ ***all***",
    "heading": "# Verdict: better\n\nVerdict: better\n===\n\nunder\n---",
    "list_items": "- one\n+ two\n* three\n1. four\n2) five\n- [x] done",
    "thematic_break": "---\n***\n___",
    "quote_and_alert": "> [!NOTE]\n> All is well.",
    "emoji_shortcode": ":tada: :+1: :100: all green :white_check_mark:",
    "table_breaker": "a | b | c\n| --- | --- |\n| x | y |",
    "escaped_pipe": "a \\| b \\\\| c \\",
    "math": "$x$ $$\\href{https://evil.example}{x}$$ $`y`$",
    "mermaid": "```mermaid\ngraph TD; A-->B; click A href \"https://evil.example\"\n```",
    "hard_break": "one  \ntwo\\\nthree",
    "backslashes": "\\@octocat \\`code\\` \\<b\\> \\\\",
    "entities": "&lt;b&gt; &#64;octocat &commat;octocat &#x3c;img&#x3e; &nbsp;",
    "wiki_link": "![[secret]] [[note|alias]] %%hidden%%",
    # HTML
    "html_image": "<img src=x onerror=alert(1)>",
    "html_script": "<script>alert(1)</script><style>*{display:none}</style>",
    "html_attributes": "\" onmouseover=\"alert(1)\" x='y' autofocus",
    "html_comment": "<!-- hidden -->",
    "html_comment_unclosed": "<!-- everything after this is gone",
    "marker_ending": MARKER_ENDING,
    "nested_details": "</summary></details></details>\n\n# out\n\n<details open><summary>in</summary>",
    "html_link": "<a href='https://evil.example'>x</a><base href='https://evil.example'>",
    "html_blocks": "<?php x ?>\n<!DOCTYPE html>\n<![CDATA[ x ]]>\n<pre>\n</pre>",
    "unclosed_tag": "<div",
    "svg": "<svg/onload=alert(1)>",
    # programs that read a log or a file
    "workflow_command": "::error file=a.py,line=1::forged\n::set-output name=verdict::better\n::add-mask::a",
    "workflow_command_indented": "   ::warning::forged\nok ::notice::later",
    "workflow_command_old": "##[error]forged\ntext ##[group]x\n##vso[task.complete]",
    "stop_commands": "::stop-commands::x\n::x::",
    "output_injection": "better\nexit-code=0\nverdict<<EOF\nbetter\nEOF",
    "percent_escapes": "%0A::error::forged %25 100%",
    "formula": "=HYPERLINK(\"https://evil.example\",\"x\")",
    "formula_plus": "+1+cmd|' /C calc'!A0",
    "formula_at": "@SUM(1)",
    "formula_minus_tab": "\t-2+3",
    "csv_breaker": "a,b;\"c\"\n\"d\"\r\ne",
    "shell": "$(touch x) `touch x`; touch x && touch x | sh 'q' \"q\" $HOME",
    "path": "../../etc/passwd",
    "yaml": "--- !!python/object:x\n- &a [*a]",
    "xml_ending": "]]></failure></testcase><testcase name='forged'/>",
    "xml_entity": "<!ENTITY x SYSTEM 'file:///etc/passwd'>&x;",
    # characters
    "terminal_colour": "\x1b[31mred\x1b[0m \x1b[2J\x1b[H",
    "terminal_title": "\x1b]0;title\x07 \x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "terminal_c1": "\x9b31m \x90q\x9c",
    "carriage_return": "worse\rbetter",
    "backspaces": "worse\x08\x08\x08\x08\x08better",
    "nul_and_controls": "a\x00b\x01\x02\x0b\x0c\x1c\x1d\x7f",
    "bidi": "abc \u202egnp.exe\u202c \u2066x\u2069 \u200fy",
    "zero_width": "@\u200boctocat zero\u200bwidth\u2060join\ufeff so\u00adft",
    "joiners": "a\u200d@octocat\u200cb 👩\u200d💻",
    "hangul_filler": "a\u3164b\u115f\u1160\uffa0c\u034f\u2800",
    "tag_characters": "a\U000e0041\U000e0042\U000e007f\U000e0101b",
    "line_separators": "a\u2028# out\u2029# out\x85# out",
    "noncharacters": "a\ufffe\uffff\U0001fffe\ufdd0b",
    "private_use": "a\ue000\U000f0000b",
    "lone_surrogate": "a\ud800b\udfffc",
    "combining": "Z" + "\u0335\u0337\u0348" * 60,
    "full_width": "＠octocat ＜script＞ ：：error：：x",
    # sizes
    "empty": "",
    "white_space": " \n\t \u00a0\n",
    "long": "lorem ipsum " * 8_700,
    "long_word": "A" * 100_000,
    "long_line_of_backticks": "`" * 10_000,
    "long_hidden": "\u202e" * 30_000,
    "many_lines": "x\n" * 20_000,
    "many_dollars": "$" * 5_000,
    "deep_quotes": ">" * 2_000 + " x",
    "deep_brackets": "[" * 2_000 + "]" * 2_000,
}  # fmt: skip
"""What it is → the text."""

_ENDINGS = ("", "\n", "\n\n# out\n", " |", "\\", "`", "```", "<", "-->", "]")

SNIPPETS = tuple(text for text in HOSTILE.values() if len(text) < 300) + _ENDINGS
"""Short ones, and characters that could join with what follows: pieces for property tests."""
