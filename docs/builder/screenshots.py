"""Pictures of the report and the app, for the docs: `make screenshots` writes them to docs/images.

Needs Chromium; its path is in the environment variable CHROMIUM.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
IMAGES = Path(__file__).parents[1] / "images"
DESKTOP, PHONE = (1200, 1900), (390, 1500)
METHODS = "auto,icsm,kmeans,igd,tsp-mhm,cbfs-mhm,mdav,v-mdav,hac"
_QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
# A window of Chromium is at least about 500 pixels wide: a phone is a frame in it, cut out.
_WINDOW = 600
_FRAME = (
    "<!DOCTYPE html><style>body{{margin:0}}iframe{{border:0;display:block}}</style>"
    '<iframe src="{name}" width="{width}" height="{height}"></iframe>'
)


def main() -> int:
    """Write pictures of the app, and of a report and a comparison of scikit-learn's patients."""
    from docs.builder.app_screenshots import app_pictures
    from microagg import compare, protect, risk_utility_map
    from microagg.cli.demo import SEED, SENSITIVE, diabetes

    patients = diabetes()
    release = protect(patients, 5, sensitive=[SENSITIVE], random_state=SEED)
    found = compare(patients, [3, 5, 10], METHODS, sensitive=[SENSITIVE], random_state=SEED)
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        page = release.report(Path(folder) / "report.html", title="Diabetes patients")
        picture(page, IMAGES / "report-desktop.png", *DESKTOP)
        picture(page, IMAGES / "report-phone.png", *PHONE)
    (IMAGES / "risk-utility-map.svg").write_text(on_white(risk_utility_map(found)), "utf-8")
    app_pictures(IMAGES, CHROMIUM)
    return 0


def on_white(svg: str) -> str:
    """Return a figure with a white ground, for readers of Markdown whose pages are dark."""
    start, end, rest = svg.partition("</defs>\n")
    return f'{start}{end}<rect width="100%" height="100%" fill="white"/>\n{rest}'


def picture(page: Path, target: Path, width: int, height: int) -> None:
    """Save what a window of so many pixels shows of a page."""
    shown = page
    if width < _WINDOW:
        shown = page.with_name(f"frame-{page.name}")
        shown.write_text(_FRAME.format(name=page.name, width=width, height=height))
    with tempfile.TemporaryDirectory() as profile:
        size = f"--window-size={max(width, _WINDOW)},{height}"
        command = [CHROMIUM, *_QUIET, f"--user-data-dir={profile}", size]
        command += [f"--screenshot={target.resolve()}", shown.resolve().as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
    with Image.open(target) as shot:
        shot.crop((0, 0, width, height)).quantize(128).save(target, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
