"""Bad values for every flag of every subcommand and every parameter of every product, in turn; each alone on a command
that is otherwise right and cheap, now and then two at once, sometimes through a file of flags."""

import os

from attempt import Attempt
from data_files import TABLE
from values import bad_value

# Cheap right flags by subcommand; whatever a subcommand does not have is left out.
CHEAP = {"steps": "2", "ranks": "2", "workload": "quadratic:dimension=16", "out": "out/made", "min-size": "4KiB", "max-size": "8KiB",
         "rounds": "1", "plot": "off", "trials": "2", "confirm": "0"}
# What a flag or a parameter can only work with.
WITH_FLAG = {"label-skew": {"workload": "mlp:hidden=4"}, "validation": {"workload": "mlp:hidden=4"},
             "global-batch": {"workload": "mlp:hidden=4"}, "profile": {"workload": "mlp:hidden=4"}}
WITH_PARAMETER = {"leaf_nodes": "topology=fat_tree", "oversubscription": "topology=fat_tree", "core_latency": "topology=fat_tree",
                  "handshake_size": "nic_handshake=1us", "eager_size": "connections=2", "nic_chunk": "nics=(1Gbps,2Gbps)"}
NEEDED = {"file": "layers.csv"}
WRITTEN = {"run": "out/made/run.json"}
# With these a command that nobody could refuse may end with 1: runs are missing; more evaluations than anyone could know before.
MAY_FAIL = {"study": {"collect", "cells"}, "run": {"evaluate-seconds"}}
POSITIONAL = {"study": {"STUDY": "small.cfg"}, "plot": {"DIR": "out"}, "check": {"PRODUCT": "local_sgd:every=3"},
              "new": {"KIND": "cluster", "NAME": "made"}, "import": {"KIND": "ping", "FILE": "ping.txt"}}
PING = "64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.210 ms\nrtt min/avg/max/mdev = 0.210/0.210/0.210/0.000 ms\n"
STUDY = "[run]\nsteps = 2\nranks = 2\nworkload = quadratic:dimension=16\n[sweep]\nseed = 1 2\n"


def targets(catalogue):
    """Everything that takes a value: (subcommand, flag) and (product, parameter)."""
    found = [(one, flag) for one in catalogue.subcommands for flag in one.values()]
    found += [(one, flag) for one in catalogue.products for flag in one.parameters]
    return found


def attempt(random, index, catalogue, scratch):
    everything = targets(catalogue)
    owner, flag = everything[index % len(everything)]
    value, must_refuse = bad_value(random, flag)
    furnish(scratch.place)
    if owner in catalogue.subcommands:
        return with_flag(random, catalogue, scratch, owner, flag, value, must_refuse)
    return with_parameter(random, catalogue, owner, flag, value, must_refuse)


def furnish(place):
    """Things that a path may meet."""
    (place / "here.txt").write_text("seed = 1\n")
    (place / "layers.csv").write_bytes(TABLE)
    os.symlink(place.parent / "canary" / "notes.txt", place / "link")
    os.mkfifo(place / "pipe")
    try:
        os.mknod(place / "device", 0o20666, os.makedev(1, 5))  # zeros without end
    except PermissionError:
        pass


def with_flag(random, catalogue, scratch, subcommand, flag, value, must_refuse):
    given = cheap_flags(subcommand)
    given.update({name: text for name, text in WITH_FLAG.get(flag.name, {}).items() if subcommand.has(name)})
    given[flag.name] = value
    if flag.name == "config":
        given = {"config": value}
    wrong, places = [value], [flag.name, "given twice", "of the command line", "the folder of a run"]  # of words without a flag
    if flag.name in subcommand.positional or subcommand.name == "plot":  # what stands beside it may be refused first
        places += POSITIONAL.get(subcommand.name, {}).values()
    others = [one for one in subcommand.flags if one.name != flag.name]
    if others and random.random() < 0.1:
        other = random.choice(others)
        given[other.name] = bad_value(random, other)[0]
        wrong.append(given[other.name])
        places.append(other.name)
    if subcommand.name == "run" and "config" not in given and isinstance(value, str) and random.random() < 0.1:
        lines = "".join(f"{name} = {text}\n" for name, text in given.items() if isinstance(text, str))
        (scratch.place / "flags.cfg").write_text(lines)
        return Attempt(["run", "--config", "flags.cfg"], wrong, ["flags.cfg", *places], allowed=places_given(given))
    full = random.random() < 0.02
    words = words_of(scratch.place, subcommand, given)
    may_fail = not must_refuse and not MAY_FAIL.get(subcommand.name, set()).isdisjoint(given)
    return Attempt(words, wrong, places, must_refuse, may_fail=may_fail, writes=written(subcommand, given), output="/dev/full" if full else "",
                   allowed=places_given(given) + begun(words))


def begun(words):
    """The file that `new` begins, as listings have it."""
    name = words[-1]
    return (f"place/{name}.cpp", f"place/{name}.cfg") if words[0] == "new" and isinstance(name, str) else ()


def places_given(given):
    """What --out names, as listings have it; through a link, what the link names."""
    out = given.get("out", "")
    out = out.decode(errors="replace") if isinstance(out, bytes) else out
    if out in ("..", "."):
        return ("",)
    if not out or out in ("pipe", "device"):
        return ()
    return ("canary/notes.txt", "place/link") if out == "link" else (os.path.normpath("place/" + out),)


def written(subcommand, given):
    """The file that a success leaves, where the value of --out does not move it."""
    return WRITTEN.get(subcommand.name, "") if given.get("out") == CHEAP["out"] else ""


def cheap_flags(subcommand):
    return {name: value for name, value in CHEAP.items() if subcommand.has(name)}


def words_of(place, subcommand, given):
    words = [subcommand.name]
    if subcommand.positional:
        (place / "small.cfg").write_text(STUDY)
        (place / "ping.txt").write_text(PING)
    for name in subcommand.positional:
        word = given.pop(name, POSITIONAL.get(subcommand.name, {}).get(name))
        words += [word] if word is not None else []
    for name, value in given.items():
        words += [f"--{name}=".encode() + value] if isinstance(value, bytes) else [f"--{name}={value}"]
    return words


def with_parameter(random, catalogue, product, parameter, value, must_refuse):
    raw = value if isinstance(value, bytes) else value.encode()
    if random.random() < 0.5:
        raw = b"(" + raw + b")"
    elif b"," in raw:
        must_refuse = False  # it ends there, and what follows is refused as another parameter
    spec = product.name.encode() + b":" + parameter.name.encode() + b"=" + raw
    partners = [f"{name}={text}" for name, text in NEEDED.items()
                if name != parameter.name and any(one.name == name for one in product.parameters)]
    if partner := WITH_PARAMETER.get(parameter.name):
        partners.append(partner)
    spec += "".join(f",{partner}" for partner in partners).encode()
    run = catalogue.subcommand("run")
    flag, text = flag_for(catalogue, product, spec)
    if not flag:
        return Attempt(["check", text], [value], [parameter.name, product.name.split("/")[-1]], must_refuse)
    given = {**cheap_flags(run), flag: text}
    if flag == "backend":
        del given["ranks"]
    if random.random() < 0.2 and flag != "cluster":
        given["fidelity"] = "fluid"
    return Attempt(words_of(None, run, given), [value], [parameter.name, product.name.split("/")[-1]], must_refuse,
                   may_fail=parameter.name in ("faults", "timeout"), writes=WRITTEN["run"])


def flag_for(catalogue, product, spec):
    """The flag that takes this kind of product; or a parameter of another product, which a flag takes; or none."""
    singular = product.kind.removesuffix("ies") + "y" if product.kind.endswith("ies") else product.kind.removesuffix("s")
    run = catalogue.subcommand("run")
    if run.has(singular):
        return singular, spec
    holder = next(iter(catalogue.holders(singular)), None)
    inner = spec.split(b"/", 1)[-1]  # codecs and operations are listed by device
    if holder is None:
        return "", inner
    flag, outer = flag_for(catalogue, holder, holder.name.encode())
    return flag, outer + b":" + singular.encode() + b"=(" + inner + b")"
