"""Slurm's topology.conf: how many nodes a cluster has, and how many are below one switch."""

import re

from imported import Imported
from text_lines import lines_of
from unusable import Unusable

RANGE = re.compile(r"\[([^\]]*)\]")


def imported(paths, given):
    leaves, above, result = {}, 0, Imported(summary="From Slurm's topology.conf.")
    for path in paths:
        for number, line in lines_of(path):
            words = dict(word.split("=", 1) for word in line.partition("#")[0].split() if "=" in word)
            words = {key.lower(): value for key, value in words.items()}
            if "switchname" in words and "nodes" in words:
                leaves[words["switchname"]] = count(words["nodes"], f"'{path}', line {number}")
            above += int("switchname" in words and "switches" in words)
        result.took.append(f"'{path}': {len(leaves)} switches with nodes, {above} above them")
    if not leaves:
        raise Unusable(f"'{paths[0]}' has no line as: SwitchName=leaf1 Nodes=n[1-16]")
    result.cluster["nodes"] = (sum(leaves.values()), f"nodes below {len(leaves)} switches")
    if len(leaves) > 1:
        result.cluster["topology"] = ("fat_tree", "several switches with nodes")
        result.cluster["leaf_nodes"] = (max(leaves.values()), f"of {min(leaves.values())} to {max(leaves.values())} nodes below a switch")
        result.unknown.append("how much of what nodes send fits through the uplinks (oversubscription), since LinkSpeed is a comment to Slurm")
    result.unknown.append("GPUs, links and bandwidths, which --cluster gives, or `trigram import nccl_topology`")
    return result


def count(nodes, place):
    """How many names 'n[1-16,20],login' is."""
    total = 0
    for name in re.split(r",(?![^\[]*\])", nodes):
        ways = 1
        for inside in RANGE.findall(name):
            ways *= sum(length_of(part, place) for part in inside.split(","))
        total += ways
    return total


def length_of(part, place):
    first, _, last = part.partition("-")
    if not first.isdigit() or (last and not last.isdigit()) or (last and int(last) < int(first)):
        raise Unusable(f"{place}: '{part}' is no number and no range as 1-16")
    return int(last) - int(first) + 1 if last else 1
