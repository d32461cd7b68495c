"""GitHub: comments and pull requests over its REST API, and what a token may do in a repository."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal
from urllib.parse import quote, urlsplit

import httpx

from touchstone.forge import (
    CommentMark,
    ForgeError,
    KeptComment,
    OpenedPull,
    Place,
    Posted,
    PostOutcome,
    WantedPull,
)
from touchstone.forge.github_api import TIMEOUT_S, Api, headers_of

SERVER_URL = "https://github.com"
API_URL = "https://api.github.com"
JOB_LOGIN = "github-actions[bot]"
"""Who writes with the token that every job is given."""
PULL_MARK = "<!-- touchstone:promotion -->"
"""The hidden first line of a pull request's text that is ours."""

Rights = Literal["write", "read_only", "not_told", "rejected", "no_access", "unreachable"]
"""`not_told`: GitHub does not list the rights of a token of this kind. `no_access`: the repository does not
exist for this token."""

_REMOTE = re.compile(r"^(?:\w+://)?(?:[^/@]*@)?([^/:]+)(?::\d+)?[/:]([\w.-]+)/([\w.-]+?)(?:\.git)?/?$")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")


class GitHub:
    """One repository on GitHub or on a GitHub Enterprise Server.

    How it is asked, and what becomes of limits and trouble on the way: `touchstone.forge.github_api`.
    """

    def __init__(
        self, place: Place, token: str | None, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._place = place
        self._api = Api(place, token, sleep)
        self._known_login: str | None = None

    # --- comments ------------------------------------------------------------------------------------

    def own_comment(self, number: int, mark: CommentMark) -> KeptComment | None:
        """Our newest comment with this mark's key on a pull request."""
        found = self._own_comments(number, mark)
        return found[0].kept if found else None

    def upsert_comment(self, number: int, mark: CommentMark, body: str, *, create: bool = True) -> Posted:
        """Leave exactly one comment of ours: the newest is edited, older ones go, another's is never touched.

        A comment of a newer run stays as it is. `create` False: only one that is there is edited.
        """
        try:
            return self._upsert(number, mark, f"{mark.line}\n{body}", create=create)
        except ForgeError as error:
            return Posted(_POST_OUTCOMES.get(error.fault, "not_posted"), None, error.message, error.hint)

    def _upsert(self, number: int, mark: CommentMark, text: str, *, create: bool) -> Posted:
        ours = self._own_comments(number, mark)
        foreign: set[int] = set()
        while ours:
            newest = ours.pop(0)
            if newest.kept.mark.age > mark.age:
                self._remove(ours)
                return Posted("newer_kept", newest.kept.url)
            if self._edited(newest, text):
                self._remove(ours)
                return Posted("updated", newest.kept.url)
            foreign.add(newest.id)
        if not create:
            return Posted("silent", None)
        return self._first_comment(number, mark, text, foreign)

    def _first_comment(self, number: int, mark: CommentMark, text: str, foreign: set[int]) -> Posted:
        made = self._api.created(
            f"issues/{number}/comments", {"body": text}, lambda: self._comment_with(number, mark, text)
        )
        self._known_login = _author_of(made) or self._known_login
        # Another run may have done the same meanwhile; the same rule leaves one of the two.
        ours = [one for one in self._own_comments(number, mark) if one.id not in foreign]
        if not ours:
            return Posted("created", _text_of(made, "html_url") or None)
        newest, *older = ours
        self._remove(older)
        outcome: PostOutcome = "newer_kept" if newest.kept.mark.age > mark.age else "created"
        return Posted(outcome, newest.kept.url)

    def _comment_with(self, number: int, mark: CommentMark, text: str) -> dict[str, Any] | None:
        return next((one.raw for one in self._own_comments(number, mark) if one.kept.body == text), None)

    def _own_comments(self, number: int, mark: CommentMark) -> list[_Comment]:
        """Ours, newest first; of equal runs the first written.

        Anybody can write our mark, another bot too: only what this token's own login wrote is ours.
        """
        marked = [
            _Comment(written, raw)
            for raw in self._api.pages(f"issues/{number}/comments")
            if _is_comment(raw) and (written := mark.written_in(raw["body"])) is not None
        ]
        ours = [one for one in marked if one.login == self._login()]
        return sorted(ours, key=lambda one: (-one.kept.mark.run_id, -one.kept.mark.attempt, one.id))

    def _edited(self, comment: _Comment, text: str) -> bool:
        """Whether GitHub let us; where it did not, or the comment is gone, it is not ours to edit."""
        try:
            self._api.ask("PATCH", f"issues/comments/{comment.id}", body={"body": text})
        except ForgeError as error:
            if error.fault not in {"read_only", "not_found"}:
                raise
            return False
        return True

    def _remove(self, comments: list[_Comment]) -> None:
        for comment in comments:
            try:
                self._api.ask("DELETE", f"issues/comments/{comment.id}")
            except ForgeError:
                continue  # a duplicate that stays is no reason to lose the comment that counts

    def _login(self) -> str:
        """Whose token this is, asked once; where GitHub does not say, it is taken for a job's own."""
        if self._known_login is None:
            # REST's own question, `/user`, is not answered to an app's token, and a job's is one.
            try:
                answer = self._api.json("POST", "/graphql", body={"query": "query { viewer { login } }"})
            except ForgeError:
                answer = {}
            self._known_login = _text_of(answer, "data", "viewer", "login") or JOB_LOGIN
        return self._known_login

    # --- pull requests -------------------------------------------------------------------------------

    def open_or_update_pull(self, wanted: WantedPull) -> OpenedPull:
        """Open the pull request, or bring the one that branch has open up to date."""
        there = self._open_pull(wanted.head)
        if there is not None:
            return self._updated(there, wanted)
        body = {
            "title": wanted.title, "head": wanted.head, "base": wanted.base, "body": _marked(wanted.body),
            "draft": wanted.draft,
        }  # fmt: skip
        try:
            made = self._api.created("pulls", body, lambda: self._open_pull(wanted.head))
        except ForgeError as error:
            there = self._open_pull(wanted.head) if error.fault == "invalid" else None
            if there is None:
                raise
            return self._updated(there, wanted)
        return OpenedPull("created", made["number"], made["html_url"])

    def compare_link(self, base: str, head: str) -> str:
        """GitHub's page that compares two branches, with the form for a pull request unfolded."""
        return (
            f"{self._place.server_url.rstrip('/')}/{self._place.repository}/compare/"
            f"{quote(base)}...{quote(head)}?expand=1"
        )

    def _open_pull(self, head: str) -> dict[str, Any] | None:
        owner = self._place.repository.split("/")[0]
        for pull in self._api.pages("pulls", state="open", head=f"{owner}:{head}"):
            repository = (pull["head"]["repo"] or {}).get("full_name", "")
            if pull["head"]["ref"] == head and repository.lower() == self._place.repository.lower():
                return pull
        return None

    def _updated(self, pull: Mapping[str, Any], wanted: WantedPull) -> OpenedPull:
        ours = not pull["body"] or pull["body"].startswith(PULL_MARK)
        changes = {"title": wanted.title, "body": _marked(wanted.body)} if ours else {}
        self._api.ask("PATCH", f"pulls/{pull['number']}", body={**changes, "base": wanted.base})
        return OpenedPull("updated" if ours else "text_kept", pull["number"], pull["html_url"])


_POST_OUTCOMES: dict[str, PostOutcome] = {"read_only": "read_only", "locked": "locked"}


class _Comment:
    """A comment with our key, whoever wrote it."""

    def __init__(self, mark: CommentMark, raw: dict[str, Any]) -> None:
        self.raw = raw
        self.id: int = raw["id"]
        self.kept = KeptComment(mark, raw["body"], raw["html_url"])
        self.login = _author_of(raw)


def _is_comment(raw: Any) -> bool:
    """Whether an item of the list has what is needed of a comment; any other is passed over."""
    texts = isinstance(raw, dict) and all(isinstance(raw.get(name), str) for name in ("body", "html_url"))
    return texts and isinstance(raw.get("id"), int)


def _author_of(comment: Mapping[str, Any]) -> str | None:
    return _text_of(comment, "user", "login")


def _text_of(answer: Any, *path: str) -> str | None:
    """The text at a place in an answer; None where there is none."""
    for name in path:
        answer = answer.get(name) if isinstance(answer, dict) else None
    return answer if isinstance(answer, str) else None


def place_of(remote_url: str | None, environ: Mapping[str, str]) -> Place | None:
    """The repository on GitHub a remote leads to; None where that host is not known to be a GitHub.

    A token is worth something only where it was made for, so a host counts as GitHub if it is github.com or
    if the environment says so (GITHUB_SERVER_URL, GITHUB_API_URL). A remote that names no host (a path) is
    taken for the environment's GITHUB_REPOSITORY.
    """
    server_url = environ.get("GITHUB_SERVER_URL") or SERVER_URL
    api_url = environ.get("GITHUB_API_URL")
    server = urlsplit(server_url).hostname
    remote = repository_of(remote_url or "")
    if remote is None:
        named = environ.get("GITHUB_REPOSITORY", "")
        known = _REPOSITORY.fullmatch(named) and (api_url or server == "github.com")
        return Place(server_url, api_url or API_URL, named) if known else None
    host, repository = remote
    if host == server:
        return Place(server_url, api_url or _api_url_of(host), repository)
    if host == "github.com":
        return Place(SERVER_URL, API_URL, repository)
    if api_url is not None and urlsplit(api_url).hostname == host:
        return Place(f"https://{host}", api_url, repository)
    return None


def token_rights(api_url: str, repository: str, token: str) -> Rights:
    """Ask for `owner/name` with the token; never raises. No redirect is followed: a token stays where it is
    sent to.
    """
    url = f"{api_url.rstrip('/')}/repos/{repository}"
    try:
        return _rights(httpx.get(url, headers=headers_of(token), timeout=TIMEOUT_S))
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, ValueError):
        return "unreachable"


def repository_of(remote_url: str) -> tuple[str, str] | None:
    """(host, `owner/name`) of a remote's address, in any of git's forms; None for a path or another shape."""
    found = _REMOTE.match(remote_url.strip())
    return (found[1].lower(), f"{found[2]}/{found[3]}") if found else None


def _api_url_of(host: str) -> str:
    return API_URL if host == "github.com" else f"https://{host}/api/v3"


def _marked(body: str) -> str:
    return f"{PULL_MARK}\n{body}"


def _rights(answer: httpx.Response) -> Rights:
    if answer.status_code == 401:
        return "rejected"
    if answer.status_code in {403, 404}:
        return "no_access"
    if answer.status_code != 200:
        return "unreachable" if answer.status_code >= 500 else "not_told"
    return _told(answer.json())


def _told(body: Any) -> Rights:
    """An app's token can read and yet is told that it may not even pull: then nothing was told."""
    permissions = body.get("permissions") if isinstance(body, dict) else None
    if not isinstance(permissions, dict) or permissions.get("pull") is not True:
        return "not_told"
    return "write" if permissions.get("push") is True else "read_only"
