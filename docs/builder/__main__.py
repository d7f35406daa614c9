"""`python -m docs.builder` builds the site; `python -m docs.builder serve` shows it."""

import argparse
import sys
import time
from pathlib import Path

from docs.builder import site, staging
from docs.builder.errors import BuildError


def main() -> int:
    """Build or show the site."""
    parser = argparse.ArgumentParser(prog="python -m docs.builder", description=__doc__)
    parser.add_argument("command", nargs="?", choices=["build", "serve"], default="build")
    parser.add_argument("--to", type=Path, default=staging.ROOT / "site", help="where to build it")
    parser.add_argument("--work", type=Path, default=staging.ROOT / "build" / "site")
    parser.add_argument("--address", default="localhost:8000", help="where to show it")
    asked = parser.parse_args()
    try:
        if asked.command == "build":
            site.build(asked.work, asked.to)
            sys.stdout.write(f"built {asked.to}\n")
        else:
            serve(asked.work, asked.address)
    except BuildError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        pass
    return 0


def serve(work: Path, address: str) -> None:
    """Show the site until Ctrl-C; a written page that changes is copied to the work folder."""
    settings = site.prepare(work)
    shown = time.time()
    with site.server(settings, address) as process:
        while process.poll() is None:
            time.sleep(1)
            for page in staging.written_pages():
                if (staging.ROOT / page).stat().st_mtime > shown:
                    staging.stage_page(work / "docs", page, page)
            shown = time.time() - 1


if __name__ == "__main__":
    sys.exit(main())
