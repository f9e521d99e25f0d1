"""Matrices of nvidia-smi topo -m, laid out as drivers of several years print them, and what is broken in them."""

import unittest

from import_test import Case


def matrix(rows, columns, tail="  CPU Affinity  NUMA Affinity  GPU NUMA ID", affinity="  0-55,112-167  0  N/A", gap="\t", before="\t"):
    lines = [before + gap.join(columns) + tail]
    return "\n".join(lines + [gap.join([name, *cells]) + affinity for name, cells in rows]) + "\n"


def all_to_all(count, cell):
    return [[" X " if i == j else cell for j in range(count)] for i in range(count)]


def gpus(cells, nics=(), of_nic=lambda gpu, nic: "SYS", **layout):
    count = len(cells)
    columns = [f"GPU{i}" for i in range(count)] + list(nics)
    rows = [(f"GPU{i}", cells[i] + [of_nic(i, j) for j in range(len(nics))]) for i in range(count)]
    rows += [(name, [of_nic(i, j) for i in range(count)] + [" X " if j == k else "SYS" for k in range(len(nics))]) for j, name in enumerate(nics)]
    return matrix(rows, columns, **layout)


LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NV#  = Connection traversing a bonded set of # NVLinks

NIC Legend:

  NIC0: mlx5_0
  NIC1: mlx5_1
"""
# DGX-1 with V100: each GPU has six NVLinks to four of the others (NVIDIA, "DGX-1 With Tesla V100 System Architecture").
DGX_1 = ["X NV1 NV1 NV2 NV2 SYS SYS SYS", "NV1 X NV2 NV1 SYS NV2 SYS SYS", "NV1 NV2 X NV2 SYS SYS NV1 SYS", "NV2 NV1 NV2 X SYS SYS SYS NV1",
         "NV2 SYS SYS SYS X NV1 NV1 NV2", "SYS NV2 SYS SYS NV1 X NV2 NV1", "SYS SYS NV1 SYS NV1 NV2 X NV2", "SYS SYS SYS NV1 NV2 NV1 NV2 X"]


class Matrices(Case):
    def keys(self, text, count=1):
        self.said = self.taken("nvidia_topology", self.file("topo.txt", text))
        lines = self.text("cluster.cfg").splitlines()
        return dict(line.split(" = ", 1) for line in lines if not line.startswith("#") and " = " in line)

    def test_a_switch_joins_eight(self):
        nics = [f"NIC{i}" for i in range(10)]
        names = "".join(f"GPU {i}: NVIDIA A100-SXM4-80GB (UUID: GPU-0)\n" for i in range(8))
        text = names + gpus(all_to_all(8, "NV12"), nics, lambda gpu, nic: "PXB" if nic // 2 == gpu // 2 and nic < 8 else "SYS") + LEGEND
        found = self.keys(text)
        # NVIDIA's data sheet: 600 GB/s both ways together. Two GPUs share two NICs below one switch: one each.
        self.assertEqual(found, {"gpus_per_node": "8", "node_bandwidth": "300GB/s", "nic": "gpu"})

    def test_without_a_name_the_generation_is_a_range(self):
        self.assertEqual(self.keys(gpus(all_to_all(8, "NV18")))["node_bandwidth"], "450GB/s in 253.1GB/s..900GB/s")  # H100; B200 has 900

    def test_links_of_a_cube_are_added_up(self):
        text = "V100-SXM2-16GB\n" + gpus([row.split() for row in DGX_1], ["mlx5_0", "mlx5_2"], lambda gpu, nic: "PIX" if gpu // 4 == nic else "SYS",
                                         tail="\tCPU Affinity", affinity="\t0-19,40-59")
        found = self.keys(text)
        self.assertEqual(found, {"gpus_per_node": "8", "node_bandwidth": "150GB/s", "nic": "node"})  # 6 x 25 GB/s; two NICs for eight

    def test_colours_and_blanks_as_a_terminal_has_them(self):
        text = gpus(all_to_all(4, "NV4"), gap="   ", before="    \x1b[4m", tail="  CPU Affinity\tNUMA Affinity\x1b[0m")
        self.assertEqual(self.keys("```\n" + text + "```\n")["node_bandwidth"], "300GB/s in 168.7GB/s..600GB/s")

    def test_pcie_alone(self):
        found = self.keys(gpus(all_to_all(2, "PHB")))
        self.assertEqual(found["node_bandwidth"], "31.5GB/s in 15.75GB/s..63GB/s")
        self.assertEqual(self.keys(gpus(all_to_all(2, "SYS")))["node_bandwidth"], "31.5GB/s in 6GB/s..63GB/s")

    def test_pairs_of_links_are_no_ring(self):
        cells = [row.split() for row in ("X NV4 SYS SYS", "NV4 X SYS SYS", "SYS SYS X NV4", "SYS SYS NV4 X")]
        self.assertEqual(self.keys(gpus(cells))["node_bandwidth"], "31.5GB/s in 6GB/s..63GB/s")
        self.assertIn("NVLinks join some GPUs only", self.text("cluster.cfg"))

    def test_two_islands_and_a_line_are_no_ring(self):
        islands = [["X" if i == j else "NV4" if i // 3 == j // 3 else "SYS" for j in range(6)] for i in range(6)]
        line = [row.split() for row in ("X NV4 PHB", "NV4 X NV4", "PHB NV4 X")]
        self.assertEqual(self.keys(gpus(islands))["node_bandwidth"], "31.5GB/s in 6GB/s..63GB/s")
        self.assertEqual(self.keys(gpus(line))["node_bandwidth"], "31.5GB/s in 15.75GB/s..63GB/s")

    def test_each_gpu_has_a_nic_where_some_choice_of_them_says_so(self):
        near = {(0, 0), (0, 1), (1, 0)}  # the second GPU has the first NIC alone
        self.assertEqual(self.keys(gpus(all_to_all(2, "NV4"), ["NIC0", "NIC1"], lambda gpu, nic: "PIX" if (gpu, nic) in near else "SYS"))["nic"], "gpu")
        self.assertEqual(self.keys(gpus(all_to_all(2, "NV4"), ["NIC0", "NIC1"], lambda gpu, nic: "PXB" if nic == 0 else "NODE"))["nic"], "node")

    def test_only_the_first_matrix_counts(self):
        text = gpus(all_to_all(2, "NV4")) + LEGEND + gpus([["X", "GNS"], ["GNS", "X"]], tail="", affinity="")
        self.assertEqual(self.keys(text)["gpus_per_node"], "2")

    def test_what_is_written_runs(self):
        self.keys(gpus(all_to_all(4, "NV6")))
        import subprocess
        from import_test import PROGRAM
        ended = subprocess.run([PROGRAM, "run", "--cluster", self.folder / "out" / "cluster.cfg", "--ranks", "4", "--steps", "1", "--out", self.folder / "r"])
        self.assertEqual(ended.returncode, 0)

    def test_what_is_no_whole_matrix_gets_a_sentence(self):
        whole = gpus(all_to_all(4, "NV4"))
        lines = whole.splitlines()
        self.refused("has no line of columns", "nvidia_topology", self.file("a.txt", "hello\n"))
        self.refused("has no line of columns", "nvidia_topology", self.file("b.txt", ""))
        self.refused("has no row of GPU3; the output was cut off", "nvidia_topology", self.file("c.txt", "\n".join(lines[:4])))
        self.refused("line 3: 2 cells stand where 4 columns are", "nvidia_topology", self.file("d.txt", "\n".join(lines[:2] + ["GPU1 NV4 X"])))
        self.refused("'GNS' is none of X, NV#", "nvidia_topology", self.file("e.txt", whole.replace("NV4", "GNS")))
        self.refused("from GPU0 to GPU1 is NV8, and back NV4", "nvidia_topology", self.file("f.txt", whole.replace("NV4", "NV8", 1)))
        self.refused("2 files were given", "nvidia_topology", self.file("g.txt", whole), self.file("h.txt", whole))
        self.refused("cannot read", "nvidia_topology", self.folder / "absent")


if __name__ == "__main__":
    unittest.main()
