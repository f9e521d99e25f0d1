"""The connection with the program that simulates: its questions, one after the other, and their answers."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Optional

from .simulated_lane import Asked, Ended


class Line:
    """Whoever reads the next question has answered the one before."""

    def __init__(self, connection: socket.socket, answer: "Callable[[dict[str, Any], bytes], Asked]") -> None:
        """`answer`: of a question and the bytes that come with it."""
        self._connection, self._lines, self._answer = connection, connection.makefile("rb"), answer
        self.others_serve = False
        """Whether another thread does at present."""

    def __enter__(self) -> "Line":
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()

    def serve(self) -> None:
        """Until the program has no more questions."""
        for question, payload in self._questions():
            self._tell(*self._answer(question, payload))

    def serve_others(self, asked: Asked, until: dict[str, Any]) -> tuple[Any, bytes]:
        """Tells what a hook asks in whose midst the caller is, and answers other questions until the one that goes on with that hook. It is another
        thread that does, since torch keeps with a thread what a hook may be in, as no_grad(). Raises Ended where none comes, because of what was
        raised there."""
        came: list[tuple[Any, bytes]] = []
        error: Optional[BaseException] = None

        def others() -> None:
            nonlocal error
            try:
                self._tell(*asked)
                for question, payload in self._questions():
                    if until.items() <= question.items():
                        return came.append((question["answer"], payload))
                    self._tell(*self._answer(question, payload))
            except BaseException as raised:
                error = raised

        thread = threading.Thread(target=others, daemon=True)
        self.others_serve = True
        thread.start()
        thread.join()
        self.others_serve = False
        if not came:
            raise Ended from error
        return came[0]

    def _questions(self) -> Iterator[Asked]:
        """With the bytes that follow them, until the program has no more of them."""
        while True:
            try:
                line = self._lines.readline()
            except ConnectionResetError:
                return
            if not line.endswith(b"\n"):
                return
            question = json.loads(line)
            yield question, self._lines.read(question.pop("bytes", 0))

    def _tell(self, words: dict[str, Any], payload: bytes) -> None:
        text = json.dumps(words | {"bytes": len(payload)}).encode() + b"\n"
        with suppress(BrokenPipeError, ConnectionResetError):  # it has died, and says elsewhere of what
            self._connection.sendall(text + payload)
