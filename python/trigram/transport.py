"""Messages of ranks by torch.distributed: what the library's backend `torch` calls, on the threads of its lanes."""

import ctypes
import datetime
import functools
import json
import os
import pathlib
import platform
import secrets
import socket
from collections.abc import Callable
from typing import Any, Optional

import torch
import torch.distributed as dist

from . import launcher, library

FOREVER = datetime.timedelta(days=365)
SOON = datetime.timedelta(milliseconds=1)
NOBODYS_TAG = 2**31 - 1
REFUSED = 2


class Message(ctypes.Structure):
    """One of an exchange, as C lays it out."""

    _fields_ = [(name, ctypes.c_int64) for name in ("receives", "peer", "tag")] + [("address", ctypes.c_uint64), ("bytes", ctypes.c_int64)]


Ask = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int)
Carry = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.POINTER(Message), ctypes.c_int, ctypes.c_double, ctypes.c_void_p, ctypes.c_int)


def limit(seconds: float) -> datetime.timedelta:
    return datetime.timedelta(seconds=seconds) if seconds > 0 else FOREVER


@functools.lru_cache(4096)
def memory(address: int, count: int) -> torch.Tensor:
    """The bytes there, which are buckets and scratch of the same places step after step."""
    if count == 0:
        return torch.empty(0, dtype=torch.uint8)
    return torch.frombuffer((ctypes.c_uint8 * count).from_address(address), dtype=torch.uint8)


class Connections:
    """Those of this process: process groups of gloo with all ranks, one for what is agreed on and one for each lane, since
    messages of a group wait for each other. Sessions share them, and tell their messages apart by tags."""

    def __init__(self, seconds: float) -> None:
        """Of the default process group. Collective."""
        self.of = dist.GroupMember.WORLD
        self.rank, self.ranks = dist.get_rank(), dist.get_world_size()
        self.lanes: list[Any] = []
        self.sessions = 0
        self.broken = False
        self._control = dist.new_group(backend="gloo", timeout=limit(seconds))
        hosts = [""] * self.ranks
        dist.all_gather_object(hosts, this_host(), group=self._control)
        numbers = {host: number for number, host in enumerate(dict.fromkeys(hosts))}
        self.nodes = [numbers[host] for host in hosts]

    def meet(self) -> dict[str, Any]:
        """Where ranks of one session meet beside torch.distributed, as rank 0 says. Collective."""
        self.sessions += 1
        said: list[Any] = [self._place_or_reason() if self.rank == 0 else None]
        dist.broadcast_object_list(said, src=0, group=self._control)
        if isinstance(said[0], str):
            raise ValueError(said[0])
        place: dict[str, Any] = said[0]
        return place

    def _place_or_reason(self) -> "dict[str, Any] | str":
        """The reason goes to all ranks, so that all of them end with it."""
        host = "127.0.0.1" if max(self.nodes) == 0 else os.environ.get("MASTER_ADDR", platform.node())
        try:
            with socket.create_server((host, 0)) as server:
                port = server.getsockname()[1]
        except OSError as error:
            return (f"rank 0 cannot listen at MASTER_ADDR {host} ({error.strerror}), where ranks meet beside torch.distributed; set it to an IPv4 "
                    "address of rank 0's own network card, or to a name that stands for one")
        return {"session": self.sessions, "place": f"{host}:{port}", "job": f"session-{self.sessions}", "secret": secrets.token_hex(32)}

    def connect(self, lanes: int, seconds: float) -> None:
        """Collective."""
        while len(self.lanes) < lanes:
            self.lanes.append(dist.new_group(backend="gloo", timeout=limit(seconds)))

    def abort(self) -> None:
        """Ends all messages of all lanes, also at their other ends: where one takes too long, gloo gives up all of its group."""
        self.broken = True
        for group in self.lanes if self.ranks > 1 else ():
            try:
                group.recv([torch.empty(1)], (self.rank + 1) % self.ranks, NOBODYS_TAG).wait(SOON)
            except RuntimeError:
                continue  # as it should


def this_host() -> str:
    """Its name, and what tells machines of one name apart."""
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id")
    return platform.node() + (boot.read_text() if boot.is_file() else "")


class Transport:
    """The functions that the library calls; they live as long as the process."""

    def __init__(self) -> None:
        self._connections: Optional[Connections] = None
        self._answers: dict[str, Callable[[dict[str, Any]], Any]] = {"join": self._join, "meet": self._meet, "connect": self._connect,
                                                                     "abort": self._abort}
        self.in_c = Ask(self._ask), Carry(self._carry)

    def _ask(self, question: bytes, text: int, room: int) -> int:
        try:
            asked = json.loads(question)
            write(text, room, json.dumps(self._answers[asked["ask"]](asked)))
            return 0
        except BaseException as error:  # of whatever kind, it must not get lost in the library
            refused = isinstance(error, ValueError)
            write(text, room, str(error) if refused else f"{type(error).__name__}: {error}")
            return REFUSED if refused else 1

    def _join(self, asked: dict[str, Any]) -> dict[str, Any]:
        require_group(asked["seconds"])
        if self._connections is None or self._connections.broken or self._connections.of is not dist.GroupMember.WORLD:
            self._connections = Connections(asked["seconds"])
        own = self._connections
        return {"rank": own.rank, "ranks": own.ranks, "nodes": own.nodes,
                "facts": {"library": f"torch.distributed {torch.__version__}, gloo", "nodes": 1 + max(own.nodes)}}

    def _made(self) -> Connections:
        assert self._connections is not None  # nobody asks before it has joined
        return self._connections

    def _meet(self, _: dict[str, Any]) -> dict[str, Any]:
        return self._made().meet()

    def _connect(self, asked: dict[str, Any]) -> None:
        self._made().connect(asked["lanes"], asked["seconds"])

    def _abort(self, _: dict[str, Any]) -> None:
        self._made().abort()

    def _carry(self, lane: int, messages: Any, count: int, seconds: float, text: int, room: int) -> int:
        place, works = 0, []
        try:
            group, end = self._made().lanes[lane], datetime.datetime.now() + limit(seconds)
            for place in range(count):
                one = messages[place]
                begin = group.recv if one.receives else group.send
                works.append(begin([memory(one.address, one.bytes)], one.peer, one.tag))
            for place, work in enumerate(works):
                work.wait(max(end - datetime.datetime.now(), SOON))
            return -1
        except BaseException as error:  # the same
            write(text, room, f"{type(error).__name__}: {error}")
            return place


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
        dist.init_process_group("gloo", timeout=limit(seconds))
    wanted, connected = os.environ.get("WORLD_SIZE", ""), dist.get_world_size()
    if wanted.isdigit() and int(wanted) != connected:
        who = "torchrun started" if launcher.under_torchrun() else "the environment says"
        raise ValueError(f"{who} {wanted} processes (WORLD_SIZE), but torch.distributed connects {connected}; call init_process_group with "
                         "all of them, or leave it to Trigram")


@functools.cache
def transport() -> Transport:
    return Transport()


def offer(backend: str) -> None:
    """To what this thread opens next, where it is of a backend that needs it."""
    if backend.split(":")[0] == "torch":
        ask, carry = transport().in_c
        library.library().trigram_transport(ctypes.cast(ask, ctypes.c_void_p), ctypes.cast(carry, ctypes.c_void_p))
