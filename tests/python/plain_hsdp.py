"""Runs a script of examples/ that cuts a model over one dimension of a mesh and trains by Trigram along the other, with PyTorch's own HSDP over both
in their place: plain_hsdp.py SCRIPT."""

import pathlib
import sys
import types

from torch.distributed import fsdp

import hsdp_on_cpus
import trigram
from trigram.mesh import root_of

hsdp_on_cpus.bring()
cut = fsdp.fully_shard


def over_both(module, mesh, **options):
    return cut(module, mesh=root_of(mesh), **options)


def as_it_is(model, *_, **__):
    model.trigram = types.SimpleNamespace(finish=lambda mean: None)
    return model


fsdp.fully_shard, trigram.with_trigram = over_both, as_it_is
script = pathlib.Path(sys.argv[1])
exec(compile(script.read_text("utf-8"), script, "exec"), {"__name__": "__main__"})
