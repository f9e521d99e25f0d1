"""A store of Redis servers, which processes of many machines share."""

import os
import time
import warnings
import zlib
from collections.abc import Sequence
from typing import Any, Optional

from ..extras import how_to_install
from .stores import shard_of

PAUSE = 10.0
"""Seconds for which a server that does not answer is left alone."""


class RedisServers:
    """Keys are spread over the servers, which all processes name in the same order. One that does not answer is as one that
    has nothing, with a warning, and is asked again after a while; so is one whose memory is full, which its `maxmemory` and
    `maxmemory-policy` decide. Needs the package redis (Debian: python3-redis)."""

    def __init__(self, addresses: Sequence[str], *, password: Optional[str] = None, timeout: float = 5.0) -> None:
        """`addresses`: "host:port" of each. `timeout`: seconds for an answer. Who can write to a server decides what is
        unpickled here: keep it to machines and users that you trust, with a password. Raises ValueError for an address that is
        none, RuntimeError without the package."""
        if isinstance(addresses, str) or not addresses:
            raise ValueError(f"the addresses {addresses!r} are no list of \"host:port\"; give one server at least")
        self._places = [place_of(address) for address in addresses]
        self._password, self._timeout = password, timeout
        self._clients: dict[int, Any] = {}
        self._silent_until: dict[int, float] = {}
        self._process = os.getpid()
        redis_module()

    def get(self, key: str) -> Optional[bytes]:
        value = self._ask(key, "get", key)
        if value is None or len(value) < 4 or int.from_bytes(value[:4], "little") != zlib.crc32(value[4:]):
            return None
        content: bytes = value[4:]
        return content

    def put(self, key: str, value: bytes) -> None:
        self._ask(key, "set", key, zlib.crc32(value).to_bytes(4, "little") + value)

    def _ask(self, key: str, command: str, *words: Any) -> Any:
        number = shard_of(key, len(self._places))
        if time.monotonic() < self._silent_until.get(number, 0):
            return None
        redis = redis_module()
        try:
            return getattr(self._client(number), command)(*words)
        except redis.exceptions.RedisError as error:
            if "maxmemory" in str(error):
                return None
            host, port = self._places[number]
            warnings.warn(f"the Redis server {host}:{port} is left out for {PAUSE:g} s: {error}", stacklevel=4)
            self._silent_until[number] = time.monotonic() + PAUSE
            return None

    def _client(self, number: int) -> Any:
        if self._process != os.getpid():  # a worker of a DataLoader, which cannot share its parent's connections
            self._clients, self._process = {}, os.getpid()
        if number not in self._clients:
            host, port = self._places[number]
            self._clients[number] = redis_module().Redis(host=host, port=port, password=self._password, socket_timeout=self._timeout,
                                                         socket_connect_timeout=self._timeout)
        return self._clients[number]

    def __getstate__(self) -> dict[str, object]:
        return self.__dict__ | {"_clients": {}, "_silent_until": {}}


def place_of(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise ValueError(f"'{address}' is no address of a Redis server; give it as 127.0.0.1:6379")
    return host, int(port)


def redis_module() -> Any:
    try:
        import redis
    except ImportError:
        raise RuntimeError("RedisServers needs redis, which is missing; " + how_to_install("redis")) from None
    return redis
