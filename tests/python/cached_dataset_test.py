"""A data set that is computed once: by several processes, with little room, with files that are damaged meanwhile, and on Redis
servers, which are started here. Ends with 77 without torch."""

import contextlib
import gc
import importlib.util
import multiprocessing
import os
import pathlib
import pickle
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import warnings

SAMPLES = 60


class Counted:
    """A data set that notes each computation, of any process, as a byte of a file."""

    def __init__(self, notes, size=300):
        self.notes, self.size = str(notes), size

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        with open(self.notes, "ab") as notes:
            notes.write(bytes([index]))
        return torch.full((self.size,), float(index)), {"label": index}


def read_all(cached, first):
    """All samples, from one of them on; as a process of its own."""
    for number in range(SAMPLES):
        index = (first + number) % SAMPLES
        x, y = cached[index]
        assert torch.equal(x, torch.full((cached.dataset.size,), float(index))) and y == {"label": index}, (index, x, y)


class Caches(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="trigram_cache_")
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.notes = self.scratch / "notes"
        self.folder = self.scratch / "cache"

    def computed(self, cached, first=0):
        """How many samples a reading of all computes."""
        self.notes.write_bytes(b"")
        read_all(cached, first)
        return len(self.notes.read_bytes())

    def cache(self, store=None, **options):
        return data.CachedDataset(Counted(self.notes, **options), store or data.Folder(self.folder))

    def files(self):
        return sorted(self.folder.glob("*.sqlite"))


class Folders(Caches):
    def test_each_sample_is_computed_once(self):
        cached = self.cache()
        self.assertEqual([self.computed(cached), self.computed(cached), self.computed(self.cache())], [SAMPLES, 0, 0])
        self.assertEqual(len(self.files()), 4)
        other = data.CachedDataset(cached.dataset, cached.store, name="other")
        self.assertEqual([self.computed(other), self.computed(other)], [SAMPLES, 0])
        self.assertEqual(len(cached), SAMPLES)

    def test_several_processes_write(self):
        """Forked ones, which inherit open files, beside one that reads too."""
        cached = self.cache()
        cached[0]
        processes = [multiprocessing.get_context("fork").Process(target=read_all, args=(cached, first)) for first in (0, 20, 40)]
        for process in processes:
            process.start()
        read_all(cached, 30)
        for process in processes:
            process.join()
            self.assertEqual(process.exitcode, 0)
        self.assertEqual(self.computed(cached), 0)
        self.assertEqual(self.computed(pickle.loads(pickle.dumps(cached))), 0)

    def test_processes_that_open_a_new_file_at_once(self):
        for turn in range(40):
            at, opened = time.monotonic() + 0.02, []
            for _ in range(8):
                opened.append(os.fork())
                if opened[-1] == 0:
                    while time.monotonic() < at:
                        pass
                    try:
                        data.Folder(self.scratch / str(turn), shards=1).put("key", b"value")
                        os._exit(0)
                    except RuntimeError:
                        os._exit(1)
            self.assertEqual([os.waitpid(process, 0)[1] for process in opened], [0] * 8, f"in turn {turn}")

    def test_workers_of_a_loader(self):
        loader = torch.utils.data.DataLoader(self.cache(), batch_size=10, num_workers=2)
        for _ in range(2):
            self.notes.write_bytes(b"")
            labels = [label for _, y in loader for label in y["label"].tolist()]
            self.assertEqual(labels, list(range(SAMPLES)))
        self.assertEqual(self.notes.read_bytes(), b"")

    def test_no_more_is_kept_than_the_capacity(self):
        one = len(pickle.dumps(Counted(self.notes)[0], protocol=pickle.HIGHEST_PROTOCOL))
        cached = self.cache(data.Folder(self.folder, capacity=4 * 5 * one, shards=4))
        self.assertEqual(self.computed(cached), SAMPLES)
        self.assertEqual(self.computed(cached), SAMPLES - 20)
        held = 0
        for path in self.files():
            with contextlib.closing(sqlite3.connect(path)) as file:
                (bytes_held,), (length,) = file.execute("SELECT bytes FROM held UNION ALL SELECT sum(length(value)) FROM entries")
                self.assertEqual(bytes_held, length)
                held += length
        self.assertLessEqual(held, 4 * 5 * one)

    def damage(self, how):
        for path in self.files():
            how(path)

    def test_what_is_damaged_is_computed_again(self):
        def cut(path):
            os.truncate(path, path.stat().st_size // 2 + 100)

        def empty(path):
            os.truncate(path, 0)

        def overwrite(path):
            with open(path, "r+b") as file:
                file.seek(4096)
                file.write(b"\xa5" * (path.stat().st_size - 4096))

        def no_database(path):
            path.write_bytes(b"no database" * 5000)

        def change_a_value(path):
            with contextlib.closing(sqlite3.connect(path)) as file, file:
                file.execute("UPDATE entries SET value = CAST(substr(value, 1, 900) || x'07' || substr(value, 902) AS BLOB)")

        def lose(path):
            path.unlink()

        for how in (cut, empty, overwrite, no_database, change_a_value, lose):
            for is_open in (True, False):
                with self.subTest(how=how.__name__, is_open=is_open):
                    shutil.rmtree(self.folder, ignore_errors=True)
                    cached = self.cache()
                    self.assertEqual(self.computed(cached), SAMPLES)
                    for path in self.files():  # what the log has yet to bring into the files
                        with contextlib.closing(sqlite3.connect(path)) as file:
                            file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                    if not is_open:
                        cached = self.cache()
                        gc.collect()  # connections of Python are in circles, and are closed with those only
                    self.damage(how)
                    again = self.computed(cached)
                    self.assertTrue(is_open or again > 0)
                    self.computed(cached)
                    self.assertEqual(self.computed(cached), 0)
                    fresh = self.cache()
                    self.computed(fresh)
                    self.assertEqual(self.computed(fresh), 0)

    def test_what_cannot_be_opened_is_given_up(self):
        for number in range(4):
            (self.folder / f"{number}.0.sqlite").mkdir(parents=True)
        cached = self.cache()
        self.assertEqual([self.computed(cached), self.computed(cached), self.computed(self.cache())], [SAMPLES, 0, 0])

    def test_what_is_no_folder_of_a_cache_is_refused(self):
        self.folder.mkdir()
        (self.folder / "thesis.tex").write_text("x")
        with self.assertRaisesRegex(ValueError, "has other files, as thesis.tex"):
            data.Folder(self.folder)
        with self.assertRaisesRegex(ValueError, "0 shards of None bytes"):
            data.Folder(self.folder, shards=0)

    def test_keys_are_spread_alike_everywhere(self):
        """What `printf d1_0 | b2sum -l 64` says, its bytes from the last to the first."""
        said = bytes.fromhex("35ef9e78ad5d4e49")[::-1]
        self.assertEqual(stores.shard_of("d1_0", 1000003), int(said.hex(), 16) % 1000003)
        counts = [0] * 8
        for index in range(8000):
            counts[stores.shard_of(f"_{index}", 8)] += 1
        self.assertTrue(all(abs(count - 1000) < 5 * 30 for count in counts), counts)


class Server:
    """A Redis server on loopback, while it lives."""

    def __init__(self, folder, port=None, memory="50mb"):
        with socket.socket() as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            free.bind(("127.0.0.1", port or 0))
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen(["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder),
                                         "--maxmemory", memory], stdout=subprocess.DEVNULL)
        self.address = f"127.0.0.1:{self.port}"
        for _ in range(500):
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.01)
        raise AssertionError("the server does not listen")

    def end(self):
        self.process.kill()
        self.process.wait()


@unittest.skipUnless(shutil.which("redis-server") and importlib.util.find_spec("redis"), "Redis is not installed")
class Servers(Caches):
    def server(self, **options):
        server = Server(self.scratch, **options)
        self.addCleanup(server.end)
        return server

    def test_servers_share_the_keys_and_are_refilled(self):
        servers = [self.server() for _ in range(2)]
        cached = self.cache(data.RedisServers([server.address for server in servers]))
        self.assertEqual([self.computed(cached), self.computed(cached)], [SAMPLES, 0])
        kept = [redis.Redis(port=server.port).dbsize() for server in servers]
        self.assertEqual(sum(kept), SAMPLES)
        self.assertGreater(min(kept), SAMPLES // 4)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.notes.write_bytes(b"")
            pool.starmap(read_all, [(cached, 0), (cached, 30)])
        self.assertEqual(self.notes.read_bytes(), b"")

        of_first = redis.Redis(port=servers[0].port)
        key = of_first.randomkey()
        of_first.set(key, b"\0\0\0\0" + pickle.dumps((torch.zeros(300), {})))
        self.assertEqual([self.computed(cached), self.computed(cached)], [1, 0])

        servers[0].end()
        with unittest.mock.patch.object(redis_store, "PAUSE", 600), warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.assertEqual(self.computed(cached), kept[0])
        self.assertEqual(len(said), 1, [str(one.message) for one in said])
        self.assertRegex(str(said[0].message), f"the Redis server 127.0.0.1:{servers[0].port} is left out for 600 s: .*refused")
        self.server(port=servers[0].port)
        cached = pickle.loads(pickle.dumps(cached))  # which knows of no pause
        self.assertEqual([self.computed(cached), self.computed(cached)], [kept[0], 0])

    def test_a_full_server_keeps_what_it_has(self):
        cached = self.cache(data.RedisServers([self.server(memory="2500kb").address]), size=20000)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.computed(cached)
            again = self.computed(cached)
        self.assertTrue(0 < again < SAMPLES, again)

    def test_addresses_that_are_none_are_refused(self):
        for given in ("127.0.0.1:6379", [], ["localhost"], ["localhost:"]):
            with self.assertRaisesRegex(ValueError, "give "):
                data.RedisServers(given)


if __name__ == "__main__":
    if not importlib.util.find_spec("torch"):
        sys.exit(77)
    import torch

    from trigram import data
    from trigram.data import redis_store, stores
    torch.set_num_threads(1)
    if importlib.util.find_spec("redis"):
        import redis
    unittest.main()
