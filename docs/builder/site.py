"""From the folder of pages to the site: everything that knows of Zensical."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import tomlkit

from docs.builder.errors import BuildError
from docs.builder.navigation import menu
from docs.builder.staging import DOCS, ROOT, stage

_SETTINGS = DOCS / "zensical.toml"


def build(work: Path, site: Path) -> None:
    """Build the site, by way of a work folder; a warning stops it, and leaves the old site."""
    settings = prepare(work)
    shutil.rmtree(work / "site", ignore_errors=True)
    done = subprocess.run(
        [*_zensical("build", settings), "--strict", "--clean"],
        capture_output=True,
        text=True,
        env=_environment(),
        check=False,
    )
    if done.returncode:
        said = done.stderr
        if "--strict flag" in said:  # the warnings are what is wrong, not how Zensical ended
            said = said.partition("Traceback")[0]
        raise BuildError(_plain(f"{done.stdout}\n{said}"))
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(work / "site", site)


def prepare(work: Path) -> Path:
    """Write all pages and the settings of Zensical into the work folder; return the settings."""
    work.mkdir(parents=True, exist_ok=True)
    stage(work / "docs")
    settings = tomlkit.parse(_SETTINGS.read_text("utf-8"))
    settings["project"].add("nav", menu(work / "docs"))
    target = work / "zensical.toml"
    target.write_text(tomlkit.dumps(settings), "utf-8")
    return target


def server(settings: Path, address: str) -> "subprocess.Popen[bytes]":
    """Start the server of a prepared work folder, which builds again what changes there."""
    return subprocess.Popen(
        [*_zensical("serve", settings), "--dev-addr", address], env=_environment()
    )


def _zensical(command: str, settings: Path) -> list[str]:
    return [sys.executable, "-m", "zensical", command, "--config-file", str(settings)]


def _environment() -> dict[str, str]:
    """Return one in which Zensical finds docs.builder.formulas."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def _plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text).strip()
