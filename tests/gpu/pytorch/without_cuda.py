"""Why a script for GPUs cannot run here."""

import importlib.util


def reason():
    """Empty where it can."""
    for package in ("torch", "pandas"):
        if importlib.util.find_spec(package) is None:
            return f"python3 has no {package}"
    import torch
    if not torch.cuda.is_available():
        return f"torch {torch.__version__} sees no CUDA device"
    return "" if torch.distributed.is_available() else f"torch {torch.__version__} has no torch.distributed"
