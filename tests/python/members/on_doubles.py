"""Members whose models lie on doubles of CUDA devices, one each of a host, and which NCCL's double connects; TRIGRAM_SESSION names the library
on them."""

import os
import pathlib
import re
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent))

import gpu_job  # noqa: E402
import member_script  # noqa: E402
import members_case  # noqa: E402

ARE_THERE = bool(re.search("on_(host|ptx)", os.environ.get("TRIGRAM_SESSION", "")))
DEVICES = 8


class OwnDevice(gpu_job.Double):
    """That of one process."""

    def __init__(self, number):
        self.ask("cudaSetDevice", number)
        super().__init__()
        self.settings = {"device": number}


def main(algorithm, out, told):
    """As member_script.main."""
    with gpu_job.on(OwnDevice(int(told.get("device", os.environ["TRIGRAM_MEMBER"])))):
        member_script.main(algorithm, out, told)


class Members(members_case.Members):
    """Each on the device of its number."""

    body = staticmethod(main)
    variables = {"CUDA_ON_HOST_MEMORY": "any", "CUDA_ON_HOST_DEVICES": str(DEVICES)}
