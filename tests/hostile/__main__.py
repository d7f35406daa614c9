"""python -m tests.hostile: the hostile trial, for as long as you like.

    python -m tests.hostile --minutes 60 --processes 2
    python -m tests.hostile --minutes 5 --kinds files,damaged --seed 7
    python -m tests.hostile --seed 7 --kind releases --case 12345    # one case once more

All that a case does follows from its seed, kind and number. What is found is printed with the
command that repeats it, the files of the case are kept, and the trial goes on; `summary.json` has
the seed, the counts by kind and outcome, and all findings. The exit code is 1 if there are any.
"""

import argparse
import json
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.hostile.cases import Case
from tests.hostile.commands import own_environment
from tests.hostile.trial import SHARES, Trial, tried

BETWEEN = 30.0  # seconds between two lines on how far the trial is


def main() -> int:
    """Run the trial, or one case of it."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.hostile",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, help="drawn, and printed, if none is given")
    parser.add_argument("--kinds", default=",".join(SHARES), help="which kinds, with commas")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case of a kind")
    parser.add_argument("--keep", type=Path, default=Path("hostile-results"), help="where to")
    parser.add_argument("--kind", choices=SHARES, help="run one case of this kind")
    parser.add_argument("--case", type=int, help="its number")
    given = parser.parse_args()
    seed = secrets.randbelow(10**6) if given.seed is None else given.seed
    if given.kind is not None:
        return replay(Case(seed, given.kind, given.case or 0))
    kinds = given.kinds.split(",")
    if unknown := set(kinds) - set(SHARES):
        parser.error(f"there are no kinds {sorted(unknown)}; there are {', '.join(SHARES)}")
    trial = Trial(seed, kinds, given.keep / f"seed-{seed}", given.first)
    return follow(trial, given.minutes * 60.0, given.processes)


def replay(case: Case) -> int:
    """Run one case once more."""
    from tests.hostile.commands import stop_all

    try:
        ended = tried(case)
    finally:
        stop_all()
    say(f"{case}: {ended.outcome}\n{ended.finding or ''}".rstrip())
    return 0 if ended.finding is None else 1


def follow(trial: Trial, seconds: float, processes: int) -> int:
    """Run a trial, and say how it goes."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what ran so far still counts
    signal.signal(signal.SIGINT, signal.default_int_handler)
    say("compiling, so that no case waits for it")
    subprocess.run(
        [sys.executable, "-m", "microagg", "warm", "--quiet"], env=own_environment(), check=True
    )
    began = said = time.monotonic()
    say(f"seed {trial.seed}, {seconds / 60:g} minutes, {', '.join(trial.kinds)}")
    try:
        for ended in trial.run(seconds, processes):
            if ended.finding is not None:
                say(f"\nFOUND {ended.case}\n{ended.finding.rstrip()}\n")
            if time.monotonic() - said > BETWEEN:
                said = time.monotonic()
                counts = ", ".join(f"{sum(n.values())} {k}" for k, n in trial.counts.items())
                say(f"{(said - began) / 60:6.1f} min: {counts}; {len(trial.findings)} findings")
    except KeyboardInterrupt:
        say("interrupted")
    summary = {**trial.summary(), "minutes": round((time.monotonic() - began) / 60, 1)}
    text = json.dumps(summary, indent=2, ensure_ascii=False)
    place = trial.keep / "summary.json"
    place.write_text(text + "\n", encoding="utf-8")
    say(f"\n{trial.n_cases} cases, {len(trial.findings)} findings (seed {trial.seed}): {place}")
    for kind, outcomes in summary["outcomes"].items():
        say(f"  {kind:10}" + ", ".join(f"{count} {name}" for name, count in outcomes.items()))
    return 1 if trial.findings else 0


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
