"""Are the tutorial and other guides true? Whoever does what they say sees what they show."""

from pathlib import Path

import pytest

from transcript import abridged, alike, play, steps

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"


def test_the_tutorial_shows_what_happens(tmp_path: Path) -> None:
    assert play(TUTORIAL, tmp_path) == []


def test_the_guide_to_measurements_shows_what_happens(tmp_path: Path) -> None:
    assert play(TUTORIAL.with_name("import.md"), tmp_path) == []


def test_the_tutorial_goes_all_the_way() -> None:
    commands = " ".join(step.command for step in steps(TUTORIAL.read_text(encoding="utf-8")))
    for verb in ("new", "check", "explain", "run", "compare", "parts", "calc", "validate"):
        assert f"lanetwin {verb} " in commands, verb


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a"], ["a", "b"], False),
        (["a", "b"], ["a"], False),
        (["a", "…"], ["a", "b", "c"], True),
        (["…", "c"], ["a", "b"], False),
        (["run-…/x"], ["run-12/x"], True),
        (["run-…/x"], ["run-12/y"], False),
        (["1.0 (…)"], ["1x0 (2)"], False),
    ],
)
def test_an_ellipsis_hides_only_what_it_stands_for(shown: list[str], printed: list[str], same: bool) -> None:
    assert alike(shown, printed) is same


def test_a_page_is_mended_as_short_as_it_was() -> None:
    printed = ["head", "one", "two", "three", "in 0123456789abcdef"]
    mended = abridged(["old", "…", "tail"], printed)
    assert mended == ["head", "…", "in …"]
    assert alike(mended, printed)


def test_a_lie_is_found_and_mended_on_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ACCEPT", raising=False)
    page = tmp_path / "page.md"
    page.write_text("```yaml x.txt\nfirst\n```\n\n```console exit=1\n$ cat x.txt; false\nsecond\n```\n")
    assert play(page, tmp_path) == ["line 6: `cat x.txt; false` prints\nfirst"]
    monkeypatch.setenv("ACCEPT", "1")
    assert play(page, tmp_path) == []
    monkeypatch.delenv("ACCEPT")
    assert play(page, tmp_path) == []
    assert "\nfirst\n```\n" in page.read_text()
