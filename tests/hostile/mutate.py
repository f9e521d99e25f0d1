"""Mutations of files: of their bytes, their lines and their numbers."""

import re

TOKENS = [b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\n", b"\n\n", b"[", b"]", b"=", b"#", b",", b"\"", b"'", b"(", b")", b":", b"/", b"../",
          b"<", b">", b"&", b"\x1b[2J", b"nan", b"inf", b"-1", b"1e999", b"9" * 30, b"\xc3\xa9", b" ", b"\t"]
NUMBERS = [b"0", b"-1", b"nan", b"inf", b"-inf", b"1e300", b"1e-300", b"1e19", b"99999999999999999999", b"2147483648", b"65536",
           b"1000000000", b"", b"x", b"1e", b"0.1.2", b"1,5", b"-0"]


def mutated(random, text, honest=()):
    """One to three mutations. Lines that name one of `honest` keep small numbers: larger ones would only work longer."""
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        change = random.choice([flip, cut, insert, drop_line, double_line, swap_lines, number, number, number, truncate, rare])
        text = change(random, text)
    if not honest:
        return text
    grown = re.compile(rb"((?:" + b"|".join(honest) + rb")\s*=\s*)[-+]?[\d.e+]{3,}")
    return grown.sub(rb"\g<1>2", text)


def somewhere(random, text):
    return random.randrange(len(text) + 1)


def flip(random, text):
    if not text:
        return b"\x00"
    at = random.randrange(len(text))
    return text[:at] + bytes([random.randrange(256)]) + text[at + 1:]


def cut(random, text):
    begin = somewhere(random, text)
    return text[:begin] + text[begin + random.choice([1, 2, 5, 40]):]


def insert(random, text):
    at = somewhere(random, text)
    return text[:at] + random.choice(TOKENS) + text[at:]


def drop_line(random, text):
    lines = text.split(b"\n")
    del lines[random.randrange(len(lines))]
    return b"\n".join(lines)


def double_line(random, text):
    lines = text.split(b"\n")
    lines.insert(random.randrange(len(lines)), random.choice(lines))
    return b"\n".join(lines)


def swap_lines(random, text):
    lines = text.split(b"\n")
    a, b = random.randrange(len(lines)), random.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


def number(random, text):
    found = list(re.finditer(rb"\d+(?:\.\d+)?", text))
    if not found:
        return insert(random, text)
    one = random.choice(found)
    return text[:one.start()] + random.choice(NUMBERS) + text[one.end():]


def truncate(random, text):
    return text[:somewhere(random, text)]


def rare(random, text):
    at = somewhere(random, text)
    return random.choice([b"", bytes(random.randrange(256) for _ in range(200)), text.replace(b"\n", b"\r\n"), text + text,
                          b"\xef\xbb\xbf" + text, text.replace(b"\n", b""), text[:at] + b"z" * 200_000 + text[at:],
                          text[:at] + b"\n" * 100_000 + text[at:], text.decode("latin-1").encode("utf-16")])
