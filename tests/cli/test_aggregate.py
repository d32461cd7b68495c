"""`touchstone aggregate`: runs of one project and of others, in one table per pack."""

from __future__ import annotations

from tests.kit import desk
from tests.kit.chat_server import ChatServer
from tests.kit.cli import touchstone
from tests.kit.scratch import ScratchRepo
from touchstone.errors import ExitCode


def test_a_run_and_the_same_answers_under_another_judge(repo: ScratchRepo, server: ChatServer) -> None:
    assert touchstone(repo.path, "measure", "--pack", "care", "-q").code == ExitCode.NOTHING_WORSE
    (run,) = desk.run_ids(repo)
    again = touchstone(repo.path, "rejudge", run, "-q", "--judge-model", desk.JUDGE)
    assert again.code == ExitCode.NOTHING_WORSE, again.err
    (repo.path / "runs").rename(repo.path / "runs of another machine")
    runs = [str(path) for path in sorted((repo.path / "runs of another machine").glob("2*"))]
    done = touchstone(repo.path, "aggregate", *runs)
    assert done.code == ExitCode.NOTHING_WORSE, done.err
    assert "## Pack care" in done.out
    assert "2 runs" in done.out
    (pack,) = touchstone(repo.path, "aggregate", "--json", *runs).json()["packs"]
    assert [column["runs"] for column in pack["columns"]] == [[path.rpartition("/")[2] for path in runs]]
    html = touchstone(repo.path, "aggregate", "--format", "html", "--language", "de", *runs).out
    assert '<html lang="de">' in html


def test_no_run_is_wrong_usage_and_an_unknown_one_names_what_there_is(repo: ScratchRepo) -> None:
    assert touchstone(repo.path, "aggregate").code == ExitCode.USAGE
    done = touchstone(repo.path, "aggregate", "2099")
    assert done.code == ExitCode.REFUSED
    assert "no such run" in done.err
