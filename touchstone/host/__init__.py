"""Door: this machine. What it is, which engine process runs on it, and how it fared during a run.

`info` and `launch` are asked once; `sampler` watches while a run goes on, in a process of its own;
`merge` lays the ticks it left over the time windows of the answers; `state` is one look for `doctor`.
"""
