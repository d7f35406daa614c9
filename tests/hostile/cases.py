"""What all kinds of cases share: their chance, what a finding is, and how a case ends."""

import random
from dataclasses import dataclass

# Every identifier and every value that nobody else may see begins with one of these.
OWNER_MARK = "Zq"
VALUE_MARK = "Vx"

RELEASED = "released"


class Finding(AssertionError):  # noqa: N818 - it is what was found, not an error of ours
    """The package broke a promise, or failed in another way than by a refusal."""


@dataclass(frozen=True)
class Case:
    """One case: all that it does follows from these three."""

    seed: int
    kind: str
    number: int

    @property
    def chance(self) -> random.Random:
        """Random numbers of this case alone, the same on every machine."""
        return random.Random(f"{self.seed}/{self.kind}/{self.number}")

    def __str__(self) -> str:
        return f"--seed {self.seed} --kind {self.kind} --case {self.number}"


@dataclass
class Ended:
    """How a case ended: in a word for the counts, and what was found."""

    case: Case
    outcome: str
    finding: str | None = None
    seconds: float = 0.0


def expect(holds: object, otherwise: str) -> None:
    """Report a finding unless this holds."""
    if not holds:
        raise Finding(otherwise)


def one_in(chance: random.Random, times: int) -> bool:
    """Whether something happens that happens once in so many times."""
    return chance.randrange(times) == 0


def secret(chance: random.Random, mark: str) -> str:
    """Return a text that cannot turn up by accident."""
    return f"{mark}{chance.getrandbits(40):010x}"
