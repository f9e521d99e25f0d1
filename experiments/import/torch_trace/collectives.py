"""Collectives in traces: what the host called, with operation, elements, type and group, from the arguments that the version of PyTorch
writes (2.1 and later: record_param_comms has all; before: the annotation 'nccl:all_reduce' has the dimensions)."""

import bisect
import dataclasses
import math
import re

OPERATIONS = {"allreduce": "all_reduce", "allgather": "all_gather", "reducescatter": "reduce_scatter", "broadcast": "broadcast", "reduce": "reduce",
              "alltoall": "all_to_all", "send": "send", "recv": "recv", "gather": "gather", "scatter": "scatter", "barrier": "barrier"}
SIZES = {"float": 4, "double": 8, "half": 2, "bfloat16": 2, "long": 8, "long int": 8, "int": 4, "short": 2, "char": 1, "byte": 1, "bool": 1,
         "signed char": 1, "unsigned char": 1, "c10::half": 2, "c10::bfloat16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1}
KERNEL = re.compile(r"(?:nccl|rccl)\w*Kernel_(\w+?)(?:_|\(|$)", re.IGNORECASE)
OPERATOR = re.compile(r"^(?:(?:nccl|gloo|mpi|ucc):|c10d::|record_param_comms$)")
GRADIENT = {"all_reduce", "reduce_scatter"}  # those that carry gradients in backward


@dataclasses.dataclass
class HostCall:
    """A call of a collective on the host; what an event does not say is None, or empty."""

    name: str
    begin: float
    end: float
    thread: int
    operation: str = ""
    elements: "int | None" = None
    kind: str = ""  # of elements
    group: "int | None" = None


def is_collective_kernel(name):
    return KERNEL.search(name) is not None


def is_collective_operator(name):
    return OPERATOR.match(name) is not None


def operation_of(text):
    """'all_reduce' of 'c10d::_allreduce_base_', 'nccl:_all_gather_base' and 'allreduce'; '' of what is none."""
    word = re.sub(r"[^a-z]", "", text.lower().rsplit(":", 1)[-1])
    return next((operation for known, operation in OPERATIONS.items() if word.startswith(known)), "")


def operation_of_kernel(name):
    """'' where the kernel is generic."""
    return operation_of(KERNEL.search(name).group(1))


def host_call(event, name, begin, end):
    arguments = event.get("args", {})
    call = HostCall(name, begin, end, hash(event.get("tid", 0)), operation_of(arguments.get("Collective name") or name))
    if "In msg nelems" in arguments:
        call.elements, call.kind = max(int(arguments["In msg nelems"]), int(arguments.get("Out msg nelems", 0))), str(arguments.get("dtype", "")).lower()
    elif dimensions := shape_in(arguments.get("Input Dims")):
        call.elements, call.kind = math.prod(dimensions), str((arguments.get("Input type") or [""])[0]).lower()
    if "Group size" in arguments:
        call.group = int(arguments["Group size"])
    return call


def shape_in(dimensions):
    """The first tensor's, of [[2, 3]] or [[[2, 3]]]; None where there is none."""
    while isinstance(dimensions, list) and dimensions and isinstance(dimensions[0], list):
        dimensions = dimensions[0]
    return dimensions if isinstance(dimensions, list) and dimensions and all(isinstance(one, int) for one in dimensions) else None


def element_bytes(kind):
    return SIZES.get(kind.removeprefix("c10::"), 4)


@dataclasses.dataclass
class Transfer:
    """A collective as it ran: `called` is when the host asked for it, the others when bytes moved; equal ones where a group of one moves none."""

    called: float
    begin: float
    end: float
    operation: str
    elements: int
    kind: str
    group: int

    @property
    def bytes(self):
        return self.elements * element_bytes(self.kind)


def transfers_of(trace):
    """All that are known with their sizes, in the order of calls, and how many are not."""
    if not trace.transfers:  # of a group of one, or of a profiler that saw the host alone
        calls = [call for call in outermost(trace.calls) if call.operation]
        found = [Transfer(call.begin, call.begin, call.begin, call.operation, call.elements, call.kind, call.group or trace.world)
                 for call in calls if call.elements]
        return found, len(calls) - len(found)
    on_threads = of_threads(trace, [one for one in trace.transfers if one[2] is None])
    on_device = of_kernels(trace, [one for one in trace.transfers if one[2] is not None])
    found = [one for one in on_threads + on_device if one is not None]
    return sorted(found, key=lambda one: one.called), len(trace.transfers) - len(found)


def merged(call, inner):
    """What the one leaves out, from another of the same call."""
    return HostCall(call.name, call.begin, call.end, call.thread, call.operation or inner.operation,
                    inner.elements if not call.elements else call.elements, call.kind or inner.kind, inner.group if call.group is None else call.group)


def outermost(calls):
    """Calls with those that they contain folded in, in order."""
    result = []
    for call in sorted(calls, key=lambda one: (one.thread, one.begin, -one.end)):
        if result and result[-1].thread == call.thread and call.end <= result[-1].end:
            result[-1] = merged(result[-1], call)
        else:
            result.append(call)
    return sorted(result, key=lambda one: one.begin)


def of_kernels(trace, kernels):
    """Kernels with the host's call within which they were launched."""
    by_correlation = {kernel[2]: None for kernel in kernels}
    for begin, _, correlation, thread in trace.launches:
        if correlation in by_correlation:
            by_correlation[correlation] = (begin, thread)
    calls = outermost(trace.calls)
    return [of_a_kernel(trace, kernel, by_correlation[kernel[2]], calls) for kernel in kernels]


def of_a_kernel(trace, kernel, launch, calls):
    if launch is None:
        return None
    begin, end, _, operation = kernel
    for call in reversed(calls_before(calls, launch[0])):
        if call.thread == launch[1] and call.end >= launch[0]:
            if not call.elements or not (call.operation or operation):
                return None
            return Transfer(launch[0], begin, end, call.operation or operation, call.elements, call.kind, call.group or trace.world)
    return None


def calls_before(calls, time):
    """The last few of them: calls do not nest any more."""
    at = bisect.bisect_right(calls, time, key=lambda one: one.begin)
    return calls[max(0, at - 8):at]


def of_threads(trace, transfers):
    """Transfers that threads of gloo or MPI make, each with the call that asked for it: the first of as many elements that asked for none
    of those before."""
    own = {(call.begin, call.end): call for call in trace.calls}
    carried = {id(own[one[:2]]) for one in transfers}
    asked = {}
    for call in outermost([call for call in trace.calls if id(call) not in carried]):
        asked.setdefault((call.operation, call.elements), []).append(call)
    found = []
    for begin, end, _, operation in sorted(transfers):
        call = own[(begin, end)]
        waiting = asked.get((operation, call.elements)) or asked.get((operation, None)) or []
        by = waiting.pop(0) if waiting and waiting[0].begin <= begin else call
        found.append(Transfer(by.begin, begin, end, operation, call.elements, call.kind, by.group or trace.world) if call.elements else None)
    return found
