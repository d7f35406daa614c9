"""The same bytes wherever tasks run, and one clear line where they cannot."""

import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from microagg import protect_dataset
from microagg.core.errors import MicroaggError, ParameterError
from microagg.scale.steps import regions
from microagg.scale.tasks.engines import client_at
from tests.scale.datasets import ROLES, digests, people, write_files

ASKED = {"k": 4, "method": "mdav", **ROLES}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write_files(people(1_500), tmp_path_factory.mktemp("data") / "in", (250, 900))


@pytest.fixture
def expected(source, tmp_path):
    protect_dataset(source, tmp_path / "expected", **ASKED)
    return digests(tmp_path / "expected")


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_processes(source, expected, tmp_path):
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        protect_dataset(source, tmp_path / "out", engine=pool, **ASKED)
    assert digests(tmp_path / "out") == expected


class TestDask:
    def test_the_same_bytes(self, client, source, expected, tmp_path):
        protect_dataset(source, tmp_path / "out", engine=client, **ASKED)
        assert digests(tmp_path / "out") == expected

    def test_workers_that_are_killed(self, client, source, expected, tmp_path):
        ended = threading.Event()

        def kill() -> None:
            while not ended.wait(1.0):
                for pid in list(client.run(os.getpid, on_error="ignore").values())[:1]:
                    os.kill(pid, signal.SIGKILL)
                ended.wait(4.0)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            protect_dataset(source, tmp_path / "out", engine=client, **ASKED)
        finally:
            ended.set()
            killer.join()
        assert digests(tmp_path / "out") == expected

    def test_a_task_that_always_fails(self, client, source, tmp_path, monkeypatch):
        monkeypatch.setattr("microagg.scale.driving.find_statistics", _fail)
        with pytest.raises(MicroaggError, match=r"ZeroDivisionError.*--resume"):
            protect_dataset(source, tmp_path / "out", engine=client, **ASKED)
        assert not (tmp_path / "out").exists()

    def test_bad_data_are_refused_as_elsewhere(self, client, source, tmp_path):
        with pytest.raises(ParameterError, match="no groups can meet"):
            protect_dataset(
                source, tmp_path / "out", engine=client, l_diversity={"disease": 9}, **ASKED
            )
        assert not list(tmp_path.glob(".*"))

    def test_the_command_line_takes_a_scheduler(self, client, source, expected, tmp_path):
        from microagg.cli.main import main

        address = client.scheduler.address
        asked = ["-k", "4", "--method", "mdav", "--identifier", "id", "--sensitive", "disease"]
        asked += ["--quasi-identifier", "job", "--scheduler", address, "--quiet"]
        with pytest.raises(SystemExit) as leaving:
            main(["protect", str(source), "-o", str(tmp_path / "out"), *asked])
        assert leaving.value.code == 0
        assert digests(tmp_path / "out") == expected


def test_a_scheduler_that_goes_away(source, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
    )

    def close(*_):
        cluster.close()
        return 0

    monkeypatch.setattr("microagg.scale.driving.check_names", close)
    with distributed.Client(cluster, timeout=5) as client:
        began = time.monotonic()
        with pytest.raises(MicroaggError, match="--resume"):
            protect_dataset(source, tmp_path / "out", engine=client, **ASKED)
        assert time.monotonic() - began < 120
    assert not (tmp_path / "out").exists()


def test_no_scheduler():
    pytest.importorskip("distributed")
    with pytest.raises(ParameterError, match="no Dask scheduler answers"):
        client_at("tcp://127.0.0.1:9")


def _fail(*_):
    return 1 // 0


def test_tasks_can_be_sent():
    import pickle

    assert pickle.loads(pickle.dumps(regions.work_on_region)) is regions.work_on_region
