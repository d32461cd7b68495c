"""The arithmetic of the verdict against published tables, closed forms and sums done by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.baseline.statistics import (
    Error,
    Reach,
    Spread,
    benjamini_hochberg,
    cases_needed,
    check_reruns,
    detectable_case_drop,
    detectable_drop,
    incomplete_beta,
    log_beta,
    mean_variance,
    paired_error,
    pooled_error,
    row_error,
    row_noise,
    spread_of,
    t_quantile,
    t_tail,
)

# Critical values as printed in the usual tables of Student's t: 95 %, 97.5 % and 99.5 % one-sided.
TABLE = {
    1: (6.314, 12.706, 63.657),
    2: (2.920, 4.303, 9.925),
    3: (2.353, 3.182, 5.841),
    5: (2.015, 2.571, 4.032),
    10: (1.812, 2.228, 3.169),
    30: (1.697, 2.042, 2.750),
    120: (1.658, 1.980, 2.617),
    math.inf: (1.645, 1.960, 2.576),
}


@pytest.mark.parametrize("df", TABLE)
def test_quantiles_are_those_of_the_published_table(df: float) -> None:
    found = [t_quantile(p, df) for p in (0.95, 0.975, 0.995)]
    assert found == pytest.approx(TABLE[df], abs=6e-4)


@pytest.mark.parametrize("df", TABLE)
def test_tails_are_those_of_the_published_table(df: float) -> None:
    found = [t_tail(t, df) for t in TABLE[df]]
    assert found == pytest.approx([0.05, 0.025, 0.005], rel=3e-3)


@given(st.floats(-50, 50))
def test_tails_have_their_closed_form_at_one_and_two_degrees(t: float) -> None:
    assert t_tail(t, 1) == pytest.approx(0.5 - math.atan(t) / math.pi, abs=1e-12)
    assert t_tail(t, 2) == pytest.approx(0.5 * (1 - t / math.sqrt(2 + t * t)), abs=1e-12)


@given(st.floats(0.01, 20), st.floats(1, 1e6))
def test_tails_fall_with_df_and_are_symmetric(t: float, df: float) -> None:
    assert t_tail(t, math.inf) <= t_tail(t, df) + 1e-9
    assert t_tail(t, df) + t_tail(-t, df) == pytest.approx(1)


@given(st.floats(0.001, 0.999), st.floats(1, 1e4))
def test_the_quantile_undoes_the_tail_for_any_real_df(p: float, df: float) -> None:
    assert 1 - t_tail(t_quantile(p, df), df) == pytest.approx(p, abs=1e-9)


def test_the_ends_of_the_distributions() -> None:
    assert t_tail(0, 7.5) == 0.5
    assert t_tail(math.inf, 3) == 0
    assert t_tail(-math.inf, 3) == 1
    assert t_quantile(0.5, 3) == 0
    assert incomplete_beta(0, 2, 3) == 0
    assert incomplete_beta(1, 2, 3) == 1


def test_the_incomplete_beta_sums_a_binomial() -> None:
    # P(X ≥ 3) of 10 tries at 0.3 is I_0.3(3, 8).
    exact = sum(math.comb(10, k) * 0.3**k * 0.7 ** (10 - k) for k in range(3, 11))
    assert incomplete_beta(0.3, 3, 8) == pytest.approx(exact, rel=1e-12)
    assert math.exp(log_beta(4, 9)) == pytest.approx(
        math.factorial(3) * math.factorial(8) / math.factorial(12)
    )


@pytest.mark.parametrize(("rows", "k"), [(5, 7), (20, 11), (50, 15), (200, 22)])
def test_check_reruns_for_three_baseline_runs(rows: int, k: int) -> None:
    assert check_reruns(rows, 3, 5, 0.003) == k
    assert rows * math.exp(log_beta(4, k + 2)) <= 0.003 < rows * math.exp(log_beta(4, k + 1))


def test_check_reruns_never_fall_below_the_setting_and_give_up_where_it_is_not_worth_it() -> None:
    assert check_reruns(0, 3, 5, 0.003) == 5
    assert check_reruns(1, 3, 9, 0.003) == 9
    assert check_reruns(50, 1, 5, 0.003) is None


def test_benjamini_hochberg_by_hand() -> None:
    p = [0.01, 0.04, 0.03, 0.005, 0.2]
    # Of five: 0.005 ≤ 0.01, 0.01 ≤ 0.02, 0.03 ≤ 0.03, 0.04 ≤ 0.04, 0.2 > 0.05.
    assert benjamini_hochberg(p, 0.05, of=5) == [True, True, True, True, False]
    # Of ten: 0.005 ≤ 0.005, 0.01 ≤ 0.01, 0.03 > 0.015, 0.04 > 0.02.
    assert benjamini_hochberg(p, 0.05, of=10) == [True, False, False, True, False]
    assert benjamini_hochberg([], 0.05, of=10) == []


def test_a_later_rank_carries_the_earlier_ones() -> None:
    # 0.012 alone misses 0.01, but the second rank's 0.02 holds for both.
    assert benjamini_hochberg([0.012, 0.019], 0.05, of=5) == [True, True]


def test_spread_pools_each_group_around_its_own_mean() -> None:
    # Squares 2 + 8 over 2 + 1 degrees of freedom; a fall between the groups is no noise.
    spread = spread_of([4, 5, 6], [96, 100])
    assert spread.variance == pytest.approx(10 / 3)
    assert spread.df == 3
    assert spread_of([5], [9]) == Spread(0.0, 0)
    assert spread_of([7, 7, 7]) == Spread(0.0, 2)
    assert mean_variance([Spread(4, 2), Spread(0, 0), Spread(0, 2)]) == 2


def test_a_rows_noise_is_shrunk_with_four_degrees_and_never_below_a_fortieth_of_the_span() -> None:
    # (4·9 + 2·0) / 6 = 6.
    assert row_noise(Spread(0, 2), 9, span=80) == pytest.approx(math.sqrt(6))
    assert row_noise(Spread(0, 2), 0, span=80) == 2
    assert row_noise(Spread(0, 2), 0, span=100) == 2.5
    error = row_error(Spread(0, 2), 0, 80, b=3, m=1)
    assert error.se == pytest.approx(2 * math.sqrt(4 / 3))
    assert error.df == 6


def test_the_suites_error_by_hand() -> None:
    # Two rows of variance 8 and 4: V_s = 6/2 = 3, V_a = 0.25, SE² = 3.25·(1/3 + 1).
    spreads = [Spread(8, 2), Spread(4, 2)]
    error = pooled_error(spreads, [(3, 1)] * 2, allowance=0.5, b=3, m=1)
    assert error.se == pytest.approx(math.sqrt(3.25 * 4 / 3))
    # df_s = (8 + 4)² / (64/2 + 16/2) = 3.6; df = 3.25² / (3² / 3.6).
    assert error.df == pytest.approx(3.25**2 / (9 / 3.6))


def test_the_allowance_alone_is_known_exactly() -> None:
    error = pooled_error([Spread(0, 2)] * 5, [(3, 1)] * 5, allowance=0.3, b=3, m=1)
    assert error.se == pytest.approx(0.3 * math.sqrt(4 / 3))
    assert math.isinf(error.df)
    assert error.interval(0)[1] == pytest.approx(1.645 * 0.3 * math.sqrt(4 / 3), abs=1e-3)


def test_copies_and_missing_draws_weaken_only_their_own_row() -> None:
    spreads = [Spread(8, 4), Spread(8, 4)]
    full = pooled_error(spreads, [(3, 3), (3, 3)], allowance=0, b=3, m=3)
    copied = pooled_error(spreads, [(3, 3), (3, 1)], allowance=0, b=3, m=3)
    assert full.se**2 == pytest.approx(4 * (2 / 3))
    assert copied.se**2 == pytest.approx(8 * (2 / 3 + 4 / 3) / 4)


def test_the_paired_error_is_that_of_the_rows_moves() -> None:
    # Variance of −4, 0, 1 is 7; over three rows, with the allowance once.
    error = paired_error([-4, 0, 1], allowance=0.3)
    assert error is not None
    assert error.se == pytest.approx(math.sqrt(7 / 3 + 0.09))
    assert error.df == 2
    assert paired_error([-4], allowance=0.3) is None


def test_without_any_error_a_fall_is_certain_and_no_fall_is_none() -> None:
    exact = Error(0.0, math.inf)
    assert exact.p_drop(-0.1) == 0
    assert exact.p_drop(0.0) == 1
    assert exact.interval(-0.1) == (-0.1, -0.1)


def reach(noise: float, **fields: float) -> Reach:
    """The study's settings, on the study's own scale (span 100, cases from 20 points)."""
    usual: dict[str, float] = {
        "df_per_row": 2, "b": 3, "m": 3, "span": 100, "allowance": 0.3, "min_drop": 2, "case_drop": 20,
        "case_reruns": 5, "alpha": 0.004, "suspicion": 0.10, "case_suspicion": 0.05, "q": 0.03,
    }  # fmt: skip
    return Reach(variance=noise**2, **(usual | fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("noise", "rows", "printed"),
    [(4.4, 50, 2.7), (8.0, 50, 3.8), (8.0, 100, 2.9), (8.0, 200, 2.7), (12.8, 50, 5.9), (12.8, 200, 3.1)],
)
def test_the_detectable_drop_is_the_studys(noise: float, rows: int, printed: float) -> None:
    assert detectable_drop(reach(noise), rows) == pytest.approx(printed, abs=0.15)


def test_cases_needed_is_the_fewest_that_see_the_drop() -> None:
    found = cases_needed(reach(8.0), 3.0)
    assert found is not None
    assert 80 <= found <= 100
    assert detectable_drop(reach(8.0), found) <= 3.0 < detectable_drop(reach(8.0), found - 1)


def test_no_number_of_cases_sees_through_what_launches_differ_by() -> None:
    assert cases_needed(reach(8.0, allowance=2.0), 3.0) is None


def test_without_noise_the_least_drop_and_the_allowance_are_the_limit() -> None:
    silent = detectable_drop(reach(0.0), 50)
    assert silent == pytest.approx(2 + 1.2816 * 0.3 * math.sqrt(2 / 3), abs=1e-3)


def test_a_single_row_is_seen_from_its_limit_up_and_later_where_it_is_noisy() -> None:
    assert 20 < detectable_case_drop(reach(2.0), 50) < 23
    assert detectable_case_drop(reach(12.0), 50) > 40
