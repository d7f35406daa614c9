"""How many rows lie in a range of codes in every column."""

from microagg.core.arrays import Counts, Places
from microagg.kernels.compile import kernel


@kernel
def count_rows_in_ranges(
    lows: Places,
    highs: Places,
    codes: Places,
    counts: Counts,
    listed: Places,
    begins: Places,
    out_counts: Counts,
) -> None:
    """Count, for every query, the rows whose code lies from low to high in every column.

    Row j of `listed` has the rows sorted by their codes in column j, and those with code c begin at
    `begins[j, c]`. Only rows that fit in the most selective column are examined.
    """
    d = lows.shape[1]
    for q in range(lows.shape[0]):
        best, fewest = 0, listed.shape[1] + 1
        for j in range(d):
            fit = begins[j, highs[q, j] + 1] - begins[j, lows[q, j]]
            if fit < fewest:
                best, fewest = j, fit
        total = 0
        for at in range(begins[best, lows[q, best]], begins[best, highs[q, best] + 1]):
            row = listed[best, at]
            fits = True
            for j in range(d):
                if codes[row, j] < lows[q, j] or codes[row, j] > highs[q, j]:
                    fits = False
                    break
            if fits:
                total += counts[row]
        out_counts[q] = total
