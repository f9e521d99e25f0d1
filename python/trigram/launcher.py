"""Who started this process as one of several, and on which backend its ranks are together."""

import os

RENDEZVOUS = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
"""By which processes find each other in torch.distributed, as torchrun sets them."""


def backend_of(given: object) -> str:
    """The backend of a real job: what was given, else "torch" where torchrun or torch.distributed has connected the processes,
    and "mpi" where mpirun or srun has started them, or nobody has. Raises ValueError where WORLD_SIZE is not what MPI started."""
    backend = default_backend() if given is None else str(given)
    if backend.split(":")[0] == "mpi":
        require_mpis_number()
    return backend


def default_backend() -> str:
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
