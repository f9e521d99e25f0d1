"""check.sh on stand-ins for its programs and for the machine's tools: what it finds, skips and prints."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parent / "check.sh"

# Each program says what the row of a machine that is well says.
STANDS_IN = """#!/bin/bash
echo "[  PASSED  ] $LD_LIBRARY_PATH done bagua two_by_four accuracy copy"
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
PROGRAMS = ["trigram", "test_gpu", "test_gpu_host", "meeting_job", "test_kernels_cuda", "benchmark_cuda_kernels"]


class Check(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="check-")
        self.root = pathlib.Path(self.folder.name)
        for name in PROGRAMS:
            self.write(f"built/bin/{name}", STANDS_IN)
        self.write("built/bin/failing_gpu_job", FAILS)
        self.write("tools/nvidia-smi", "#!/bin/bash\necho 'GPU 0: a double'\n")
        self.write("tools/ldconfig", "#!/bin/bash\n")

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def rows(self):
        environment = {**os.environ, "PATH": f"{self.root}/tools:{os.environ['PATH']}"}
        environment.pop("LD_LIBRARY_PATH", None)
        done = subprocess.run([CHECK, "--build", self.root / "built"], env=environment, capture_output=True, text=True)
        table = done.stdout[done.stdout.rindex("check  "):].splitlines()
        return done.returncode, {line[:36].strip(): line[36:].strip() for line in table if line[36:].strip()}

    def test_nccl_is_found_where_pip_puts_it_and_a_sanitizer_that_is_refused_is_skipped(self):
        library = self.write("site/nvidia/nccl/lib/libnccl.so.2", "")
        self.write("tools/python3", f"#!/bin/bash\necho {library.parent}\n")
        self.write("tools/compute-sanitizer", REFUSED)
        status, rows = self.rows()
        self.assertEqual(status, 0, rows)
        self.assertRegex(rows["NCCL is found"], f"passed .*{library.parent}")
        self.assertRegex(rows["kernels and codecs"], f"PASSED  . {library.parent}")
        self.assertRegex(rows["compute-sanitizer on kernels"], "skipped .*it refuses: .*Target application terminated")

    def test_nccl_that_is_nowhere_and_what_a_sanitizer_finds_fail(self):
        for python in ("python3", "python"):
            self.write(f"tools/{python}", "#!/bin/bash\nexit 1\n")
        self.write("tools/compute-sanitizer", "#!/bin/bash\necho '========= ERROR SUMMARY: 3 errors'\nexit 9\n")
        status, rows = self.rows()
        self.assertEqual(status, 1)
        self.assertRegex(rows["NCCL is found"], "FAILED .*neither the loader nor Python's nvidia.nccl")
        self.assertRegex(rows["compute-sanitizer on kernels"], "FAILED .*ERROR SUMMARY: 3 errors")


if __name__ == "__main__":
    sys.exit(unittest.main())
