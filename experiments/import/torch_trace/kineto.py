"""What a trace of torch.profiler (Kineto) says that a step's decomposition needs, read in one pass. Kernels and operators are kept as
numbers in arrays, some 40 bytes each; names, arguments and stacks are not kept. Times are microseconds, as in the file."""

import array
import dataclasses
import math
import re

from unusable import Unusable

from torch_trace.collectives import host_call, is_collective_kernel, is_collective_operator, operation_of_kernel
from torch_trace.json_stream import JsonStream

BACKWARD = "autograd::engine::evaluate_function: "
ACCUMULATE = "torch::autograd::AccumulateGrad"
DEVICE = {"kernel", "gpu_memcpy", "gpu_memset"}
RUNTIME = {"cuda_runtime", "cuda_driver", "hip_runtime", "runtime"}
STARTS_WORK = re.compile(r"Launch|Memcpy|Memset")
ANNOTATION = {"user_annotation", "python_annotation"}


class Spans:
    """Intervals, each with a whole number and the lane that it is on, in the order of the file."""

    def __init__(self):
        self.begin, self.end, self.tag, self.lane = array.array("d"), array.array("d"), array.array("q"), array.array("q")

    def add(self, begin, end, tag=0, lane=0):
        self.begin.append(begin)
        self.end.append(end)
        self.tag.append(tag)
        self.lane.append(lane)

    def __len__(self):
        return len(self.begin)

    def __iter__(self):
        return zip(self.begin, self.end, self.tag, self.lane)


@dataclasses.dataclass
class Trace:
    """One rank's trace."""

    path: str
    rank: int = 0
    world: int = 1
    backend: str = ""
    host: str = ""
    devices: list = dataclasses.field(default_factory=list)  # of its host: {"name": …}
    steps: list = dataclasses.field(default_factory=list)  # (begin, end) by ProfilerStep
    updates: list = dataclasses.field(default_factory=list)  # (begin, end) of optimizers on the host
    loading: list = dataclasses.field(default_factory=list)  # (begin, end) of waits for the data loader
    calls: list = dataclasses.field(default_factory=list)  # collectives.HostCall
    transfers: list = dataclasses.field(default_factory=list)  # (begin, end, correlation, None of a thread's, operation)
    gradients: list = dataclasses.field(default_factory=list)  # (begin, dimensions or None, type) of AccumulateGrad
    backward: Spans = dataclasses.field(default_factory=Spans)  # tag 1: AccumulateGrad
    kernels: Spans = dataclasses.field(default_factory=Spans)  # tag: correlation; lane: stream
    launches: Spans = dataclasses.field(default_factory=Spans)  # tag: correlation; lane: thread
    operators: Spans = dataclasses.field(default_factory=Spans)  # on the host, collectives left out
    events: int = 0

    @property
    def on_gpu(self):
        return len(self.kernels) > 0

    def facts(self):
        """What is known of the rank, without its events, which take memory."""
        return Facts(self.path, self.rank, self.world, self.host, self.devices, self.on_gpu)


@dataclasses.dataclass
class Facts:
    path: str
    rank: int
    world: int
    host: str
    devices: list
    on_gpu: bool


def read(path):
    """The trace in a file. Raises Unusable, naming the file, for what is no trace of a training."""
    stream = JsonStream(path)
    trace = Trace(path)
    for event in stream.events():
        if event.get("ph") != "X":
            continue
        try:
            begin = float(event["ts"])
            take(trace, event, str(event.get("cat", "")), str(event.get("name", "")), begin, begin + float(event.get("dur", 0)))
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise Unusable(f"'{path}': event {stream.count} is none of Kineto: {type(error).__name__}: {error}") from error
    trace.events = stream.count
    try:
        take_facts(trace, stream.facts)
    except (TypeError, ValueError) as error:
        raise Unusable(f"'{path}': distributedInfo is none of PyTorch's: {error}") from error
    require_a_training(trace, stream)
    return trace


def take(trace, event, category, name, begin, end):
    if not (math.isfinite(begin) and math.isfinite(end)):
        raise ValueError("ts and dur are no times")
    if category in DEVICE:
        arguments = event.get("args", {})
        correlation = int(arguments.get("correlation", -1))
        if is_collective_kernel(name):
            trace.transfers.append((begin, end, correlation, operation_of_kernel(name)))
        else:
            trace.kernels.add(begin, end, correlation, int(arguments.get("stream", 0)))
    elif category in RUNTIME:
        if STARTS_WORK.search(name):
            trace.launches.add(begin, end, int(event.get("args", {}).get("correlation", -1)), thread_of(event))
    elif category == "cpu_op":
        take_operator(trace, event, name, begin, end)
    elif category in ANNOTATION:
        take_annotation(trace, event, name, begin, end)


def take_operator(trace, event, name, begin, end):
    if is_collective_operator(name):
        trace.calls.append(host_call(event, name, begin, end))
        return
    if name.startswith(BACKWARD):
        trace.backward.add(begin, end, int(ACCUMULATE in name))
    elif name == ACCUMULATE:
        arguments = event.get("args", {})
        dimensions, types = arguments.get("Input Dims") or [None], arguments.get("Input type") or [""]
        trace.gradients.append((begin, dimensions[0], types[0]))
    trace.operators.add(begin, end)


def take_annotation(trace, event, name, begin, end):
    if name.startswith("ProfilerStep#"):
        trace.steps.append((begin, end))
    elif name.startswith("Optimizer.step#"):
        trace.updates.append((begin, end))
    elif name.startswith("enumerate(DataLoader)#"):
        trace.loading.append((begin, end))
    elif is_collective_operator(name):
        call = host_call(event, name, begin, end)
        trace.calls.append(call)
        if name.startswith("gloo:") or name.startswith("mpi:"):
            trace.transfers.append((begin, end, None, call.operation))


def thread_of(event):
    """A number for its thread: most versions write the system's."""
    return hash(event.get("tid", 0))


def take_facts(trace, facts):
    distributed = facts.get("distributedInfo")
    if isinstance(distributed, dict):
        trace.rank, trace.world = int(distributed.get("rank", 0)), max(1, int(distributed.get("world_size", 1)))
        trace.backend = str(distributed.get("backend", ""))
    devices = facts.get("deviceProperties")
    trace.devices = [one for one in devices if isinstance(one, dict)] if isinstance(devices, list) else []
    trace.host = str(facts.get("host_name", ""))


def require_a_training(trace, stream):
    if not trace.events:
        raise Unusable(f"'{trace.path}' has no events")
    if not len(trace.operators) and not len(trace.kernels):
        raise Unusable(f"'{trace.path}' has {trace.events} events, and none is an operator or a kernel of PyTorch's Kineto (categories cpu_op and "
                       "kernel); a PyTorch that was built without Kineto, as Debian's 1.13, and other programs write other traces")
    if not len(trace.backward):
        raise Unusable(f"'{trace.path}' has no backward pass (operators '{BACKWARD}…'): it is of inference, or was traced without "
                       "ProfilerActivity.CPU; trace some steps of training with it")
