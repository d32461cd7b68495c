from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from touchstone import __version__
from touchstone.errors import EXIT_MEANINGS, ExitCode

ROOT = Path(__file__).parents[2]


def leave(code: str) -> subprocess.CompletedProcess[str]:
    """Run Python code that ends in `boundary.run` and return how the process left."""
    program = f"import sys\nfrom touchstone.cli import boundary, main\n{code}"
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT
    )


def with_verb(body: str, call: str = "sys.exit(boundary.run(['boom']))") -> str:
    """A program whose verb `boom` runs `body`."""
    return (
        "import types, click\n"
        "module = types.ModuleType('touchstone.cli.boom')\n"
        f"def act():\n    {body}\n"
        "module.command = click.Command('boom', callback=act)\n"
        "sys.modules['touchstone.cli.boom'] = module\n"
        "main.VERBS['boom'] = main.Verb('daily', 'x')\n"
        f"{call}"
    )


def test_version_is_printed_by_click_alone() -> None:
    program = (
        "import sys; from touchstone.cli.boundary import run; code = run(['--version']);"
        "heavy = {'pydantic', 'yaml', 'httpx', 'git', 'rich', 'psutil', 'jsonschema', 'jinja2'};"
        "heavy &= set(sys.modules);"
        "print(sorted(heavy)); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.stdout.splitlines() == [f"touchstone, version {__version__}", "[]"]
    assert done.returncode == 0


def test_help_lists_every_exit_code() -> None:
    done = leave("sys.exit(boundary.run(['--help']))")
    assert done.returncode == 0
    for code, meaning in EXIT_MEANINGS.items():
        assert f"{int(code)} " in done.stdout
        assert meaning.split("(")[0].strip() in done.stdout


def test_wrong_usage_is_64_and_the_nearest_verb_is_named() -> None:
    done = leave("sys.exit(boundary.run(['valdate']))")
    assert done.returncode == ExitCode.USAGE
    assert "Did you mean 'validate'?" in done.stderr
    assert leave("sys.exit(boundary.run([]))").returncode == ExitCode.USAGE


def test_an_expected_failure_prints_message_and_hint_and_its_code() -> None:
    body = "from touchstone.errors import EngineError; raise EngineError('no \\x1b[31mserver', 'start it')"
    done = leave(with_verb(body))
    assert done.returncode == ExitCode.NOT_JUDGED
    assert done.stderr == "touchstone: no \\x1b[31mserver\n  → start it\n"


def test_a_bug_is_70_and_says_what_to_send() -> None:
    done = leave(with_verb("raise KeyError('oops')"))
    assert done.returncode == ExitCode.BUG
    assert "KeyError" in done.stderr
    assert "bug in touchstone" in done.stderr


def test_a_verb_that_cannot_be_imported_is_a_bug_and_never_worse() -> None:
    done = leave("main.VERBS['boom'] = main.Verb('daily', 'x'); sys.exit(boundary.run(['boom']))")
    assert done.returncode == ExitCode.BUG


def test_interrupts_are_130() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        # A process started in the background by a shell inherits SIGINT ignored.
        restore = "import os, signal, time; signal.signal(signal.SIGINT, signal.default_int_handler)"
        body = f"{restore}; os.kill(os.getpid(), {int(number)}); time.sleep(5)"
        done = leave(with_verb(body))
        assert done.returncode == ExitCode.INTERRUPTED
        assert "Traceback" not in done.stderr


def test_a_broken_pipe_is_quiet() -> None:
    body = "click.echo('x' * 1_000_000)"
    reader, writer = os.pipe()
    os.close(reader)
    program = f"import sys\nfrom touchstone.cli import boundary, main\n{with_verb(body)}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        cwd=ROOT,
    )
    os.close(writer)
    assert done.returncode == ExitCode.INTERRUPTED
    assert done.stderr == ""


def test_a_verbs_return_value_is_the_exit_code() -> None:
    assert leave(with_verb("return 3")).returncode == ExitCode.NOT_COMPARABLE
