"""Door: git. The only user of GitPython, of which only the command runner is used.

Every call drops the `GIT_*` variables it was started with (touchstone may run inside a hook, where they
point elsewhere), speaks the C locale, reads lists NUL-separated and passes paths as literal pathspecs.
Reading never changes the index. GitPython is imported when a repository is opened, not before.
"""

from __future__ import annotations

import base64
import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from touchstone.errors import BadInputError, RefusedError
from touchstone.files import clear_leftovers, exclusive_lock, write_atomic

FALLBACK_NAME = "touchstone"
FALLBACK_EMAIL = "touchstone@localhost"

_TREE_PREFIX = "touchstone-promote-"
_OUTPUT_KEPT = 4000
_REF = re.compile(r"(?!-)(?!.*\.\.)(?!.*//)[^\x00-\x20\x7f:?*\[\\]+")
_COMMIT_ID = re.compile(r"[0-9a-f]{7,64}")
_CONNECTING = (
    "GIT_SSH", "GIT_ASKPASS", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_", "GIT_SSL_",
    "GIT_PROXY_", "GIT_HTTP_",
)  # fmt: skip
"""Variables by which a person's or a runner's git reaches its remotes; no hook sets them."""
_NOT_LET_IN = re.compile(
    r"(?i)authentication failed|could not read (username|password)|returned error: 40[13]|access denied|"
    r"permission (to \S+ )?denied|repository not found|invalid credentials"
)
_WITH_PASSWORD = re.compile(r"(://)[^/@\s]+@")


@dataclass(frozen=True, slots=True)
class Logged:
    """One commit of a file's history. `day` is that of the commit, ISO 8601."""

    commit: str
    day: str
    author: str
    subject: str


@dataclass(frozen=True, slots=True)
class Committed:
    """A one-file commit. `replaced` is the tip its branch had before, null where the branch is new."""

    commit: str
    branch: str
    replaced: str | None


@dataclass(frozen=True, slots=True)
class RemoteHeads:
    """What a remote says of itself: its default branch, null where it tells none, and some branches' tips."""

    name: str
    default: str | None
    tips: dict[str, str]


@dataclass(frozen=True, slots=True)
class Credential:
    """A token for the addresses below a URL. It reaches git by environment: in no argument and no file."""

    url: str
    token: str

    def variables(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The settings that send it, after those the environment already holds."""
        count = int(environ.get("GIT_CONFIG_COUNT") or 0)
        basic = base64.b64encode(f"x-access-token:{self.token}".encode()).decode()
        # The empty value takes back a header that a checkout left in the repository's settings.
        told = ["", f"AUTHORIZATION: basic {basic}"]
        settings = {"GIT_CONFIG_COUNT": str(count + len(told))}
        for number, value in enumerate(told, start=count):
            settings[f"GIT_CONFIG_KEY_{number}"] = f"http.{self.url}.extraheader"
            settings[f"GIT_CONFIG_VALUE_{number}"] = value
        return settings


class Repository:
    """A git working tree. Opened with `Repository.open`; paths given as text are relative to `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @classmethod
    def open(cls, path: Path) -> Repository | None:
        """The repository around a file or folder; None where there is none, or no git to ask.

        BadInputError where git refuses to read it (another owner, a repository without working tree).
        """
        folder = _nearest_folder(path)
        try:
            done = _run(folder, ["rev-parse", "--show-toplevel"])
        except FileNotFoundError:
            return None
        if done.status == 0:
            return cls(Path(os.fsdecode(_line(done.output))))
        if "not a git repository" in done.errors:
            return None
        raise _unreadable_repository(folder, done.errors)

    @property
    def git_dir(self) -> Path:
        """This working tree's own git folder (a linked worktree has its own)."""
        return Path(self._text("rev-parse", "--absolute-git-dir"))

    def git_path(self, name: str) -> Path:
        """Where git keeps `name` (`hooks`, `index`, …): never guessed, so it holds in a linked worktree."""
        return self.root / self._text("rev-parse", "--git-path", name)

    def relative(self, path: Path) -> str:
        """A path below the root as git writes it. BadInputError for a path outside."""
        inside = path.parent.resolve() / path.name
        try:
            return inside.relative_to(self.root.resolve()).as_posix()
        except ValueError:
            raise BadInputError(f"{path}: lies outside the repository {self.root}") from None

    # --- where the tree stands -----------------------------------------------------------------------

    def head(self) -> str | None:
        """The commit HEAD stands on; None in a repository without one."""
        return self.commit_of("HEAD")

    def branch(self) -> str | None:
        """The current branch, None when detached."""
        done = self._run("symbolic-ref", "--quiet", "--short", "HEAD")
        return _line(done.output).decode() if done.status == 0 else None

    def changed_paths(self) -> list[str] | None:
        """Tracked files that differ from HEAD or are staged; None where git cannot tell."""
        done = self._run("status", "--porcelain", "-z", "--untracked-files=no", "--no-renames")
        return [entry[3:] for entry in _entries(done.output)] if done.status == 0 else None

    def untracked(self, paths: Sequence[Path]) -> list[Path] | None:
        """Those of the given files git does not know, ignored ones included; None where it cannot tell."""
        inside = {path: self._inside(path) for path in paths}
        asked = [relpath for relpath in inside.values() if relpath is not None]
        if not asked:
            return list(paths)
        done = self._run("ls-files", "-z", "--", *map(_pathspec, asked))
        if done.status != 0:
            return None
        known = set(_entries(done.output))
        return [path for path, relpath in inside.items() if relpath not in known]

    def is_clean(self, paths: Sequence[Path] = ()) -> bool | None:
        """Whether no tracked file differs from HEAD and each of `paths` is tracked, or gone from this tree.

        None where git cannot tell or nothing is committed yet: unknown is never clean.
        """
        if self.head() is None:
            return None
        changed = self.changed_paths()
        if changed is None:
            return None
        if changed or not paths:
            return not changed
        there = [path for path in paths if os.path.lexists(path) or self._inside(path) is None]
        untracked = self.untracked(there)
        return None if untracked is None else not untracked

    def is_shallow(self) -> bool:
        """Whether older commits were left out of this clone."""
        return self._text("rev-parse", "--is-shallow-repository") == "true"

    # --- references and content ----------------------------------------------------------------------

    def commit_of(self, ref: str) -> str | None:
        """The commit a reference names, None where this repository has no such commit."""
        _check_ref(ref)
        done = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        return _line(done.output).decode() if done.status == 0 else None

    def resolve(self, ref: str) -> str:
        """The commit a reference names; BadInputError, saying how to fetch it, where it is not here."""
        commit = self.commit_of(ref)
        if commit is None:
            raise BadInputError(f"git: {ref!r} is not in this repository", self._how_to_fetch(ref))
        return commit

    def read(self, ref: str, relpath: str) -> bytes | None:
        """A file's bytes at a commit; None only where that commit is readable and has no such path.

        BadInputError where the commit cannot be read, or the path is no regular file there.
        """
        commit = self.resolve(ref)
        where = _checked_relpath(relpath)
        done = self._run("--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", where)
        if done.status != 0:
            raise BadInputError(f"git: {ref}: cannot be read: {_brief(done)}", self._how_to_fetch(ref))
        entries = _entries(done.output)
        if not entries:
            return None
        mode, _kind, blob = entries[0].split("\t")[0].split()
        if mode not in {"100644", "100755"}:
            raise BadInputError(f"git: {ref}:{relpath}: not a regular file")
        content = self._run("cat-file", "blob", blob)
        if content.status != 0:
            raise BadInputError(f"git: {ref}:{relpath}: cannot be read: {_brief(content)}")
        return content.output

    def parents(self, ref: str) -> list[str]:
        """The parents a commit names, also those a shallow clone does not have."""
        text = self._run("cat-file", "commit", self.resolve(ref)).output
        header = text.split(b"\n\n", 1)[0].decode("utf-8", errors="replace")
        return [line[7:] for line in header.split("\n") if line.startswith("parent ")]

    def changed(self, old: str, new: str) -> list[str]:
        """The files that differ between two commits; a moved one counts twice."""
        done = self._run(
            "diff-tree", "-r", "-z", "--name-only", "--no-renames", self.resolve(old), self.resolve(new)
        )
        if done.status != 0:
            raise BadInputError(f"git: {old} and {new} cannot be compared: {_brief(done)}")
        return _entries(done.output)

    def files_at(self, ref: str, folder: str) -> list[str]:
        """The files right in a folder at a commit; none where it has no such folder."""
        commit, where = self.resolve(ref), f"{_checked_relpath(folder)}/"
        done = self._run("--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--", where)
        if done.status != 0:
            raise BadInputError(f"git: {ref}: cannot be read: {_brief(done)}", self._how_to_fetch(ref))
        kinds = [entry.partition("\t") for entry in _entries(done.output)]
        return [path for kind, _, path in kinds if kind.split()[1] == "blob"]

    def files_with_line(self, ref: str, pattern: str, *suffixes: str) -> list[str]:
        """The files of a commit, of these suffixes, with a line that a POSIX pattern matches."""
        where = [f":(top,glob)**/*{suffix}" for suffix in suffixes]
        commit = self.resolve(ref)
        done = self._run("grep", "-z", "-l", "-I", "-E", "--full-name", "-e", pattern, commit, "--", *where)
        return [entry.removeprefix(f"{commit}:") for entry in _entries(done.output)]

    def merge_base(self, one: str, other: str) -> str | None:
        """The newest common commit, None where the histories share none.

        BadInputError in a shallow clone that does not reach back to it.
        """
        done = self._run("merge-base", self.resolve(one), self.resolve(other))
        if done.status == 0:
            return _line(done.output).decode()
        if self.is_shallow():
            raise BadInputError(
                f"git: this shallow clone does not reach back to where {one} and {other} part",
                "Fetch the history: git fetch --unshallow",
            )
        return None

    def log(self, relpath: str, ref: str = "HEAD", limit: int | None = None) -> list[Logged]:
        """The commits that changed a file, newest first; empty where there is no commit or no such file."""
        if self.commit_of(ref) is None:
            return []
        options = [f"--max-count={limit}"] if limit else []
        done = self._run(
            "log", "-z", "--no-show-signature", "--no-color", "--format=%H%x1f%cs%x1f%aN%x1f%s",
            *options, self.resolve(ref), "--", _pathspec(_checked_relpath(relpath)),
        )  # fmt: skip
        known = [Logged(*entry.split("\x1f", 3)) for entry in _entries(done.output)]
        # A commit whose parents were cut off seems to have brought every file.
        cut_off = self._cut_off()
        return [logged for logged in known if logged.commit not in cut_off]

    def _cut_off(self) -> set[str]:
        """Commits of this clone that have parents, but not here."""
        path = self.git_path("shallow")
        return set(path.read_text().split()) if path.is_file() else set()

    # --- branches and names --------------------------------------------------------------------------

    def remote(self) -> str | None:
        """The remote that counts: `origin`, or the only one there is."""
        names = self._text("remote").split("\n")
        if "origin" in names:
            return "origin"
        return names[0] if len(names) == 1 and names[0] else None

    def remote_url(self) -> str | None:
        """Where that remote lies, as git would go there; None without one."""
        remote = self.remote()
        if remote is None:
            return None
        done = self._run("remote", "get-url", "--", remote)
        return _line(done.output).decode("utf-8", "replace") if done.status == 0 else None

    def default_branch(self) -> str | None:
        """Name of the branch pull requests go to: the remote's HEAD, else the first of
        `init.defaultBranch`, main and master that exists."""
        remote = self.remote()
        if remote is not None:
            done = self._run("symbolic-ref", "--quiet", f"refs/remotes/{remote}/HEAD")
            if done.status == 0:
                return _line(done.output).decode().removeprefix(f"refs/remotes/{remote}/")
        for name in (self._setting("init.defaultBranch"), "main", "master"):
            if name and self._ref_of(name) is not None:
                return name
        return None

    def default_ref(self) -> str | None:
        """What to read the default branch from: the remote's, where it was fetched, else the local one."""
        name = self.default_branch()
        return None if name is None else self._ref_of(name)

    def identity(self) -> tuple[str, str] | None:
        """Name and mail address commits would carry; None where neither git nor environment has both."""
        name, email = self._who()
        return (name, email) if name and email else None

    # --- the remote ----------------------------------------------------------------------------------

    def remote_heads(self, *patterns: str, credential: Credential | None = None) -> RemoteHeads:
        """Ask the remote for its default branch and the tips of branches (`*` stands for anything).

        RefusedError where there is no remote that counts, or it does not answer.
        """
        name = self.remote()
        if name is None:
            raise RefusedError(
                "git: no remote to push to (or several, and none is called origin)",
                "Name one: git remote add origin URL. Without one: --no-pr or --here.",
            )
        wanted = [f"refs/heads/{pattern}" for pattern in patterns]
        done = self._talk("ls-remote", "--symref", "--", name, "HEAD", *wanted, credential=credential)
        default, tips = None, {}
        for value, ref in (line.split("\t") for line in done.output.decode("utf-8", "replace").splitlines()):
            if ref.startswith("refs/heads/"):
                tips[ref.removeprefix("refs/heads/")] = value
            elif value.startswith("ref: refs/heads/"):
                default = value.removeprefix("ref: refs/heads/")
            elif default is not None:
                tips[default] = value
        return RemoteHeads(name, default, tips)

    def fetch_heads(
        self, remote: RemoteHeads, base: str, prefix: str, *, credential: Credential | None = None
    ) -> None:
        """Bring `base` and the branches beginning with `prefix` up to date, as remote-tracking refs.

        A shallow clone stays shallow: of `base` the tip is fetched, of the others what `base` lacks.
        """
        here = f"refs/remotes/{remote.name}"
        quiet = [
            "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--prune",
        ]  # fmt: skip
        shallow = self.is_shallow()
        depth = ["--depth=1"] if shallow else []
        tip = f"+refs/heads/{base}:{here}/{base}"
        self._talk(*quiet, *depth, "--", remote.name, tip, credential=credential)
        if shallow and not any(name.startswith(prefix) for name in remote.tips):
            return
        beyond = [f"--shallow-exclude=refs/heads/{base}"] if shallow else []
        others = f"+refs/heads/{prefix}*:{here}/{prefix}*"
        try:
            self._talk(*quiet, *beyond, "--", remote.name, others, credential=credential)
        except RefusedError as error:
            if "no commits selected" not in error.message:  # all of them are part of `base`
                raise

    def fetch_commit(self, what: str, *, credential: Credential | None = None) -> None:
        """Bring one commit here: its id, or `+refs/heads/NAME:refs/…`. A shallow clone stays shallow.

        RefusedError where there is no remote that counts, or it does not give that commit.
        """
        remote = self.remote()
        if remote is None:
            raise RefusedError("git: no remote to fetch from", "Name one: git remote add origin URL")
        depth = ["--depth=1"] if self.is_shallow() else []
        self._talk(
            "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", *depth,
            "--", remote, what, credential=credential,
        )  # fmt: skip

    def push(
        self, committed: Committed, remote: RemoteHeads, *, credential: Credential | None = None
    ) -> None:
        """Push a branch, over the tip that was looked at and over no other; the user's hooks run.

        RefusedError with git's words, and the remote's, where it is not taken. The local branch stays.
        """
        ref = f"refs/heads/{committed.branch}"
        lease = f"--force-with-lease={ref}:{remote.tips.get(committed.branch, '')}"
        own = ["--no-follow-tags", "--recurse-submodules=no"]
        self._talk(
            "push", "--quiet", *own, lease, "--", remote.name, f"{committed.commit}:{ref}",
            credential=credential,
        )  # fmt: skip

    def is_ancestor(self, old: str, new: str) -> bool:
        """Whether `new` is `old` or follows it, as far as this clone knows."""
        return self._run("merge-base", "--is-ancestor", self.resolve(old), self.resolve(new)).status == 0

    # --- the one-file commit -------------------------------------------------------------------------

    def commit_here(self, relpath: str, content: bytes, message: str) -> Committed:
        """Commit one file on the current branch; every other staged or unstaged change stays as it is.

        The user's hooks run. RefusedError, with everything as before, where git or a hook says no or
        what was committed is not that file with these bytes.
        """
        branch, before = self.branch(), self.head()
        if branch is None or before is None:
            raise RefusedError(
                "git: HEAD stands on no branch with a commit", "Check out a branch, or leave out --here."
            )
        relpath = _checked_relpath(relpath)
        self._check_place(relpath)
        with self._promoting(), self._restored(relpath) as undo:
            self._place(relpath, content)
            if self.untracked([self.root / relpath]):
                self._need("add", "--intent-to-add", "--force", "--", _pathspec(relpath))
            self._commit(message, "--only", "--", _pathspec(relpath))
            commit = self.resolve("HEAD")
            problem = self._not_just(commit, before, relpath, content)
            if problem is not None:
                self._need("update-ref", f"refs/heads/{branch}", before, commit)
                raise problem
            undo.pop_all()
        return Committed(commit, branch, before)

    def commit_in_worktree(
        self, *, branch: str, start: str, relpath: str, content: bytes, message: str, trailer: str
    ) -> Committed:
        """Commit one file on a branch of its own, starting at `start`, in a temporary linked worktree.

        Index, working tree and current branch are not touched; the user's hooks run. The branch is
        `branch` when it is new or every commit on it beyond `start` ends with `trailer` (then it is
        replaced), else `branch-2`, `branch-3` … RefusedError, with everything as before, where git or a
        hook says no or what was committed is not that file with these bytes.
        """
        relpath, base = _checked_relpath(relpath), self.resolve(start)
        if self.read(base, relpath) == content:
            raise RefusedError(f"{relpath}: {start} already has exactly this content")
        with self._promoting():
            name, replaced = self._own_branch(branch, base, trailer)
            with self._linked_worktree(name, base, replaced) as tree:
                commit = tree._commit_file(relpath, content, f"{message.rstrip()}\n\n{trailer}\n")
                problem = self._not_just(commit, base, relpath, content)
                if problem is not None:
                    raise problem
        return Committed(commit, name, replaced)

    def _commit_file(self, relpath: str, content: bytes, message: str) -> str:
        self._place(relpath, content)
        self._need("add", "--force", "--", _pathspec(relpath))
        self._commit(message)
        return self.resolve("HEAD")

    def _commit(self, message: str, *what: str) -> None:
        name, email = self._who()
        options = [
            "-c", f"user.name={name or FALLBACK_NAME}", "-c", f"user.email={email or FALLBACK_EMAIL}",
        ]  # fmt: skip
        done = self._run(*options, "commit", "--quiet", "--cleanup=whitespace", "-m", message, *what)
        if done.status != 0:
            raise RefusedError(
                f"git did not make the commit:\n{_said(done)}",
                "Nothing was changed. Settle what git or the hook names, then promote again.",
            )

    def _who(self) -> tuple[str | None, str | None]:
        name = os.environ.get("GIT_AUTHOR_NAME") or self._setting("user.name")
        email = os.environ.get("GIT_AUTHOR_EMAIL") or self._setting("user.email")
        return name, email

    def _check_place(self, relpath: str) -> None:
        target = self.root / relpath
        real_root = self.root.resolve()
        existing = next(folder for folder in target.parents if folder.exists())
        if target.is_symlink() or target.is_dir() or not existing.resolve().is_relative_to(real_root):
            raise RefusedError(f"{relpath}: a folder or symbolic link stands in the way")

    def _place(self, relpath: str, content: bytes) -> None:
        self._check_place(relpath)
        (self.root / relpath).parent.mkdir(parents=True, exist_ok=True)
        # We hold the lock: what a killed promotion left half written is nobody's any more.
        clear_leftovers(self.root / relpath)
        write_atomic(self.root / relpath, content)

    def _not_just(self, commit: str, base: str, relpath: str, content: bytes) -> RefusedError | None:
        done = self._run("diff-tree", "-r", "-z", "--name-only", "--no-renames", base, commit)
        paths = _entries(done.output)
        if paths != [relpath]:
            others = ", ".join(path for path in paths if path != relpath) or "nothing"
            return RefusedError(
                f"git: a hook or filter changed the commit; beside {relpath} it holds: {others}",
                "Nothing was changed. Let that hook leave the baselines folder alone, then promote again.",
            )
        if self.read(commit, relpath) != content:
            return RefusedError(
                f"git: a hook or filter rewrote {relpath} on the way into the commit",
                "Nothing was changed. Exclude the baselines folder from formatters and filters, "
                "then promote again.",
            )
        return None

    @contextlib.contextmanager
    def _promoting(self) -> Iterator[None]:
        lock = self.root / self._text("rev-parse", "--git-common-dir") / "touchstone-promote.lock"
        with exclusive_lock(lock, f"{self.root}: another promotion is under way", "Wait until it is done."):
            yield

    @contextlib.contextmanager
    def _restored(self, relpath: str) -> Iterator[contextlib.ExitStack]:
        """Put index and file back to the byte when the block fails; `pop_all` on the stack keeps them."""
        with contextlib.ExitStack() as undo:
            for path in (self.git_path("index"), self.root / relpath):
                undo.callback(_put_back, path, path.read_bytes() if path.is_file() else None, self.root)
            yield undo

    def _own_branch(self, wanted: str, base: str, trailer: str) -> tuple[str, str | None]:
        """The first of `wanted`, `wanted-2`, … that is free or holds nothing but promotions of ours."""
        number = 1
        while True:
            name = wanted if number == 1 else f"{wanted}-{number}"
            tips = [tip for tip in (self.commit_of(ref) for ref in self._places_of(name)) if tip]
            if not self._is_checked_out(name) and all(self._is_ours(tip, base, trailer) for tip in tips):
                return name, self.commit_of(f"refs/heads/{name}")
            number += 1

    def _places_of(self, branch: str) -> list[str]:
        remote = self.remote()
        return [f"refs/heads/{branch}", *([f"refs/remotes/{remote}/{branch}"] if remote else [])]

    def _is_ours(self, tip: str, base: str, trailer: str) -> bool:
        done = self._run("rev-list", tip, f"^{base}")
        commits = done.output.decode().split()
        return done.status == 0 and all(trailer in self._trailers(commit) for commit in commits)

    def _trailers(self, commit: str) -> list[str]:
        done = self._run("log", "-1", "--no-show-signature", "--no-color", "--format=%(trailers)", commit)
        return done.output.decode("utf-8", errors="replace").splitlines()

    def _is_checked_out(self, branch: str) -> bool:
        done = self._run("for-each-ref", "--format=%(worktreepath)", f"refs/heads/{branch}")
        path = Path(os.fsdecode(_line(done.output)))
        if path == Path():
            return False
        # A killed promotion leaves its worktree behind; we hold the lock, so nobody is working in it.
        if path.parent.name.startswith(_TREE_PREFIX):
            self._remove_worktree(path)
            shutil.rmtree(path.parent, ignore_errors=True)
            return False
        return True

    @contextlib.contextmanager
    def _linked_worktree(self, branch: str, base: str, replaced: str | None) -> Iterator[Repository]:
        """A temporary worktree on `branch` at `base`; when the block fails the branch is as before."""
        folder = Path(tempfile.mkdtemp(prefix=_TREE_PREFIX)).resolve()
        tree = folder / "tree"
        try:
            self._need("worktree", "add", "--quiet", "-B", branch, str(tree), base)
            yield _WithHooksOf(tree, self.git_path("hooks"))
        except BaseException:
            self._remove_worktree(tree)
            self._reset_branch(branch, replaced)
            raise
        else:
            self._remove_worktree(tree)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _remove_worktree(self, tree: Path) -> None:
        self._run("worktree", "remove", "--force", "--force", str(tree))

    def _reset_branch(self, branch: str, tip: str | None) -> None:
        if tip is None:
            self._run("update-ref", "-d", f"refs/heads/{branch}")
        else:
            self._run("update-ref", f"refs/heads/{branch}", tip)

    # --- running git ---------------------------------------------------------------------------------

    def _run(self, *args: str) -> _Done:
        return _run(self.root, args)

    def _talk(self, *args: str, credential: Credential | None) -> _Done:
        """Run a command that speaks to a remote: with the credential, then as the user's git would."""
        kept = {name: value for name, value in os.environ.items() if name.startswith(_CONNECTING)}
        ways = [*([credential.variables(os.environ)] if credential else []), {}]
        for way in ways:
            done = _run(self.root, args, kept | way)
            if done.status == 0:
                return done
            if not _NOT_LET_IN.search(done.errors):
                break
        said = _WITH_PASSWORD.sub(r"\1***@", _said(done))
        raise RefusedError(f"git {args[0]}: {said}")

    def _need(self, *args: str) -> None:
        done = self._run(*args)
        if done.status != 0:
            raise RefusedError(f"git {args[0]}: {_said(done)}")

    def _text(self, *args: str) -> str:
        return os.fsdecode(_line(self._run(*args).output))

    def _setting(self, key: str) -> str | None:
        done = self._run("config", "--null", "--get", key)
        return done.output.decode("utf-8", errors="replace").rstrip("\0") if done.status == 0 else None

    def _ref_of(self, branch: str) -> str | None:
        return next((ref for ref in reversed(self._places_of(branch)) if self.commit_of(ref)), None)

    def _inside(self, path: Path) -> str | None:
        try:
            return self.relative(path)
        except BadInputError:
            return None

    def _how_to_fetch(self, ref: str) -> str:
        remote = self.remote()
        if remote is None:
            return "Name a branch, tag or commit of this repository: git branch --all"
        name = ref.removeprefix("refs/remotes/").removeprefix(f"{remote}/")
        if name == ref and not _COMMIT_ID.fullmatch(ref):
            return f"Fetch it: git fetch --depth=1 {remote} {ref}, or name another one: git branch --all"
        if _COMMIT_ID.fullmatch(name):
            return f"Fetch it: git fetch --depth=1 {remote} {name}"
        return f"Fetch it: git fetch --depth=1 {remote} {name}:refs/remotes/{remote}/{name}"


class _WithHooksOf(Repository):
    """A linked worktree that runs the hooks of the tree it belongs to.

    A relative `core.hooksPath` would be looked up in the new tree, where untracked hooks are missing.
    """

    def __init__(self, root: Path, hooks: Path) -> None:
        super().__init__(root)
        self._hooks = hooks

    def _run(self, *args: str) -> _Done:
        return _run(self.root, ["-c", f"core.hooksPath={self._hooks}", *args])


@dataclass(frozen=True, slots=True)
class _Done:
    status: int
    output: bytes
    errors: str


def _run(folder: Path, args: Sequence[str], variables: Mapping[str, str] = MappingProxyType({})) -> _Done:
    """Run git in a folder, with variables of its own. FileNotFoundError where there is no git."""
    # GitPython adds to the environment but takes nothing away; `env` does.
    inherited = sorted(name for name in os.environ if name.startswith("GIT_") and name not in variables)
    without = [part for name in inherited for part in ("-u", name)]
    status, output, errors = _runner(folder).execute(
        ["env", *without, *_OWN_VARIABLES, "git", "-C", str(folder), *args],
        with_extended_output=True,
        with_exceptions=False,
        stdout_as_string=False,
        strip_newline_in_stdout=False,
        env=dict(variables),
    )
    return _Done(status, output, errors)


_OWN_VARIABLES = ("GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_LFS_SKIP_SMUDGE=1")


def _runner(folder: Path) -> Any:
    if shutil.which("git") is None:
        raise FileNotFoundError("git")
    from git.cmd import Git  # noqa: PLC0415 - importing it takes longer than most commands

    return Git(str(folder))


def _nearest_folder(path: Path) -> Path:
    absolute = path.absolute()
    return next(folder for folder in (absolute, *absolute.parents) if folder.is_dir())


def _unreadable_repository(folder: Path, errors: str) -> BadInputError:
    if "dubious ownership" in errors:
        named = re.search(r"repository at '([^']+)'", errors)
        where = named.group(1) if named else str(folder)
        return BadInputError(
            f"git: {where} belongs to another user, so git does not read it",
            f"Trust this one folder: git config --global --add safe.directory '{where}'",
        )
    if "must be run in a work tree" in errors:
        return BadInputError(f"git: {folder} is not a working tree", "Run touchstone inside a checkout.")
    return BadInputError(f"git: {folder}: {errors.strip()}")


def _check_ref(ref: str) -> None:
    if not _REF.fullmatch(ref):
        raise BadInputError(f"git: {ref!r} is not a usable reference", "Name a branch, tag or commit.")


def _checked_relpath(relpath: str) -> str:
    path = PurePosixPath(relpath)
    if path.is_absolute() or ".." in path.parts or path.parts[:1] in ((), (".git",)) or "\0" in relpath:
        raise BadInputError(f"{relpath!r}: not a path inside the repository")
    return path.as_posix()


def _pathspec(relpath: str) -> str:
    return f":(top,literal){relpath}"


def _line(output: bytes) -> bytes:
    """The output without its one final newline (a folder's name may end with another)."""
    return output.removesuffix(b"\n")


def _entries(output: bytes) -> list[str]:
    return [os.fsdecode(part) for part in output.split(b"\0") if part]


def _brief(done: _Done) -> str:
    return done.errors.strip().split("\n")[0].removeprefix("fatal: ")


def _said(done: _Done) -> str:
    parts = [done.output.decode("utf-8", errors="replace"), done.errors]
    return "\n".join(part.strip() for part in parts if part.strip())[-_OUTPUT_KEPT:]


def _put_back(path: Path, content: bytes | None, root: Path) -> None:
    if content is not None:
        if not path.is_file() or path.read_bytes() != content:
            write_atomic(path, content)
        return
    path.unlink(missing_ok=True)
    for folder in path.parents:
        if folder == root or not folder.is_relative_to(root) or (folder.exists() and any(folder.iterdir())):
            break
        if folder.exists():
            folder.rmdir()
