"""Messages of ranks by torch.distributed: what the library's backend `torch` calls, on the threads of its lanes."""

import contextlib
import ctypes
import datetime
import functools
import hashlib
import itertools
import json
import math
import os
import pathlib
import platform
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any, Optional

import torch
import torch.distributed as dist

from . import launcher, library
from .waiter import SOON, Exchange, Waiter

FOREVER = datetime.timedelta(days=365)
NOBODYS_TAG = 2**31 - 1
cause_may_take = 1.5
"""Seconds that a rank whose connections break waits to hear why: longer than whoever fails takes to say so."""
meeting_may_take: Optional[float] = None
"""Seconds that processes wait for each other before the first exchange, where they are known to be there; None: as long as in one."""
absence_may_take = 0.0
"""Seconds that ranks wait for any other once one is gone, where exchanges leave that one out; 0: a job ends with any of its ranks."""
waits_can_be_left = False
"""Whether who waits for a message whose connection is gone goes on, also where gloo does not say so; at the cost of a thread."""
REFUSED = 2


class Message(ctypes.Structure):
    """One of an exchange, as C lays it out."""

    _fields_ = [(name, ctypes.c_int64) for name in ("receives", "peer", "tag")] + [("address", ctypes.c_uint64), ("bytes", ctypes.c_int64)]


Ask = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int)
Carry = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.POINTER(Message), ctypes.c_int, ctypes.c_double, ctypes.c_void_p,
                         ctypes.c_int)
CarryEach = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_int, ctypes.POINTER(Message), ctypes.c_int, ctypes.c_double, ctypes.POINTER(ctypes.c_int64))


def limit(seconds: float) -> datetime.timedelta:
    return datetime.timedelta(seconds=seconds) if seconds > 0 else FOREVER


@functools.lru_cache(4096)
def memory(address: int, count: int) -> torch.Tensor:
    """The bytes there, which are buckets and scratch of the same places step after step."""
    if count == 0:
        return torch.empty(0, dtype=torch.uint8)
    return torch.frombuffer((ctypes.c_uint8 * count).from_address(address), dtype=torch.uint8)


@contextlib.contextmanager
def meeting(seconds: float) -> Iterator[None]:
    """Adds to what torch.distributed says where processes do not meet what they can do."""
    try:
        yield
    except RuntimeError as error:
        said = (str(error).splitlines() or ["it does not say why"])[0]
        within = f" within {seconds:g} s" if seconds > 0 else ""
        raise RuntimeError(f"torch.distributed could not connect this process with the others: {said}; did all of them come{within}, and "
                           "does none have an error of its own? On several hosts, each one's name must stand for an address that the "
                           "others reach, or GLOO_SOCKET_IFNAME name its network card") from error


def to_meet(seconds: float) -> float:
    """`seconds`: of an exchange."""
    return seconds if meeting_may_take is None else meeting_may_take


NAMES_COME_AGAIN = tuple(int(part) for part in torch.__version__.split(".")[:2]) < (2, 15)
"""Torch names a group of some processes after how many there are: the next one after it has gone finds its old addresses in the store."""
Members = Optional[tuple[int, ...]]
"""Processes that are the ranks of a job, as torch.distributed counts them, in the order of ranks; None: all of them."""


def new_group(seconds: float, members: Members) -> Any:
    """Of gloo. Collective over the members; each later collective of it waits for others as long."""
    seconds = to_meet(seconds)
    with meeting(seconds):
        if members is None:
            return dist.new_group(backend="gloo", timeout=limit(seconds))
        return dist.new_group(list(members), backend="gloo", timeout=limit(seconds), use_local_synchronization=True)


def end_group(group: Any, members: Members) -> None:
    """But one stays whose name would come again."""
    if members is None or not NAMES_COME_AGAIN:
        dist.destroy_process_group(group)


class Connections:
    """Those of one run of ranks: a process group for each lane, since messages of a group wait for each other. What ends them
    ends no others."""

    def __init__(self, seconds: float, members: Members) -> None:
        """Collective."""
        self._seconds, self._members = seconds, members
        self.lanes = [new_group(seconds, members)]
        self._rank, self._ranks = dist.get_rank(self.lanes[0]), dist.get_world_size(self.lanes[0])
        self.ended = self.closed = False
        """Whether messages are to end, and whether all have been ended for that."""

    def tell(self, said: Any) -> Any:
        """What rank 0 says. Collective."""
        told = [said]
        with meeting(self._seconds):
            dist.broadcast_object_list(told, src=self._members[0] if self._members else 0, group=self.lanes[0])
        return told[0]

    def connect(self, lanes: int) -> None:
        """Collective."""
        while len(self.lanes) < lanes:
            self.lanes.append(new_group(self._seconds, self._members))

    def end(self) -> None:
        """Ends all messages of all lanes, also at their other ends: where one takes too long, gloo gives up all of its group."""
        self.ended = True
        others = [rank for rank in range(self._ranks) if rank != self._rank]
        for group, peer in itertools.product(self.lanes, others):  # of a peer whose connection is gone nothing can take too long
            try:
                group.recv([torch.empty(1)], peer, NOBODYS_TAG).wait(SOON)
            except RuntimeError:
                continue  # as it should
        self.closed = True

    def has_lost(self, lane: int, peer: int) -> bool:
        """Its connection there is gone, of which gloo tells messages that begin."""
        try:
            self.lanes[lane].recv([torch.empty(1)], peer, NOBODYS_TAG)
            return False
        except RuntimeError:
            return True

    def close(self) -> None:
        for group in self.lanes:
            end_group(group, self._members)


def place_among(members: Members, seconds: float) -> dict[str, Any]:
    """Where this process stands among the members, and where they would reach it. Collective."""
    require_group(seconds)
    group = new_group(seconds, members)
    own_host = torch.tensor(list(hashlib.sha256(this_host().encode()).digest()), dtype=torch.uint8)
    rank, all_hosts = dist.get_rank(group), [torch.empty_like(own_host) for _ in range(dist.get_world_size(group))]
    try:
        with meeting(seconds):
            dist.all_gather(all_hosts, own_host, group=group)
    finally:
        end_group(group, members)
        del group  # before the tensors: its thread may not be the last to hold one, or each would wait for the other
    hosts = [bytes(host.tolist()) for host in all_hosts]
    numbers = {host: number for number, host in enumerate(dict.fromkeys(hosts))}
    is_master = members is None or members[0] == 0
    named = os.environ.get("MASTER_ADDR", platform.node()) if is_master else platform.node()
    own = "127.0.0.1" if len(numbers) == 1 else named
    listens = own if len(numbers) == 1 else listening_place(own)
    return {"rank": rank, "nodes": [numbers[host] for host in hosts], "host": own, "listens": listens, "cause_may_take": cause_may_take,
            "meeting_may_take": to_meet(seconds), "absence_may_take": absence_may_take,
            "facts": {"library": f"torch.distributed {torch.__version__}, gloo", "nodes": len(numbers)}}


def listening_place(host: str) -> str:
    """That name, or all addresses where it stands for this machine within itself alone, as Debian's /etc/hosts has a machine's own name."""
    try:
        loopback = socket.gethostbyname(host).startswith("127.")
    except OSError:
        return host  # who listens there says what is wrong
    return "0.0.0.0" if loopback else host


def this_host() -> str:
    """Its name, and what tells machines of one name, and networks within one machine, apart."""
    boot, network = pathlib.Path("/proc/sys/kernel/random/boot_id"), pathlib.Path("/proc/self/ns/net")
    return f"{platform.node()} {boot.read_text() if boot.is_file() else ''} {os.readlink(network) if network.is_symlink() else ''}"


class Transport:
    """The functions that the library calls for jobs of the same members; they live as long as the process."""

    def __init__(self, members: Members) -> None:
        self._members = members
        self._open: dict[int, Connections] = {}
        self._numbers = itertools.count()
        self._waiters: list[Waiter] = []
        """Those who wait for nothing."""
        self._patience = 1
        """Times that an absence may take."""
        self._answers: dict[str, Callable[[dict[str, Any]], Any]] = {
            "join": lambda asked: place_among(members, asked["seconds"]), "open": self._opened,
            "tell": lambda asked: self._of(asked).tell(asked["said"]), "connect": lambda asked: self._of(asked).connect(asked["lanes"]),
            "end": lambda asked: self._of(asked).end(), "close": lambda asked: self._open.pop(asked["connections"]).close()}
        self.in_c = Ask(self._ask), Carry(self._carry), CarryEach(self._carry_each)

    def _ask(self, question: bytes, text: int, room: int) -> int:
        try:
            asked = json.loads(question)
            write(text, room, json.dumps(self._answers[asked["ask"]](asked)))
            return 0
        except BaseException as error:  # of whatever kind, it must not get lost in the library
            told = isinstance(error, (RuntimeError, ValueError))
            write(text, room, str(error) if told else f"{type(error).__name__}: {error}")
            return REFUSED if isinstance(error, ValueError) else 1

    def _opened(self, asked: dict[str, Any]) -> int:
        """The number by which the library calls them."""
        number = next(self._numbers)
        self._open[number] = Connections(asked["seconds"], self._members)
        return number

    def give_up(self) -> None:
        for one in list(self._open.values()):
            one.end()

    def _of(self, asked: dict[str, Any]) -> Connections:
        return self._open[asked["connections"]]

    def _carry(self, connections: int, lane: int, messages: Any, count: int, seconds: float, text: int, room: int) -> int:
        place, works = 0, []
        try:
            of, end = self._open[connections], datetime.datetime.now() + limit(seconds)
            if of.ended:
                raise RuntimeError("messages of these connections have ended")
            for place in range(count):
                works.append(begun(of.lanes[lane], messages[place]))
            exchange = Exchange(works, end)
            failure = self._waited(exchange, lambda: of.closed or of.has_lost(lane, messages[exchange.place].peer))
            place = exchange.place
            if failure is None:
                return -1
        except BaseException as error:  # the same
            failure = error
        write(text, room, f"{type(failure).__name__}: {failure}")
        return place

    def _waited(self, exchange: Exchange, is_over: Callable[[], bool]) -> Optional[BaseException]:
        """As Waiter.wait."""
        if not waits_can_be_left:
            return exchange.wait()
        waiter = self._waiters.pop() if self._waiters else Waiter()
        failure = waiter.wait(exchange, is_over)
        self._waiters.append(waiter)
        return failure

    def _carry_each(self, connections: int, lane: int, messages: Any, count: int, seconds: float, failed: Any) -> None:
        """Waits no longer than an absence may take, since gloo leaves some messages of a connection that it has closed waiting for ever, and then
        ends all; who is only slow is waited for twice as long the next time."""
        of, begin = self._open[connections], time.monotonic()
        end = datetime.datetime.now() + limit(min(seconds or math.inf, absence_may_take * self._patience))
        works = [None if of.ended else tried(begun, of.lanes[lane], messages[place]) for place in range(count)]
        for place, work in enumerate(works):
            failed[place] = work is None or tried(work.wait, max(end - datetime.datetime.now(), SOON)) is None
        if time.monotonic() - begin > absence_may_take * self._patience:
            self._patience *= 2
            of.end()  # gloo has ended this lane; so that a border notices, and connects all anew


def begun(group: Any, one: Message) -> Any:
    """Its work."""
    begin = group.recv if one.receives else group.send
    return begin([memory(one.address, one.bytes)], one.peer, one.tag)


def tried(action: Callable[..., Any], *words: Any) -> Any:
    """None where the other end is gone, or has taken too long."""
    try:
        return action(*words)
    except RuntimeError:
        return None


def write(place: int, room: int, text: str) -> None:
    encoded = text.encode()[:room - 1] + b"\0"
    ctypes.memmove(place, encoded, len(encoded))


def require_group(seconds: float) -> None:
    """That torch.distributed connects this process with others: it does by now, or as the environment says. Raises ValueError where
    it cannot, or not with as many as were started."""
    if not dist.is_available():
        raise ValueError("this torch was built without torch.distributed, by which backend torch sends; use one that has it, or start the "
                         "script with mpirun and take backend mpi")
    if not dist.is_initialized():
        missing = [key for key in launcher.RENDEZVOUS if key not in os.environ]
        if missing:
            raise ValueError(f"nobody has said where the processes meet: {', '.join(missing)} not in the environment; start the script with "
                             "torchrun --nproc-per-node 4 train.py, or call torch.distributed.init_process_group before")
        with meeting(seconds):
            dist.init_process_group("gloo", timeout=limit(seconds))
        let_the_script_connect_too()
    wanted, connected = os.environ.get("WORLD_SIZE", ""), dist.get_world_size()
    if wanted.isdigit() and int(wanted) != connected:
        who = "torchrun started" if launcher.under_torchrun() else "the environment says"
        raise ValueError(f"{who} {wanted} processes (WORLD_SIZE), but torch.distributed connects {connected}; call init_process_group with "
                         "all of them, or leave it to Trigram")


def let_the_script_connect_too() -> None:
    """From now on the first init_process_group of the script has nothing left to do, since the processes are connected by gloo; it raises
    RuntimeError for what gloo is not."""
    connect = dist.init_process_group

    @functools.wraps(connect)
    def connected(backend: Optional[str] = None, *arguments: Any, **named: Any) -> Any:
        if not dist.is_initialized():
            return connect(backend, *arguments, **named)
        if "gloo" not in str(backend or "gloo").lower():
            raise RuntimeError(f"init_process_group({backend!r}) was called after Trigram had connected the processes by gloo; call it before")
        dist.init_process_group = connect

    dist.init_process_group = connected


@functools.cache
def transport(members: Members) -> Transport:
    return Transport(members)


def give_up(members: Members = None) -> None:
    """All messages of these members that are under way, from any thread."""
    transport(members).give_up()


def offer(backend: str, members: Members = None) -> None:
    """To what this thread opens next, where it is of a backend that needs it."""
    if backend.split(":")[0] == "torch":
        library.library().trigram_transport(*(ctypes.cast(one, ctypes.c_void_p) for one in transport(members).in_c))
