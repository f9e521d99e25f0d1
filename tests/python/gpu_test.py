"""Models and tensors on GPUs: what the package says of them, here without one, and jobs on doubles of CUDA and NCCL, where TRIGRAM_SESSION
names the library on them; a torch for CUDA has an NCCL of its own. Ends with 77 without torch."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
LAUNCH = HERE.parent / "gpu" / "launch.sh"
PATIENCE = 240  # seconds until a job that hangs is a failure


def tensor_on(place, layout=None):
    return types.SimpleNamespace(device=torch.device(place), layout=layout or torch.strided)


@unittest.skipUnless(re.search("on_(host|ptx)", os.environ.get("TRIGRAM_SESSION", "")), "TRIGRAM_SESSION names no library on doubles")
class OnDoubles(unittest.TestCase):
    def hold(self, ranks):
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run([LAUNCH, str(ranks), sys.executable, "-B", HERE / "gpu_job.py", folder], cwd=folder, text=True, timeout=PATIENCE,
                                   env=os.environ | {"CUDA_ON_HOST_MEMORY": "any"}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT)
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.assertEqual(ended.stdout.count("held "), (HERE / "gpu_job.py").read_text("utf-8").count("def case_"), ended.stdout)

    def test_one_rank(self):
        self.hold(1)

    def test_two_ranks(self):
        self.hold(2)


class Places(unittest.TestCase):
    def refused(self, text, body):
        with self.assertRaisesRegex(ValueError, text):
            body()

    def test_a_model_lies_in_one_place(self):
        def place(*where):
            return device.place_of((f"parameter '{name}'", tensor_on(one)) for name, one in zip("abc", where))

        self.assertIs(place("cpu", "cpu"), device.CPU)
        self.assertIs(place(), device.CPU)
        self.assertEqual((str(place("cuda:1", "cuda:1")), place("cuda:1").settings), ("cuda:1", {"device": 1}))
        self.refused(r"parameter 'b' is on cpu, and parameter 'a' on cuda:0; the model of a rank lies on one device: move all of it there",
                     lambda: place("cuda:0", "cpu"))
        self.refused("parameter 'c' is on cuda:1, and parameter 'a' on cuda:0", lambda: place("cuda:0", "cuda:0", "cuda:1"))
        for kind in ("meta", "mps", "xpu"):
            self.refused(f"parameter 'b' is on {kind}.*; models train on the CPU or on a CUDA device: move all of it to one of them",
                         lambda kind=kind: place("cuda:0", kind))
        self.refused("parameter 'a' has layout torch.sparse_coo", lambda: device.place_of([("parameter 'a'", tensor_on("cuda:0", torch.sparse_coo))]))

    def test_backends_are_those_of_the_place(self):
        gpu = device.CudaPlace(1)
        with unittest.mock.patch.dict(os.environ, {"TORCHELASTIC_RUN_ID": "none"}):
            self.assertEqual([launcher.backend_of(None, place) for place in (device.CPU, gpu)], ["torch", "gpu"])
        self.assertEqual(launcher.backend_of("gpu:timeout=3s", gpu), "gpu:timeout=3s")
        for name in ("mpi", "torch:timeout=3s"):
            self.refused(f"^the model is on cuda:1, and backend '{name.split(':')[0]}' has its ranks on the CPU; leave backend out, or move",
                         lambda name=name: launcher.backend_of(name, gpu))
        self.refused("^the model is on the CPU, and backend 'gpu' has its ranks on CUDA devices; leave backend out, or move the model there",
                     lambda: launcher.backend_of("gpu", device.CPU))

    def test_communicators_are_in_one_place(self):
        self.assertIs(device.place_named(None), device.CPU)
        self.assertIs(device.place_named("cpu"), device.CPU)
        self.refused("device='mps' has no ranks; give \"cpu\", or a CUDA device as \"cuda:0\"", lambda: device.place_named("mps"))
        with unittest.mock.patch("torch.cuda.device_count", lambda: 2), unittest.mock.patch("torch.cuda.current_device", lambda: 1):
            for given, index in ((0, 0), ("cuda:1", 1), ("cuda", 1), (torch.device("cuda", 0), 0)):
                self.assertEqual(device.place_named(given).settings, {"device": index})
            self.refused("device=2 is not there: this process sees 2 CUDA devices", lambda: device.place_named(2))
        call = collectives.Call("broadcast", [torch.zeros(2)])
        self.refused("a tensor of broadcast is on cpu, and not on cuda:1; move it there, or give comm.join the device",
                     lambda: call.check(1, device.CudaPlace(1)))
        with comm.standing_in(lambda: None):
            self.refused("the communicator is on cuda:0, and simulated ranks compute on the CPU",
                         lambda: unittest.mock.patch("torch.cuda.device_count", lambda: 1)(comm.join)(device="cuda:0"))

    def test_streams_are_told_when_they_change(self):
        streams = iter([7, 7, 9, 9, 0, 7])
        told = device.CurrentStream(types.SimpleNamespace(stream=lambda: next(streams)))
        self.assertEqual([told.changed() for _ in range(6)], [7, None, 9, None, 0, 7])
        self.assertEqual([device.CurrentStream(device.CPU).changed() for _ in range(2)], [None, None])

    def test_lanes_beside_torchs_nccl_take_the_order_of_launches(self):
        gpu = device.CudaPlace(0)
        with unittest.mock.patch("torch.distributed.is_initialized", lambda: True), \
                unittest.mock.patch("torch.distributed.get_backend", return_value="nccl") as backend:
            self.refused("lanes=2 beside torch.distributed's own NCCL takes NCCL_LAUNCH_ORDER_IMPLICIT=1 in the environment",
                         lambda: rank.Rank.settings("bytegrad", {"lanes": 2}, gpu))
            self.assertEqual(rank.Rank.settings("bytegrad", {}, gpu)["backend"], "gpu")
            with unittest.mock.patch.dict(os.environ, {device.IN_ORDER: "1"}):
                gpu.check_side_by_side("lanes=2", "take lanes=1")
            backend.return_value = "gloo"
            gpu.check_side_by_side("lanes=2", "take lanes=1")
        gpu.check_side_by_side("lanes=2", "take lanes=1")

    def test_the_callers_device_stays_current(self):
        gpu = device.CudaPlace(1)
        with unittest.mock.patch("torch.cuda.device") as guard, gpu.current():
            guard.assert_called_once_with(torch.device("cuda", 1))
        guard.return_value.__exit__.assert_called_once()

    def test_a_stream_that_captures_is_refused(self):
        gpu = device.CudaPlace(0)
        with unittest.mock.patch("torch.cuda.is_current_stream_capturing", lambda: True):
            with self.assertRaisesRegex(RuntimeError, "the current stream captures a CUDA graph, in which ranks cannot meet; call the model"):
                gpu.stream()
        current = unittest.mock.Mock(return_value=types.SimpleNamespace(cuda_stream=5))
        with unittest.mock.patch("torch.cuda.is_current_stream_capturing", lambda: False), \
                unittest.mock.patch("torch.cuda.current_stream", current):
            self.assertEqual(gpu.stream(), 5)
        current.assert_called_once_with(torch.device("cuda", 0))

    def test_random_numbers_are_those_of_both(self):
        gpu, state = device.CudaPlace(1), torch.get_rng_state()
        with unittest.mock.patch("torch.cuda.get_rng_state", return_value="of cuda:1") as asked, unittest.mock.patch("torch.cuda.set_rng_state") as given:
            states = gpu.random_states()
            expected = torch.randn(3)
            gpu.draw_from(states)
        self.assertTrue(torch.equal(torch.randn(3), expected) and torch.equal(states[0], state))
        asked.assert_called_once_with(torch.device("cuda", 1))
        given.assert_called_once_with("of cuda:1", torch.device("cuda", 1))

    def test_what_a_script_holds_is_kept_on_the_cpu_and_goes_back_to_its_device(self):
        of_a_device = unittest.mock.Mock(spec=torch.Tensor)
        borders.copied([of_a_device], [])
        of_a_device.detach().to.assert_called_once_with("cpu", copy=True)
        there = borders.on_devices_of({"mean": torch.zeros(2, device="meta"), "more": 1}, {"mean": torch.ones(2), "steps": [torch.ones(1)], "more": 2})
        self.assertEqual((there["mean"].device.type, there["steps"][0].device.type, there["more"]), ("meta", "cpu", 2))

    def test_members_are_connected_as_their_place_is(self):
        model = torch.nn.Linear(2, 2)
        rules = {"begin_with": 1, "at_least": 1, "border_every": 0, "checkpoint_every": 0, "heartbeat": 2.0, "patience": 9.0}

        def begun(**flags):
            begin.begin(model, [], "decentralized", [], "file:/nowhere", dict(rules), None, None, True, flags)

        with unittest.mock.patch.object(begin, "Members") as members, unittest.mock.patch.object(begin.library, "bears_absence", lambda _: True):
            begun()
            with unittest.mock.patch.object(device, "place_of", lambda _: device.CudaPlace(1)):
                begun()
                self.refused("backend=torch has members that stay, or a model elsewhere; members that come and go, with a model on cuda:1, are connected by "
                             "backend gpu: leave it out", lambda: begun(backend="torch"))
            self.refused("backend=gpu:timeout=3s has members that stay, or a model elsewhere; .*, with a model on the CPU, are connected by backend torch",
                         lambda: begun(backend="gpu:timeout=3s"))
        told = [(type(call.args[4]), call.args[6].bears_absence) for call in members.call_args_list]
        self.assertEqual(told, [(connection.ByGloo, True), (connection.ByNccl, False)])

    def test_fused_optimizers_name_those_of_torch(self):
        self.refused(r"parameter 0 of group 0 is on cuda:1, and not on the CPU; these kernels are those of the CPU: on a GPU take torch.optim's "
                     "class of the same name with fused=True", lambda: device.CPU.check("parameter 0 of group 0", tensor_on("cuda:1"), fused.INSTEAD))

    def test_losses_stay_where_they_are(self):
        losses = recording.Losses(torch.device("cpu"))
        last = recording.PIECE + 1
        x = torch.tensor([3.0], requires_grad=True)
        for step, loss in ((0, 0.1), (2, x * 2), (last, torch.tensor(5.0))):
            losses.note(step, loss)
        told = losses.all()
        self.assertEqual((told[0], told[2], told[last]), (0.1, 6.0, 5.0))
        self.assertTrue(all(one != one for step, one in enumerate(told) if step not in (0, 2, last)))
        self.refused(r"a loss of shape \[2\] is not one number; give its mean", lambda: losses.note(1, torch.zeros(2)))


if __name__ == "__main__":
    if not all(importlib.util.find_spec(name) for name in ("pandas", "torch")):
        sys.exit(77)
    import torch

    from trigram import collectives, comm, device, launcher, rank, recording
    from trigram.members import begin, borders, connection
    from trigram.optim import fused
    unittest.main()
