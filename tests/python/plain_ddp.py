"""Runs a script of examples/ with DistributedDataParallel in place of Trigram, as its framework has it by itself: plain_ddp.py SCRIPT."""

import pathlib
import sys
import types

script = pathlib.Path(sys.argv[1])
if "lightning" in script.name:
    from lightning.pytorch.strategies import DDPStrategy

    import trigram.lightning
    trigram.lightning.TrigramStrategy = lambda _: DDPStrategy()
else:
    from trigram import huggingface

    def prepared(accelerator, _, *objects):
        model, *others = accelerator.prepare(*objects)
        model.trigram = types.SimpleNamespace(finish=lambda mean: None)
        return model, *others

    huggingface.prepare, huggingface.attach = prepared, lambda *_: None
exec(compile(script.read_text("utf-8"), script, "exec"), {"__name__": "__main__"})  # Lightning starts this file again for other ranks
