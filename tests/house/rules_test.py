#!/usr/bin/env python3
"""Proves that every house rule notices what it forbids, on small trees made for it, and passes a tree that keeps all."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RULES = Path(__file__).with_name("rules.py")
ALGORITHM = '// An algorithm.\nconst Algorithms::Registration registration("mean", {"average"});\n'
GOOD = {
    "core/values/buffer.hpp": "// A view.\n",
    "algorithms/mean.cpp": ALGORITHM,
    "algorithms/README.md": "| Algorithm |\n|---|\n| `mean` |\n\n## mean\n",
    "CONTRIBUTING.md": "",
    "core/README.md": '```mermaid\nflowchart TD\n  a["core/values/buffer.hpp"]\n  b(["the wire"])\n\n  a -->|bytes| b --> a\n```\n',
    "README.md": "Short.\n",
    "docs/tutorials/algorithm_in_cpp.md": f"A whole file, `algorithms/mean.cpp`:\n```cpp\n{ALGORITHM}```\n",
}


def complaints(changes):
    """What the rules print about the good tree with some files replaced."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in (GOOD | changes).items():
            place = Path(folder) / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
        result = subprocess.run([sys.executable, "-B", RULES, folder], capture_output=True, text=True)
        return result.stdout if result.returncode else ""


class RulesTest(unittest.TestCase):
    def expect(self, path, text, words):
        self.assertIn(words, complaints({path: text}))

    def test_a_good_tree_passes(self):
        self.assertEqual(complaints({}), "")

    def test_borders(self):
        own = {"core/values/buffer.hpp": "// A view.\n", "backends/sim/link.hpp": "// A link.\n"}
        crossing = own | {"algorithms/mean.cpp": ALGORITHM + '#include "backends/sim/link.hpp"\n'}
        self.assertIn("algorithms may include core, not backends/sim/link.hpp", complaints(crossing))
        another = own | {"backends/wire/wire.cpp": "// A wire.\n#include <nccl.h>\n#include \"backends/sim/link.hpp\"\n"}
        self.assertIn("backends/wire may include core, processes, meeting, kernels/cpu/kernels.hpp, backends/process, backends/wire, "
                      "not backends/sim/link.hpp", complaints(another))
        self.assertIn("backends/wire may not include <nccl.h>", complaints(another))
        self.expect("core/a.cpp", "// A.\n#include <simgrid/s4u.hpp>\n", "core may not include <simgrid/s4u.hpp>")
        self.expect("core/a.cpp", "// A.\n#include <Eigen/Core>\n", "core may not include <Eigen/Core>")
        self.assertEqual(complaints({"core/topologies/topology.cpp": "// A.\n#include <Eigen/Core>\n"}), "")
        self.expect("core/a.cpp", '// A.\n#include "buffer.hpp"\n', "is no file from the root")
        self.expect("algorithms/a.cpp", "// A.\n#include <mutex>\n", "algorithms may not include <mutex>")
        self.expect("experiments/program/a.cpp", "// A.\n#include <boost/format.hpp>\n", "experiments/program may not include")

    def test_rooms(self):
        upwards = {"experiments/study/a.hpp": "// A.\n", "experiments/record/b.cpp": '// B.\n#include "experiments/study/a.hpp"\n'}
        self.assertIn("experiments/record/b.cpp:2: experiments/record may include core, processes, experiments/workloads, "
                      "experiments/settings, experiments/measure, experiments/record, not experiments/study/a.hpp", complaints(upwards))
        outside = {"core/a.hpp": "// A.\n", "experiments/b.cpp": '// B.\n#include "core/a.hpp"\n'}
        self.assertIn("experiments may include", complaints(outside))

    def test_one_way(self):
        both = {"core/low.hpp": "// Low.\n", "core/low.cpp": '#include "core/low.hpp"\n\n#include "core/high.hpp"\n',
                "core/high.hpp": '// High.\n#include "core/low.hpp"\n'}
        self.assertIn("core/high: needs core/low, which needs it too", complaints(both))
        by_way = both | {"core/low.cpp": '#include "core/low.hpp"\n\n#include "core/mid.hpp"\n',
                         "core/mid.hpp": '// Mid.\n#include "core/high.hpp"\n'}
        self.assertIn("core/high: needs core/low, which needs it too", complaints(by_way))
        self.assertEqual(complaints(both | {"core/low.cpp": '#include "core/low.hpp"\n'}), "")
        backend = {path.replace("core", "backends/sim"): text.replace("core", "backends/sim") for path, text in both.items()}
        self.assertIn("backends/sim/high: needs backends/sim/low, which needs it too", complaints(backend))

    def test_form(self):
        self.expect("core/a.cpp", "// A.\n" + "int a;\n" * 400, "401 lines; at most 400")
        self.expect("core/a.cpp", "int a;\n", "opens neither with")
        self.expect("core/utils/a.cpp", "// A.\n", "'utils' says nothing")
        self.expect("core/helpers.cpp", "// A.\n", "'helpers' says nothing")

    def test_size_of_rooms(self):
        many = {f"core/values/value_{index}.hpp": "// A value.\n" for index in range(25)}
        self.assertIn("core/values: holds 26 files; at most 25 beside products and suites", complaints(many))
        self.assertEqual(complaints({path.replace("values", "world"): text for path, text in many.items()}), "")
        suites = {f"tests/core/suite_{index}.cpp": "// A suite.\nTEST(A, B) {}\n" for index in range(26)}
        self.assertEqual(complaints(suites), "")

    def test_words(self):
        self.expect("core/a.cpp", "// A.\nint a;  // TODO: b\n", "core/a.cpp:2: TODO")
        self.expect("docs/a.md", "see /home/me/a\n", "docs/a.md:1: a path of one machine")

    def test_silence(self):
        self.expect("core/a.cpp", "// A.\nvoid a() { std::cout << 1; }\n", "never calls std::cout")
        self.expect("core/a.cpp", "// A.\nvoid a() { exit(1); }\n", "never calls exit")
        self.expect("core/a.cpp", '// A.\nauto a = std::getenv("A");\n', "the environment is read")

    def test_closed_buffers(self):
        self.expect("algorithms/a.cpp", "// A.\nfloat* x = bucket.weights.data<float>();\n", "looks into a Buffer by .data<float>()")
        self.expect("algorithms/a.cpp", "// A.\nvoid* x = mean.view().raw();\n", "leave its memory to worker.device")
        self.assertEqual(complaints({"algorithms/a.cpp": "// A.\nauto* x = values.data();\n"}), "")

    def test_products(self):
        self.expect("core/a.cpp", '// A.\nconst Codecs::Registration r("cpu/b", {"b"});\n', "registers 'cpu/b'")
        self.expect("algorithms/sum.cpp", ALGORITHM.replace("mean", "sum"), "'sum' has no row")
        self.expect("algorithms/sum.cpp", ALGORITHM.replace("mean", "sum"), "'sum' has no section")
        self.expect("algorithms/README.md", "| Algorithm |\n|---|\n| `sum` |\n", "'sum' has a row and no file")

    def test_recipes(self):
        skeleton = {"experiments/skeletons/algorithm/algorithms/sum.cpp": ALGORITHM.replace("mean", "sum")}
        linked = {"CONTRIBUTING.md": "[a sum](experiments/skeletons/algorithm/algorithms/sum.cpp)\n"}
        self.assertEqual(complaints(skeleton | linked), "")
        self.assertIn("does not link experiments/skeletons/algorithm/algorithms/sum.cpp", complaints(skeleton))
        outside = {path: '#include <mutex>\n' + text for path, text in skeleton.items()}
        self.assertIn("algorithms may not include <mutex>", complaints(outside))

    def test_named_paths(self):
        self.expect("CONTRIBUTING.md", "see `core/sum.hpp`", "names `core/sum.hpp`, and there is no core/sum.hpp")
        self.expect("CONTRIBUTING.md", "`core/sums/NAME.cpp`", "names `core/sums/NAME.cpp`, and there is no core/sums")
        self.assertEqual(complaints({"CONTRIBUTING.md": "`core/values/buffer.hpp`, `core/NAME.cpp`, `cpu/NAME`"}), "")

    def test_places_of_a_backend(self):
        places = {"cmake/parts.cmake": "find(mpi)\n", "tests/mpi/CMakeLists.txt": "add(mpi)\n"}
        recipe = "## A backend\n\nTouches `cmake/parts.cmake`.\n\n## More\n"
        self.assertEqual(complaints(places | {"CONTRIBUTING.md": recipe}), "")
        self.assertIn("leaves out cmake/parts.cmake", complaints(places | {"CONTRIBUTING.md": recipe.replace("`", "")}))

    def test_picture(self):
        picture = GOOD["core/README.md"]
        self.expect("core/README.md", "", "has no picture")
        self.expect("core/README.md", picture.replace("buffer", "puffer"), "names core/values/puffer.hpp, which is no file")
        self.expect("core/README.md", picture.replace("--> a", "-> a"), "is neither a box nor an arrow")
        self.expect("core/README.md", picture.replace("--> a", "--> c"), "the picture's c is no box")

    def test_readme(self):
        tutorial = "docs/tutorials/algorithm_in_cpp.md"
        self.expect(tutorial, "nothing\n", "shows no algorithm file")
        self.expect(tutorial, GOOD[tutorial].replace("average", "mean"), "differs from the file")
        self.expect("README.md", "a line\n" * 121, "has 121 lines, more than 120")


if __name__ == "__main__":
    unittest.main()
