"""Trigram: system relaxations of distributed training, on simulated clusters and on real ones.

    import trigram

    run = trigram.run(algorithm="bytegrad", workload="mlp", steps=200, evaluate_every=50)
    run                      # what it was and what it came to; a notebook shows a table
    run.evals                # loss and accuracy by step and time, as a pandas DataFrame
    run.plot()               # the pictures of `trigram plot`
    study = trigram.study("bagua_bandwidth")
    trigram.products("algorithms")     # what there is, with parameters
    trigram.load("results/first")      # what was run before, here or in a shell

Each of these starts the program `trigram`, shows how far it is, and reads the files that it wrote. Flags are the
program's, with `_` for `-`: `evaluate_every=50` is `--evaluate-every=50`, and True and False are `on` and `off`;
`trigram run --help` lists them with defaults. pandas is needed where a DataFrame is asked for, matplotlib where a
picture is.

A PyTorch model trains by the same algorithms, on real ranks that torchrun or mpirun has started,

    job = trigram.with_trigram(model, [optimizer], "bytegrad").trigram     # in train.py, before the loop
    …                                                                      # which stays as it was
    job.finish()

with members that come and go while it trains (`help(trigram.with_members)`),

    members = trigram.with_members(model, [optimizer], "bytegrad")         # for step in members.steps(1000): with step: …

and, with real gradients and a cluster's clock, on simulated ones, all in this process:

    run = trigram.simulate(make, loss, data, algorithm="bytegrad", ranks=8, steps=200, cluster="two_by_four")

`help(trigram.with_trigram)` and `help(trigram.simulate)` have examples, `help("trigram.job.Job")` says what a job can.
`check` holds an algorithm in Python to what its class says. `profile_of` writes a model as a profile, which a thousand simulated GPUs can train. Modules for code of your own:

    trigram.comm         the communicator on torch tensors: collectives, groups, gradients through them
    trigram.algorithm    what an algorithm in Python is derived from, for real and simulated ranks
    trigram.nn           layers over ranks: batch normalization, a mixture of experts
    trigram.data         samplers that give ranks equal work, data sets that are computed once
    trigram.optim        SGD, Adam and AdamW by one call a step

What the program refuses (exit code 2) is a ValueError with its text, every other failure a RuntimeError; Ctrl-C ends the
program too. What was finished by then stays in its folder: a study goes on from there when it is started again.
"""

__version__ = "0.1.0"

from .commands import bench, calibrate, import_files, products, run, study
from .pictures import Pictures
from .results import Bench, Calibration, Imported, Product, Products, Run, Study, load
from .training import check, ddp_hook, fsdp_hook, profile_of, simulate, with_members, with_trigram

__all__ = ["run", "study", "bench", "calibrate", "import_files", "products", "load", "with_trigram", "with_members", "ddp_hook", "fsdp_hook", "simulate", "check",
           "profile_of", "Run", "Study", "Bench", "Calibration", "Imported", "Product", "Products", "Pictures"]
