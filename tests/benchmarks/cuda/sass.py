"""Reads what `cuobjdump -sass` prints: instructions, blocks, loops, and the path that a kernel's hot loop takes.

A loop is a set of blocks with one entry that all paths back to it go through: found from the edges that lead back to a block
which every way from the kernel's beginning passes. A path through a loop visits each block at most once; of all, the hot one
has the fewest calls, then the most bytes moved in the fewest accesses, the fewest checked divisions (FCHK), the most of the
instructions that mark the common case, and then the fewest instructions. Loops inside count as often as `trips` says. What is
predicated off counts: it is issued.
"""

import dataclasses
import re

LINE = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(?:(@!?U?P\w+)\s+)?([A-Z][A-Z0-9_.]*)\s*([^;]*);", re.MULTILINE)
FUNCTION = re.compile(r"^\s*Function : (\S+)\s*$", re.MULTILINE)
INSTRUCTION_BYTES = 16


@dataclasses.dataclass(frozen=True)
class Instruction:
    address: int
    predicate: str
    opcode: str
    operands: str

    @property
    def target(self):
        """Where a branch leads, or None."""
        if not self.opcode.startswith("BRA"):
            return None
        found = re.search(r"\b0x([0-9a-f]+)\s*$", self.operands.strip())
        return int(found.group(1), 16) if found else None

    @property
    def always(self):
        return not self.predicate and not re.match(r"!?U?P\d", self.operands) and self.opcode != "BRA.DIV"

    def accessed(self, kind):
        """Bytes that each thread moves between global memory and registers, where this is of `kind`: LDG or STG."""
        if not re.match(kind + r"\b", self.opcode):
            return 0
        for word, size in ((".128", 16), (".64", 8), (".U16", 2), (".S16", 2), (".U8", 1), (".S8", 1)):
            if word in self.opcode:
                return size
        return 4


@dataclasses.dataclass(frozen=True)
class Count:
    """Of a path, in the order in which paths are compared."""

    calls: float = 0
    loaded: float = 0
    stored: float = 0
    accesses: float = 0
    divisions: float = 0
    marks: float = 0
    instructions: float = 0

    def __add__(self, other):
        return Count(*(a + b for a, b in zip(dataclasses.astuple(self), dataclasses.astuple(other))))

    def times(self, factor):
        return Count(*(a * factor for a in dataclasses.astuple(self)))

    def rank(self, most):
        moved = min(self.loaded, most[0]) + min(self.stored, most[1])
        return (-self.calls, moved, -self.accesses, -self.divisions, self.marks, -self.instructions)


def counted(instructions, marks=r"$"):
    loaded = sum(one.accessed("LDG") for one in instructions)
    stored = sum(one.accessed("STG") for one in instructions)
    accesses = sum(1 for one in instructions if one.accessed("LDG") + one.accessed("STG") > 0)
    calls = sum(1 for one in instructions if one.opcode.startswith("CALL"))
    divisions = sum(1 for one in instructions if one.opcode == "FCHK")
    marked = sum(1 for one in instructions if re.match(marks, one.opcode))
    return Count(calls, loaded, stored, accesses, divisions, marked, len(instructions))


def functions(text):
    """The instructions of every function of a listing, by mangled name."""
    parts = FUNCTION.split(text)[1:]
    return {name: [Instruction(int(a, 16), p, o, rest.strip()) for a, p, o, rest in LINE.findall(body)]
            for name, body in zip(parts[::2], parts[1::2])}


class Kernel:
    """Blocks by the address of their first instruction, their successors, and loops by their entry."""

    def __init__(self, instructions, most=(float("inf"), float("inf")), marks=r"$"):
        """`most` bytes are loaded and stored in one trip: a path with more goes where no thread can go. What begins like
        `marks` is part of the common case."""
        self.instructions, self.most, self.marks = instructions, most, marks
        self._cut()
        self._find_loops()

    def _cut(self):
        ends = {"BRA", "EXIT", "RET", "BRX", "JMP"}
        starts = {0} | {one.target for one in self.instructions if one.target is not None}
        starts |= {one.address + INSTRUCTION_BYTES for one in self.instructions if one.opcode.split(".")[0] in ends}
        self.blocks, self.next = {}, {}
        for one in self.instructions:
            if one.address in starts:
                begin = one.address
                self.blocks[begin] = []
            self.blocks[begin].append(one)
        for begin, block in self.blocks.items():
            last = block[-1]
            after = last.address + INSTRUCTION_BYTES
            follow = [] if last.target is None else [last.target]
            stops = last.opcode.split(".")[0] in ends and last.always
            if not stops and after in self.blocks:
                follow.append(after)
            # A branch to itself ends the listing; what diverges to be emulated (BRA.DIV) is no path of ours.
            self.next[begin] = [to for to in follow if to in self.blocks and not (to == begin and stops)
                                and not (last.opcode.startswith("BRA.DIV") and to == last.target)]

    def _find_loops(self):
        reached, waiting = [], [0]
        while waiting:
            block = waiting.pop()
            if block not in reached:
                reached.append(block)
                waiting += self.next[block]
        before = {block: [b for b in reached if block in self.next[b]] for block in reached}
        dominators = {block: set(reached) for block in reached}
        dominators[0] = {0}
        changed = True
        while changed:
            changed = False
            for block in reached[1:]:
                found = {block} | set.intersection(*(dominators[b] for b in before[block]))
                changed |= found != dominators[block]
                dominators[block] = found
        self.loops = {}
        for block in reached:
            for entry in set(self.next[block]) & dominators[block]:
                body, waiting = self.loops.setdefault(entry, {entry}), [block]
                while waiting:
                    one = waiting.pop()
                    if one not in body:
                        body.add(one)
                        waiting += before[one]

    def inner(self, entry):
        """Entries of loops inside that of `entry`, without those inside them."""
        inside = [e for e in self.loops if e != entry and e in self.loops[entry] and self.loops[e] < self.loops[entry]]
        return [e for e in inside if not any(e in self.loops[o] and self.loops[e] < self.loops[o] for o in inside)]

    def alone(self, entry):
        """The Count of the hot path once through a loop, without the loops inside."""
        return self._path(entry, {one: Count() for one in self.inner(entry)})

    def hot(self, entry, trips):
        """The Count of the hot path once through a loop. trips(counts of the loops inside) says how often each of them goes
        round; where a loop holds others, they are asked for too, and it goes round once."""
        inner = self.inner(entry)
        bodies = [self.hot(one, trips) for one in inner]
        plain = [one for one in inner if not self.inner(one)]
        times = dict(zip(plain, trips([self.alone(one) for one in plain])))
        return self._path(entry, {one: body.times(times.get(one, 1)) for one, body in zip(inner, bodies)})

    def _path(self, entry, inner):
        body, best = self.loops[entry], {}

        def onward(block):
            if block not in inner:
                return self.next[block]
            return {to for one in self.loops[block] for to in self.next[one] if to not in self.loops[block]}

        def from_here(block):
            if block not in best:
                own = inner[block] if block in inner else counted(self.blocks[block], self.marks)
                ways = [from_here(to) for to in onward(block) if to in body and to != entry]
                ways = [way for way in ways if way is not None]
                back = any(entry in self.next[b] for b in (self.loops[block] if block in inner else [block]))
                ways += [Count()] if back else []
                best[block] = own + max(ways, key=lambda way: way.rank(self.most)) if ways else None
            return best[block]

        return from_here(entry) or Count()
