"""A cluster that fails in every way: the run ends right, or in one line, and is resumed."""

import re
import threading
import time
from contextlib import contextmanager

import pytest

from microagg import protect_dataset
from microagg.core.errors import MicroaggError, ParameterError
from microagg.scale.storage.work import UnfinishedError
from microagg.scale.tasks import engines
from tests.scale.cluster import Cluster, wait_for
from tests.scale.datasets import ROLES, digests, people, write_files

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow

ASKED = {"k": 4, "method": "mdav", **ROLES}
OTHER_VERSION = "import microagg\nmicroagg.__version__ = '99.0'\n"


@pytest.fixture
def cluster(tmp_path):
    (tmp_path / "cluster").mkdir()
    own = Cluster(tmp_path / "cluster")
    yield own
    own.close()


@pytest.fixture
def client(cluster):
    with distributed.Client(scheduler_file=str(cluster.file), timeout=20) as own:
        yield own


@pytest.fixture
def source(tmp_path):
    return write_files(people(3_000), tmp_path / "in", (250, 900, 1_800))


@pytest.fixture
def expected(source, tmp_path):
    protect_dataset(source, tmp_path / "expected", **ASKED)
    return digests(tmp_path / "expected")


def test_relative_paths(client, cluster, source, expected, tmp_path, monkeypatch):
    """Workers were started in another folder."""
    cluster.add()
    client.wait_for_workers(2)
    monkeypatch.chdir(tmp_path)
    protect_dataset(source.name, "out", engine=client, **ASKED)
    assert digests(tmp_path / "out") == expected


@contextmanager
def in_the_meantime(tmp_path, then):
    """Do something once the first regions are grouped."""
    begun = tmp_path / ".out.microagg-work" / "round1" / "0000001.result"

    def act() -> None:
        wait_for(begun.exists)
        then()

    thread = threading.Thread(target=act)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def is_one_line(error: BaseException) -> bool:
    return "\n" not in str(error) and "Traceback" not in str(error)


def test_all_workers_lost_for_a_while(cluster, client, source, expected, tmp_path):
    cluster.add()
    client.wait_for_workers(2, timeout=60)

    def lose() -> None:
        cluster.kill_workers()
        time.sleep(2.0)
        cluster.add()

    with in_the_meantime(tmp_path, lose):
        protect_dataset(source, tmp_path / "out", engine=client, **ASKED)
    assert digests(tmp_path / "out") == expected
    assert not list(tmp_path.glob(".out*"))


def test_all_workers_lost_for_good(cluster, client, source, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "PATIENCE", 4.0)
    cluster.add()
    client.wait_for_workers(2, timeout=60)
    began = time.monotonic()
    with (
        in_the_meantime(tmp_path, cluster.kill_workers),
        pytest.raises(UnfinishedError, match=r"no worker for 4 seconds.*--resume") as error,
    ):
        protect_dataset(source, tmp_path / "out", engine=client, **ASKED)
    assert is_one_line(error.value)
    assert time.monotonic() - began < 120
    assert not (tmp_path / "out").exists()
    protect_dataset(source, tmp_path / "out", resume=True, **ASKED)
    assert digests(tmp_path / "out") == expected


def test_a_cluster_without_workers(client, source, tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "PATIENCE", 2.0)
    with pytest.raises(UnfinishedError, match="no worker for 2 seconds"):
        protect_dataset(source, tmp_path / "out", engine=client, **ASKED)
    assert not (tmp_path / "out").exists()


def test_the_scheduler_is_killed(cluster, client, source, expected, tmp_path):
    cluster.add()
    client.wait_for_workers(2, timeout=60)
    began = time.monotonic()
    with (
        in_the_meantime(tmp_path, cluster.kill_scheduler),
        pytest.raises(MicroaggError, match="--resume") as error,
    ):
        protect_dataset(source, tmp_path / "out", engine=client, **ASKED)
    assert is_one_line(error.value)
    assert time.monotonic() - began < 180
    assert not (tmp_path / "out").exists()
    protect_dataset(source, tmp_path / "out", resume=True, **ASKED)
    assert digests(tmp_path / "out") == expected


class TestVersions:
    def test_refused_before_any_work(self, cluster, client, source, tmp_path):
        cluster.add(1)
        cluster.add(1, preload=OTHER_VERSION)
        client.wait_for_workers(2, timeout=60)
        with pytest.raises(ParameterError, match=r"worker tcp://127\S+ has microagg 99.0 instead"):
            protect_dataset(source, tmp_path / "out", engine=client, **ASKED)
        assert not list(tmp_path.glob("*out*"))

    def test_a_worker_that_joins_later(self, cluster, client, source, expected, tmp_path):
        cluster.add(1)
        client.wait_for_workers(1, timeout=60)

        def change() -> None:
            cluster.kill_workers()
            cluster.add(1, preload=OTHER_VERSION)

        with (
            in_the_meantime(tmp_path, change),
            pytest.raises(UnfinishedError, match=r"a worker has microagg 99.0.*--resume") as error,
        ):
            protect_dataset(source, tmp_path / "out", engine=client, **ASKED)
        assert is_one_line(error.value)
        assert not (tmp_path / "out").exists()
        protect_dataset(source, tmp_path / "out", resume=True, **ASKED)
        assert digests(tmp_path / "out") == expected

    def test_a_worker_without_microagg(self, cluster, client, source, tmp_path):
        cluster.add(1, preload="import sys\nsys.modules['microagg'] = None\n")
        client.wait_for_workers(1, timeout=60)
        with pytest.raises(ParameterError, match="cannot run microagg") as error:
            protect_dataset(source, tmp_path / "out", engine=client, **ASKED)
        assert re.search("Install the same versions", str(error.value))
