"""Launchers' variables around a command that needs none of them: it does its work or refuses, and never does nothing."""

from attempt import Attempt

NAMES = ["RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "SLURM_PROCID", "SLURM_NTASKS", "PMI_RANK",
         "PMI_SIZE", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "TORCHELASTIC_RUN_ID"]
VALUES = ["0", "1", "2", "3", "4", "-1", "x", "", "99999999999999999999", "1.5", "nan", "\x1b[2J", "localhost", "1000000"]
COMMANDS = [(["run", "--steps=2", "--ranks=2", "--workload=quadratic:dimension=16", "--out=out/made"], "out/made/run.json"),
            (["bench", "--max-size=8KiB", "--ranks=2"], ""),
            (["list", "algorithms"], "")]


def attempt(random, index, catalogue, scratch):
    chosen = random.sample(NAMES, random.choice([1, 2, 3, 4]))
    environment = {name: random.choice(VALUES) for name in chosen}
    words, writes = random.choice(COMMANDS)
    return Attempt(list(words), list(environment.values()), [*chosen, "launch", "job", "started"], writes=writes,
                   environment=environment)
