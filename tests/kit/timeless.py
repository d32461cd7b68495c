"""A result with everything that depends on the clock left out: what two runs of one system have in common."""

from __future__ import annotations

from typing import Any

TIME_FIELDS = {
    "id", "started", "finished", "judged", "launch", "ttft_p50", "ttft_p95", "decode_med", "e2e_med",
    "total_throughput", "judge_s", "left_out", "unfit", "ttft_left_out", "cold_ttft_s", "cached_share",
    "peak_ram_gb", "model_delta_gb", "pressure", "thermal", "power",
}  # fmt: skip


def without_times(value: Any) -> Any:
    """The value, however deep, without the fields of the clock and the machine's state."""
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key not in TIME_FIELDS}
    return [without_times(item) for item in value] if isinstance(value, list) else value
