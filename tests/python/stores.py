"""Stores at which ranks of torch.distributed meet, as torchrun makes them; Debian 13 builds torch without libuv, which they ask for."""

import torch


def opened():
    """A store of this process, which has to keep it, and variables by which ranks meet there: its port is open before they are told it. Of one that
    is only chosen here, and opened by a rank, somebody else may answer the other rank first, which then waits for half an hour."""
    store = torch.distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    return store, {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(store.port), "TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RESTART_COUNT": "0"}


def torchrun_starts():
    """Whether this torch's torchrun can start at all."""
    try:
        opened()
    except RuntimeError as error:
        if "libuv" in str(error):
            return False
        raise
    return True
