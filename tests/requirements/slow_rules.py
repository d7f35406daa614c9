"""Slow, obvious definitions of what a group must satisfy; they share nothing with the kernels."""

from collections import Counter, defaultdict

import numpy as np


def distinct(values):
    """Number of different values; None counts for nothing."""
    return len({value for value in values if value is not None})


def entropy_l(values):
    """How many equally frequent values have the same entropy."""
    shares = np.array(list(Counter(values).values())) / len(values)
    return float(np.exp(-(shares * np.log(shares)).sum()))


def ordered_distance(values, everything):
    """Earth mover's distance over the sorted distinct values of the whole table."""
    values, everything = np.asarray(values), np.asarray(everything)
    steps = np.unique(everything)[:-1]
    if not len(steps):
        return 0.0
    gaps = [abs((values <= v).mean() - (everything <= v).mean()) for v in steps]
    return sum(gaps) / len(steps)


def equal_distance(values, everything):
    """Half the sum of the differences between the shares of all values."""
    own, whole = Counter(values), Counter(everything)
    return sum(abs(own[v] / len(values) - whole[v] / len(everything)) for v in whole) / 2


def contributions(amounts, contributors):
    """What each contributor gives, largest first."""
    total = defaultdict(float)
    for amount, who in zip(amounts, contributors, strict=True):
        total[who] += abs(amount)
    return sorted(total.values(), reverse=True)


def safe_by_p_percent(amounts, contributors, p):
    """Whether the rest of the total hides the largest contribution from the second largest."""
    given = contributions(amounts, contributors)
    return sum(given[2:]) >= p / 100 * given[0] - 1e-9 * sum(given)


def safe_by_dominance(amounts, contributors, n, share):
    """Whether the n largest contributions are no more than a share of the total, in per cent."""
    given = contributions(amounts, contributors)
    return sum(given[:n]) <= share / 100 * sum(given) + 1e-9 * sum(given)
