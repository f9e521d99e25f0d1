"""Bad values by type, and texts of the program's small languages to cut and glue."""

LONG = "a" * 100_000

# Nobody can mean these.
NONSENSE = {
    "integer": ["x", "1x", "1.5", "nan", "inf", "0x10", "--1", "1,2", "99999999999999999999", "1GB", "on", "1 2", "٣"],
    "number": ["x", "1x", "nan", "-nan", "1,5", "--1", "1e", "1.5.2", "1e999", "0.5s", "on"],
    "quantity": ["x", "5x", "-1s", "-1GB", "nans", "nan", "nanGB/s", "1 parsec", "1GBGB", "1Gbps/s", "s", "GB", "1e999s", "0x1s",
                 "1,5s"],
    "on|off": ["ja", "2", "of", "onoff", "-", "1.5"],
    "text": ["\x1b[31mred", "no_such_name", "no\nname", LONG],
}
# These might be taken, refused, or be somebody's wish; whatever is done is done soon and in little memory.
EXTREME = {
    "integer": ["", "-1", "0", "1", "3", "7", "2147483647", "2147483648", "-2147483649", "4294967296", "9223372036854775807",
                "1000000", "65536", "1048576", "1000000000", "+1", " 1", "1 ", "1e3", "007", LONG[:50]],
    "number": ["", "-1", "0", "-0", "1", "2", "inf", "-inf", "1e308", "-1e308", "5e-324", "1e-300", "1.0000000001", "0.9999999999",
               "infinity", "1e19", " 1", "+1", "0x1p3", ".5", "5."],
    "quantity": ["", "0", "0s", "0B", "1", "5", "1ns", "1e-300s", "1e300s", "1e19s", "infs", "inf", "infGB/s", "1e19B", "1e300B", "1B",
                 "3B", "1bps", "1e-300Gbps", "1e300GB/s", "1TB", "1 GB", "1FLOPS", "1e300TFLOPS", "1KiB", "10us", "10Gbps", "+1s",
                 "1e-9Gbps"],
    "on|off": ["on", "off", "", "ON", "1", "true", "yes", "no"],
    "text": ["", " ", ",", "=", ":", "(", ")", "()", ":(=", "a:b", "a:b=c=d", "a:(b=c", "a:b=(c", "a:b=c)", ":a=1", "../x", "/",
             ".", "..", "a:b=1,b=2", "-", "--", "%s%n%x", "$(id)", "\t", "sim", "ring", "é", "\u202e", "0", "-1", "1e19B", "nan"],
}
# Too deep, too long, and no text at all.
MONSTERS = ["(" * 5000, "a:" * 5000, "a:b=(" * 5000 + "c" + ")" * 5000, "=" * 100_000, "," * 100_000, " ".join(["0:1"] * 20_000),
            LONG, "a:" + ",".join(f"k{i}=1" for i in range(10_000)), b"\xff\xfe", b"ring\xc3", "1" * 100_000]

# What the small languages are made of: entries in which numbers and words are replaced.
PHRASES = {
    "KIND": ["algorithm", "cluster", "codecs"],
    "NAME": ["damped_average", "made_here"],
    "gpus_per_node": ["4 8", "1 1", "2"],
    "slow": ["1:2", "0:1.5 1:3"],
    "changes": ["1us/nic_bandwidth/0/1Gbps", "1us/nic_latency/1/5us", "1us/node_bandwidth/0/1GB/s", "1us/slow/1/2"],
    "outages": ["1us/nic/0@1us", "2us/gpu/1@0s", "1ms/node/1@5us"],
    "faults": ["1us/nic/0", "2us/gpu/1", "1ms/node/1"],
    "background": ["0>1", "1>0/1Gbps"],
    "topology": ["fat_tree", "ring", "torus:rows=2"],
    "codec": ["qsgd:levels=7", "top_k:fraction=0.5", "(random_k:k=2)"],
    "hidden": ["32", "64x32"],
    "data": ["digits", "(csv:train=a.csv,test=b.csv)", "(idx:train_images=a,train_labels=b,test_images=c,test_labels=d)"],
    "model": ["mlp", "(mlp:data=digits)", "softmax"],
    "profile": ["vgg16", "(vgg16:batch=32)", "profile:file=a.csv"],
    "compute": ["measured", "roofline", "0.5s"],
    "platform": ["here.xml", "."],
    "norm": ["2", "max"],
    "cluster": ["two_by_four:nodes=3", "two_by_four:nodes=2,gpus_per_node=(1 2)"],
    "rendezvous": ["file:here", "tcp:localhost:0", "mpi"],
    "out": ["out/a\nb", "out/\x1b[2J", b"out/\xff\xfe", "out/" + "n" * 300, "out/" + "d/" * 3000 + "e", "here.txt/below", "link/below",
            "here.txt", "link", "pipe", "device", ""],
    "config": ["here.txt", "link", "pipe", ".", "device", "missing"],
}
# With a large value of these a run is honestly long.
HONEST_WORK = {"steps", "iterations", "rounds", "trials", "accumulate"}
MUCH_WORK = 100
PATHS = {"out", "config"}


def is_long_work(name, value):
    """Whether a flag asks for more work than an attack has time for, in any of the forms that a number may have."""
    if name not in HONEST_WORK:
        return False
    try:
        return MUCH_WORK < float(value) < float("inf")
    except (TypeError, ValueError):
        digits = "".join(letter for letter in str(value) if letter.isdigit())
        return len(digits) > 3 and not str(value).startswith("-")


def bad_value(random, flag):
    """(a bad value for this flag or parameter, whether it must be refused)."""
    while True:
        value, must_refuse = any_bad_value(random, flag)
        absolute = isinstance(value, str) and value.strip(" '\"(").startswith("/")  # would leave the scratch folder
        if not absolute and not is_long_work(flag.name, value):
            return value, must_refuse


def any_bad_value(random, flag):
    kind = random.random()
    if flag.name in PATHS and kind < 0.5:
        return random.choice(PHRASES[flag.name]), False
    if flag.type == "text" and (flag.name in PHRASES or flag.fallback) and kind < 0.5:
        return mangled(random, random.choice(PHRASES.get(flag.name, [flag.fallback]))), False
    if kind < 0.05:
        return random.choice(MONSTERS), False
    if kind < 0.55:
        return random.choice(NONSENSE[flag.type]), flag.type != "text"
    return random.choice(EXTREME[flag.type]), False


def mangled(random, text):
    """A phrase as it is, or with one of its words, numbers or signs replaced, doubled or left out."""
    if isinstance(text, bytes) or random.random() < 0.3:
        return text
    parts = split_words(text)
    index = random.randrange(len(parts))
    action = random.randrange(4)
    if action == 0:
        parts[index] = random.choice(["", "x", "-1", "1e19", "nan", "inf", "99999999999", "0", "/", ":", ">", "\x1b", "1ns", " "])
    elif action == 1:
        parts.insert(index, parts[index])
    elif action == 2:
        del parts[index]
    else:
        parts[index] = random.choice([*EXTREME["integer"], *EXTREME["quantity"]])
    return "".join(parts)


def split_words(text):
    parts = [""]
    for letter in text:
        if letter.isalnum() != (parts[-1][-1:].isalnum()) or not letter.isalnum():
            parts.append("")
        parts[-1] += letter
    return [part for part in parts if part] or [""]
