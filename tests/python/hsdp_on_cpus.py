"""What PyTorch's own HSDP lacks on CPUs in torch 2.7 and before, where gloo all-reduces no mean and scatters sums in its place, and streams record no
event: `bring()` makes means of a sum and a division, as later ones do. hsdp_on_cpus.py SCRIPT runs a script with that."""

import functools
import runpy
import sys

import torch
import torch.distributed as dist


def by_sum(collective):
    """The same function of torch.distributed, whose means are sums that are divided."""
    @functools.wraps(collective)
    def averaged(*arguments, op=dist.ReduceOp.SUM, group=None, **named):
        if op != dist.ReduceOp.AVG:
            return collective(*arguments, op=op, group=group, **named)
        output = arguments[0] if arguments else named["output"]
        collective(*arguments, op=dist.ReduceOp.SUM, group=group, **named)
        return output.div_(dist.get_world_size(group))
    return averaged


def bring():
    """Before FSDP exchanges anything."""
    for name in ("all_reduce", "reduce_scatter_tensor"):
        setattr(dist, name, by_sum(getattr(dist, name)))
    if torch.cpu.Stream().record_event() is None:
        torch.cpu.Stream.record_event = lambda _: torch.cpu.Event()


if __name__ == "__main__":
    bring()
    runpy.run_path(sys.argv[1], run_name="__main__")
