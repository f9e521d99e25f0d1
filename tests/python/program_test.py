"""How the package starts the program, shows its progress, passes on its errors and ends it."""

import contextlib
import io
import os
import pathlib
import signal
import subprocess
import sys
import unittest
import unittest.mock

import case
import trigram
from trigram import library, program, progress

ENDLESS = 100_000_000


class Started(case.Case):
    def pretend(self, script):
        """Puts a shell script in the program's place."""
        path = self.folder / "program"
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)
        patch = unittest.mock.patch.dict(os.environ, TRIGRAM_PROGRAM=str(path))
        patch.start()
        self.addCleanup(patch.stop)


class Words(Started):
    def test_flags_are_the_programs(self):
        flags = {"evaluate_every": 50, "trace": True, "overlap": False, "lr": 1e-5, "profile": None, "out": pathlib.Path("a b")}
        self.assertEqual(program.words_of(flags), ["--evaluate-every=50", "--trace=on", "--overlap=off", "--lr=1e-05", "--out=a b"])

    def test_a_launcher_stands_before_the_program(self):
        self.pretend('printf "%s," "$FROM" "$@"')
        self.assertEqual(program.start(["list"], "env FROM='a b'"), "a b,list,")
        with self.assertRaisesRegex(RuntimeError, "no_such_launcher"):
            program.start(["list"], ["no_such_launcher"])

    def test_the_program_is_looked_for(self):
        with unittest.mock.patch.dict(os.environ, TRIGRAM_PROGRAM=str(self.folder / "absent")):
            with self.assertRaisesRegex(RuntimeError, "absent"):
                trigram.products("codecs")


    def test_no_command_comes_back_to_itself(self):
        script, binary = self.folder / "script" / "trigram", self.folder / "binary" / "trigram"
        for path, text in ((script, "#!/usr/bin/python3"), (binary, "ELF")):
            path.parent.mkdir()
            path.write_text(text)
            path.chmod(0o755)
        with unittest.mock.patch.dict(os.environ, PATH=str(script.parent)), unittest.mock.patch.object(program, "PACKAGE", self.folder / "a" / "b"):
            os.environ.pop("TRIGRAM_PROGRAM", None)
            with self.assertRaisesRegex(RuntimeError, "nor on PATH"):
                program.path()
            os.environ["PATH"] += f":{binary.parent}"
            self.assertEqual(program.path(), binary)
            with unittest.mock.patch.object(os, "execv", side_effect=AssertionError), \
                    self.assertRaisesRegex(SystemExit, "^trigram: the program trigram is in none of"):
                program.main()


class Errors(Started):
    def test_what_is_refused_is_a_value_error_with_the_programs_text(self):
        with self.assertRaisesRegex(ValueError, r"^trigram run has no flag '--stepps=3' \(did you mean '--steps'\?\)"):
            trigram.run(stepps=3)
        with self.assertRaisesRegex(ValueError, "^unknown algorithm 'nope'; this build has: ad_psgd, "):
            trigram.run(algorithm="nope", out=self.folder / "run")
        self.assertFalse((self.folder / "run").exists())
        with self.assertRaisesRegex(ValueError, "'cats' is no kind, and nothing has that name"):
            trigram.products("cats")
        with self.assertRaisesRegex(ValueError, "unknown study 'nope'"):
            trigram.study("nope")

    def test_other_failures_are_runtime_errors(self):
        self.pretend("echo '3/7 steps' >&2; echo 'trigram: the network is gone' >&2; exit 1")
        with self.assertRaisesRegex(RuntimeError, "^the network is gone$"):
            trigram.run()
        self.pretend("kill -SEGV $$")
        with self.assertRaisesRegex(RuntimeError, "^trigram ended by signal 11 and said nothing$"):
            trigram.run()

    def test_libraries_that_the_system_lacks_are_named_with_their_packages(self):
        self.pretend(f"echo 'trigram: {program.NOT_LOADED}: libnlopt.so.0: cannot open shared object file' >&2; exit 127")
        with self.assertRaisesRegex(RuntimeError, "libnlopt.so.0: cannot open .*; a Trigram that was built here takes SimGrid, .* apt-get install .* libnlopt0"):
            trigram.run()
        absent = self.folder / "libtrigram_session.so"
        with unittest.mock.patch.dict(os.environ, TRIGRAM_SESSION=str(absent)):
            with self.assertRaisesRegex(RuntimeError, f"cannot load {absent}: .*; a Trigram that was built here takes SimGrid, .* apt-get install .* libnlopt0"):
                library.library()

    def test_warnings_are_warnings(self):
        self.pretend("echo 'trigram: warning: the NIC is slow' >&2; echo printed")
        with self.assertWarnsRegex(UserWarning, "^the NIC is slow$"):
            self.assertEqual(program.start([]), "printed\n")


class Progress(Started):
    def lines(self, notebook, terminal):
        shown = io.StringIO()
        shown.isatty = lambda: terminal
        with contextlib.redirect_stderr(shown), unittest.mock.patch.object(progress, "in_notebook", lambda: notebook):
            with progress.shown() as show:
                self.assertTrue(show("5/10 steps"))
                self.assertTrue(show("10/10 steps"))
                self.assertFalse(show("trigram: 3 is wrong"))
        return shown.getvalue()

    def test_one_line_in_a_terminal_and_in_a_notebook(self):
        half, whole = "[" + 20 * "#" + 20 * "." + "] 5/10 steps", "[" + 40 * "#" + "] 10/10 steps"
        self.assertEqual(self.lines(notebook=False, terminal=True), f"\r{half}\r{whole}\n")
        self.assertEqual(self.lines(notebook=True, terminal=False), f"\r{half}\r{whole}\n")
        self.assertEqual(self.lines(notebook=False, terminal=False), "5/10 steps\n10/10 steps\n")

    def test_a_run_shows_its_steps(self):
        trigram.run(steps=10)
        self.assertEqual(self.shown.getvalue().splitlines()[-1], "10/10 steps")


class Ends(Started):
    def test_an_interrupt_ends_the_program_and_its_ranks(self):
        def interrupt(done, total, unit):
            os.kill(os.getpid(), signal.SIGINT)
            return ""

        out = self.folder / "endless"
        with unittest.mock.patch.object(progress, "bar", interrupt), unittest.mock.patch.object(progress, "in_notebook", lambda: True):
            with self.assertRaises(KeyboardInterrupt):
                trigram.run(workload="quadratic", steps=ENDLESS // 1000, out=out)
        self.assert_gone(out)
        stopped = trigram.load(out)
        self.assertRegex(stopped.facts["stopped"], r"after \d+ of \d+ steps: interrupted by signal 2")
        self.assertEqual(len(stopped.steps), int(stopped.facts["stopped"].split()[1]))
        self.assertIn("stopped early", repr(stopped))

    def test_what_is_said_at_the_end_ends_nobody(self):
        said = self.folder / "said"
        self.pretend(f"trap 'for i in $(seq 2000); do echo the results are in a folder >&2; done; touch {said}; exit 130' INT; echo '1/2 steps' >&2; "
                     "sleep 1000 & wait")
        begun = unittest.mock.Mock(side_effect=KeyboardInterrupt)
        with unittest.mock.patch.object(progress, "in_notebook", lambda: True), unittest.mock.patch.object(progress, "bar", begun):
            with self.assertRaises(KeyboardInterrupt):
                trigram.run(steps=2)
        self.assertTrue(said.exists())

    def test_what_asks_not_to_be_ended_is_ended(self):
        self.pretend("trap '' INT; echo '1/2 steps' >&2; sleep 1000 & wait; wait")
        begun = unittest.mock.Mock(side_effect=KeyboardInterrupt)
        with unittest.mock.patch.object(progress, "bar", begun), unittest.mock.patch.object(progress, "in_notebook", lambda: True):
            with unittest.mock.patch.object(program, "PATIENCE", 0.2), self.assertRaises(KeyboardInterrupt):
                program.start([])
        self.assert_gone(self.folder)

    @unittest.skipUnless(program.ending_with_us(), "no setpriv here")
    def test_nothing_outlives_a_killed_python(self):
        out = str(self.folder / "endless")
        code = f"import trigram; trigram.run(workload='quadratic', steps={ENDLESS // 1000}, out={out!r})"
        with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) as python:
            self.assertIn("steps", python.stderr.readline())
            python.kill()
        self.assert_gone(out)


if __name__ == "__main__":
    unittest.main()
