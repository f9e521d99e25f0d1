"""check.sh on stand-ins for its programs and for the machine's tools: what it finds, skips, prints and leaves."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parent / "check.sh"

# Each program says what the row of a machine that is well says.
STANDS_IN = """#!/bin/bash
case $1 in
  bench) echo "NCCL INFO NET/Plugin: Successfully loaded external network plugin $NCCL_NET_PLUGIN"
         echo "NCCL INFO Initialized NET plugin Trigram"
         echo "NCCL INFO Assigned NET plugin Trigram to comm"
         echo "64  16 float  31.5 0.1 0.1 30 5 2.5"
         echo "0: NET/Socket : Using"
         echo "0: Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0"
         echo "67108864 16777216 float 5000 13 13 1 2 3" ;;
  run) echo "  iteration  0.0123 s mean, 0.0119 s median, 1e+04 samples/s"
       echo "  uses       NVIDIA H200 for 2 ranks, driver 580.65.06 with CUDA 13.0, NCCL 2.28.9 of libnccl.so.2" ;;
  --elements) echo "H200, 9 elements; copy on the device: 4300.0 GB/s read and written"; echo "qsgd encode below target" ;;
esac
echo "[  PASSED  ] 9 tests on GPU $CUDA_VISIBLE_DEVICES; $LD_LIBRARY_PATH done bagua two_by_four accuracy copy"
"""
FAILS = """#!/bin/bash
case $1 in
  throws) echo "the flux of rank 1 is 7" ;;
  dies) echo "rank 1 was ended by signal 9" ;;
  *) echo "exchange number 1 has waited 3 s for: a receive of 24 bytes from rank 1" ;;
esac
[[ $1 == --help ]] && exit 0
exit 1
"""
REFUSED = """#!/bin/bash
echo "========= COMPUTE-SANITIZER"
echo "========= Error: Target application terminated before first instrumented API call: Device not supported"
exit 9
"""
PROGRAMS = ["trigram", "test_gpu", "test_gpu_session", "test_gpu_host", "meeting_job", "test_kernels_cuda",
            "benchmark_cuda_kernels"]


class Check(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="check-")
        self.root = pathlib.Path(self.folder.name)
        for name in PROGRAMS:
            self.write(f"built/bin/{name}", STANDS_IN)
        self.write("built/bin/failing_gpu_job", FAILS)
        self.write("tools/nvidia-smi", "#!/bin/bash\necho 'GPU 0: a double'\n")
        self.write("tools/ldconfig", "#!/bin/bash\n")
        for python in ("python3", "python"):
            self.write(f"tools/{python}", "#!/bin/bash\nexit 1\n")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def has_nccl(self):
        library = self.write("site/nvidia/nccl/lib/libnccl.so.2", "")
        self.write("tools/python3", f"#!/bin/bash\necho {library.parent}\n")
        return library.parent

    def checked(self, *flags, **variables):
        """The exit status, and the rows of the table that was left."""
        environment = {**os.environ, "PATH": f"{self.root}/tools:{os.environ['PATH']}"}
        environment.pop("LD_LIBRARY_PATH", None)
        environment.pop("CUDA_VISIBLE_DEVICES", None)
        done = subprocess.run([CHECK, "--build", self.root / "built", "--out", self.root / "out", *flags],
                              env={**environment, **variables}, capture_output=True, text=True)
        table = (self.root / "out/table.txt").read_text().splitlines()[1:]
        without_time = sum("no time left" in line for line in table)
        self.assertIn(f"{len(table)} rows, {without_time} without time left", done.stdout)
        return done.returncode, {line[:38].strip(): line[38:].strip() for line in table}

    def test_nccl_is_found_where_pip_puts_it_and_a_sanitizer_that_is_refused_is_skipped(self):
        folder = self.has_nccl()
        self.write("tools/compute-sanitizer", REFUSED)
        status, rows = self.checked()
        self.assertEqual(status, 0, rows)
        self.assertRegex(rows["training, forked ranks"], "9 tests on GPU 0;")
        self.assertRegex(rows["NCCL is found"], f"passed .*{folder}")
        self.assertRegex(rows["kernels and codecs"], f"PASSED  . 9 tests on GPU .*; {folder}")
        self.assertRegex(rows["compute-sanitizer on kernels"], "skipped .*it refuses: .*Target application terminated")
        self.assertRegex(rows["suites find fused multiply-adds"], "skipped .*is not built")

    def test_nccl_that_is_nowhere_and_what_a_sanitizer_finds_fail(self):
        self.write("tools/compute-sanitizer", "#!/bin/bash\necho '========= ERROR SUMMARY: 3 errors'\nexit 9\n")
        status, rows = self.checked()
        self.assertEqual(status, 1)
        self.assertRegex(rows["NCCL is found"], "FAILED .*neither the loader nor Python's nvidia.nccl")
        for tool in ("memcheck", "racecheck", "synccheck", "initcheck"):
            self.assertRegex(rows[f"compute-sanitizer, {tool}"], "FAILED .*ERROR SUMMARY: 3 errors")

    def test_pytorch_is_tried_where_it_is(self):
        nccl = f"[[ $1 == -c ]] && echo {self.has_nccl()} && exit"
        self.write("built/python/libtrigram_session.so", "")
        self.write("tools/python3", f"#!/bin/bash\n{nccl}\necho 'skipped: python3 has no torch'\nexit 77\n")
        self.assertRegex(self.checked()[1]["PyTorch models"], "skipped +0 +python3 has no torch")
        self.write("tools/python3", f"#!/bin/bash\n{nccl}\necho held all of $TRIGRAM_SESSION\necho 'images/s of each of 2 ranks: 9'\n")
        _, rows = self.checked()
        for ranks in (1, 2):
            self.assertRegex(rows[f"PyTorch beside DDP, {ranks} ranks"], "passed +[0-9]+ +images/s of each of 2 ranks: 9")
        self.assertRegex((self.root / "out/figures.txt").read_text(), "PyTorch beside DDP, 2 ranks +images/s of each of 2 ranks: 9")

    def test_figures_are_left_and_each_row_has_its_log(self):
        self.has_nccl()
        self.write("tools/compute-sanitizer", REFUSED)
        self.checked()
        figures = (self.root / "out/figures.txt").read_text()
        self.assertRegex(figures, "67108864 elements +copy on the device: 4300.0 GB/s")
        self.assertRegex(figures, "67108864 elements: kernels below target +1")
        self.assertRegex(figures, "an exchange, 2 ranks, blocking=off, 64 bytes +31.5 us, spread 2.5 %")
        self.assertRegex(figures, "an iteration of bytegrad, 2 ranks +0.0123 s mean, 0.0119 s median")
        self.assertRegex(figures, "it used +NVIDIA H200 for 2 ranks, driver 580.65.06")
        self.assertIn("NET/Socket", (self.root / "out/an-exchange-2-ranks-blocking-off.log").read_text())

    def test_a_row_that_fails_ends_no_other_and_a_mutant_that_passes_is_a_failure(self):
        self.has_nccl()
        self.write("built/bin/benchmark_cuda_kernels", "#!/bin/bash\n[[ $1 == --help ]] || exit 1\n")
        self.write("built/bin/test_kernels_cuda_fmad", "#!/bin/bash\necho '[  PASSED  ] 9 tests'\n")
        status, rows = self.checked()
        self.assertEqual(status, 1)
        self.assertRegex(rows["kernel benchmark, 67108864 elements"], "FAILED .*exit code 1")
        self.assertRegex(rows["suites find fused multiply-adds"], "FAILED")
        self.assertRegex(rows["a stuck exchange is reported"], "passed")

    def test_rows_without_time_are_no_success(self):
        self.has_nccl()
        status, rows = self.checked("--seconds", "4")
        self.assertEqual(status, 3, rows)
        self.assertRegex(rows["kernels and codecs"], "skipped +0 +never ran: no time left of 4 s")
        self.assertRegex(rows["a stuck exchange is reported"], "skipped +0 +never ran: no time left of 4 s")

    def test_a_row_that_is_cut_is_no_success_and_none_that_must_fail_is_begun_without_its_time(self):
        self.has_nccl()
        self.write("built/bin/test_gpu_host", "#!/bin/bash\n[[ $1 == --help ]] || exec sleep 30\n")
        status, rows = self.checked("--seconds", "6")
        self.assertEqual(status, 3, rows)
        self.assertRegex(rows["ranks meet"], "skipped +[567] +was cut: no time left of 6 s")
        self.write("built/bin/test_gpu_host", STANDS_IN)
        _, rows = self.checked("--seconds", "40")
        self.assertRegex(rows["a rank that throws ends the job"], "skipped +0 +never ran")

    def test_ranks_that_share_memory_use_no_sockets(self):
        self.has_nccl()
        for line, verdict in (("0: Channel 00 : 0[0] -> 1[0] via SHM/direct/direct", "FAILED"), ("0", "FAILED")):
            self.write("built/bin/trigram", STANDS_IN.replace("0: Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0", line))
            self.assertRegex(self.checked()[1]["ranks of one GPU use sockets"], verdict)

    def test_nccl_that_goes_on_without_the_plugin_is_a_failure(self):
        self.has_nccl()
        status, rows = self.checked()
        self.assertEqual(status, 0, rows)
        self.assertRegex(rows["CPUs train by our net plugin"], "passed")
        self.assertRegex(rows["NCCL by our net plugin, 2 ranks"], "passed +[0-9]+ +67108864 ")
        self.assertRegex(rows["its sums are those of threads"], "passed")
        self.assertRegex((self.root / "out/figures.txt").read_text(), "NCCL by our net plugin, 2 ranks, 64 MiB all-reduced +5000 us")
        self.write("built/bin/trigram", "\n".join(line for line in STANDS_IN.splitlines() if "Assigned" not in line))
        status, rows = self.checked()
        self.assertEqual(status, 1)
        self.assertRegex(rows["NCCL by our net plugin, 2 ranks"], "FAILED .*NCCL does not say: Assigned NET plugin Trigram")

    def test_nccl_tests_are_run_where_they_are(self):
        self.has_nccl()
        self.assertRegex(self.checked()[1]["nccl-tests by our net plugin, 2 ranks"], "skipped .*all_reduce_perf")
        self.write("tools/mpirun", "#!/bin/bash\nshift 2\nOMPI_COMM_WORLD_RANK=0 exec \"$@\"\n")
        said = "\n".join(line for line in STANDS_IN.splitlines() if "NET plugin" in line or "external" in line).replace("bench) ", "")
        for wrong, verdict in (("0 OK", "passed"), ("3 FAILED", "FAILED")):
            self.write("tools/all_reduce_perf", f"#!/bin/bash\n{said}\necho \"# Out of bounds values : {wrong}; $NCCL_HOSTID\"\n")
            self.assertRegex(self.checked()[1]["nccl-tests by our net plugin, 2 ranks"], f"{verdict} .*values : {wrong}; host-0")

    def test_tests_that_all_skip_are_no_success(self):
        self.has_nccl()
        self.write("built/bin/test_gpu", "#!/bin/bash\necho '[  PASSED  ] 0 tests.'\n")
        self.write("built/bin/test_kernels_cuda", """#!/bin/bash
[[ $* == *=Beyond* ]] && echo "needs 10 GiB of device memory, of which 7 are free" && exit
echo "skipped: no CUDA device"; echo "[  PASSED  ] 9 tests."
""")
        status, rows = self.checked()
        self.assertEqual(status, 1)
        for row in ("kernels and codecs", "conformance, 2 ranks on one GPU", "training, forked ranks"):
            self.assertRegex(rows[row], "FAILED .*exit code 0, but no test passed")
        self.assertRegex(rows["kernels beyond 4 GiB"], "skipped .*needs 10 GiB of device memory, of which 7 are free")

    def test_the_first_of_the_devices_that_were_given_is_used(self):
        self.has_nccl()
        _, rows = self.checked(CUDA_VISIBLE_DEVICES="5,3")
        self.assertRegex(rows["training, forked ranks"], "9 tests on GPU 5;")

    def test_a_program_whose_libraries_are_too_old_does_not_start(self):
        self.has_nccl()
        self.write("built/bin/meeting_job",
                   "#!/bin/bash\necho \"libc.so.6: version \\`GLIBC_2.99' not found (required by x)\"; exit 1\n")
        _, rows = self.checked()
        self.assertRegex(rows["programs start"], "FAILED .*meeting_job does not start")


if __name__ == "__main__":
    sys.exit(unittest.main())
