from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.kit import builders
from touchstone.errors import BadInputError, NotJudgedError
from touchstone.files import digest_of
from touchstone.run.bundle import Bundle, read_manifest
from touchstone.run.records import EvalResponse, Manifest, SampleKey

SUITE = builders.checks_suite(["A1", "A2"], variants={"none": None, "house": "Be brief."})


@pytest.fixture
def asked() -> Manifest:
    return builders.manifest(SUITE)


@pytest.fixture
def bundle(tmp_path: Path, asked: Manifest) -> Bundle:
    return Bundle.create(tmp_path / "runs", asked)


def line(response: EvalResponse) -> str:
    return json.dumps(response.to_json()) + "\n"


def good(key: SampleKey, text: str = "yes") -> EvalResponse:
    return builders.response(key, text)


def failed(key: SampleKey) -> EvalResponse:
    return builders.response(key, "", status="error")


def test_a_manifest_reads_back_as_it_was_written(bundle: Bundle, asked: Manifest) -> None:
    assert Bundle(bundle.path).manifest == asked
    assert bundle.path.name == asked.id


def test_the_runs_folder_is_ignored_by_git(bundle: Bundle) -> None:
    assert (bundle.path.parent / ".gitignore").read_text() == "*\n"


def test_samples_stand_in_declared_order(bundle: Bundle) -> None:
    assert [key[1:4] for key in bundle.samples()] == [
        ("none", "A1", 1), ("none", "A2", 1), ("house", "A1", 1), ("house", "A2", 1),
    ]  # fmt: skip


def test_open_is_planned_minus_good(bundle: Bundle) -> None:
    first, second, third, fourth = bundle.samples()
    bundle.responses_path.write_text(line(good(third)) + line(failed(first)))
    assert bundle.open_samples() == [first, second, fourth]


def test_an_error_followed_by_a_good_record_is_normal(bundle: Bundle) -> None:
    first = bundle.samples()[0]
    bundle.responses_path.write_text(line(failed(first)) + line(good(first)))
    assert bundle.responses()[first].is_good


def test_two_good_records_are_refused_with_both_lines(bundle: Bundle) -> None:
    first, second, *_ = bundle.samples()
    bundle.responses_path.write_text(line(good(first)) + line(good(second)) + line(good(first, "no")))
    with pytest.raises(BadInputError) as caught:
        bundle.responses()
    assert caught.value.message.startswith(f"{bundle.responses_path}:3:")
    assert "line 1" in caught.value.message


def test_a_sample_nobody_planned_is_refused_with_its_line(bundle: Bundle) -> None:
    stranger = SampleKey("other", "none", "A1", 1, 0)
    bundle.responses_path.write_text(line(good(bundle.samples()[0])) + line(good(stranger)))
    with pytest.raises(BadInputError, match=r"responses\.jsonl:2: .*not in this run's plan"):
        bundle.responses()


def test_a_confirming_draw_lies_in_the_same_bundle(bundle: Bundle) -> None:
    first = bundle.samples()[0]
    again = first._replace(draw=11)
    bundle.responses_path.write_text(line(good(first)) + line(good(again, "no")))
    assert bundle.responses()[again].response_text == "no"


@pytest.mark.parametrize(
    ("middle", "said"),
    [
        ("{not json}", "not a JSON record"),
        ('{"model": "m"}', "not a response"),
        ('{"model": "m", "model": "n"}', "stands twice"),
        ('{"x": NaN}', "NaN is not JSON"),
    ],
)
def test_a_bad_line_in_the_middle_names_file_and_line(bundle: Bundle, middle: str, said: str) -> None:
    first, second, *_ = bundle.samples()
    bundle.responses_path.write_text(line(good(first)) + middle + "\n" + line(good(second)))
    with pytest.raises(BadInputError) as caught:
        bundle.responses()
    assert f"{bundle.responses_path}:2: " in caught.value.message
    assert said in caught.value.message


def test_a_torn_last_line_is_asked_again_and_kept_aside(bundle: Bundle) -> None:
    first, second, *_ = bundle.samples()
    torn = line(good(second))[:40]
    bundle.responses_path.write_text(line(good(first)) + torn)
    assert second in bundle.open_samples()
    with bundle.response_lines() as lines:
        lines.append(good(second).to_json())
    assert set(bundle.responses()) == {first, second}
    assert bundle.responses_path.with_name("responses.jsonl.torn").read_text() == torn + "\n"


def test_an_edited_manifest_is_refused(bundle: Bundle) -> None:
    path = bundle.path / "manifest.json"
    path.write_text(path.read_text().replace("Be brief.", "Be long."))
    with pytest.raises(BadInputError, match="edited after the run started"):
        read_manifest(path)


def test_a_field_a_later_version_adds_is_no_edit(bundle: Bundle, asked: Manifest) -> None:
    path = bundle.path / "manifest.json"
    fields = json.loads(path.read_text())
    del fields["from_baseline"], fields["digest"]
    path.write_text(json.dumps(fields | {"digest": digest_of(fields)}))
    assert read_manifest(path).model_copy(update={"digest": asked.digest}) == asked


def test_a_newer_manifest_gets_one_clear_sentence(bundle: Bundle) -> None:
    path = bundle.path / "manifest.json"
    path.write_text(path.read_text().replace('"schema_version": 1', '"schema_version": 7'))
    with pytest.raises(BadInputError, match=r"schema 7 is newer than this touchstone reads \(1\)"):
        read_manifest(path)


def test_a_folder_that_is_no_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="not a run"):
        Bundle(tmp_path).samples()


def test_a_second_process_is_kept_off(bundle: Bundle) -> None:
    with bundle.lock(), pytest.raises(NotJudgedError, match="another touchstone process"), bundle.lock():
        pass
    with bundle.lock():
        pass
