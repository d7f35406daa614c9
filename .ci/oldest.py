"""Print pip constraints that hold every library at the lower bound that pyproject.toml promises.

These are the dependencies, those of the extras for users, and the table libraries that tests hand
in. Tools of development stay as new as they come: nobody who installs microagg gets them.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
TOOL_EXTRAS = {"dev", "bench", "docs"}
TABLE_LIBRARIES = {"pandas", "pyarrow"}
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:\[[\w,.-]+\])?\s*(?:>=\s*(?P<lowest>[\w.]+))?")


def constraints(project: dict) -> Iterator[str]:
    """Return one `name==version` for each library that has to work at its lower bound."""
    extras = project["optional-dependencies"]
    required = list(project["dependencies"])
    required += [line for extra in extras.keys() - TOOL_EXTRAS for line in extras[extra]]
    required += [line for line in extras["dev"] if name_of(line) in TABLE_LIBRARIES]
    for line in sorted(set(required)):
        name, lowest = REQUIREMENT.match(line).group("name", "lowest")
        if name == project["name"]:
            continue
        if lowest is None:
            sys.exit(f"{line!r} in pyproject.toml needs a lower bound, such as {name}>=1.0.")
        yield f"{name}=={lowest}"


def name_of(line: str) -> str:
    """Return the name of a requirement."""
    return REQUIREMENT.match(line)["name"]


if __name__ == "__main__":
    sys.stdout.write("\n".join(constraints(tomllib.loads(PROJECT.read_text())["project"])) + "\n")
