"""The git door, on real repositories."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.scratch import AUTHOR, EMAIL, ScratchRepo, clone, git_environment, isolate, scratch_repo
from touchstone.errors import BadInputError, RefusedError
from touchstone.git import FALLBACK_EMAIL, FALLBACK_NAME, Repository

CASES = Path(__file__).parent / "cases" / "public" / "git"
BRANCH = "touchstone/promote/default-starter"
TRAILER = "Touchstone-Promote: default/starter"
FILE = "baselines/default/starter.json"


@pytest.fixture(autouse=True)
def _peace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    isolate(monkeypatch, tmp_path / "home")


@pytest.fixture
def repo(tmp_path: Path) -> ScratchRepo:
    scratch = scratch_repo(tmp_path / "repo")
    scratch.commit("first", {"packs/a.yaml": "a\n", "notes.txt": "1\n"})
    return scratch


def opened(path: Path) -> Repository:
    found = Repository.open(path)
    assert found is not None
    return found


def case(name: str, folder: Path) -> str:
    """Build the state of a case script and return what it printed."""
    done = subprocess.run(
        ["sh", str(CASES / name), str(folder)],
        env=git_environment(folder.parent), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def promote(repo: Repository, content: bytes = b"{}\n", **changes: str) -> str:
    arguments = {"branch": BRANCH, "start": "main", "relpath": FILE, "message": "promote: starter"}
    arguments |= {"trailer": TRAILER} | changes
    done = repo.commit_in_worktree(content=content, **arguments)
    assert repo.commit_of(f"refs/heads/{done.branch}") == done.commit
    return done.branch


# --- opening -----------------------------------------------------------------------------------------


def test_no_git_is_none_and_a_file_opens_its_repository(repo: ScratchRepo, tmp_path: Path) -> None:
    assert Repository.open(tmp_path / "home") is None
    assert opened(repo.path / "packs" / "a.yaml").root == repo.path
    assert opened(repo.path / "not" / "there.yaml").root == repo.path


def test_without_git_on_the_path_there_is_no_repository(
    repo: ScratchRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(repo.path))
    assert Repository.open(repo.path) is None


def test_a_bare_repository_is_refused(tmp_path: Path, repo: ScratchRepo) -> None:
    repo.git("clone", "--quiet", "--bare", str(repo.path), str(tmp_path / "bare.git"))
    with pytest.raises(BadInputError, match="not a working tree"):
        Repository.open(tmp_path / "bare.git")


def test_G06_another_owner_names_the_one_directory(
    repo: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # git's own switch for its tests makes every repository look foreign; our caller's GIT_* are dropped,
    # so a wrapper on PATH sets it.
    real = subprocess.run(["sh", "-c", "command -v git"], capture_output=True, text=True, check=True)
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec "{real.stdout.strip()}" "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(BadInputError, match="belongs to another user") as caught:
        Repository.open(repo.path)
    assert caught.value.hint is not None
    assert f"--add safe.directory '{repo.path}'" in caught.value.hint
    assert not (tmp_path / "home" / ".gitconfig").exists()


def test_variables_of_a_surrounding_hook_do_not_lead_astray(
    repo: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = scratch_repo(tmp_path / "other")
    other.commit("elsewhere", {"x": "x"})
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.path / ".git" / "index"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.path))
    door = opened(repo.path)
    assert door.root == repo.path
    assert door.head() == repo.head()
    assert door.is_clean() is True


def test_importing_the_door_does_not_import_gitpython() -> None:
    code = "import sys, touchstone.git; sys.exit('git' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


# --- where the tree stands ---------------------------------------------------------------------------


def test_a_tree_is_clean_until_a_tracked_file_or_a_given_path_says_otherwise(repo: ScratchRepo) -> None:
    door, pack = opened(repo.path), repo.path / "packs" / "a.yaml"
    repo.write("scribble.txt", "untracked and not asked for")
    assert door.is_clean() is True
    assert door.is_clean([pack]) is True
    assert door.is_clean([pack, repo.path / "scribble.txt"]) is False
    assert door.is_clean([pack, repo.path / "deleted-in-an-earlier-commit.yaml"]) is True
    repo.write("notes.txt", "2\n")
    assert door.is_clean([pack]) is False
    assert door.changed_paths() == ["notes.txt"]
    repo.git("add", "notes.txt")
    assert door.is_clean() is False


def test_files_of_a_commit_are_found_by_a_line_of_theirs(repo: ScratchRepo) -> None:
    head = repo.commit("packs", {"deep/down/b.yml": "x: 1\nid: desk  # ours\n", "c.txt": "id: desk\n"})
    repo.write("packs/a.yaml", "id: desk\n")
    door = opened(repo.path)
    assert door.files_with_line(head, "^id: desk", ".yaml", ".yml") == ["deep/down/b.yml"]
    assert door.files_with_line(head, "^id: other", ".yaml", ".yml") == []


def test_an_ignored_or_outside_prompt_file_is_not_clean(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.commit("ignore", {".gitignore": "secret/\n"})
    door, ignored = opened(repo.path), repo.write("secret/prompt.md", "hi")
    assert door.is_clean() is True
    assert door.is_clean([ignored]) is False
    assert door.is_clean([tmp_path / "elsewhere.md"]) is False


def test_unknown_is_never_clean(repo: ScratchRepo) -> None:
    repo.write(".git/index", b"broken")
    assert opened(repo.path).is_clean() is None
    assert opened(repo.path).changed_paths() is None


def test_reading_the_state_leaves_the_index_alone(repo: ScratchRepo) -> None:
    index = repo.path / ".git" / "index"
    os.utime(repo.path / "notes.txt", (1, 1))
    before = index.read_bytes()
    assert opened(repo.path).is_clean() is True
    assert index.read_bytes() == before


def test_G17_empty_repository_has_no_head_and_no_clean_flag(tmp_path: Path) -> None:
    case("G17-empty-repo.sh", tmp_path / "empty")
    door = opened(tmp_path / "empty")
    assert door.head() is None
    assert door.is_clean() is None
    assert door.log("x.json") == []
    with pytest.raises(BadInputError, match="'HEAD' is not in this repository"):
        door.read("HEAD", "x.json")
    with pytest.raises(RefusedError, match="no branch with a commit"):
        door.commit_here(FILE, b"{}\n", "promote")


def test_G03_detached_merge_ref_has_no_branch_and_two_parents(tmp_path: Path) -> None:
    case("G03-detached-merge-ref.sh", tmp_path / "repo")
    door = opened(tmp_path / "repo")
    assert door.branch() is None
    assert door.head() == door.resolve("refs/remotes/pull/7/merge")
    assert door.parents("HEAD") == [door.resolve("main"), door.resolve("feat")]
    assert promote(door, start="feat") == BRANCH
    assert door.branch() is None


def test_G10_a_linked_worktree_works_through_its_git_file(tmp_path: Path) -> None:
    case("G10-worktree-gitfile.sh", tmp_path)
    door = opened(tmp_path / "wt")
    assert door.git_path("hooks") == tmp_path / "main" / ".git" / "hooks"
    assert door.git_dir == tmp_path / "main" / ".git" / "worktrees" / "wt"
    assert door.branch() == "wt"
    done = door.commit_here(FILE, b"{}\n", "promote")
    assert door.read("wt", FILE) == b"{}\n"
    assert done.branch == "wt"
    assert promote(door) == BRANCH


def test_G11_nonascii_paths_are_read_as_they_are(tmp_path: Path) -> None:
    case("G11-nonascii-path.sh", tmp_path / "repo")
    scratch = ScratchRepo(tmp_path / "repo")
    scratch.git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "x")
    door, pack = opened(scratch.path), scratch.path / "packs år" / "grüß dich.yaml"
    assert door.is_clean([pack]) is True
    assert door.read("HEAD", door.relative(pack)) == b"pack: x\n"
    scratch.write("packs år/grüß dich.yaml", "pack: y\n")
    assert door.changed_paths() == ["packs år/grüß dich.yaml"]


def test_names_git_could_take_for_patterns_are_literal(repo: ScratchRepo) -> None:
    repo.commit("odd", {":(top)x": "1", "a*b": "2", "axb": "3", "-x": "4"})
    door = opened(repo.path)
    assert [door.read("HEAD", name) for name in (":(top)x", "a*b", "-x")] == [b"1", b"2", b"4"]
    assert door.read("HEAD", "a?b") is None
    repo.commit("the other one", {"axb": "5", "x": "6"})
    assert [entry.subject for entry in door.log("a*b")] == ["odd"]
    assert [entry.subject for entry in door.log(":(top)x")] == ["odd"]
    assert door.is_clean([repo.write("a?b", "untracked")]) is False


def test_a_submodule_is_a_repository_of_its_own(repo: ScratchRepo, tmp_path: Path) -> None:
    inner = scratch_repo(tmp_path / "inner")
    inner.commit("inner", {"packs/b.yaml": "b"})
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "sub")
    repo.commit("sub")
    door = opened(repo.path / "sub" / "packs")
    assert door.root == repo.path / "sub"
    assert door.head() == inner.head()
    with pytest.raises(BadInputError, match="not a regular file"):
        opened(repo.path).read("HEAD", "sub")


# --- references and content --------------------------------------------------------------------------


def test_a_missing_path_is_none_and_an_unreadable_commit_is_not(repo: ScratchRepo) -> None:
    door = opened(repo.path)
    assert door.read("HEAD", "packs/a.yaml") == b"a\n"
    assert door.read("main", FILE) is None
    with pytest.raises(BadInputError, match="is not in this repository"):
        door.read("origin/main", FILE)
    with pytest.raises(BadInputError, match="not a regular file"):
        door.read("HEAD", "packs")


def test_G01_a_base_that_was_not_fetched_is_an_error_that_says_how(tmp_path: Path) -> None:
    assert "base NOT readable" in case("G01-shallow-no-base.sh", tmp_path)
    door = opened(tmp_path / "clone")
    with pytest.raises(BadInputError, match="'origin/main' is not in this repository") as caught:
        door.read("origin/main", "b/demo.json")
    hint = caught.value.hint
    assert hint is not None
    assert "git fetch --depth=1 origin main:refs/remotes/origin/main" in hint
    ScratchRepo(door.root).git(*hint.removeprefix("Fetch it: git ").split())
    assert door.read("origin/main", "b/demo.json") == b"{}\n"
    with pytest.raises(BadInputError, match="shallow clone does not reach back") as caught:
        door.merge_base("origin/main", "HEAD")
    assert caught.value.hint == "Fetch the history: git fetch --unshallow"


def test_a_missing_commit_id_names_the_fetch_by_id(repo: ScratchRepo, tmp_path: Path) -> None:
    copy = clone(repo, tmp_path / "copy")
    with pytest.raises(BadInputError) as caught:
        opened(copy.path).resolve("0" * 40)
    assert caught.value.hint == f"Fetch it: git fetch --depth=1 origin {'0' * 40}"


@pytest.mark.parametrize(
    "ref", ["", "-x", "--upload-pack=x", "a b", "a..b", "main:file", "a\nb", "a\x00b", "x*", "a\\b"]
)
def test_odd_references_never_reach_git(repo: ScratchRepo, ref: str) -> None:
    with pytest.raises(BadInputError, match="not a usable reference"):
        opened(repo.path).resolve(ref)


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "", ".git/config"])
def test_paths_stay_inside_the_repository(repo: ScratchRepo, path: str) -> None:
    with pytest.raises(BadInputError, match="not a path inside the repository"):
        opened(repo.path).read("HEAD", path)
    with pytest.raises(BadInputError, match="not a path inside the repository"):
        opened(repo.path).commit_here(path, b"", "x")


def test_merge_base_of_unrelated_histories_is_none(repo: ScratchRepo) -> None:
    base = repo.head()
    repo.git("checkout", "--quiet", "-b", "feat")
    repo.commit("more", {"x": "1"})
    door = opened(repo.path)
    assert door.merge_base("main", "feat") == base
    repo.git("checkout", "--quiet", "--orphan", "alone")
    repo.commit("alone")
    assert door.merge_base("main", "alone") is None


def test_log_lists_the_commits_of_one_file_newest_first(repo: ScratchRepo) -> None:
    first = repo.commit("one: a|b", {FILE: "1"})
    repo.commit("unrelated", {"x": "1"})
    last = repo.commit("two", {FILE: "2"})
    entries = opened(repo.path).log(FILE)
    assert [(entry.commit, entry.subject) for entry in entries] == [(last, "two"), (first, "one: a|b")]
    assert [entry.day for entry in entries] == ["2025-10-12", "2025-10-10"]
    assert {entry.author for entry in entries} == {AUTHOR}
    assert [entry.commit for entry in opened(repo.path).log(FILE, limit=1)] == [last]


# --- branches and names ------------------------------------------------------------------------------


def test_G22_default_branch_is_the_remotes_head(tmp_path: Path) -> None:
    upstream = scratch_repo(tmp_path / "up", branch="trunk")
    upstream.commit("first", {"x": "1"})
    upstream.git("branch", "main")
    copy = clone(upstream, tmp_path / "copy")
    copy.git("checkout", "--quiet", "-b", "feat")
    door = opened(copy.path)
    assert door.default_branch() == "trunk"
    assert door.default_ref() == "refs/remotes/origin/trunk"


def test_default_branch_without_a_remote_is_one_that_exists(tmp_path: Path) -> None:
    scratch = scratch_repo(tmp_path / "repo", branch="master")
    assert opened(scratch.path).default_branch() is None
    scratch.commit("first")
    assert opened(scratch.path).default_branch() == "master"
    scratch.git("branch", "-m", "master", "work")
    assert opened(scratch.path).default_branch() is None
    scratch.git("config", "init.defaultBranch", "work")
    assert opened(scratch.path).default_ref() == "refs/heads/work"


def test_identity_is_none_unless_both_parts_are_known(repo: ScratchRepo) -> None:
    assert opened(repo.path).identity() == (AUTHOR, EMAIL)
    repo.git("config", "--unset", "user.email")
    assert opened(repo.path).identity() is None


# --- the one-file commit in a worktree of its own ----------------------------------------------------


def dirty(repo: ScratchRepo) -> None:
    """Staged, unstaged and untracked changes."""
    repo.write("packs/a.yaml", "staged\n")
    repo.git("add", "packs/a.yaml")
    repo.write("packs/a.yaml", "staged, then changed\n")
    repo.write("notes.txt", "unstaged\n")
    repo.write("new.txt", "untracked\n")


def trees_of(repo: ScratchRepo) -> int:
    return repo.git("worktree", "list").count("\n")


def test_promoting_leaves_index_tree_and_branch_as_they_were(repo: ScratchRepo) -> None:
    dirty(repo)
    before = repo.snapshot()
    assert promote(opened(repo.path)) == BRANCH
    assert repo.snapshot() == before
    assert trees_of(repo) == 1
    assert repo.git("diff", "--name-only", "main", BRANCH) == f"{FILE}\n"
    assert repo.git("show", f"{BRANCH}:{FILE}") == "{}\n"
    assert repo.git("log", "-1", "--format=%B", BRANCH).strip() == f"promote: starter\n\n{TRAILER}"
    assert repo.git("log", "-1", "--format=%an <%ae>", BRANCH).strip() == f"{AUTHOR} <{EMAIL}>"


def test_promoting_again_replaces_its_own_branch(repo: ScratchRepo) -> None:
    door = opened(repo.path)
    promote(door)
    old = door.resolve(BRANCH)
    repo.commit("main moves on", {"x": "1"})
    done = door.commit_in_worktree(
        branch=BRANCH, start="main", relpath=FILE, content=b"2\n", message="again", trailer=TRAILER
    )
    assert (done.branch, done.replaced) == (BRANCH, old)
    assert repo.git("rev-list", "--count", f"main..{BRANCH}").strip() == "1"


def test_G13_a_branch_with_foreign_commits_is_left_alone(repo: ScratchRepo) -> None:
    door = opened(repo.path)
    promote(door)
    repo.git("checkout", "--quiet", BRANCH)
    foreign = repo.commit("someone fixed something", {"x": "1"})
    repo.git("checkout", "--quiet", "main")
    assert promote(door, b"2\n") == f"{BRANCH}-2"
    assert door.resolve(BRANCH) == foreign
    assert promote(door, b"3\n") == f"{BRANCH}-2"


def test_G13_foreign_commits_on_the_remote_count_too(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.git("checkout", "--quiet", "-b", BRANCH)
    repo.commit("foreign", {"x": "1"})
    repo.git("checkout", "--quiet", "main")
    copy = clone(repo, tmp_path / "copy")
    assert promote(opened(copy.path)) == f"{BRANCH}-2"


def test_another_packs_trailer_is_foreign(repo: ScratchRepo) -> None:
    door = opened(repo.path)
    promote(door, trailer="Touchstone-Promote: default/starter-two")
    assert promote(door) == f"{BRANCH}-2"


def test_a_promote_branch_somebody_stands_on_is_left_alone(repo: ScratchRepo) -> None:
    door = opened(repo.path)
    promote(door)
    repo.git("checkout", "--quiet", BRANCH)
    before = repo.snapshot()
    assert promote(door, b"2\n") == f"{BRANCH}-2"
    assert repo.snapshot() == before


def test_the_worktree_of_a_killed_promotion_is_cleared_away(repo: ScratchRepo, tmp_path: Path) -> None:
    stale = tmp_path / "touchstone-promote-killed" / "tree"
    repo.git("worktree", "add", "--quiet", "-b", BRANCH, str(stale))
    assert promote(opened(repo.path)) == BRANCH
    assert not stale.parent.exists()
    assert trees_of(repo) == 1


def test_G24_a_rejecting_hook_is_quoted_and_nothing_remains(repo: ScratchRepo) -> None:
    repo.hook("pre-commit", 'echo "baselines need a ticket" >&2; exit 1')
    dirty(repo)
    before = repo.snapshot()
    with pytest.raises(RefusedError, match="baselines need a ticket"):
        promote(opened(repo.path))
    assert repo.snapshot() == before
    assert trees_of(repo) == 1
    assert opened(repo.path).commit_of(BRANCH) is None


def test_G24_a_rejecting_hook_leaves_the_earlier_promotion_in_place(repo: ScratchRepo) -> None:
    door = opened(repo.path)
    promote(door)
    old = door.resolve(BRANCH)
    repo.hook("commit-msg", "exit 1")
    with pytest.raises(RefusedError, match="git did not make the commit"):
        promote(door, b"2\n")
    assert door.resolve(BRANCH) == old


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        (f"echo '{{ }}' > {FILE}; git add {FILE}", f"rewrote {FILE}"),
        ("echo x > extra.txt; git add extra.txt", "it holds: extra.txt"),
    ],
)
def test_G24_a_hook_that_changes_the_commit_is_refused(
    repo: ScratchRepo, script: str, complaint: str
) -> None:
    repo.hook("pre-commit", script)
    before = repo.snapshot()
    for attempt in (promote, lambda door: door.commit_here(FILE, b"{}\n", "promote")):
        with pytest.raises(RefusedError, match=complaint):
            attempt(opened(repo.path))
        (repo.path / "extra.txt").unlink(missing_ok=True)  # what a hook leaves lying about is the user's
        assert repo.snapshot() == before
        assert opened(repo.path).commit_of(BRANCH) is None
        assert repo.git("log", "--format=%s") == "first\n"


def test_a_relative_hooks_folder_that_is_not_committed_still_runs(repo: ScratchRepo) -> None:
    repo.write("own-hooks/pre-commit", "#!/bin/sh\necho own hook >&2\nexit 1\n").chmod(0o755)
    repo.git("config", "core.hooksPath", "own-hooks")
    with pytest.raises(RefusedError, match="own hook"):
        promote(opened(repo.path))


def test_the_hook_stands_on_the_promote_branch_with_the_whole_tree(repo: ScratchRepo) -> None:
    repo.hook("pre-commit", 'test -f packs/a.yaml && git symbolic-ref HEAD > "$HOME/seen"; env > "$HOME/env"')
    promote(opened(repo.path))
    home = Path(os.environ["HOME"])
    assert (home / "seen").read_text() == f"refs/heads/{BRANCH}\n"
    assert "GIT_LITERAL_PATHSPECS" not in (home / "env").read_text()


def test_the_same_content_is_not_committed_twice(repo: ScratchRepo) -> None:
    repo.commit("kept", {FILE: "{}\n"})
    with pytest.raises(RefusedError, match="already has exactly this content"):
        promote(opened(repo.path))


def test_an_ignored_baselines_folder_is_committed_all_the_same(repo: ScratchRepo) -> None:
    repo.commit("ignore", {".gitignore": "baselines/\n"})
    assert promote(opened(repo.path)) == BRANCH


def test_a_link_out_of_the_repository_is_refused(repo: ScratchRepo, tmp_path: Path) -> None:
    (repo.path / "baselines").symlink_to(tmp_path / "home")
    repo.commit("link")
    for attempt in (promote, lambda door: door.commit_here(FILE, b"{}\n", "promote")):
        with pytest.raises(RefusedError, match="symbolic link stands in the way"):
            attempt(opened(repo.path))
    assert list((tmp_path / "home").iterdir()) == []


def test_two_promotions_at_once_do_not_mix(
    repo: ScratchRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    door = opened(repo.path)
    repo.hook("pre-commit", f'cd "{repo.path}" && "{sys.executable}" "{tmp_path}/second.py" >&2; true')
    (tmp_path / "second.py").write_text(
        "from pathlib import Path\nfrom touchstone.git import Repository\n"
        f"repo = Repository.open(Path({str(repo.path)!r}))\n"
        "try:\n    repo.commit_here('x.json', b'1', 'second')\n"
        "except Exception as error:\n    Path.home().joinpath('said').write_text(str(error))\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    promote(door)
    assert "another promotion is under way" in (Path.home() / "said").read_text()


def test_G07_without_an_identity_ours_is_used(tmp_path: Path) -> None:
    case("G07-no-identity.sh", tmp_path / "repo")
    door = opened(tmp_path / "repo")
    assert door.identity() is None
    assert promote(door) == BRANCH
    show = ScratchRepo(door.root).git("log", "-1", "--format=%an <%ae> %cn", BRANCH)
    assert show.strip() == f"{FALLBACK_NAME} <{FALLBACK_EMAIL}> {FALLBACK_NAME}"


def test_a_sha256_repository_is_promoted_in(tmp_path: Path) -> None:
    scratch = scratch_repo(tmp_path / "repo", object_format="sha256")
    scratch.commit("first", {"x": "1"})
    door = opened(scratch.path)
    assert len(door.head() or "") == 64
    assert promote(door) == BRANCH
    assert door.commit_here(FILE, b"2\n", "promote").commit == door.head()


def test_in_a_shallow_clone_nobody_is_credited_with_what_was_cut_off(
    repo: ScratchRepo, tmp_path: Path
) -> None:
    repo.commit("unrelated", {"notes.txt": "2\n"})
    shallow = opened(clone(repo, tmp_path / "shallow", "--depth=1").path)
    assert shallow.log("packs/a.yaml") == []
    assert [logged.subject for logged in opened(repo.path).log("packs/a.yaml")] == ["first"]


def test_what_differs_between_two_commits_is_listed_by_path(repo: ScratchRepo) -> None:
    first = repo.head()
    repo.git("mv", "packs/a.yaml", "packs/ä b.yaml")
    second = repo.commit("moved", {"new/deep/file": "1"})
    assert opened(repo.path).changed(first, second) == ["new/deep/file", "packs/a.yaml", "packs/ä b.yaml"]
    assert opened(repo.path).changed(first, first) == []


def test_the_files_right_in_a_folder_of_a_commit_are_listed(repo: ScratchRepo) -> None:
    first = repo.head()
    repo.commit("more", {"packs/b.yaml": "b", "packs/deep/c.yaml": "c"})
    assert opened(repo.path).files_at(first, "packs") == ["packs/a.yaml"]
    assert opened(repo.path).files_at("HEAD", "packs") == ["packs/a.yaml", "packs/b.yaml"]
    assert opened(repo.path).files_at("HEAD", "nowhere") == []


@pytest.mark.parametrize("depth", ["--depth=1", "--no-single-branch"], ids=["shallow", "whole"])
def test_one_commit_is_fetched_by_its_id_and_the_clone_stays_as_it_was(
    repo: ScratchRepo, tmp_path: Path, depth: str
) -> None:
    repo.git("config", "uploadpack.allowReachableSHA1InWant", "true")
    first = repo.head()
    repo.git("switch", "--quiet", "-c", "side")
    side = repo.commit("side", {"notes.txt": "side\n"})
    repo.git("switch", "--quiet", "main")
    copy = clone(repo, tmp_path / "copy", depth, "--single-branch", "--branch=main")
    found, was = opened(copy.path), copy.git("rev-parse", "--is-shallow-repository")
    assert found.commit_of(side) is None
    found.fetch_commit(side)
    assert found.read(side, "notes.txt") == b"side\n"
    assert copy.git("rev-parse", "--is-shallow-repository") == was
    assert found.head() == first
    with pytest.raises(RefusedError, match="git fetch"):
        found.fetch_commit("d" * 40)


def test_a_shallow_detached_clone_is_promoted_in(repo: ScratchRepo, tmp_path: Path) -> None:
    repo.commit("second", {"x": "1"})
    copy = clone(repo, tmp_path / "copy", "--depth=1")
    copy.git("checkout", "--quiet", "--detach")
    door = opened(copy.path)
    assert door.is_shallow()
    assert promote(door, start="HEAD") == BRANCH


# --- the one-file commit on the current branch -------------------------------------------------------


def test_here_commits_one_file_and_keeps_every_other_change(repo: ScratchRepo) -> None:
    dirty(repo)
    status = repo.git("status", "--porcelain")
    staged = repo.git("diff", "--cached")
    before = repo.head()
    done = opened(repo.path).commit_here(FILE, b"{}\n", "promote: starter")
    assert (done.commit, done.branch, done.replaced) == (repo.head(), "main", before)
    assert repo.git("diff", "--name-only", before, "HEAD") == f"{FILE}\n"
    assert repo.git("status", "--porcelain") == status
    assert repo.git("diff", "--cached") == staged


def test_here_replaces_a_tracked_baseline(repo: ScratchRepo) -> None:
    repo.commit("kept", {FILE: "old\n"})
    dirty(repo)
    opened(repo.path).commit_here(FILE, b"new\n", "promote")
    assert repo.git("show", f"HEAD:{FILE}") == "new\n"
    assert FILE not in repo.git("status", "--porcelain")
    assert repo.git("diff", "--cached", "--name-only") == "packs/a.yaml\n"


def test_here_clears_away_what_a_killed_promotion_left_half_written(repo: ScratchRepo) -> None:
    repo.commit("kept", {FILE: "old\n"})
    half = repo.write("baselines/default/.starter.json.0123abcd.tmp", b"{ne")
    other = repo.write("baselines/default/.starter.json.swp", b"an editor's")
    opened(repo.path).commit_here(FILE, b"new\n", "promote")
    assert not half.exists()
    assert other.exists()


@pytest.mark.parametrize("kept", [None, "old\n"])
def test_here_with_a_rejecting_hook_restores_everything(repo: ScratchRepo, kept: str | None) -> None:
    if kept is not None:
        repo.commit("kept", {FILE: kept})
    dirty(repo)
    repo.hook("pre-commit", "echo no >&2; exit 1")
    before = repo.snapshot()
    with pytest.raises(RefusedError, match="no"):
        opened(repo.path).commit_here(FILE, b"new\n", "promote")
    assert repo.snapshot() == before
    assert (repo.path / "baselines").exists() is (kept is not None)


def test_here_during_a_merge_is_refused_with_gits_words(repo: ScratchRepo) -> None:
    repo.git("checkout", "--quiet", "-b", "other")
    repo.commit("theirs", {"notes.txt": "theirs\n"})
    repo.git("checkout", "--quiet", "main")
    repo.commit("ours", {"y": "ours\n"})
    repo.git("merge", "--quiet", "--no-commit", "--no-ff", "other")
    before = repo.snapshot()
    with pytest.raises(RefusedError, match="partial commit during a merge"):
        opened(repo.path).commit_here(FILE, b"{}\n", "promote")
    assert repo.snapshot() == before


def test_here_on_a_detached_head_is_refused(repo: ScratchRepo) -> None:
    repo.git("checkout", "--quiet", "--detach")
    with pytest.raises(RefusedError, match="no branch") as caught:
        opened(repo.path).commit_here(FILE, b"{}\n", "promote")
    assert caught.value.hint == "Check out a branch, or leave out --here."


def test_the_remotes_address_is_told_as_git_would_go_there(repo: ScratchRepo) -> None:
    assert opened(repo.path).remote_url() is None
    repo.git("remote", "add", "origin", "git@short:acme/desk.git")
    repo.git("config", "url.ssh://git@github.example/.insteadOf", "git@short:")
    assert opened(repo.path).remote_url() == "ssh://git@github.example/acme/desk.git"
