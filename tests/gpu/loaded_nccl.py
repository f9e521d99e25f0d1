"""The session's library in a process that has loaded NCCL already, from where the loader does not look: loaded_nccl.py SESSION NCCL"""

import ctypes
import sys


def main(session: str, nccl: str) -> int:
    ctypes.CDLL(nccl)
    library = ctypes.CDLL(session)
    library.trigram_reply.restype = ctypes.c_char_p
    group = ctypes.c_void_p()
    status = library.trigram_group_open(b'{"backend": "gpu", "device": "0"}', ctypes.byref(group))
    print(library.trigram_reply().decode())
    return status or library.trigram_group_leave(group)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
