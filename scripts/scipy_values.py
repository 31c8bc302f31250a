#!/usr/bin/env python3
"""Prints the figures that the tests of `crates/stats` compare ours with.

    python3 -m venv /tmp/scipy && /tmp/scipy/bin/pip install scipy==1.17.1
    /tmp/scipy/bin/python scripts/scipy_values.py

The tests need no Python: what is printed here is pasted into them, with the function it is from.
"""

import numpy as np
import scipy
from scipy import stats

# Ten transfers with one setting and with another, seconds; the same seeds.
A = [16.73, 17.02, 16.41, 18.20, 16.95, 17.33, 16.88, 17.61, 16.52, 17.15]
B = [16.21, 16.64, 16.30, 17.04, 16.99, 16.70, 16.11, 17.25, 16.43, 16.60]
# Counts, with ties and zeros between them.
C = [3, 5, 2, 4, 4, 6, 3, 5, 7, 2, 4, 3]
D = [4, 5, 4, 4, 6, 9, 3, 7, 7, 5, 5, 2]
# Skewed: response times, ms.
E = [12.1, 13.4, 11.8, 15.9, 12.7, 31.2, 14.0, 12.2, 19.5, 13.1, 12.9, 55.3, 13.7, 12.4, 16.8]
F = [11.0, 12.25, 11.1, 12.85, 30.5, 11.9, 13.8, 11.3]
LONG = [100 + ((i * 37) % 61) / 10 for i in range(60)]
LONGER = [100.9 + ((i * 23) % 59) / 10 for i in range(60)]
TREND = [5.1, 5.3, 5.0, 5.6, 5.5, 5.9, 5.7, 6.1, 6.0, 6.4]


def show(name, *values):
    print(f"{name}: " + ", ".join(repr(float(value)) for value in values))


def every(**keywords):
    """All arrangements: the exact distribution, ties and all."""
    return stats.PermutationMethod(n_resamples=10**7, **keywords)


def signed_rank():
    a, b = np.array(A), np.array(B)
    found = stats.wilcoxon(b - a, method="exact")
    show("wilcoxon exact, B - A", found.statistic, found.pvalue)
    differences = np.array(D) - np.array(C)
    found = stats.wilcoxon(differences, method=every())
    show("wilcoxon of all arrangements, D - C with ties", found.statistic, found.pvalue)
    kept = differences[differences != 0]
    found = stats.wilcoxon(kept, method=every())
    show("  zeros put aside first", found.statistic, found.pvalue)
    found = stats.wilcoxon(kept, method="approx", correction=True)
    show("  by the normal law", found.statistic, found.pvalue)
    found = stats.wilcoxon(np.array(LONGER) - np.array(LONG), method="approx", correction=True)
    show("wilcoxon normal, LONGER - LONG", found.statistic, found.pvalue)


def rank_sum():
    found = stats.mannwhitneyu(B, A, method="exact")
    show("mannwhitneyu exact, B and A", found.statistic, found.pvalue)
    found = stats.mannwhitneyu(F, E, method="exact")
    show("mannwhitneyu exact, F and E", found.statistic, found.pvalue)
    found = stats.mannwhitneyu(D[:8], C[:7], method=every())
    show("mannwhitneyu of all arrangements, D[:8] and C[:7]", found.statistic, found.pvalue)
    found = stats.mannwhitneyu(D, C, method="asymptotic")
    show("mannwhitneyu normal, D and C", found.statistic, found.pvalue)
    found = stats.mannwhitneyu(LONGER, LONG, method="asymptotic")
    show("mannwhitneyu normal, LONGER and LONG", found.statistic, found.pvalue)


def shifts():
    differences = np.array(B) - np.array(A)
    n = len(differences)
    walsh = sorted((differences[i] + differences[j]) / 2 for i in range(n) for j in range(i, n))
    show("Hodges-Lehmann of B - A", np.median(walsh))
    # The largest c with P(W <= c) <= 2.5 %: the interval begins with average c, from 0.
    counts = np.array([1.0])
    for rank in range(1, n + 1):
        grown = np.zeros(len(counts) + rank)
        grown[: len(counts)] += counts
        grown[rank:] += counts
        counts = grown
    below = np.cumsum(counts) / counts.sum()
    c = int(np.searchsorted(below, 0.025, side="right")) - 1
    show("  its interval", walsh[c], walsh[len(walsh) - 1 - c])
    pairs = sorted(f - e for f in F for e in E)
    show("Hodges-Lehmann of F against E", np.median(pairs))
    size = len(pairs)
    c = max(k for k in range(size) if lower(len(F), len(E), k) <= 0.025)
    show("  its interval", pairs[c], pairs[size - 1 - c])


def ratios():
    """Of `crates/results`, compare/tests.rs: the shift of logarithms of pairs as a ratio."""
    slow = [32.3, 2.6, 40.1, 3.1, 28.0, 2.4, 35.5, 30.2]
    fast = [2.5, 2.4, 2.6, 2.5, 2.45, 2.38, 2.7, 2.52]
    apart = np.log(fast) - np.log(slow)
    averages = sorted((apart[i] + apart[j]) / 2 for i in range(8) for j in range(i, 8))
    show("ratio, FAST over SLOW", np.exp(np.median(averages)))
    # The probability of a sum of ranks so small: `wilcoxon`, exact, one-sided.
    signs = np.array([[(n >> i & 1) * 2 - 1 for i in range(8)] for n in range(256)])
    sums = np.array([(row > 0) @ np.arange(1, 9) for row in signs])
    rare = sum(np.mean(sums <= k) <= 0.025 for k in range(37))
    show("  its interval", np.exp(averages[rare - 1]), np.exp(averages[-rare]))


def lower(m, n, k):
    """P(U <= k) without ties, by Mann and Whitney's recursion."""
    counts = {(0, j): [1] for j in range(n + 1)} | {(i, 0): [1] for i in range(m + 1)}
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            row = [0] * (i * j + 1)
            for at, count in enumerate(counts[i - 1, j]):
                row[at + j] += count
            for at, count in enumerate(counts[i, j - 1]):
                row[at] += count
            counts[i, j] = row
    whole = counts[m, n]
    return sum(whole[: k + 1]) / sum(whole)


def bootstrap():
    rng = np.random.default_rng(7)
    for name, data, statistic, paired in [
        ("mean of E", (E,), np.mean, False),
        ("median of A", (A,), np.median, False),
        ("difference of means, F and E", (F, E), lambda f, e, axis: np.mean(f, axis=axis) - np.mean(e, axis=axis), False),
        ("ratio of means, B over A, paired", (B, A), lambda b, a, axis: np.mean(b, axis=axis) / np.mean(a, axis=axis), True),
    ]:
        found = stats.bootstrap(
            data, statistic, n_resamples=400_000, batch=10_000, method="BCa", paired=paired, rng=rng, vectorized=True
        )
        show(f"bootstrap BCa 95 %, {name}", *found.confidence_interval)


def others():
    raw = [0.001, 0.04, 0.03, 0.005, 0.6]
    show("p raw for Holm", *raw)
    order = np.argsort(raw)
    adjusted, most = np.empty(len(raw)), 0.0
    for place, index in enumerate(order):
        most = max(most, min(1.0, raw[index] * (len(raw) - place)))
        adjusted[index] = most
    show("  Holm", *adjusted)
    found = stats.kendalltau(range(len(TREND)), TREND, method="exact")
    show("kendalltau exact", found.statistic, found.pvalue)
    found = stats.kendalltau(range(60), LONG, method="asymptotic", variant="b")
    show("kendalltau normal, LONG", found.statistic, found.pvalue)
    found = stats.theilslopes(TREND)
    show("theilslopes", found.slope, found.intercept)
    show("norm.cdf -8 -3.5 -1 0 0.3 2 6", *stats.norm.cdf([-8, -3.5, -1, 0, 0.3, 2, 6]))
    show("norm.ppf", *stats.norm.ppf([1e-9, 0.001, 0.025, 0.3, 0.5, 0.9, 0.9999]))
    show("chi2.ppf 0.2 of 2 5 9 29 99", *stats.chi2.ppf(0.2, [2, 5, 9, 29, 99]))


print(f"SciPy {scipy.__version__}, NumPy {np.__version__}")
signed_rank()
rank_sum()
shifts()
ratios()
bootstrap()
others()
