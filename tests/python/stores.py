"""Whether stores of torch work as torchrun makes them: Debian 13 builds torch without libuv, which they ask for."""

import torch


def torchrun_starts():
    """Whether this torch's torchrun can start at all."""
    try:
        torch.distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    except RuntimeError as error:
        if "libuv" in str(error):
            return False
        raise
    return True
