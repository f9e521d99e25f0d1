"""Mutations of data sets in CSV and IDX, gzipped or plain, and of tables of layers."""

import gzip
import struct

from attempt import Attempt
from mutate import mutated
from special import special

ROWS = 40
TABLE = b"""# summary: a small network
# source: none
# batch: 4
# compute: 2ms
layer,tensor,parameters,dimensions,decays,forward_flops,activations
one,weight,1728,64x3x3x3,1,173408256,3211264
one,bias,64,64,0,,
two,weight,36864,64x64x3x3,1,3699376128,3211264
two,bias,64,,0,,
"""
LAYOUTS = [[], [], [], [struct.pack(">II", 0x803, 2**31)], [struct.pack(">IIII", 0x803, 2**31 - 1, 2**31 - 1, 28)],
           [struct.pack(">IIII", 0x803, 0, 4, 4)], [struct.pack(">IIII", 0x803, ROWS, 0, 0)],
           [struct.pack(">IIII", 0x803, ROWS, 65536, 65536)], [struct.pack(">II", 0xffffffff, 0xffffffff)]]


def csv_rows(random):
    return "".join(",".join(str(random.randrange(17)) for _ in range(4)) + f",{random.randrange(3)}\n"
                   for _ in range(ROWS)).encode()


def idx_images(random):
    return struct.pack(">IIII", 0x803, ROWS, 4, 4) + bytes(random.randrange(256) for _ in range(ROWS * 16))


def idx_labels(random):
    return struct.pack(">II", 0x801, ROWS) + bytes(random.randrange(3) for _ in range(ROWS))


def attempt(random, index, catalogue, scratch):
    return random.choice([csv, csv, idx, table])(random, scratch)


def csv(random, scratch):
    spoil(random, scratch.place, {"train.csv": csv_rows(random), "test.csv": csv_rows(random)})
    options = random.choice(["", "", ",label=first", ",header=on"])
    return run(random, f"data=(csv:train=train.csv,test=test.csv{options})", ["train.csv", "test.csv"])


def idx(random, scratch):
    images, labels = idx_images(random), idx_labels(random)
    files = {"train.images": images, "train.labels": labels, "test.images": images, "test.labels": labels}
    if layout := random.choice(LAYOUTS):
        files["train.images"] = layout[0] + images[16:random.choice([16, 100, len(images)])]
    spoil(random, scratch.place, files)
    paths = ",".join(f"{name.replace('.', '_')}={name}" for name in files)
    return run(random, f"data=(idx:{paths})", list(files))


def table(random, scratch):
    spoil(random, scratch.place, {"layers.csv": TABLE})
    words = ["run", "--workload=profile:file=layers.csv", "--ranks=2", "--steps=2", "--out=out/made"]
    return Attempt(words, [], ["layers.csv"], writes="out/made/run.json")


def run(random, data, files):
    model = random.choice(["mlp:hidden=4,", "softmax:"])
    words = ["run", f"--workload={model}{data}", "--ranks=2", "--steps=2", "--global-batch=8", "--out=out/made"]
    return Attempt(words, [], [*files, "global-batch", "data"], writes="out/made/run.json")


def spoil(random, place, files):
    """Writes the files, one of them mutated, before or after it is zipped, or no file at all."""
    worst = random.choice(list(files))
    for name, content in files.items():
        if name != worst:
            (place / name).write_bytes(content)
        elif random.random() < 0.06:
            special(random, place / name)
        elif random.random() < 0.2:
            (place / name).write_bytes(mutated(random, gzip.compress(content, mtime=0)))
        else:
            changed = mutated(random, content)
            (place / name).write_bytes(gzip.compress(changed, mtime=0) if random.random() < 0.2 else changed)
