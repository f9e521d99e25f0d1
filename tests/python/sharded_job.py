"""One rank of a job that torchrun started: models that fully_shard has cut, trained by with_trigram and below its hook, beside PyTorch's own HSDP
and beside whole models. sharded_job.py FOLDER CASE…; rank 0 prints which cases held and which it skipped."""

import sys

import hsdp_on_cpus
from job_shard_codecs import ShardCodecs
from job_sharded import Sharded
from job_sharded_hook import ShardedHooks
from with_trigram_job import main


class Cases(Sharded, ShardedHooks, ShardCodecs):
    """A method a case."""


if __name__ == "__main__":
    hsdp_on_cpus.bring()
    main(Cases, sys.argv[1], sys.argv[2:])
