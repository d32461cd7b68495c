"""A GitHub on this machine: real HTTP, its own state, and GitHub's own description to judge both sides.

Every request is held against the description before it is carried out, every good answer before it is sent;
what does not fit is in `faults`, which `__exit__` turns into a failed test. `journal` holds what was asked.

    with FakeGitHub() as github:
        github.pull(7)
        forge = GitHub(github.place, TOKEN)

It can be told to fail: `github.fail("POST", "/comments", 502)` does so once, by default before the deed.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from tests.kit.github_description import Description
from touchstone.forge import Place

REPOSITORY = "acme/desk"
TOKEN = "dummy-token-8f1c-not-a-secret"
JOB_LOGIN = "github-actions[bot]"
LONGEST_BODY = 65_536
CLOCK_S = 1_790_000_000
"""What this GitHub's `Date` header says."""

READ_ONLY = {"message": "Resource not accessible by integration", "documentation_url": "https://docs.invalid"}
LOCKED = {
    "message": "Unable to create comment because issue is locked.",
    "documentation_url": "https://docs.invalid",
}
FORBIDDEN_BY_SETTING = {"message": "GitHub Actions is not permitted to create or approve pull requests."}
SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}
NOT_FOUND = {"message": "Not Found"}


@dataclass(frozen=True)
class Asked:
    """One request as it arrived, with the status it was given."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: Any
    status: int


@dataclass
class _Failure:
    method: str
    part: str
    status: int
    body: object
    headers: Mapping[str, str]
    times: int
    after_the_deed: bool


@dataclass
class Answer:
    """What is sent back. `headers` go over the usual ones."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


class FakeGitHub:
    """One repository, its pull requests and their comments.

    `login` is whom the token stands for: a job's bot, another app's, or a person. What else may be set:
    `read_only`, `locked` numbers, `branches` there are, `others_editable` comments.
    """

    def __init__(self, repository: str = REPOSITORY, *, token: str = TOKEN, login: str = JOB_LOGIN) -> None:
        self.repository, self.token, self.login = repository, token, login
        self.description = Description.read()
        self.journal: list[Asked] = []
        self.faults: list[str] = []
        self.branches = {"main"}
        self.pulls: dict[int, dict[str, Any]] = {}
        self.comments: dict[int, list[dict[str, Any]]] = {}
        self.read_only = False
        self.others_editable = True
        self.locked: set[int] = set()
        self._failures: list[_Failure] = []
        self._ids = itertools.count(1001)
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.github = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        if kind is None:
            assert self.faults == []

    # --- what a test sets up and looks at ------------------------------------------------------------

    @property
    def url(self) -> str:
        """Its API's address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def place(self) -> Place:
        """Its repository, as the code under test is told of it."""
        return Place("https://github.com", self.url, self.repository)

    def environment(self) -> dict[str, str]:
        """What a job of this GitHub has in its environment."""
        return {
            "GITHUB_API_URL": self.url,
            "GITHUB_SERVER_URL": "https://github.com",
            "GITHUB_REPOSITORY": self.repository,
            "GITHUB_TOKEN": self.token,
        }

    def pull(self, number: int, *, head: str = "edit", base: str = "main", body: str | None = None) -> None:
        """A pull request somebody opened."""
        self.branches |= {head, base}
        self._put_pull(number, {"title": "A change", "head": head, "base": base, "body": body})

    def comment(self, number: int, body: str, *, login: str = JOB_LOGIN, kind: str = "Bot") -> dict[str, Any]:
        """A comment somebody wrote."""
        return self._put_comment(number, body, login, kind)

    def bodies(self, number: int) -> list[str]:
        """The texts on a pull request, oldest first."""
        return [comment["body"] for comment in self.comments.get(number, [])]

    def asked(self, method: str) -> list[Asked]:
        """The requests of one method."""
        return [one for one in self.journal if one.method == method]

    def fail(
        self,
        method: str,
        part: str,
        status: int,
        body: object = None,
        *,
        headers: Mapping[str, str] | None = None,
        times: int = 1,
        after_the_deed: bool = False,
    ) -> None:
        """Answer the next requests whose path holds `part` with a failure; status 0 hangs up."""
        said: object = body if body is not None else {"message": "Server Error"}
        self._failures.append(_Failure(method, part, status, said, headers or {}, times, after_the_deed))

    # --- one request ---------------------------------------------------------------------------------

    def answer(self, method: str, target: str, headers: Mapping[str, str], raw: bytes) -> Answer:
        """Judge a request, carry it out, judge the answer, note both."""
        with self._lock:
            body, faults = _json_of(raw)
            path = urlsplit(target).path
            faults += [] if path == "/graphql" else self.description.request_faults(method, target, body)
            self.faults += faults
            given = self._carried_out(method, target, path, headers, body, bool(faults))
            self.journal.append(Asked(method, target, dict(headers), body, given.status))
            return given

    def _carried_out(
        self, method: str, target: str, path: str, headers: Mapping[str, str], body: Any, faulty: bool
    ) -> Answer:
        failure = self._failure_for(method, path)
        if failure is not None and not failure.after_the_deed:
            return Answer(failure.status, failure.body, failure.headers)
        if path == "/graphql":
            return self._viewer(headers, body)
        found = self.description.operation_of(method, path)
        if found is None or faulty:
            return Answer(404 if found is None else 422, {"message": "Validation Failed"})
        if headers.get("authorization") != f"Bearer {self.token}":
            return Answer(401, {"message": "Bad credentials"})
        operation, values = found
        if "owner" in values and f"{values['owner']}/{values['repo']}".lower() != self.repository.lower():
            return Answer(404, NOT_FOUND)
        if method != "GET" and self.read_only:
            return Answer(403, READ_ONLY)
        query = {name: value[-1] for name, value in parse_qs(urlsplit(target).query).items()}
        given = _OPERATIONS[operation](self, values, query, body)
        self.faults += (
            self.description.answer_faults(operation, given.status, given.body) if given.status < 300 else []
        )
        return Answer(failure.status, failure.body, failure.headers) if failure is not None else given

    def _failure_for(self, method: str, path: str) -> _Failure | None:
        for failure in self._failures:
            if failure.method == method and failure.part in path and failure.times > 0:
                failure.times -= 1
                return failure
        return None

    def _viewer(self, headers: Mapping[str, str], body: Any) -> Answer:
        """The one question of GraphQL that is understood; no token of any kind is refused it."""
        if headers.get("authorization") != f"Bearer {self.token}":
            return Answer(401, {"message": "Bad credentials"})
        if body != {"query": "query { viewer { login } }"}:
            self.faults.append(f"graphql: not understood: {body}")
        return Answer(200, {"data": {"viewer": {"login": self.login}}})

    # --- the operations ------------------------------------------------------------------------------

    def _user(self, _values: Mapping[str, str], _query: Mapping[str, str], _body: Any) -> Answer:
        if self.login.endswith("[bot]"):
            return Answer(403, READ_ONLY)
        return Answer(200, self.description.specimen("users/get-authenticated") | {"login": self.login})

    def _list_comments(self, values: Mapping[str, str], query: Mapping[str, str], _body: Any) -> Answer:
        number = int(values["issue_number"])
        if number not in self.pulls:
            return Answer(404, NOT_FOUND)
        return self._page(self.comments.get(number, []), query, f"/issues/{number}/comments")

    def _create_comment(self, values: Mapping[str, str], _query: Mapping[str, str], body: Any) -> Answer:
        number = int(values["issue_number"])
        if number not in self.pulls:
            return Answer(404, NOT_FOUND)
        if number in self.locked:
            return Answer(403, LOCKED)
        if len(body["body"]) > LONGEST_BODY:
            return _invalid("Body is too long (maximum is 65536 characters)")
        return Answer(201, self._put_comment(number, body["body"], self.login, self._kind()))

    def _update_comment(self, values: Mapping[str, str], _query: Mapping[str, str], body: Any) -> Answer:
        number, comment = self._found_comment(int(values["comment_id"]))
        if comment is None:
            return Answer(404, NOT_FOUND)
        if number in self.locked:
            return Answer(403, LOCKED)
        if comment["user"]["login"] != self.login and not self.others_editable:
            return Answer(403, READ_ONLY)
        comment["body"] = body["body"]
        return Answer(200, comment)

    def _delete_comment(self, values: Mapping[str, str], _query: Mapping[str, str], _body: Any) -> Answer:
        number, comment = self._found_comment(int(values["comment_id"]))
        if comment is None:
            return Answer(404, NOT_FOUND)
        self.comments[number].remove(comment)
        return Answer(204)

    def _list_pulls(self, _values: Mapping[str, str], query: Mapping[str, str], _body: Any) -> Answer:
        head, state = query.get("head"), query.get("state", "open")
        kept = [pull for pull in self.pulls.values() if state in {"all", pull["state"]}]
        if head is not None:
            kept = [pull for pull in kept if pull["head"]["label"] == head]
        return self._page(kept, query, "/pulls", "pulls/list")

    def _create_pull(self, _values: Mapping[str, str], _query: Mapping[str, str], body: Any) -> Answer:
        if not {body["head"], body["base"]} <= self.branches:
            return _invalid("head or base is invalid")
        there = [
            one
            for one in self.pulls.values()
            if one["head"]["ref"] == body["head"] and one["state"] == "open"
        ]
        if there:
            return _invalid(f"A pull request already exists for {self._owner()}:{body['head']}.")
        if len(body.get("body") or "") > LONGEST_BODY:
            return _invalid("body is too long (maximum is 65536 characters)")
        return Answer(201, self._put_pull(max(self.pulls, default=0) + 1, body))

    def _get_pull(self, values: Mapping[str, str], _query: Mapping[str, str], _body: Any) -> Answer:
        pull = self.pulls.get(int(values["pull_number"]))
        return Answer(200, pull) if pull else Answer(404, NOT_FOUND)

    def _update_pull(self, values: Mapping[str, str], _query: Mapping[str, str], body: Any) -> Answer:
        pull = self.pulls.get(int(values["pull_number"]))
        if pull is None:
            return Answer(404, NOT_FOUND)
        for name in body.keys() & {"title", "body", "state"}:
            pull[name] = body[name]
        if "base" in body:
            pull["base"]["ref"] = body["base"]
        return Answer(200, pull)

    def _repo(self, _values: Mapping[str, str], _query: Mapping[str, str], _body: Any) -> Answer:
        rights = {"admin": False, "maintain": False, "push": not self.read_only, "triage": True, "pull": True}
        return Answer(200, self._repository() | {"permissions": rights})

    # --- state ---------------------------------------------------------------------------------------

    def _owner(self) -> str:
        return self.repository.split("/")[0]

    def _kind(self) -> str:
        return "Bot" if self.login.endswith("[bot]") else "User"

    def _repository(self) -> dict[str, Any]:
        specimen: dict[str, Any] = self.description.specimen("repos/get")
        for name in ("source", "parent", "template_repository"):
            specimen.pop(name, None)
        return specimen | {
            "full_name": self.repository,
            "name": self.repository.split("/")[1],
            "language": None,
        }

    def _page(
        self, items: list[Any], query: Mapping[str, str], path: str, simple: str | None = None
    ) -> Answer:
        size, page = min(int(query.get("per_page", 30)), 100), int(query.get("page", 1))
        shown = [_simple(item) if simple else item for item in items[(page - 1) * size : page * size]]
        more = f'<{self.url}/repos/{self.repository}{path}?per_page={size}&page={page + 1}>; rel="next"'
        return Answer(200, shown, {"Link": more} if len(items) > page * size else {})

    def _put_comment(self, number: int, body: str, login: str, kind: str) -> dict[str, Any]:
        comment: dict[str, Any] = self.description.specimen("issues/create-comment")
        id_ = next(self._ids)
        comment |= {
            "id": id_, "body": body, "html_url": f"https://github.com/{self.repository}/pull/{number}#c-{id_}",
        }  # fmt: skip
        comment["user"] |= {"login": login, "type": kind}
        self.comments.setdefault(number, []).append(comment)
        return comment

    def _put_pull(self, number: int, asked: Mapping[str, Any]) -> dict[str, Any]:
        pull: dict[str, Any] = self.description.specimen("pulls/create")
        pull |= {
            "number": number, "state": "open", "title": asked["title"], "body": asked.get("body"),
            "draft": bool(asked.get("draft")), "requested_teams": [],
            "html_url": f"https://github.com/{self.repository}/pull/{number}",
        }  # fmt: skip
        for end in ("head", "base"):
            pull[end]["ref"] = asked[end]
            pull[end]["label"] = f"{self._owner()}:{asked[end]}"
            pull[end]["repo"]["full_name"] = self.repository
        self.pulls[number] = pull
        return pull

    def _found_comment(self, id_: int) -> tuple[int, dict[str, Any] | None]:
        for number, comments in self.comments.items():
            for comment in comments:
                if comment["id"] == id_:
                    return number, comment
        return 0, None


_Operation = Callable[[FakeGitHub, Mapping[str, str], Mapping[str, str], Any], Answer]
_OPERATIONS: dict[str, _Operation] = {
    "users/get-authenticated": FakeGitHub._user,
    "repos/get": FakeGitHub._repo,
    "issues/list-comments": FakeGitHub._list_comments,
    "issues/create-comment": FakeGitHub._create_comment,
    "issues/update-comment": FakeGitHub._update_comment,
    "issues/delete-comment": FakeGitHub._delete_comment,
    "pulls/list": FakeGitHub._list_pulls,
    "pulls/create": FakeGitHub._create_pull,
    "pulls/get": FakeGitHub._get_pull,
    "pulls/update": FakeGitHub._update_pull,
}


def _simple(pull: Mapping[str, Any]) -> dict[str, Any]:
    """A pull request as a list shows it."""
    left_out = {
        "merged", "mergeable", "rebaseable", "mergeable_state", "merged_by", "comments", "review_comments",
        "maintainer_can_modify", "commits", "additions", "deletions", "changed_files",
    }  # fmt: skip
    return {name: value for name, value in pull.items() if name not in left_out}


def _invalid(why: str) -> Answer:
    errors = [{"resource": "PullRequest", "code": "custom", "message": why}]
    return Answer(422, {"message": "Validation Failed", "errors": errors})


def _json_of(raw: bytes) -> tuple[Any, list[str]]:
    if not raw:
        return None, []
    try:
        return json.loads(raw), []
    except ValueError as error:
        return None, [f"body is no JSON: {error}"]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    github: FakeGitHub


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def _serve(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        given = self.server.github.answer(self.command, self.path, headers, raw)
        self.close_connection = True
        if given.status == 0:
            return
        sent = b"" if given.body is None else json.dumps(given.body).encode()
        self.send_response_only(given.status)
        usual = {
            "Date": formatdate(CLOCK_S, usegmt=True),
            "Content-Type": "application/json",
            "Connection": "close",
        }
        for name, value in (usual | dict(given.headers) | {"Content-Length": str(len(sent))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(sent)

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PATCH(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        """Say nothing; the journal has it all."""
