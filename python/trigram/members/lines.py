"""Connections between members: each answers questions of the others while it trains, and says by that that it lives."""

import platform
import socket
import struct
import threading
import time
from collections.abc import Callable
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, Listener, answer_challenge, deliver_challenge
from typing import Any, NamedTuple, Optional

SOON = 0.25
"""Seconds between two questions whether somebody lives."""
NO_ANSWER = 3.0
"""Seconds after which a question is asked anew, over another connection."""


class Address(NamedTuple):
    """Where a member answers."""

    host: str
    port: int


def own_host(named: str) -> str:
    """By which others reach this machine: as named, else by its own name, or this machine alone where that is a loopback address."""
    try:
        host = named or platform.node()
        return "127.0.0.1" if socket.gethostbyname(host).startswith("127.") else host
    except OSError:
        return named or "127.0.0.1"


class Answers:
    """Those of this process, on threads of its own. A question is a tuple of words, its answer whatever `answer` gives."""

    def __init__(self, host: str, secret: bytes, answer: Callable[..., Any]) -> None:
        self._answer, self._secret = answer, secret
        self._listener = Listener(("127.0.0.1" if host == "127.0.0.1" else "", 0), backlog=64)
        self.address = Address(host, int(self._listener.address[1]))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:  # as long as the process lives
            line = self._listener.accept()
            threading.Thread(target=self._serve, args=(line,), daemon=True).start()

    def _serve(self, line: Any) -> None:
        """Each on a thread of its own, since a stranger, or one that stands still, may never end the challenge."""
        with line:
            try:
                deliver_challenge(line, self._secret)
                answer_challenge(line, self._secret)
                while True:
                    line.send(self._answer(*line.recv()))
            except (EOFError, OSError, AuthenticationError):
                return  # whoever asked has what it wanted, has died, or is a stranger


def connected(address: Address, secret: bytes, seconds: float) -> Any:
    """Its messages raise OSError where nothing is heard of the other end for so long."""
    with socket.create_connection(address, seconds) as made:
        made.setblocking(True)
        limit = struct.pack("ll", int(seconds), int(seconds % 1 * 1e6))
        for what in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            made.setsockopt(socket.SOL_SOCKET, what, limit)
        line: Any = Connection(made.detach())
    try:
        answer_challenge(line, secret)
        deliver_challenge(line, secret)
        return line
    except BaseException:
        line.close()
        raise


def fetch(address: Address, secret: bytes, silence: float, *question: Any) -> Any:
    """The answer to a question that takes its time, as long as whoever is there lives. Raises OSError or EOFError where nobody does any more."""
    sign = Sign(None, address, secret)
    try:
        with connected(address, secret, silence) as line:
            line.send(question)
            while not line.poll(SOON):
                if why := sign.trouble(silence):
                    raise OSError(f"{address.host} gives nothing: {why}")
            return line.recv()
    finally:
        sign.stop()


class Sign:
    """Whether a member lives, asked again and again on a thread: one that has died is known to be gone as soon as its machine says so,
    and one that stands still, or whose machine is gone, by its silence."""

    def __init__(self, name: Optional[str], address: Address, secret: bytes) -> None:
        """`name`: None where whoever is there will do."""
        self._name, self._address, self._secret = name, address, secret
        self._heard: float = time.monotonic()
        self.gone = self._over = False
        self.has_answered = False
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while not self._over and not self.gone:
            try:
                self._ask_again_and_again()
            except (ConnectionRefusedError, ConnectionResetError, BrokenPipeError, EOFError, AuthenticationError):
                self.gone = True  # or a stranger has its port
            except Exception:  # the network's, which may come back
                time.sleep(SOON)

    def _ask_again_and_again(self) -> None:
        with connected(self._address, self._secret, NO_ANSWER) as line:
            while not self._over:
                line.send(("name",))
                if line.recv() != self._name and self._name is not None:
                    self.gone = True  # another process has its port
                    return
                self._heard, self.has_answered = time.monotonic(), True
                time.sleep(SOON)

    def trouble(self, silence: float) -> Optional[str]:
        """Why it is lost; None where it lives. `silence`: seconds after which it is."""
        if self.gone:
            return "its process is gone"
        quiet = time.monotonic() - self._heard
        return f"it has been silent for {quiet:.1f} s" if quiet > silence else None

    def stop(self) -> None:
        self._over = True
