"""The arithmetic of the verdict: noise, errors, tails and the limits that follow from them.

Pure and deterministic, standard library only. Scores are points of pct (0…100); a difference is new
minus old, so a drop is negative. "Draw" is one run of one row; `b` counts a baseline's draws, `m` a
candidate's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

PRIOR_DF = 4
"""How many degrees of freedom the cell's mean variance weighs against a row's own."""
NOISE_FLOOR = 0.025
"""A row is never taken to be quieter than this share of the span: about one small step of the score."""
RERUNS_MAX = 50
"""Asking one row more often than this to settle one check is never worth it."""

_TINY = 1e-300
_PRECISION = 1e-12


@dataclass(frozen=True, slots=True)
class Spread:
    """The raw variance of one row between draws, and on how many degrees of freedom it stands."""

    variance: float
    df: int


@dataclass(frozen=True, slots=True)
class Error:
    """A standard error in points with its degrees of freedom (infinite when it is known, not estimated)."""

    se: float
    df: float

    def p_drop(self, difference: float) -> float:
        """How likely a fall of this size or more is when nothing changed."""
        if self.se > 0:
            return t_tail(-difference / self.se, self.df)
        return 0.0 if difference < 0 else 1.0

    def interval(self, difference: float, confidence: float = 0.90) -> tuple[float, float]:
        """The two-sided interval around a difference."""
        half = t_quantile((1 + confidence) / 2, self.df) * self.se if self.se > 0 else 0.0
        return (difference - half, difference + half)


# Noise


def spread_of(*groups: Sequence[float]) -> Spread:
    """Variance within a row, each group of draws (baseline, candidate) around its own mean."""
    squares, df = 0.0, 0
    for values in groups:
        count = len(values)
        if count > 1 and values.count(values[0]) < count:
            centre = sum(values) / count
            squares += sum([(value - centre) ** 2 for value in values])
        df += max(0, count - 1)
    return Spread(squares / df if df else 0.0, df)


def mean_variance(spreads: Sequence[Spread]) -> float:
    """Mean raw variance of the rows whose variance is known; 0 where none is."""
    known = [spread.variance for spread in spreads if spread.df]
    return math.fsum(known) / len(known) if known else 0.0


def row_noise(own: Spread, pooled: float, span: float) -> float:
    """Standard deviation of one row: its own variance shrunk to the cell's, never below the floor."""
    shrunk = (PRIOR_DF * pooled + own.df * own.variance) / (PRIOR_DF + own.df)
    return max(math.sqrt(shrunk), NOISE_FLOOR * span)


def row_error(own: Spread, pooled: float, span: float, *, b: int, m: int) -> Error:
    """Error of a row's difference between the mean of `b` draws and the mean of `m`."""
    return Error(row_noise(own, pooled, span) * math.sqrt(1 / b + 1 / m), PRIOR_DF + own.df)


# The suite


def pooled_error(
    spreads: Sequence[Spread], draws: Sequence[tuple[int, int]], *, allowance: float, b: int, m: int
) -> Error:
    """Error of the mean difference of a cell, from how much each row varies between its draws.

    `draws` gives each row's own counts, which are below `b` and `m` where draws were missing or copies.
    The allowance for what a launch shifts as a whole is known, so only the sampled part costs degrees of
    freedom (Satterthwaite).
    """
    parts = [
        spread.variance * (1 / old + 1 / new) / len(spreads) ** 2
        for spread, (old, new) in zip(spreads, draws, strict=True)
    ]
    sampled = math.fsum(parts)
    total = sampled + allowance**2 * (1 / b + 1 / m)
    if sampled == 0:
        return Error(math.sqrt(total), math.inf)
    weight = math.fsum(part**2 / spread.df for part, spread in zip(parts, spreads, strict=True) if part)
    return Error(math.sqrt(total), total**2 / weight)


def even_error(variances: Sequence[float], df: int, *, allowance: float, b: int, m: int) -> Error:
    """The pooled error where every row has the same draws, and so the same degrees of freedom."""
    share = 1 / b + 1 / m
    sampled = math.fsum(variances) * share / len(variances) ** 2
    total = sampled + allowance**2 * share
    if sampled == 0:
        return Error(math.sqrt(total), math.inf)
    weight = math.fsum([value * value for value in variances]) * share**2 / len(variances) ** 4 / df
    return Error(math.sqrt(total), total**2 / weight)


def paired_error(differences: Sequence[float], *, allowance: float) -> Error | None:
    """Error of a mean difference, from how differently the rows moved; null for fewer than two rows."""
    if len(differences) < 2:
        return None
    variance = spread_of(differences).variance
    return Error(math.sqrt(variance / len(differences) + allowance**2), len(differences) - 1)


# Many rows at once


def benjamini_hochberg(p: Sequence[float], level: float, of: int) -> list[bool]:
    """Which of the p-values stand when `of` rows were looked at; the rest of them count as p = 1."""
    limit = -1.0
    for rank, value in enumerate(sorted(p), start=1):
        if value <= level * rank / of:
            limit = value
    return [value <= limit for value in p]


def check_reruns(rows: int, b: int, least: int, limit: float) -> int | None:
    """How many fresh draws of a row must all fail a check that passed in all `b` baseline draws.

    The smallest k ≥ `least` with rows·B(b + 1, k + 2) ≤ limit: with the pass rate of each row unknown
    (uniform), the chance that any row passes b times and then fails k + 1 times. Null where that takes
    more than `RERUNS_MAX`.
    """
    for k in range(least, RERUNS_MAX + 1):
        if rows * math.exp(log_beta(b + 1, k + 2)) <= limit:
            return k
    return None


# What a suite can see

Z_POWER = 1.2815515655446004
"""90 % of the normal distribution: two stages cost about ten points, so this gives 4 of 5 tries."""
Z_FOUR_OF_FIVE = 0.8416212335729143


@dataclass(frozen=True, slots=True)
class Reach:
    """What the limits of a suite follow from. Points; `alpha` and `q` are already divided by the cells."""

    variance: float
    df_per_row: float
    """Degrees of freedom each row adds to the variance of the mean (fewer where rows differ)."""
    b: int
    m: int
    """Draws of the candidate after the confirm step."""
    span: float
    allowance: float
    min_drop: float
    case_drop: float
    case_reruns: int
    alpha: float
    suspicion: float
    case_suspicion: float
    q: float


def detectable_drop(reach: Reach, rows: int) -> float:
    """The suite-wide drop found in about 4 of 5 tries."""
    first, final = _reach_error(reach, rows, 1), _reach_error(reach, rows, reach.m)
    return max(
        (t_quantile(1 - reach.alpha, final.df) + Z_POWER) * final.se,
        (t_quantile(1 - reach.suspicion, first.df) + Z_POWER) * first.se,
        reach.min_drop + Z_POWER * final.se,
    )


def detectable_case_drop(reach: Reach, rows: int) -> float:
    """The drop of a single row found in about 4 of 5 tries."""
    noise = max(math.sqrt(reach.variance), NOISE_FLOOR * reach.span)
    df = PRIOR_DF + reach.b - 1
    first = noise * math.sqrt(1 / reach.b + 1)
    final = noise * math.sqrt(1 / reach.b + 1 / reach.case_reruns)
    return max(
        max(reach.case_drop, t_quantile(1 - reach.case_suspicion, df) * first) + Z_FOUR_OF_FIVE * first,
        max(reach.case_drop, t_quantile(1 - reach.q / rows, df) * final) + Z_FOUR_OF_FIVE * final,
    )


def cases_needed(reach: Reach, drop: float, most: int = 1_000_000) -> int | None:
    """The fewest rows that see a drop of this size; null where no number of rows does."""
    if detectable_drop(reach, most) > drop:
        return None
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        if detectable_drop(reach, middle) <= drop:
            high = middle
        else:
            low = middle + 1
    return low


def _reach_error(reach: Reach, rows: int, m: int) -> Error:
    share = 1 / reach.b + 1 / m
    sampled = reach.variance / rows
    known = reach.allowance**2
    if sampled == 0:
        return Error(math.sqrt(known * share), math.inf)
    df = reach.df_per_row * rows * (reach.b + m - 2) / max(1, reach.b - 1)
    df *= ((sampled + known) / sampled) ** 2
    return Error(math.sqrt((sampled + known) * share), max(df, 1.0))


# Distributions


def t_tail(t: float, df: float) -> float:
    """P(T > t) of Student's t for any df > 0; infinite df is the normal distribution."""
    if math.isinf(df):
        return 0.5 * math.erfc(t / math.sqrt(2))
    if t == 0:
        return 0.5
    if math.isinf(t):
        return 0.0 if t > 0 else 1.0
    square = t * t
    # Whichever argument is the smaller one keeps its digits.
    if square < df:
        tail = 0.5 * (1 - incomplete_beta(square / (df + square), 0.5, df / 2))
    else:
        tail = 0.5 * incomplete_beta(df / (df + square), df / 2, 0.5)
    return tail if t > 0 else 1 - tail


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: float) -> float:
    """The t with P(T ≤ t) = p, for 0 < p < 1."""
    if p < 0.5:
        return -t_quantile(1 - p, df)
    if p == 0.5:
        return 0.0
    high = 2.0
    while t_tail(high, df) > 1 - p:
        high *= 2
    low = 0.0
    while high - low > _PRECISION * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if t_tail(middle, df) > 1 - p:
            low = middle
        else:
            high = middle
    return high


def log_beta(a: float, b: float) -> float:
    """Logarithm of the complete beta function."""
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def incomplete_beta(x: float, a: float, b: float) -> float:
    """Regularised incomplete beta function I_x(a, b), by its continued fraction."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = math.exp(a * math.log(x) + b * math.log1p(-x) - log_beta(a, b))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(x, a, b) / a
    return 1 - front * _beta_fraction(1 - x, b, a) / b


def _beta_fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, evaluated from the front (modified Lentz)."""
    c, d = 1.0, _inverse(1 - (a + b) * x / (a + 1))
    value = d
    for k in range(1, 10_000):
        even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
        odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
        for term in (even, odd):
            d = _inverse(1 + term * d)
            c = 1 + term / c or _TINY
            value *= c * d
        if abs(c * d - 1) < _PRECISION:
            break
    return value


def _inverse(value: float) -> float:
    return 1 / (value or _TINY)
