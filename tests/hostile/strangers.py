"""What a stranger may do at the port of a job's rank 0; and what somebody of the same user may do by mistake. Each
attack takes (random, target) and goes on until the target's job is over."""

import hashlib
import hmac
import os
import socket
import struct
import time

PROTOCOL = b"trigram-rendezvous-2\n"
MOST_OPEN = 300


class Target:
    """A job under attack: where it listens, its secret and name (for attacks from inside), and whether it is over."""

    def __init__(self, port, secret, job, is_over):
        self.port, self.secret, self.job, self.is_over = port, secret, job, is_over
        self.heard = b""  # everything that strangers were told

    def connect(self, seconds=0.5):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=seconds)
        connection.settimeout(seconds)
        return connection

    def hear(self, connection, count=65536):
        try:
            said = connection.recv(count)
        except OSError:
            said = b""
        self.heard += said
        return said


def frame(body):
    return struct.pack("<Q", len(body)) + body


def again_and_again(once, pause=0.01):
    """An attack that repeats `once(random, target)` on a connection of its own."""
    def attack(random, target):
        while not target.is_over():
            try:
                with target.connect() as connection:
                    once(random, target, connection)
            except OSError:
                pass  # refused, reset or too slow: as it should be
            time.sleep(pause)
    return attack


def saying(make):
    """Sends what `make(random, target)` gives and hears the answer."""
    def once(random, target, connection):
        connection.sendall(make(random, target))
        target.hear(connection)
    return again_and_again(once)


def keeps(count, words=b"", pause=0.0):
    """Holds so many connections open, after saying something on each, and opens new ones where they are closed."""
    def attack(random, target):
        kept = []
        while not target.is_over():
            try:
                connection = target.connect()
                connection.sendall(words)
                kept.append(connection)
            except OSError:
                pass
            while len(kept) > count:
                kept.pop(0).close()
            time.sleep(pause)
        for connection in kept:
            connection.close()
    return attack


def drip(random, target, connection):
    """A frame's size that promises much, then a byte now and then."""
    connection.sendall(struct.pack("<Q", 16000))
    while not target.is_over():
        connection.sendall(b"x")
        time.sleep(0.05)


def reset(random, target, connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.sendall(frame(PROTOCOL + os.urandom(32))[:random.randrange(1, 60)])


def half_close(random, target, connection):
    connection.shutdown(socket.SHUT_WR)
    target.hear(connection)


def urgent(random, target, connection):
    connection.send(b"!", socket.MSG_OOB)
    connection.sendall(random.randbytes(64))
    target.hear(connection)


def never_reads(random, target, connection):
    hello = frame(PROTOCOL + b"\0" * 32)
    for _ in range(1000):
        connection.sendall(hello * 100)


def nonces(connection, target, own=None):
    """The first two frames of the protocol; both nonces, as a proof begins with them."""
    own = own or os.urandom(32)
    connection.sendall(frame(PROTOCOL + own))
    said = target.hear(connection)
    return own + said[8 + len(PROTOCOL):][:32]


def proof(secret, speaker, both, text):
    return hmac.new(secret, PROTOCOL + speaker + b"\n" + both + text, hashlib.sha256).digest()


def proving(make):
    """Says the right first words, and then a proof that `make(random, target, both nonces, text)` gives."""
    def once(random, target, connection):
        both = nonces(connection, target)
        text = f"{random.randrange(3)}\n3\n{target.job}".encode()
        connection.sendall(frame(make(random, target, both, text)))
        target.hear(connection)
    return again_and_again(once)


def reflected(random, target, connection):
    """Gives rank 0 its own words back."""
    connection.sendall(frame(PROTOCOL + os.urandom(32)))
    said = target.hear(connection)
    connection.sendall(said)
    target.hear(connection)


def replayed(random, target, connection):
    """What an honest rank said on one connection, word for word on another."""
    own = os.urandom(32)
    both = nonces(connection, target, own)
    text = f"1\n3\n{target.job}".encode()
    words = frame(proof(target.secret, b"rank", both, text) + text)
    with target.connect() as second:
        second.sendall(frame(PROTOCOL + own))
        target.hear(second)
        second.sendall(words)
        answer = target.hear(second)
        if len(answer) > 8:
            target.heard += b"REPLAY BELIEVED"
        second.sendall(frame(b"\x01failure\x001 the stranger's"))


def unproven_request(random, target, connection):
    request = random.choice([b"\x01failure\x001 a stranger", b"\x00failure\x001 a stranger", b"\x03hello/1\x00", b"\x02hello/0\x00",
                             b"\x01hello/2\x003 a stranger"])
    connection.sendall(frame(request) + frame(PROTOCOL + os.urandom(32)) + frame(request))
    target.hear(connection)


def wrong_introduction(random, target, connection):
    """The right secret and a rank or a job that cannot be: a misstarted process of the same user."""
    both = nonces(connection, target)
    text = random.choice([b"-1\n3\n%s", b"3\n3\n%s", b"99999999999999999999\n3\n%s", b"x\ny\n%s", b"", b"\n\n%s", b"1\n3\nother%s", b"7\n8\n%s",
                          b"3" * 9000 + b"%s", b"1\n3\n\x1b[31m%s"])
    text = text.replace(b"%s", target.job.encode())
    connection.sendall(frame(proof(target.secret, b"rank", both, text) + text))
    try:
        connection.recv(65536)  # it has proved itself, and may hear names
    except OSError:
        pass


ATTACKS = {
    "silence": keeps(64, pause=0.005),
    "300 half-open": keeps(MOST_OPEN),
    "300 after the first words": keeps(MOST_OPEN, frame(PROTOCOL + b"\1" * 32)),
    "300 in the middle of a size": keeps(MOST_OPEN, b"\1\0"),
    "connect and close": again_and_again(lambda *_: None, pause=0),
    "reset": again_and_again(reset, pause=0),
    "half close": again_and_again(half_close),
    "urgent bytes": again_and_again(urgent),
    "never reads": again_and_again(never_reads),
    "drip": again_and_again(drip),
    "garbage": saying(lambda random, _: random.randbytes(random.randrange(1, 5000))),
    "http": saying(lambda *_: b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "tls": saying(lambda random, _: bytes.fromhex("16030100c8010000c40303") + random.randbytes(193)),
    "a tebibyte": saying(lambda *_: struct.pack("<Q", 1 << 40) + b"x" * 1000),
    "2^64 - 1 bytes": saying(lambda *_: b"\xff" * 8 + b"x" * 1000),
    "a gibibyte": saying(lambda *_: struct.pack("<Q", 1 << 30) + b"x" * 1000),
    "empty frames": saying(lambda *_: bytes(8) * 500),
    "no nonce": saying(lambda *_: frame(PROTOCOL)),
    "a long nonce": saying(lambda *_: frame(PROTOCOL + bytes(5000))),
    "the protocol before": saying(lambda random, target: frame(b"trigram-rendezvous-1\n1\n" + target.job.encode())),
    "requests without proof": again_and_again(unproven_request),
    "a random proof": proving(lambda random, target, both, text: random.randbytes(32) + text),
    "the name as secret": proving(lambda random, target, both, text: proof(target.job.encode(), b"rank", both, text) + text),
    "an empty secret": proving(lambda random, target, both, text: proof(b"", b"rank", both, text) + text),
    "rank 0's proof": proving(lambda random, target, both, text: proof(b"x", b"rank 0", both, text) + text),
    "a short proof": proving(lambda random, target, both, text: random.randbytes(random.randrange(32))),
    "an empty proof": proving(lambda *_: b""),
    "an endless proof": proving(lambda random, target, both, text: random.randbytes(100_000)),
    "reflected": again_and_again(reflected),
    "replayed": again_and_again(replayed),
    "wrong introductions": again_and_again(wrong_introduction),
}
