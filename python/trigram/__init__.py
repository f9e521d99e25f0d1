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

`with_trigram` makes a PyTorch model a rank of a job that torchrun or mpirun has started: real training, by the same algorithms.
`simulate` trains one on simulated ranks, with real gradients and a cluster's clock; `profile_of` writes one as a profile.
`from trigram import comm` is the communicator on torch tensors, for code of your own; `trigram.algorithm` has what an algorithm
in Python is derived from, for both. `trigram.nn`, `trigram.data` and `trigram.optim` are layers, data sets and optimizers of
distributed training on it.

What the program refuses (exit code 2) is a ValueError with its text, every other failure a RuntimeError; Ctrl-C ends the
program too. What was finished by then stays in its folder: a study goes on from there when it is started again.
"""

from .commands import bench, calibrate, products, run, study
from .pictures import Pictures
from .results import Bench, Calibration, Product, Products, Run, Study, load
from .training import ddp_hook, profile_of, simulate, with_trigram

__all__ = ["run", "study", "bench", "calibrate", "products", "load", "with_trigram", "ddp_hook", "simulate", "profile_of",
           "Run", "Study", "Bench", "Calibration", "Product", "Products", "Pictures"]
