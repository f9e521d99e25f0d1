"""Chakra's execution traces (mlcommons/chakra, what ASTRA-sim reads), NAME.RANK.et of each rank, and ASTRA-sim's JSON of communicator groups: a profile and measured collectives."""

import json
import pathlib

import ring
from chakra_trace import graph, steps
from imported import Imported, binary, bytes_a_second, in_range, middle, seconds, spread
from torch_trace import job as jobs
from torch_trace import kineto, layers
from unusable import Unusable

MEASURED = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "reduce"}
PIECES = {"all_gather"}  # whose comm_size is one rank's part, where a row of measurements has the whole


def imported(paths, given):
    groups = {}
    for path in (one for one in paths if one.endswith(".json")):
        groups |= groups_in(path)
    graphs = [graph.read(path) for path in paths if not path.endswith(".json")]
    if not graphs:
        raise Unusable(f"'{paths[0]}' is no trace; give NAME.0.et and those of other ranks, and the JSON of groups beside them")
    ranks = [graph.rank_of(one.path, i) for i, one in enumerate(graphs)]
    world = max([len(graphs), *(1 + rank for rank in ranks), *(1 + rank for members in groups.values() for rank in members)])
    own = [steps.steps_of(one, world, groups) for one in graphs]
    facts = [kineto.Facts(one.path, rank, world, "", [], False) for one, rank in zip(graphs, ranks)]
    job = jobs.job_of(facts, [one.steps for one in own], "by the names of nodes", 0)
    result = Imported(summary=f"From Chakra's traces of {len(graphs)} of {world} ranks.")
    take_steps(result, job, graphs, own)
    take_profile(result, job, own, given)
    take_collectives(result, job, groups, graphs)
    take_cluster(result, job)
    return result


def groups_in(path):
    """{"1": [0, 1, …]}, by pg_name."""
    try:
        found = json.loads(pathlib.Path(path).read_bytes())
    except OSError as error:
        raise Unusable(f"cannot read '{path}': {error.strerror}") from error
    except ValueError as error:
        raise Unusable(f"'{path}' is no JSON: {error}") from error
    whole = isinstance(found, dict) and all(isinstance(one, list) and one and all(type(rank) is int and 0 <= rank < 1 << 24 for rank in one)
                                            for one in found.values())
    if not whole:
        raise Unusable(f"'{path}' has no communicator groups, as {{\"1\": [0, 1, 2, 3]}}")
    return {name: sorted(set(members)) for name, members in found.items()}


def take_steps(result, job, graphs, own):
    nodes = sum(len(one.nodes) for one in graphs)
    how = "told apart " + job.how if len(own[0].steps) > 1 else "each file as one step"
    result.took.append(f"{nodes} nodes of {len(graphs)} of {job.world} ranks, {how}" +
                       ("; of each step the rank that computed longest" if 1 < len(graphs) == job.world else ""))
    if job.world == 1:
        result.unknown.append("how many ranks the job had: one file was given, without the JSON of groups; nodes in cluster.cfg is yours to set")
    result.took.append("computing of a step " + spread(job.over_steps("step")) + ": forward " + spread(job.over_steps("forward")) + ", backward " +
                       spread(job.over_steps("backward")) + ", the rest " + spread(job.over_steps("rest")) +
                       "; as host and device take it, one node at a time each, once what they need has ended")
    if not own[0].named:
        result.unknown.append("which nodes are of backward, since no name says so: the last two thirds of computing were taken, which changes no time of a method that exchanges in it")
    traced = [one.traced for one in own]
    if all(traced):
        result.traced = (middle(traced), min(traced), max(traced))
    else:
        result.unknown.append("what a step takes with its collectives, since some have no duration: there is nothing to check against")


def take_profile(result, job, own, given):
    buckets = job.steps[0].buckets
    if not buckets:
        raise Unusable(f"'{job.traces[0].path}' has no exchange of gradients: none of its collectives is an all-reduce or a reduce-scatter that backward does not wait for")
    count = sum(one.elements for one in buckets)
    facts = [("summary", f"a Chakra trace: {count:,} parameters on {job.world} ranks"),
             ("source", f"medians of {len(job.steps)} steps; a layer is what became ready together, and its forward time is a share like that of its backward"),
             ("batch", given["batch"])]
    result.profile = layers.profile_text(job, facts)
    result.took.append(f"gradients travel in {len(buckets)} buckets of {', '.join(binary(4 * one.elements) for one in buckets)}, in this order")
    result.unknown += ["the type of gradients: comm_size is in bytes, which were taken to be of f32",
                       "which tensors a bucket has: each is one, and methods that need matrices, as power_sgd, treat it as a vector"]
    if given["batch"] == 1:
        result.unknown.append("the batch of a rank: profile.csv says 1; --batch N writes another")
    result.flags = {"bucket-size": "0B", "algorithm": "all_reduce", "steps": "4", "ranks": str(job.world)}


def take_collectives(result, job, groups, graphs):
    others = 0
    for one in job.collectives:
        if one.group == job.world and one.operation in MEASURED and job.world > 1 and middle(one.seconds) > 0:
            size = one.bytes * (job.world if one.operation in PIECES else 1)
            result.rows.append({"source": f"trace, {one.operation}", "op": one.operation, "size": binary(size), "seconds": f"{middle(one.seconds):.6g}"})
        elif one.group != job.world:
            others += 1
    if result.rows:
        result.took.append(f"{len(result.rows)} collectives of all ranks, by operation and size, as rows of measurements.csv")
    if others:
        result.took.append(f"{others} sizes of collectives of some ranks alone, of which no row is made")
    named = {node.group for one in graphs for node in one.nodes if node.group}
    if absent := sorted(named - set(groups)):
        result.unknown.append(f"who is in the groups {', '.join(absent)}: all ranks were taken; give ASTRA-sim's JSON of communicator groups beside the traces")


def take_cluster(result, job):
    result.cluster["nodes"] = (job.world, "ranks of the trace, one a node: the trace says nothing of hosts")
    result.cluster["gpus_per_node"] = (1, "as nodes")
    reduced = [one for one in job.collectives if one.operation == "all_reduce" and one.group == job.world]
    found = ring.fitted([(one.bytes, middle(one.seconds)) for one in reduced], job.world)
    if not found:
        result.unknown.append("what the network gives: no all-reduce of all ranks has a duration; --cluster gives what is not known")
        return
    latency, bandwidth, error = found
    text = f"ring of {job.world} ranks, fitted to {len(reduced)} sizes of all-reduces in the trace, mean error {100 * error:.0f} %"
    latencies, bandwidths = ring.ends(reduced, job.world)
    result.cluster["nic_bandwidth"] = (in_range(bandwidth, bandwidths, bytes_a_second), text)
    if latency:
        result.cluster["nic_latency"] = (in_range(latency, latencies, seconds), text)
    else:
        result.unknown.append("latency, which these all-reduces do not tell from bandwidth: nic_latency is the program's own")
