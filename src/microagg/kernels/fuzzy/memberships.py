"""Memberships of records in fuzzy clusters, for some rows at a time."""

import math

from microagg.core.arrays import Floats, Rows
from microagg.kernels.basics.distances import squared_distance
from microagg.kernels.compile import inner_kernel, kernel

# A squared distance below this share of the record's squared norm is a rounding error: the record
# is on the centre.
_ON_CENTRE = 1e-30


@inner_kernel
def distances_to_all(record: Floats, columns: Floats, out: Floats) -> float:
    """Squared distances of a record to all centres, given by `columns`; returns the smallest.

    Differences are squared, so that no digits are lost near a centre; loops go column by column, so
    that they are vectorised over centres. Four columns per pass read and write `out` less often.
    """
    d = columns.shape[0]
    rest = d % 4
    out[:] = 0.0
    for j in range(rest):
        column, x = columns[j], record[j]
        for i in range(out.shape[0]):
            gap = x - column[i]
            out[i] += gap * gap
    for j in range(rest, d, 4):
        a, b, c, e = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
        xa, xb, xc, xe = record[j], record[j + 1], record[j + 2], record[j + 3]
        for i in range(out.shape[0]):
            ga, gb, gc, ge = xa - a[i], xb - b[i], xc - c[i], xe - e[i]
            out[i] += (ga * ga + gb * gb) + (gc * gc + ge * ge)
    nearest = out[0]
    for i in range(out.shape[0]):
        nearest = min(nearest, out[i])
    return nearest


@kernel
def power_weights(
    records: Floats,
    columns: Floats,
    exponent: float,
    raised: bool,
    out: Floats,
    out_nearest: Floats,
    out_sums: Floats,
) -> None:
    """Weights (nearest / distance)^exponent, all squared; at most 1, so that nothing overflows.

    A membership is its weight divided by `out_sums`. Powers take most of the time, and one is
    enough: with exponent = 1 / (m - 1), the m-th power of a weight is the weight times nearest /
    distance, which is what `raised` stores in `out`. A record on one or several centres has weight
    1 there and 0 elsewhere; a huge exponent gives weight 1 to the nearest centres only.

    Powers are computed by logarithms, in two thirds of the time of `**`. That costs digits only in
    weights far below 1, which hardly count.
    """
    for row in range(records.shape[0]):
        weights = out[row]
        nearest = distances_to_all(records[row], columns, weights)
        square = 0.0
        for x in records[row]:
            square += x * x
        total = 0.0
        if nearest <= _ON_CENTRE * square:
            for i in range(weights.shape[0]):
                weights[i] = 1.0 if weights[i] <= _ON_CENTRE * square else 0.0
                total += weights[i]
            nearest = 0.0
        else:
            for i in range(weights.shape[0]):
                ratio = nearest / weights[i]
                weight = math.exp(exponent * math.log(ratio))
                total += weight
                weights[i] = weight * ratio if raised else weight
        out_nearest[row] = nearest
        out_sums[row] = total


@kernel
def exponential_weights(
    records: Floats,
    columns: Floats,
    rate: float,
    out: Floats,
    out_nearest: Floats,
    out_sums: Floats,
) -> None:
    """Weights exp(-rate (distance - nearest)), distances squared; at most 1.

    A membership is its weight divided by `out_sums`.
    """
    for row in range(records.shape[0]):
        weights = out[row]
        nearest = distances_to_all(records[row], columns, weights)
        total = 0.0
        for i in range(weights.shape[0]):
            weights[i] = math.exp(rate * (nearest - weights[i]))
            total += weights[i]
        out_nearest[row] = nearest
        out_sums[row] = total


@kernel
def draw_rows(weights: Floats, uniforms: Floats, out_labels: Rows) -> None:
    """Draw a centre for each row, with probabilities proportional to its weights."""
    for row in range(weights.shape[0]):
        total = 0.0
        for weight in weights[row]:
            total += weight
        left = uniforms[row] * total
        for i in range(weights.shape[1]):
            weight = weights[row, i]
            if weight > 0.0:  # the last such centre takes what rounding leaves
                out_labels[row] = i
                left -= weight
                if left < 0.0:
                    break


@kernel
def first_alike(points: Floats, within: float, out_first: Rows) -> None:
    """Find for each point the first one, possibly itself, within the squared distance `within`.

    A point that represents others is never assigned to another, so chains of close points do not
    merge from end to end.
    """
    c = points.shape[0]
    out_first[:] = -1
    for i in range(c):
        if out_first[i] >= 0:
            continue
        out_first[i] = i
        for j in range(i + 1, c):
            if out_first[j] < 0 and squared_distance(points[i], points[j]) <= within:
                out_first[j] = i
