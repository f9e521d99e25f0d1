"""One hostile input: a command line, what stands in its place, and what a right answer to it must hold."""

import dataclasses
import shlex


@dataclasses.dataclass
class Attempt:
    words: list  # after the program; str, or bytes where they are no UTF-8
    wrong: list = dataclasses.field(default_factory=list)  # what was made wrong: a refusal names one of these
    places: list = dataclasses.field(default_factory=list)  # flags, keys or files: and one of these
    must_refuse: bool = False  # nobody could mean that
    may_fail: bool = False  # it may begin and fail while it runs: a simulated fault
    writes: str = ""  # a file that a success has written, below the place
    environment: dict = dataclasses.field(default_factory=dict)
    output: str = ""  # where standard output goes, if not into a file
    allowed: tuple = ()  # what may be touched beside the folders of results

    def command(self, program):
        """The command for a shell, long words cut short."""
        shown = [shorten(word) for word in self.words]
        set_before = [f"{name}={shlex.quote(value)}" for name, value in self.environment.items()]
        return " ".join([*set_before, program, *shown]) + (f" > {self.output}" if self.output else "")


def shorten(word):
    text = word.decode("utf-8", "backslashreplace") if isinstance(word, bytes) else word
    if len(text) > 160:
        text = text[:60] + f"...({len(text)} characters)..." + text[-20:]
    return shlex.quote(text) if text.isprintable() else "$" + repr(text)
