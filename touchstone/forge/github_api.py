"""GitHub's REST API as it is asked: addresses, pages, limits, trouble on the way, and refusals by kind.

The token goes to the API's address and nowhere else: no redirect is followed, no address out of an answer
is asked, and every error is told without it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx

from touchstone import __version__
from touchstone.forge import ForgeError, ForgeFault, Place

TIMEOUT_S = 10.0
PATIENCE_S = 60.0
"""The longest wait GitHub may ask for; a longer one is a refusal."""
TROUBLE_WAITS_S = (1.0, 2.0, 4.0)

_PAGE = 100
_PAGES_MAX = 100
_TROUBLE = frozenset({502, 503, 504})
_SAID_MAX = 300

_HINTS: dict[ForgeFault, str] = {
    "rejected": (
        "Give a token that is valid: in a workflow as the input github-token, elsewhere as GITHUB_TOKEN or "
        "GH_TOKEN in the environment."
    ),
    "read_only": (
        "Give the job the permission it lacks: `permissions: {pull-requests: write}`, and `contents: write` "
        "too where it pushes. A pull request from a fork has a read-only token whatever the job asks for."
    ),
    "not_permitted": (
        "Allow it in the repository's settings (Actions, General: allow GitHub Actions to create and approve "
        "pull requests), or give the token of an app or a person."
    ),
    "locked": "Unlock the conversation on the pull request, or read the step summary.",
    "not_found": "Look whether the repository and the number are right and the token may see them.",
    "limited": "Wait, then do it again.",
    "moved": (
        "No redirect is followed. In a workflow: look at GITHUB_API_URL and GITHUB_REPOSITORY. Elsewhere the "
        "repository may have moved: git remote set-url origin URL"
    ),
    "unreachable": "Look whether the forge's API can be reached from here, then do it again.",
}


class Api:
    """The API of one repository. Paths are relative to the repository; one with a slash to the API's root.

    Trouble on the way (no answer, 502 to 504) is tried again unless it was a POST; a limit is waited out.
    """

    def __init__(self, place: Place, token: str | None, sleep: Callable[[float], None]) -> None:
        self._place = place
        self._token = token
        self._sleep = sleep

    def pages(self, path: str, **params: str) -> Iterator[dict[str, Any]]:
        """Every item of a list, all pages."""
        for page in range(1, _PAGES_MAX + 1):
            answer = self.ask("GET", path, params={**params, "per_page": str(_PAGE), "page": str(page)})
            items = self._parsed(answer)
            if not isinstance(items, list):
                raise self._error("invalid", f"{path}: GitHub's answer is no list")
            yield from items
            if len(items) < _PAGE and "next" not in answer.links:
                return

    def created(
        self, path: str, body: Mapping[str, Any], find: Callable[[], dict[str, Any] | None]
    ) -> dict[str, Any]:
        """Create once: trouble may have come after the deed, so it is looked for before another try."""
        for wait_s in (*TROUBLE_WAITS_S, None):
            try:
                return self.json("POST", path, body=body)
            except ForgeError as error:
                if error.fault != "unreachable" or wait_s is None:
                    raise
                self._sleep(wait_s)
                there = find()
                if there is not None:
                    return there
        raise AssertionError

    def json(self, method: str, path: str, *, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """An answer that is an object."""
        parsed = self._parsed(self.ask(method, path, body=body))
        if not isinstance(parsed, dict):
            raise self._error("invalid", f"{path}: GitHub's answer is no object")
        return parsed

    def _parsed(self, answer: httpx.Response) -> Any:
        try:
            return answer.json()
        except ValueError:
            raise self._error(
                "invalid", f"{answer.request.url.path}: not an answer of GitHub's API"
            ) from None

    def ask(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> httpx.Response:
        """A good answer, after as many tries as it takes; ForgeError for everything else."""
        for trouble_wait_s in (*TROUBLE_WAITS_S, None):
            answer = self._once(method, path, params, body)
            if isinstance(answer, httpx.Response) and answer.is_success:
                return answer
            wait_s = _wait_s(answer, trouble_wait_s, repeatable=method != "POST")
            if wait_s is None or trouble_wait_s is None:
                break
            self._sleep(wait_s)
        if isinstance(answer, str):
            raise self._error("unreachable", answer)
        raise self._fault_of(answer)

    def _once(
        self, method: str, path: str, params: Mapping[str, str] | None, body: Mapping[str, Any] | None
    ) -> httpx.Response | str:
        """The answer, or what kept it from coming."""
        url = self._url_of(path)
        if self._token is not None and not re.fullmatch(r"[\x21-\x7e]+", self._token):
            raise self._error("rejected", "the token holds characters no request can carry")
        try:
            return httpx.request(
                method, url, params=params, json=body, headers=headers_of(self._token), timeout=TIMEOUT_S
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return f"{urlsplit(url).netloc} does not answer: {str(error) or type(error).__name__}"

    @property
    def _root(self) -> str:
        return self._place.api_url.rstrip("/")

    def _url_of(self, path: str) -> str:
        if path == "/graphql":  # an Enterprise Server has it beside `/api/v3`, not below
            return f"{self._root.removesuffix('/v3')}{path}"
        return f"{self._root}{path if path.startswith('/') else f'/repos/{self._place.repository}/{path}'}"

    def _fault_of(self, answer: httpx.Response) -> ForgeError:
        said = _said(answer)
        fault = _fault(answer, said)
        where = f"{answer.request.method} {answer.request.url.path}"
        return self._error(fault, f"{where}: {answer.status_code} {said or answer.reason_phrase}")

    def _error(self, fault: ForgeFault, text: str) -> ForgeError:
        shown = text.replace(self._token, "***") if self._token else text
        return ForgeError(fault, f"GitHub: {shown}", _HINTS.get(fault))


def headers_of(token: str | None) -> dict[str, str]:
    """What every request carries."""
    headers = {
        "Accept": "application/vnd.github+json",
        "User-Agent": f"touchstone/{__version__}",
        "X-GitHub-Api-Version": "2022-11-28",
    }
    return headers | ({"Authorization": f"Bearer {token}"} if token else {})


def _said(answer: httpx.Response) -> str:
    """GitHub's own words, with the reasons of a refused field."""
    try:
        body = answer.json()
    except ValueError:
        return ""
    if not isinstance(body, dict):
        return ""
    errors = body.get("errors")
    reasons = [str(one.get("message") or one.get("code")) for one in errors or [] if isinstance(one, dict)]
    return "; ".join([str(body.get("message", "")), *reasons])[:_SAID_MAX]


def _fault(answer: httpx.Response, said: str) -> ForgeFault:
    status = answer.status_code
    if answer.is_redirect:
        return "moved"
    if status == 403:
        return _fault_of_403(answer, said.lower())
    known: dict[int, ForgeFault] = {401: "rejected", 404: "not_found", 410: "not_found", 429: "limited"}
    return known.get(status, "unreachable" if status >= 500 else "invalid")


def _fault_of_403(answer: httpx.Response, said: str) -> ForgeFault:
    if _is_limit(answer):
        return "limited"
    if "locked" in said:
        return "locked"
    return "not_permitted" if "not permitted to create" in said else "read_only"


def _wait_s(answer: httpx.Response | str, trouble_wait_s: float | None, *, repeatable: bool) -> float | None:
    """How long to wait before the same request again; None where it is not to be asked again."""
    if isinstance(answer, httpx.Response) and _is_limit(answer):
        wait_s = _limit_s(answer)
        return wait_s if wait_s <= PATIENCE_S else None
    in_trouble = isinstance(answer, str) or answer.status_code in _TROUBLE
    return trouble_wait_s if in_trouble and repeatable else None


def _is_limit(answer: httpx.Response) -> bool:
    if answer.status_code == 429:
        return True
    limited = "retry-after" in answer.headers or answer.headers.get("x-ratelimit-remaining") == "0"
    return answer.status_code == 403 and (limited or "secondary rate limit" in _said(answer).lower())


def _limit_s(answer: httpx.Response) -> float:
    """Seconds GitHub wants us to wait: as told, else until the limit is reset, else a minute."""
    told = answer.headers.get("retry-after", "")
    if told.isdigit():
        return float(told)
    reset = answer.headers.get("x-ratelimit-reset", "")
    try:
        now = parsedate_to_datetime(answer.headers["date"]).timestamp()
    except (KeyError, ValueError):
        return PATIENCE_S
    spent = answer.headers.get("x-ratelimit-remaining") == "0"
    return max(float(reset) - now, 1.0) if spent and reset.isdigit() else PATIENCE_S
