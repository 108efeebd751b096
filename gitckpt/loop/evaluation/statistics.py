"""Means and proportions with their 95 % confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean, stdev
from typing import Any, Final

LEVEL: Final = 0.95

_Z: Final = NormalDist().inv_cdf((1 + LEVEL) / 2)

#: Student's t at this level for 1 to 9 degrees of freedom; from 10 on, the expansion below is accurate to four digits.
_T: Final = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622)


def proportion(count: int, of: int) -> dict[str, Any] | None:
    """Return a proportion with Wilson's interval, which is valid for few trials and near 0 and 1; None if `of` is 0.

    Wilson (1927), J. Am. Stat. Assoc. 22:209.
    """
    if not of:
        return None
    rate, z2 = count / of, _Z * _Z
    centre = (rate + z2 / (2 * of)) / (1 + z2 / of)
    half = _Z * math.sqrt(rate * (1 - rate) / of + z2 / (4 * of * of)) / (1 + z2 / of)
    low = 0.0 if count == 0 else centre - half  # exact at the ends, where rounding would leave a residue
    high = 1.0 if count == of else centre + half
    return {"count": count, "of": of, "rate": rate, "low": low, "high": high}


def mean(values: Sequence[float]) -> dict[str, Any] | None:
    """Return a mean with Student's interval, which needs at least two values; None if there are no values."""
    if not values:
        return None
    centre = fmean(values)
    half = t_quantile(len(values) - 1) * stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
    low, high = (None, None) if half is None else (centre - half, centre + half)
    return {"mean": centre, "low": low, "high": high, "n": len(values)}


def ratio(pairs: Sequence[tuple[float, float]]) -> dict[str, Any] | None:
    """Return the geometric mean of `second / first` over the pairs, with Student's interval of its logarithm."""
    found = mean([math.log(second / first) for first, second in pairs if first > 0 and second > 0])
    if found is None:
        return None
    ends = {name: None if found[name] is None else math.exp(found[name]) for name in ("mean", "low", "high")}
    return {"ratio": ends["mean"], "low": ends["low"], "high": ends["high"], "n": found["n"]}


def t_quantile(freedom: int) -> float:
    """Return the quantile of Student's t for two-sided intervals at this level.

    Abramowitz and Stegun (1964), 26.7.5.
    """
    if freedom <= len(_T):
        return _T[freedom - 1]
    z = _Z
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return float(z + sum(term / freedom**power for power, term in enumerate(terms, 1)))
