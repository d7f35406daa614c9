"""Pictures of the browser app, for the docs: every step, for desktop and phone, light and dark."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from microagg.app.samples import sample_path

SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
STEPS = ("data", "roles", "protect", "explore", "release")
_SECONDS_TO_RUN = 300_000  # milliseconds, as Playwright counts
ROLES = {"patient_5fid": "unit", "diagnosis": "sensitive"}


def app_pictures(images: Path, chromium: str) -> None:
    """Write docs/images/app-STEP-SIZE-THEME.png, from visits to a hospital."""
    with hospital() as source, running(source) as address, sync_playwright() as playwright:
        options = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        page = browser.new_page()
        page.goto(address)
        walk(page)
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            for size, (width, height) in SIZES.items():
                page.set_viewport_size({"width": width, "height": height})
                for step in STEPS:
                    page.click(f"#step-{step}")
                    page.wait_for_selector(f"#body > [data-step={step}]")
                    page.mouse.move(0, 0)
                    page.wait_for_timeout(500)
                    target = images / f"app-{step}-{size}-{theme}.png"
                    page.screenshot(path=target)
                    with Image.open(target) as shot:
                        shot.quantize(128).save(target, optimize=True)
        browser.close()


@contextmanager
def hospital() -> Iterator[Path]:
    """Write the sample of visits to a folder whose name may be seen in pictures."""
    folder = Path(tempfile.gettempdir()) / "hospital"
    folder.mkdir()
    try:
        yield sample_path("visits", folder).rename(folder / "visits.csv")
    finally:
        shutil.rmtree(folder)


@contextmanager
def running(source: Path) -> Iterator[str]:
    """Start the app on a file, with private folders of its own, and yield its address."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "XDG_CACHE_HOME": folder, "XDG_STATE_HOME": folder}
        command = [sys.executable, "-m", "microagg", "app", "--no-browser", str(source)]
        app = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env, cwd=folder)
        assert app.stderr is not None
        try:
            yield re.search(r"http://\S+", app.stderr.readline())[0]  # type: ignore[index]
        finally:
            app.terminate()
            app.wait()


def walk(page: Page) -> None:
    """Go the whole way, so that every step has something to show."""
    page.wait_for_selector("#card-described")
    page.click("#to-roles")
    page.click("#accept-all")
    page.wait_for_selector("#proposals", state="detached")
    for column, role in ROLES.items():
        page.select_option(f"#role-{column}", role)
    page.click("#options-severity")
    page.click("#take-order")
    page.wait_for_selector("#clear-order")
    page.click("#close-column")
    page.select_option("#option-missing", "impute")
    page.click("#propose-constraint-0")
    page.wait_for_selector("#constraints .good-text")
    page.click("#step-protect")
    page.select_option("#option-effort", "fast")
    page.click("#run")
    page.wait_for_selector("#made", timeout=_SECONDS_TO_RUN)
    page.click("#to-explore")
    page.click("#compare")
    page.wait_for_selector("#compared", timeout=_SECONDS_TO_RUN)
