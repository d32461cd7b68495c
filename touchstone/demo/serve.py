"""The process of the embedded engine: `python -m touchstone.demo.serve MODEL_FILE PORT NAME`.

llama.cpp's own HTTP server inside the xllamacpp wheel, on loopback, one slot. It runs until it is ended.
"""

from __future__ import annotations

import os
import signal
import sys

CONTEXT_TOKENS = 2048


def main(model_path: str, port: int, name: str) -> None:
    """Load the model, serve it on 127.0.0.1 and wait for the end."""
    # Only this process needs the wheel; the rest of touchstone works where none exists.
    import xllamacpp  # noqa: PLC0415

    parameters = xllamacpp.CommonParams()
    parameters.model.path = model_path
    parameters.model_alias = {name}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.reuse_port = False
    # One slot: answers do not depend on what else is being asked.
    parameters.n_parallel = 1
    parameters.n_ctx = CONTEXT_TOKENS
    parameters.cpuparams.n_threads = _threads()
    parameters.endpoint_props = parameters.endpoint_slots = parameters.endpoint_metrics = True
    parameters.ui = False
    try:
        server = xllamacpp.Server(parameters)
    except RuntimeError:
        # llama.cpp has said why on the lines before; Python's own would push that out of the log's tail.
        sys.exit(f"the model server could not start on port {port}")
    print("listening", server.listening_address, flush=True)  # noqa: T201
    signal.pause()


def _threads() -> int:
    """Half the cores, at most four: the threads wait for each other after every layer, so one that has to
    share its core with another program slows the rest down tenfold.
    """
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return max(1, min(4, cores // 2))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
