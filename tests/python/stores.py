"""Stores of torch at which ranks meet. Debian 13 builds torch without libuv, which its stores and its torchrun ask for."""

import torch


def tcp_store():
    """One of this process at a port that is open, whether torch has libuv or not."""
    where = {"host_name": "127.0.0.1", "port": 0, "is_master": True, "wait_for_workers": False}
    try:
        return torch.distributed.TCPStore(**where, use_libuv=False)
    except TypeError:  # of a torch that knows no libuv
        return torch.distributed.TCPStore(**where)


def torchrun_starts():
    """Whether this torch's torchrun can start at all."""
    try:
        torch.distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    except RuntimeError as error:
        if "libuv" in str(error):
            return False
        raise
    return True
