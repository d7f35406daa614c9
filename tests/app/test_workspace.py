"""The private folder of an app, and the list of recent files."""

import json
import os
import stat
import subprocess
import sys

import pytest

from microagg.app.workspace import Workspace
from microagg.core.errors import ParameterError


@pytest.fixture
def places(tmp_path):
    return tmp_path / "cache", tmp_path / "state"


def apps_in(parent):
    return [path for path in parent.glob("app-*") if path.is_dir()]


def test_only_the_owner_may_look_and_nothing_is_left(places):
    parent, _ = places
    with Workspace(*places) as workspace:
        folders = [workspace.folder, workspace.dropped, workspace.job_folder()]
        assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o700}
        (workspace.dropped / "people.csv").write_text("name\nA\n")
    assert apps_in(parent) == []


def test_two_apps_have_a_folder_each(places):
    parent, _ = places
    with Workspace(*places) as one, Workspace(*places) as other:
        assert set(apps_in(parent)) == {one.folder, other.folder}


def test_what_a_killed_app_left_is_removed(places):
    parent, state = places
    code = (
        "import os, pathlib, signal; from microagg.app.workspace import Workspace\n"
        f"w = Workspace(pathlib.Path({str(parent)!r}), pathlib.Path({str(state)!r}))\n"
        "(w.dropped / 'people.csv').write_text('x')\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode < 0
    assert len(apps_in(parent)) == 1
    with Workspace(*places) as workspace:
        assert apps_in(parent) == [workspace.folder]


def test_a_link_to_somewhere_else_is_not_followed(places, tmp_path):
    parent, _ = places
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    parent.mkdir()
    (parent / "app-link").symlink_to(elsewhere)
    with Workspace(*places):
        assert (elsewhere / "kept").exists()


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "cache").touch()
    with pytest.raises(ParameterError, match=r"cannot be made: .*XDG_CACHE_HOME"):
        Workspace(tmp_path / "cache")


def test_recent_files_are_paths_and_private(places, tmp_path):
    _, state = places
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    for path in (first, second):
        path.touch()
    with Workspace(*places) as workspace:
        for path in (first, second, first):
            workspace.remember(path)
        assert workspace.recent() == [first, second]
    listed = state / "recent.json"
    assert json.loads(listed.read_text()) == [str(first), str(second)]
    assert stat.S_IMODE(listed.stat().st_mode) == 0o600
    second.unlink()
    with Workspace(*places) as workspace:
        assert workspace.recent() == [first]
        workspace.forget_recent()
        assert workspace.recent() == []


@pytest.mark.parametrize("text", ["", "{", "{}", "[1, null]", '["' + "x" * 5000 + '"]'])
def test_a_damaged_list_is_an_empty_one(places, text):
    _, state = places
    state.mkdir()
    (state / "recent.json").write_text(text)
    with Workspace(*places) as workspace:
        assert workspace.recent() == []


def test_dropped_files_keep_their_name_and_are_not_remembered(places, tmp_path):
    with Workspace(*places) as workspace:
        uploaded = workspace.dropped / "0.csv"
        uploaded.write_text("a\n1\n")
        kept = workspace.keep(uploaded, "../../people of 2024.csv")
        assert kept.name == "people of 2024.csv"
        assert not list(tmp_path.glob("people*"))
        assert kept.is_relative_to(workspace.dropped)
        assert not uploaded.exists()
        workspace.remember(kept)
        assert workspace.recent() == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("..", "table.csv"),
        ("", "table.csv"),
        ("C:\\data\\größe.csv", "größe.csv"),
        ("a\0b\n<script>.csv", "a_b__script_.csv"),
        (".hidden.csv", "hidden.csv"),
    ],
)
def test_odd_names_become_plain_ones(places, name, expected):
    with Workspace(*places) as workspace:
        (workspace.dropped / "0.csv").touch()
        kept = workspace.keep(workspace.dropped / "0.csv", name)
        assert kept.name == expected
        assert kept.parent.parent == workspace.dropped


def test_nothing_is_moved_that_was_not_dropped(places, tmp_path):
    (tmp_path / "people.csv").touch()
    with Workspace(*places) as workspace:
        (workspace.dropped / "link.csv").symlink_to(tmp_path / "people.csv")
        for other in (tmp_path / "people.csv", workspace.dropped / "link.csv", workspace.folder):
            with pytest.raises(ParameterError, match="was not dropped on the page"):
                workspace.keep(other, "people.csv")
    assert (tmp_path / "people.csv").exists()


def test_a_list_that_cannot_be_written_does_not_matter(places, tmp_path):
    _, state = places
    state.touch()
    (tmp_path / "a.csv").touch()
    with Workspace(*places) as workspace:
        workspace.remember(tmp_path / "a.csv")
        assert workspace.recent() == []


def test_the_folder_of_others_is_left_alone(places):
    parent, _ = places
    parent.mkdir()
    (parent / "app-file").write_text("not a folder")
    (parent / "kernels").mkdir()
    with Workspace(*places):
        pass
    assert {path.name for path in parent.iterdir()} >= {"app-file", "kernels"}
    assert os.listdir(parent / "kernels") == []
