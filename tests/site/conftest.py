"""The folder of samples, and the built site, each made once for all tests."""

import shutil
import warnings
from pathlib import Path

import pytest

from docs.builder import site, staging
from tests.site import samples


@pytest.fixture(scope="session")
def sample_files(tmp_path_factory) -> Path:
    """A folder with all files that pages name."""
    folder = tmp_path_factory.mktemp("samples")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        samples.write(folder)
    return folder


@pytest.fixture
def desk(sample_files, tmp_path, monkeypatch) -> Path:
    """A fresh copy of those files, as the current folder."""
    folder = tmp_path / "desk"
    shutil.copytree(sample_files, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")
    return folder


@pytest.fixture(scope="session")
def staged(tmp_path_factory) -> Path:
    """The Markdown of all pages, generated ones included."""
    folder = tmp_path_factory.mktemp("staged") / "docs"
    staging.stage(folder)
    return folder


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> Path:
    """The whole site; a warning of the builder is an error."""
    folder = tmp_path_factory.mktemp("built")
    site.build(folder / "work", folder / "site")
    return folder / "site"
