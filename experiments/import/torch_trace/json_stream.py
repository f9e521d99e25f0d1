"""Events of a Chrome trace one by one, in memory that does not grow with the file. json's own decoder reads each event from a window of
the text that moves on; the whole text is never held."""

import gzip
import json
import re
import zlib

from unusable import Unusable

WINDOW = 1 << 20  # characters that are read at a time
LONGEST = 32 << 20  # of one event or value; what goes on for longer is no trace
EVENTS = "traceEvents"
BLANK = re.compile(r"[ \t\r\n]*")


class JsonStream:
    """The top level of a trace: `facts` holds what stands beside the events, as far as it has been read; `events()` yields the events."""

    def __init__(self, path):
        self.path, self.facts, self.count = path, {}, 0
        self._text, self._at, self._passed, self._ended = "", 0, 0, False
        self._decoder = json.JSONDecoder(strict=False)

    def events(self):
        try:
            with opened(self.path) as self._file:
                yield from self._document()
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise Unusable(f"'{self.path}' is compressed and not whole ({error}); it was cut off or is still being written; "
                           "export the trace again") from error
        except OSError as error:
            raise Unusable(f"cannot read '{self.path}': {error.strerror}") from error

    def _document(self):
        first = self._next()
        if first == "[":
            yield from self._array()
        elif first == "{":
            yield from self._object()
        else:
            raise Unusable(f"'{self.path}' is no trace: a trace is JSON and begins with '{{' or '[', this file with {first!r}")

    def _object(self):
        self._at += 1
        while self._next() != "}":
            key = self._value()
            self._expect(":")
            if key == EVENTS and self._next() == "[":
                yield from self._array()
            else:
                self.facts[key] = self._value()
            if self._next() == ",":
                self._at += 1
        if EVENTS not in self.facts and not self.count:
            raise Unusable(f"'{self.path}' is JSON, but no trace: it has no list '{EVENTS}'")

    def _array(self):
        self._at += 1
        while self._next() != "]":
            event = self._value()
            self.count += 1
            if isinstance(event, dict):
                yield event
            if self._next() == ",":
                self._at += 1
            elif self._next() != "]":
                self._refuse(f"{self._next()!r} stands where a ',' or a ']' belongs")
        self._at += 1

    def _expect(self, sign):
        if self._next() != sign:
            self._refuse(f"{self._next()!r} stands where a {sign!r} belongs")
        self._at += 1

    def _next(self):
        """The next character that is no blank; '' never: a file that ends here is refused."""
        while True:
            self._at = BLANK.match(self._text, self._at).end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                where = f"after {self.count} events" if self.count else "before its first event"
                raise Unusable(f"'{self.path}' ends {where}, within the JSON: it was cut off or is still being written; export the trace again")

    def _value(self):
        self._next()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
                if end < len(self._text) or not self._more():
                    self._at = end
                    return value
            except json.JSONDecodeError as error:
                if len(self._text) - self._at > LONGEST:
                    self._refuse(error.msg)
                if not self._more():
                    self._refuse_end(error)

    def _more(self):
        """Moves the window on; False at the end of the file."""
        read = "" if self._ended else self._file.read(WINDOW)
        self._ended = not read
        self._passed += self._at
        self._text, self._at = self._text[self._at:] + read, 0
        return bool(read)

    def _refuse_end(self, error):
        if error.pos >= len(self._text.rstrip()) - 1 or "Unterminated" in error.msg or "Expecting" in error.msg:
            raise Unusable(f"'{self.path}' ends within event {self.count + 1}: it was cut off or is still being written; export the trace again")
        self._refuse(error.msg)

    def _refuse(self, what):
        raise Unusable(f"'{self.path}' is no trace that can be read: at character {self._passed + self._at}, behind {self.count} events: {what}")


def opened(path):
    """The text of a file, unpacked where it begins as gzip's do, whatever its name says."""
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    opener = gzip.open if packed else open
    return opener(path, "rt", encoding="utf-8", errors="replace")
