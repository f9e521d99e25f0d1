"""What can be trained: refused at the start, before any rank begins."""

import os
from collections.abc import Sequence

import torch

Named = Sequence[tuple[str, torch.nn.Parameter]]


def check_launcher() -> None:
    """Raises ValueError under torchrun, which starts processes that MPI takes for jobs of one rank each."""
    started = next((int(os.environ[key]) for key in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS") if key in os.environ), 1)
    wanted = os.environ.get("WORLD_SIZE", "")
    if "TORCHELASTIC_RUN_ID" in os.environ and wanted.isdigit() and int(wanted) != started:
        raise ValueError(f"torchrun started {wanted} processes (WORLD_SIZE), but MPI {started}: backend mpi would train as many "
                         f"models alone; start it with: mpirun -n {wanted} python …")


def check_model(model: torch.nn.Module, named: Named) -> None:
    """Raises ValueError for what no bucket can hold."""
    other = getattr(model, "trigram", None)
    if other is not None and not other.finished:
        raise ValueError("the model has a session that is not finished; call model.trigram.finish() first")
    if not named:
        raise ValueError("the model has no parameter that requires a gradient; there is nothing to train")
    for name, one in named:
        if hasattr(one, "device_mesh"):
            raise ValueError(f"parameter '{name}' is a DTensor, of which each rank holds a part; give whole parameters")
        if one.dtype != torch.float32:
            raise ValueError(f"parameter '{name}' is of {one.dtype}; keep parameters in torch.float32 (model.float()), and "
                             "compute in less by torch.autocast")
        if one.device.type != "cpu":
            raise ValueError(f"parameter '{name}' is on {one.device}; backend mpi trains models on the CPU: move all of it there")
    for name, module in model.named_modules():
        if getattr(module, "sparse", False):
            raise ValueError(f"module '{name}' has sparse gradients, which no bucket holds; make it with sparse=False")


def check_optimizers(named: Named, optimizers: Sequence[torch.optim.Optimizer]) -> None:
    """Raises ValueError for a parameter that none of the optimizers has."""
    owned = {id(one) for optimizer in optimizers for group in optimizer.param_groups for one in group["params"]}
    for name, one in named:
        if optimizers and id(one) not in owned:
            raise ValueError(f"parameter '{name}' is in no optimizer; give it to one, or set requires_grad to False")
