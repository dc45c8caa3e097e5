"""The scripts of continuous integration tell what each step took, and what changed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import guest

CI = Path(__file__).parents[2] / ".ci"
MAKEFILE = """
quick slow:
\t@echo made $@
broken:
\t@echo made $@; exit 7
hanging:
\t@sleep 60
all-three:
\t@.ci/steps quick broken slow
"""


@pytest.fixture(name="tree")
def tree_fixture(tmp_path: Path) -> Path:
    """Make a repository with the scripts: two commits, two days apart; the second changes `b/file`."""
    shutil.copytree(CI, tmp_path / ".ci")
    (tmp_path / "Makefile").write_text(MAKEFILE, encoding="utf-8")
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file").write_text("first", encoding="utf-8")
    git(tmp_path, "init", "--quiet")
    commit(tmp_path, day=1)
    (tmp_path / "b" / "file").write_text("second", encoding="utf-8")
    commit(tmp_path, day=3)
    return tmp_path


def commit(tree: Path, day: int) -> None:
    git(tree, "add", "--all")
    author = ["-c", "user.name=n", "-c", "user.email=e@e"]
    when = f"2026-01-{day:02}T12:00:00Z"
    git(tree, *author, "commit", "--quiet", "--message", "state", GIT_COMMITTER_DATE=when)


def git(tree: Path, *arguments: str, **environment: str) -> str:
    return subprocess.run(
        ["git", *arguments],
        cwd=tree,
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


def changed(tree: Path, *paths: str, base: str = "") -> bool:
    environment = os.environ | ({"CI_BASE": base} if base else {})
    if not base:
        environment.pop("CI_BASE", None)
    return subprocess.run([".ci/changed", *paths], cwd=tree, env=environment, check=False).returncode == 0


def steps(tree: Path, *verbs: str, limit_s: int = 60) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("STEPS_", "MAKE"))
    }
    return subprocess.run(
        ["timeout", str(limit_s), ".ci/steps", *verbs],
        cwd=tree,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )


def table(said: str) -> list[list[str]]:
    return [line.split() for line in said.split("CPU seconds\n", 1)[1].splitlines()]


def test_every_step_has_a_line_with_its_times(tree: Path) -> None:
    done = steps(tree, "quick", "slow")
    assert (done.returncode, done.stdout) == (0, "made quick\nmade slow\n")
    assert [line[0] for line in table(done.stderr)] == ["quick", "slow", "all"]
    assert all(int(number) >= 0 for line in table(done.stderr) for number in line[1:])


def test_a_step_that_fails_ends_all_and_is_named_in_the_table(tree: Path) -> None:
    done = steps(tree, "quick", "broken", "slow")
    assert done.returncode == 2  # what make says of a recipe that failed
    assert "made slow" not in done.stdout
    assert [(line[0], line[-1] == "failed") for line in table(done.stderr)] == [
        ("quick", False), ("broken", True), ("all", False),
    ]  # fmt: skip


def test_steps_within_a_step_are_lines_of_one_table(tree: Path) -> None:
    done = steps(tree, "slow", "all-three")
    assert done.returncode == 2
    assert done.stderr.count("CPU seconds") == 1
    assert [line[0] for line in table(done.stderr)] == ["slow", "quick", "broken", "all"]


def test_a_run_that_is_ended_says_where_it_was(tree: Path) -> None:
    done = steps(tree, "quick", "hanging", limit_s=2)
    assert done.returncode == 124  # what timeout says of a command that it has ended
    assert [line[0] for line in table(done.stderr)] == ["quick", "hanging", "all"]


CARGO = """#!/usr/bin/env bash
# stands in for cargo: builds two programs of tests and another, and has examples in its documentation
here=$(cd "$(dirname "$0")" && pwd)
built() {
  printf '{"executable": "%s", "profile": {"test": %s}, ' "$here/$1" "$2"
  printf '"manifest_path": "%s", "target": {"name": "%s"}}\\n' "$here/some/crate/Cargo.toml" "$1"
}
if [[ " $* " == *" --doc "* ]]; then
  echo "test result: ok. 3 passed; 0 failed"
elif [[ " $* " == *" --no-run "* ]]; then
  [[ " $* " != *" --broken "* ]] || exit 101
  built quick true; built failing true; built other false
  echo '{"reason": "build-finished"}'
fi
"""
QUICK = """#!/usr/bin/env bash
[ "$(basename "$PWD")" = crate ] && [ "$*" = "--skip nightly::" ] || exit
echo "test result: ok. 2 passed; 0 failed"
"""
FAILING = """#!/usr/bin/env bash
echo "assertion failed: the reason"; exit 101
"""


def programs(tree: Path, *arguments: str, failing: str = QUICK) -> subprocess.CompletedProcess[str]:
    (tree / "some" / "crate").mkdir(parents=True)
    for name, text in {"cargo": CARGO, "quick": QUICK, "failing": failing}.items():
        (tree / name).write_text(text, encoding="utf-8")
        (tree / name).chmod(0o755)
    return subprocess.run(
        [".ci/test-rust", *arguments, "--", "--skip", "nightly::"],
        cwd=tree,
        env=os.environ | {"PATH": f"{tree}:{os.environ['PATH']}"},
        check=False,
        capture_output=True,
        text=True,
    )


def test_programs_of_tests_all_run_and_are_told(tree: Path) -> None:
    done = programs(tree)
    assert (done.returncode, done.stderr) == (0, "")
    # seconds by the clock, and those of a processor
    told = sorted(line.rsplit(",", 2)[0] for line in done.stdout.splitlines())
    assert all(re.search(r", \d+\.\d s, \d+\.\d CPU s$", line) for line in done.stdout.splitlines())
    assert told == ["crate failing: ok, 2 passed", "crate quick: ok, 2 passed", "documentation: ok, 3 passed"]


def test_a_program_that_fails_shows_why_and_the_others_run(tree: Path) -> None:
    done = programs(tree, failing=FAILING)
    assert done.returncode == 1
    assert "assertion failed: the reason" in done.stdout
    assert "crate quick: ok, 2 passed" in done.stdout
    assert done.stderr == "1 of 3 programs failed: crate failing\n"


def test_what_does_not_build_runs_nothing(tree: Path) -> None:
    done = programs(tree, "--broken")
    assert (done.returncode, done.stdout) == (101, "")


SAYS = """#!/usr/bin/env bash
echo "$(basename "$0") $*"
"""


@pytest.mark.parametrize(
    ("arguments", "compiler", "added"),
    [
        ("-vV", "rustc", ""),
        ("--crate-name lanetwin_phy crates/phy/src/lib.rs --crate-type lib", "rustc", " -D warnings"),
        ("--crate-name lanetwin_phy crates/phy/src/lib.rs --test", "clippy-driver", " -C opt-level=0"),
        ("--crate-name subjects crates/world/tests/main.rs --test", "clippy-driver", ""),
        ("--crate-name requests crates/media/benches/requests.rs", "clippy-driver", " -C opt-level=0"),
        ("--crate-name _core crates/py/src/lib.rs --crate-type cdylib", "clippy-driver", ""),
        ("--crate-name build_script_build crates/plan/build.rs", "clippy-driver", ""),
    ],
)
def test_all_but_libraries_is_linted_as_it_is_compiled(
    tree: Path, arguments: str, compiler: str, added: str
) -> None:
    for name in ("rustc", "clippy-driver"):
        (tree / name).write_text(SAYS, encoding="utf-8")
        (tree / name).chmod(0o755)
    done = subprocess.run(
        [".ci/rustc", str(tree / "rustc"), *arguments.split()],
        cwd=tree,
        env=os.environ | {"PATH": f"{tree}:{os.environ['PATH']}"},
        check=True,
        capture_output=True,
        text=True,
    )
    named = f"{tree / 'rustc'} " if compiler == "clippy-driver" else ""
    assert done.stdout == f"{compiler} {named}{arguments}{added}\n"


def test_what_changed_within_a_day_is_changed(tree: Path) -> None:
    assert changed(tree, "b")
    assert changed(tree, "a", "b")
    assert not changed(tree, "a")


def test_all_commits_of_a_day_count(tree: Path) -> None:
    (tree / "a" / "file").write_text("third", encoding="utf-8")
    commit(tree, day=3)
    assert changed(tree, "a")
    assert changed(tree, "b")


def test_a_base_reaches_further_back(tree: Path) -> None:
    (tree / "a" / "file").write_text("third", encoding="utf-8")
    commit(tree, day=5)
    assert not changed(tree, "b")
    assert changed(tree, "b", base=git(tree, "rev-parse", "HEAD~2"))


def test_what_is_not_committed_is_changed(tree: Path) -> None:
    (tree / "a" / "new").write_text("new", encoding="utf-8")
    assert changed(tree, "a")
    git(tree, "add", "--all")
    assert changed(tree, "a")


def guests(tree: Path, *arguments: str) -> list[str]:
    environment = os.environ.copy()
    environment.pop("CI_BASE", None)
    done = subprocess.run(
        [".ci/guests", *arguments], cwd=tree, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.split()


def test_a_guest_runs_if_something_changed_that_it_is_about(tree: Path) -> None:
    lines = "# guests\nevery .ci/guests\n\none a\ntwo a\ntwo b\nthree b\n"
    (tree / ".ci" / "guests.list").write_text(lines, encoding="utf-8")
    assert guests(tree) == ["two", "three"]
    assert guests(tree, "all") == ["one", "two", "three"]
    with (tree / ".ci" / "guests").open("a", encoding="utf-8") as script:
        script.write("# changed\n")
    assert guests(tree) == ["one", "two", "three"]


def test_every_guest_has_a_line_and_what_it_is_about_exists() -> None:
    lines = (CI / "guests.list").read_text(encoding="utf-8").splitlines()
    words = [line.split() for line in lines if line and not line.startswith("#")]
    assert [path for _, *paths in words for path in paths if not (CI.parent / path).exists()] == []
    booting = {
        path.stem.removeprefix("test_")
        for path in Path(__file__).parent.glob("test_*.py")
        if re.search(r"^from guest import .*\brequire_guest\b", path.read_text(encoding="utf-8"), re.M)
    }
    assert {name for name, *_ in words} == booting | {"every", "probe"}


def test_a_guest_that_is_not_named_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANETWIN_GUESTS", "vfio_user")
    with pytest.raises(pytest.skip.Exception, match="does not name ci"):
        guest.require_guest()
    monkeypatch.setenv("LANETWIN_GUESTS", "vfio_user ci")
    monkeypatch.delenv("LANETWIN_GUEST_KERNEL", raising=False)
    monkeypatch.setenv("REQUIRE", "qemu-system-x86_64 busybox guest-kernel")
    monkeypatch.setattr(guest, "require_tool", str)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    with pytest.raises(pytest.fail.Exception, match="names no kernel"):
        guest.require_guest()


def test_what_cannot_be_known_is_changed(tree: Path) -> None:
    assert changed(tree, "a", base="no-such-commit")
    assert changed(tree, "no/such/path")
    git(tree, "checkout", "--quiet", "HEAD^")  # nothing is older than the first commit
    assert changed(tree, "a")
