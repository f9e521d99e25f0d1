"""Who started this process as one of several, and on which backend its ranks are together."""

import os

from .device import CPU, KINDS, Place

RENDEZVOUS = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
"""By which processes find each other in torch.distributed, as torchrun sets them."""


WHERE = {"mpi": "cpu", "torch": "cpu", "gpu": "cuda"}
"""Of a backend whose ranks are processes: the kind of place where it trains."""


def backend_of(given: object, place: Place = CPU, what: str = "the model") -> str:
    """The backend of a real job: what was given, else as `default_backend` has it. `what` is in that place. Raises ValueError where
    the backend's ranks are elsewhere, and where WORLD_SIZE is not what MPI started."""
    backend = default_backend(place) if given is None else str(given)
    name = backend.split(":")[0]
    if WHERE.get(name, place.kind) != place.kind:
        raise ValueError(f"{what} is on {place}, and backend '{name}' has its ranks on {KINDS[WHERE[name]]}; leave "
                         f"backend out, or move {what} there")
    if name == "mpi":
        require_mpis_number()
    return backend


def default_backend(place: Place = CPU) -> str:
    """The one that trains in that place; on the CPU "torch" where torchrun or torch.distributed has connected the processes, and "mpi"
    where mpirun or srun has started them, or nobody has."""
    there = [backend for backend, kind in WHERE.items() if kind == place.kind]
    if len(there) == 1:
        return there[0]
    if under_torchrun():
        return "torch"
    if started_by_mpi() is not None:
        return "mpi"
    return "torch" if all(key in os.environ for key in RENDEZVOUS) or connected() else "mpi"


def under_torchrun() -> bool:
    return "TORCHELASTIC_RUN_ID" in os.environ


def connected() -> bool:
    """Whether the script has called torch.distributed.init_process_group."""
    from torch import distributed
    return bool(distributed.is_available() and distributed.is_initialized())


def started_by_mpi() -> int | None:
    """How many processes mpirun or srun has started together with this one."""
    return next((int(os.environ[key]) for key in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS") if key in os.environ), None)


def require_mpis_number() -> None:
    """Processes of torchrun are jobs of one rank each to MPI."""
    started = started_by_mpi() or 1
    wanted = os.environ.get("WORLD_SIZE", "")
    if wanted.isdigit() and int(wanted) != started:
        launcher = "torchrun started" if under_torchrun() else "the environment says"
        raise ValueError(f"{launcher} {wanted} processes (WORLD_SIZE), but MPI {started}, and backend mpi trains those together "
                         f"that MPI started; start it with: mpirun -n {wanted} python …, or by torchrun with backend=\"torch\", or "
                         "unset WORLD_SIZE where it is of something else")
