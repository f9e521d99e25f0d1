"""Traces of torch.profiler (Kineto's JSON, also .json.gz), a file a rank: a profile, measured collectives, a cluster, and the check that the simulator makes of them."""

import collections

import devices
import ring
from imported import Imported, binary, bytes_a_second, in_range, middle, seconds, spread
from torch_trace import job as jobs
from torch_trace import kineto, layers, steps
from torch_trace.collectives import element_bytes
from torch_trace.without_profiler import shortened
from unusable import Unusable

MEASURED = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "reduce"}


def imported(paths, given):
    traces, steps_of_ranks, unknown, how = [], [], 0, ""
    for path in paths:
        trace = kineto.read(path)
        own, how, without_size = steps.steps_of(trace)
        unknown += without_size
        steps_of_ranks.append(own)
        traces.append(trace.facts())
    job = jobs.job_of(traces, steps_of_ranks, how, unknown)
    if not job.steps[0].tensors and not job.steps[0].buckets:
        raise Unusable(f"'{paths[0]}' says nothing of the sizes of gradients: it has neither collectives in backward nor shapes; trace with record_shapes=True")
    result = Imported(summary=f"From PyTorch's trace of {job.world} ranks: keys that were found in it stand with their source.")
    take_steps(result, job)
    if given["untraced_step"]:
        job.steps, sentence = shortened(job.steps, given["untraced_step"])
        result.took.append(sentence)
    elif not job.traces[0].on_gpu:
        result.unknown.append("what the profiler took, which lengthens computing on CPUs: --untraced-step says how long a step is without it, as the script's own log has it")
    step = job.over_steps("step")
    result.traced = (middle(step), min(step), max(step))
    take_profile(result, job, given)
    take_collectives(result, job)
    take_cluster(result, job)
    return result


def take_steps(result, job):
    several = len(job.traces) > 1
    result.took.append(f"{len(job.steps)} steps of {len(job.traces)} of {job.world} ranks, told apart {job.how}" +
                       ("; of each step the rank that computed longest" if several and len(job.traces) == job.world else ""))
    if job.left_out:
        result.took.append(f"{job.left_out} steps were left out, whose buckets are others than those of most")
    result.took.append("a step " + spread(job.over_steps("step")) + ": forward " + spread(job.over_steps("forward")) + ", backward " +
                       spread(job.over_steps("backward")) + ", the rest (optimizer, data, host) " + spread(job.over_steps("rest")) +
                       ", exposed exchange of gradients " + spread(job.over_steps("exposed")))
    result.took.append("beside them: exchange of gradients hidden behind compute " + spread(job.over_steps("hidden")) +
                       ", other collectives that nothing hides " + spread(job.over_steps("others")) + ", nothing at all " + spread(job.over_steps("idle")) +
                       ", waiting for data " + spread(job.over_steps("loading")))


def take_profile(result, job, given):
    tensors = layers.by_tensor(job)
    count = sum(one.elements for one in (job.steps[0].tensors if tensors else job.steps[0].buckets))
    device = job.traces[0].devices[0].get("name", "GPU") if job.traces[0].devices and job.traces[0].on_gpu else "CPU"
    facts = [("summary", f"traced by torch.profiler: {count:,} parameters on {job.world} ranks, {device}"),
             ("source", f"medians of {len(job.steps)} steps; a layer is what became ready together in backward, and its forward time is a share like that of its backward"),
             ("batch", given["batch"])]
    result.profile = layers.profile_text(job, facts)
    if job.steps[0].buckets:
        sizes = ", ".join(binary(traced_bytes(one)) for one in job.steps[0].buckets)
        result.took.append(f"gradients travel in {len(job.steps[0].buckets)} buckets of {sizes}, in this order")
    if tensors:
        result.took.append(f"{len(job.steps[0].tensors)} tensors with their shapes, and when the gradient of each was ready")
    else:
        result.unknown.append("which tensors a bucket has, since shapes were not recorded (record_shapes=True): each bucket is one tensor, and methods that need matrices, as power_sgd, treat it as a vector")
    if given["batch"] == 1:
        result.unknown.append("the batch of a rank: profile.csv says 1, and times are of the traced batch; --batch N writes another")
    result.flags = {"bucket-size": binary(jobs.bucket_limit(job.steps[0])) if tensors else "0B", "algorithm": "all_reduce", "steps": "4",
                    "ranks": str(job.world)}
    if job.steps[0].buckets and job.steps[0].buckets[0].kind in ("half", "c10::half", "bfloat16", "c10::bfloat16"):
        result.flags["gradients"] = "bf16" if "bfloat16" in job.steps[0].buckets[0].kind else "fp16"


def traced_bytes(ready):
    return ready.elements * element_bytes(ready.kind)


def take_collectives(result, job):
    others = collections.Counter()
    for one in job.collectives:
        if one.group == job.world and one.operation in MEASURED and job.world > 1 and middle(one.seconds) > 0:
            result.rows.append({"source": f"trace, {one.operation}", "op": one.operation, "size": binary(one.bytes), "seconds": f"{middle(one.seconds):.6g}"})
        elif job.world > 1:
            others[one.operation] += 1
    if result.rows:
        result.took.append(f"{len(result.rows)} collectives of all ranks, by operation and size, as rows of measurements.csv")
    if others:
        result.took.append("collectives of some ranks, or of kinds that bench has none of, were counted as part of the step alone: " +
                           ", ".join(f"{count} sizes of {name}" for name, count in sorted(others.items())))
    if len(job.traces) < job.world and result.rows:
        result.unknown.append(f"how long ranks waited for each other: {len(job.traces)} of {job.world} ranks were given, so that times of collectives may hold waiting for late ranks")
    if job.unknown:
        result.unknown.append(f"the sizes of {job.unknown} collectives: events of their calls lie outside of the trace, or this version of PyTorch does not write them")


def take_cluster(result, job):
    on_host, how = gpus_per_node(job)
    nodes = -(-job.world // on_host)
    result.cluster["nodes"] = (nodes, f"{job.world} ranks, {on_host} a node")
    result.cluster["gpus_per_node"] = (on_host, how)
    link = "nic" if nodes > 1 else "node"
    reduced = [one for one in job.collectives if one.operation == "all_reduce" and one.group == job.world]
    kept = reduced if len(job.traces) == job.world else unhindered(reduced)
    if len(kept) < len(reduced):
        result.took.append(f"of {len(reduced)} sizes of all-reduces {len(kept)} were fitted; the others took longer than a larger one, so waited for late ranks")
    found = ring.fitted([(one.bytes, middle(one.seconds)) for one in kept], job.world)
    if found:
        take_link(result, job, link, found, kept)
    elif job.world > 1:
        result.unknown.append("what the network gives: the trace has no all-reduce of all ranks that took any time")
    names = {device.get("name", "") for device in job.traces[0].devices}
    peaks = devices.peaks_of(next(iter(names), "")) if job.traces[0].on_gpu else None
    if peaks:
        source = f"{next(iter(names))}, by NVIDIA's data sheet"
        result.cluster["gpu_flops"], result.cluster["gpu_memory_bandwidth"] = (f"{peaks[0]}TFLOPS", source), (f"{peaks[1]}GB/s", source)
    else:
        result.unknown.append("what codecs take on these devices: gpu_flops and gpu_memory_bandwidth, or codec_rates, by `trigram calibrate --codecs`")


def unhindered(reduced):
    """Those that no larger one was faster than."""
    return [one for one in reduced if all(middle(one.seconds) <= middle(other.seconds) for other in reduced if other.bytes > one.bytes)]


def take_link(result, job, link, found, kept):
    latency, bandwidth, error = found
    latencies, bandwidths = ring.ends(kept, job.world)
    text = f"ring of {job.world} ranks, fitted to {len(kept)} sizes of all-reduces in the trace, mean error {100 * error:.0f} %; the range is that of their longest and shortest times"
    result.cluster[f"{link}_bandwidth"] = (in_range(bandwidth, bandwidths, bytes_a_second), text)
    if not latency:
        result.unknown.append(f"latency, which these all-reduces do not tell from bandwidth: {link}_latency is the program's own")
    else:
        result.cluster[f"{link}_latency"] = (in_range(latency, latencies, seconds), text)
    if link == "nic":
        result.unknown.append("what links inside nodes give beside those between them: node_bandwidth is the program's own, 150GB/s")


def gpus_per_node(job):
    hosts = {trace.host for trace in job.traces}
    if job.traces[0].on_gpu and job.traces[0].devices:
        return min(job.world, len(job.traces[0].devices)), f"deviceProperties of the trace has {len(job.traces[0].devices)} GPUs on this host"
    if len(job.traces) == job.world and "" not in hosts:
        return -(-job.world // len(hosts)), f"the traces name {len(hosts)} host" + ("s" if len(hosts) > 1 else "")
    return (1, "unknown: one rank a node was taken; --cluster gives another") if job.world > 1 else (1, "one rank")
