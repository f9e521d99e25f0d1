"""Whether the program answered an attempt as it should; every fault has one of the names below."""

import json
import re

REFUSAL_SECONDS = 5
RESIDENT = 1 << 30  # bytes of who refuses
RESIDENT_OF_WORK = 4 << 30  # and of who does what was asked, which the program bounds by what the machine has
MESSAGE = 1500  # characters of a message that somebody still reads

FAULTS = ("crash", "hang", "traceback", "raw exception", "touched outside", "bad refusal", "wrong success", "memory",
          "orphans")

RAW = re.compile(
    rb"json\.exception|terminate called|\bstd::|basic_string|boost::|bad_alloc|vector::|map::at|\bsto[iud]l*\b|what\(\):|"
    rb"filesystem error|bad optional|bad_function|simgrid::|\bxbt_|CRITICAL|Assertion|_M_|\.cpp:\d+|\.hpp:\d+|"
    rb"lexical cast|[A-Za-z]+Warning:|^Exception ", re.MULTILINE)
SIGNALLED = re.compile(rb"ended by signal|was killed by signal|Segmentation fault|Aborted")
NO_DEVICE = re.compile(rb"no CUDA device|NCCL cannot be loaded")


def faults_of(attempt, ending, touched, place):
    """(name, what was seen) of everything that is wrong with this ending."""
    found = []
    everything = ending.complained + b"\n" + ending.said
    if ending.status < 0 and not ending.hung:
        found.append(("crash", f"ended by signal {-ending.status}"))
    elif ending.status != 2 and SIGNALLED.search(ending.complained):
        found.append(("crash", "a process of it was ended by a signal"))
    if ending.hung:
        found.append(("hang", f"no end after {ending.seconds:.0f} s"))
    if b"Traceback (most recent call last)" in everything:
        found.append(("traceback", last_line(ending.complained)))
    elif raw := RAW.search(without_input(everything, attempt)):
        found.append(("raw exception", f"says '{raw.group(0).decode(errors='replace')}'"))
    if touched:
        found.append(("touched outside", ", ".join(touched[:4])))
    if ending.orphans:
        found.append(("orphans", f"still there after its end: {', '.join(ending.orphans)}"))
    if ending.resident > (RESIDENT if ending.status else RESIDENT_OF_WORK):
        found.append(("memory", f"{ending.resident >> 20} MiB resident"))
    if not ending.hung and ending.status > 0:
        found += [("bad refusal", why) for why in wrong_with_refusal(attempt, ending, place)]
    if ending.status == 0:
        found += [("wrong success", why) for why in wrong_with_success(attempt, ending, place)]
    return found


def wrong_with_refusal(attempt, ending, place):
    message = ending.complained
    if ending.status != 2:
        lost = attempt.output == "/dev/full" and not attempt.must_refuse
        if not ((attempt.may_fail or lost) and ending.status == 1):
            yield f"exit {ending.status}"
        if message.strip() in (b"", b"trigram:"):
            yield "no message"
        return
    lines = message.splitlines()
    if len(lines) != 1:
        yield f"{len(lines)} lines of message"
    if attempt.may_fail:
        return
    text = message.decode("utf-8", "replace")
    if "\ufffd" in text and "\ufffd" not in "".join(map(str, attempt.wrong)):
        yield "a message that is no UTF-8"
    if any(ord(letter) < 32 or ord(letter) == 127 for letter in text.strip("\n")):
        yield "control characters in the message"
    if len(text) > MESSAGE:
        yield f"a message of {len(text)} characters"
    if ending.seconds > REFUSAL_SECONDS and ending.cpu_seconds > REFUSAL_SECONDS / 2:
        yield f"only after {ending.seconds:.1f} s"
    if (place / "out" / "made").exists():
        yield "leaves a folder of results"
    if not NO_DEVICE.search(message):
        yield from unnamed(attempt, text)


def unnamed(attempt, text):
    """What was certainly wrong is named with its value and its place; what was refused beside others, by one of them."""
    value_named = any(is_named(value, text) for value in attempt.wrong)
    place_named = any(plain(name) in plain(text) for name in attempt.places)
    if attempt.must_refuse and attempt.wrong and not value_named and "leave it out" not in text:
        yield f"names no value of {attempt.wrong}"
    if attempt.places and not place_named and (attempt.must_refuse or not value_named):
        yield f"names nothing of {attempt.places}"


def plain(text):
    return text.replace("-", "_").lower()


def is_named(value, text):
    """Whether the text holds the value in quotes, or a part of it: what cannot be printed is shown in another form."""
    if isinstance(value, bytes):
        value = value.decode(errors="ignore")
    escaped = value.encode("unicode_escape").decode()
    if f"'{value}'" in text or f"'{escaped}'" in text or (value.strip() and value.strip() in text):
        return True
    parts = [part.strip() for part in re.split(r"[,:=()/]|[^ -~]", value)]
    return any(f"'{part}'" in text or len(part) > 1 and part[:12] in text for part in parts)


def wrong_with_success(attempt, ending, place):
    if attempt.must_refuse:
        yield "accepts what nobody can mean"
    if attempt.output == "/dev/full":
        yield "exit 0 though its output was lost"
    elif not ending.said.strip():
        yield "exit 0, having said nothing"
    if not attempt.writes:
        return
    try:
        json.loads((place / attempt.writes).read_bytes())
    except (OSError, ValueError) as error:
        yield f"exit 0 without {attempt.writes}: {error}"


def without_input(text, attempt):
    """What was said, less the attempt's own words, which may hold anything."""
    for word in attempt.words:
        raw = word if isinstance(word, bytes) else word.encode("utf-8", "surrogateescape")
        if len(raw) > 3:
            text = text.replace(raw, b"")
    return text


def last_line(text):
    return (text.strip().splitlines() or [b""])[-1].decode(errors="replace")[:160]
