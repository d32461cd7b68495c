"""The Action's script without a network: what it finds, what it builds aside, and what it refuses.

Python is found on PATH; here that is a program which makes real environments with a `pip` that only notes
what it was asked for, and lends them the packages of the tests' own environment.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "action/run"
TOKEN = "dummy-token-8f1c-not-a-secret"
TOOLS = (
    "bash", "cat", "cksum", "cp", "dirname", "env", "find", "git", "mkdir", "mktemp", "mv", "rm", "sed", "sh",
    "touch", "tr", "uname",
)  # fmt: skip
OUTPUTS = {"exit-code", "verdict", "headline", "run", "report", "comparison", "comment-url"}

PYTHON = """\
#!/bin/sh
# A Python that makes environments without a network.
case "$*" in
  *"-m venv "*)
    for folder do :; done
    {python} -m venv --without-pip "$folder" || exit 1
    site=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
    cp -R "{folder}/pip" "$site/pip"
    echo "{packages}" > "$site/lent.pth"
    ;;
  *) exec {python} "$@" ;;
esac
"""

PIP = """\
import os, sys
with open({notes!r}, "a") as notes:
    print(*sys.argv[1:], file=notes)
    print(*os.environ.values(), file=notes)
sys.exit({ends})
"""


@dataclass
class Machine:
    """A runner's folders and what lies on its PATH."""

    folder: Path

    @property
    def path(self) -> Path:
        """The folder of programs."""
        return self.folder / "bin"

    @property
    def environments(self) -> Path:
        """Where private environments are kept."""
        return self.folder / "tool cache/touchstone/environments"

    @property
    def kept(self) -> list[Path]:
        """What lies there."""
        return sorted(self.environments.iterdir()) if self.environments.is_dir() else []

    def program(self, name: str, text: str) -> None:
        """Put a program on PATH."""
        self.path.mkdir(parents=True, exist_ok=True)
        file = self.path / name
        file.write_text(text)
        file.chmod(0o755)

    def python(self, name: str = "python3.12", *, pip_ends: int = 0) -> None:
        """A Python that fits."""
        module = self.folder / "pip"
        module.mkdir()
        (module / "__init__.py").touch()
        (module / "__main__.py").write_text(PIP.format(notes=str(self.folder / "pip-notes"), ends=pip_ends))
        text = PYTHON.format(
            python=sys.executable, packages=sysconfig.get_paths()["purelib"], folder=self.folder
        )
        self.program(name, text)

    def run(self, **env: str) -> Ended:
        """Run the script as a step does."""
        for name in ("output", "summary"):
            (self.folder / name).write_text("")
        workspace = self.folder / "work space"
        workspace.mkdir(exist_ok=True)
        told = {
            "PATH": f"{self.path}:{self.folder / 'tools'}",
            "HOME": str(self.folder),
            "GITHUB_TOKEN": TOKEN,
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_EVENT_NAME": "pull_request_target",
            "RUNNER_TOOL_CACHE": str(self.folder / "tool cache"),
        }
        done = subprocess.run(
            ["bash", str(SCRIPT)],
            cwd=workspace,
            env=told | env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return Ended(
            done.returncode,
            done.stdout,
            done.stderr,
            (self.folder / "output").read_text(),
            (self.folder / "summary").read_text(),
        )


@dataclass
class Ended:
    """How a step ended."""

    code: int
    out: str
    err: str
    output: str
    summary: str

    @property
    def reached_touchstone(self) -> bool:
        """Whether touchstone itself had the last word; it refuses the event it is given here."""
        return self.code == 4 and "pull_request_target" in self.summary.replace("\\", "")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A runner with the tools every system has, and no Python."""
    machine = Machine(tmp_path)
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in TOOLS:
        found = next(place for part in os.environ["PATH"].split(":") if (place := Path(part) / name).exists())
        (tools / name).symlink_to(found)
    return machine


def test_the_environment_is_built_once_from_the_lock_and_then_used_again(machine: Machine) -> None:
    machine.python()
    first = machine.run()
    assert first.reached_touchstone, first.err
    (environment,) = machine.kept
    version = re.search(r'"(.+)"', (ROOT / "touchstone/__init__.py").read_text().split("__version__")[1])
    assert version is not None
    assert environment.name.startswith(f"{version[1]}-")
    asked, seen = (machine.folder / "pip-notes").read_text().splitlines()
    assert "--require-hashes --only-binary :all:" in asked
    assert asked.endswith(f"-r {ROOT / 'requirements/action.lock'}")
    assert TOKEN not in seen  # no installer needs it
    second = machine.run()
    assert second.reached_touchstone
    assert "building" in first.err
    assert "building" not in second.err
    assert machine.kept == [environment]


def test_an_environment_whose_interpreter_is_gone_is_built_anew(machine: Machine) -> None:
    machine.python()
    machine.run()
    (environment,) = machine.kept
    (environment / "bin/python").unlink()
    assert machine.run().reached_touchstone
    assert machine.kept == [environment]
    assert (environment / "bin/python").exists()


def test_a_build_that_was_cut_off_leaves_nothing_that_is_used(machine: Machine) -> None:
    machine.python(pip_ends=1)
    ended = machine.run()
    assert (ended.code, machine.kept) == (4, [])
    assert "could not be installed" in ended.err
    assert set(plain(ended.output)) == OUTPUTS


def test_without_a_python_that_fits_the_remedy_is_named_and_outputs_stand(machine: Machine) -> None:
    machine.program("python3", "#!/bin/sh\nexit 1\n")
    ended = machine.run()
    assert ended.code == 4
    found = plain(ended.output)
    assert (found["exit-code"], found["verdict"]) == ("4", "refused")
    assert set(found) == OUTPUTS
    assert "brew install uv" in ended.err
    assert "no Python 3.11 or newer" in ended.summary
    assert ended.out.startswith("::error title=touchstone::no Python 3.11 or newer")


def test_the_python_that_is_named_is_the_one(machine: Machine) -> None:
    machine.python("mine")
    ended = machine.run(TOUCHSTONE_INPUT_PYTHON=str(machine.path / "mine"))
    assert ended.reached_touchstone, ended.err


@pytest.mark.parametrize("name", ["/no/such/python", "$(touch owned)", "a b", "-c"])
def test_a_named_python_that_does_not_fit_is_refused_though_another_does(machine: Machine, name: str) -> None:
    machine.python()
    ended = machine.run(TOUCHSTONE_INPUT_PYTHON=name)
    assert ended.code == 4
    assert "the input python names no Python 3.11 or newer" in ended.err
    assert not list(machine.folder.rglob("owned"))


def test_uv_goes_before_and_what_it_cannot_do_python_does(machine: Machine) -> None:
    machine.python()
    machine.program("uv", f"#!/bin/sh\necho \"$PWD $*\" >> '{machine.folder}/uv-asked'\nexit 1\n")
    ended = machine.run()
    assert ended.reached_touchstone, ended.err
    (asked,) = (machine.folder / "uv-asked").read_text().splitlines()
    assert " venv " in asked
    # Installers read settings where they stand; that must not be the checkout.
    assert asked.startswith(str(machine.environments))


def test_nothing_in_the_checkout_stands_in_for_a_module(machine: Machine) -> None:
    machine.python()
    workspace = machine.folder / "work space"
    for name in ("touchstone", "click", "yaml", "pip", "venv", "sitecustomize"):
        (workspace / name).mkdir(parents=True)
        (workspace / name / "__init__.py").write_text("open('owned', 'w')\n")
        (workspace / name / "__main__.py").write_text("open('owned', 'w')\n")
    ended = machine.run(PYTHONPATH=str(workspace))
    assert ended.reached_touchstone, ended.err
    assert not list(machine.folder.rglob("owned"))


def test_old_environments_go_after_two_months(machine: Machine) -> None:
    machine.python()
    machine.environments.mkdir(parents=True)
    for name, days in (("old", 70), ("recent", 10)):
        folder = machine.environments / name
        folder.mkdir()
        os.utime(folder, (folder.stat().st_mtime - days * 86_400,) * 2)
    machine.run()
    assert {path.name for path in machine.kept} & {"old", "recent"} == {"recent"}


def test_the_script_keeps_to_what_bash_3_2_understands() -> None:
    text = SCRIPT.read_text()
    newer = r"declare -[Ag]|local -n|mapfile|readarray|coproc|\$\{\w+(,,|\^\^|@[A-Za-z])|&>>|\|&|\[\[ -v|;;&"
    assert re.search(newer, text) is None
    arrays = r"\w+=\(|\$\{\w+\[@\]"  # an empty one is an error there under `set -u`
    assert re.search(arrays, text) is None
    assert re.search(r"\beval\b|\bsource\b", text) is None


@pytest.mark.parametrize(
    "tool", ["readlink -f", "realpath", "mktemp --", "mv -T", "sed -i", "stat -c", "date -d"]
)
def test_and_to_what_a_mac_has(tool: str) -> None:
    assert tool not in SCRIPT.read_text()


def test_the_lock_pins_what_touchstone_runs_with_as_the_developers_lock_does() -> None:
    wanted, ours = (pins(ROOT / "requirements" / name) for name in ("dev.lock", "action.lock"))
    text = (ROOT / "pyproject.toml").read_text()
    needed = re.findall(
        r'^  "([a-z0-9-]+)[><=]', text.split("dependencies = [")[1].split("]")[0], re.MULTILINE
    )
    assert len(needed) >= 8
    assert set(needed) <= set(ours)
    assert {name: wanted[name] for name in ours} == ours
    assert {"pytest", "mypy", "xllamacpp"} & set(ours) == set()


def pins(path: Path) -> dict[str, str]:
    """Package → version."""
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", path.read_text(), re.MULTILINE))


def plain(text: str) -> dict[str, str]:
    """The script's own outputs are words without lines: `name=value`."""
    assert "<<" not in text
    return dict(line.split("=", 1) for line in text.splitlines())
