"""Which processes train together: all, or those along one dimension of a DeviceMesh."""

import sys
from typing import Any, Optional

import torch
import torch.distributed as dist

from . import transport
from .parts import fsdp_modules, groups_of

HOW = ("as in: mesh = init_device_mesh(\"cpu\", (2, 2), mesh_dim_names=(\"replicas\", \"shards\")); fully_shard(model, mesh=mesh[\"shards\"]); "
       "with_trigram(…, mesh=mesh[\"replicas\"])")


def members_of(model: torch.nn.Module, mesh: Any, backend: str) -> transport.Members:
    """The ranks of a job that trains `model`: those of `mesh`, of one dimension, else those along the one dimension that fully_shard has left;
    None: all processes. Raises ValueError where there is no such dimension, or several."""
    shards = mesh_of_shards(model)
    if mesh is None and shards is None:
        return None
    if backend.split(":")[0] != "torch":
        raise ValueError(f"ranks along one dimension of a mesh train together by backend torch, and not by '{backend}'; leave backend out, and "
                         "start the script with torchrun")
    replicas = mesh if mesh is not None else dimension_left(shards)
    if getattr(replicas, "ndim", 0) != 1:
        raise ValueError(f"mesh={replicas!r} has not one dimension; give that along which ranks train together, {HOW}")
    members = tuple(replicas.mesh.tolist())
    if dist.get_rank() not in members:
        raise ValueError(f"mesh={replicas!r} is without this process, which is rank {dist.get_rank()}; give the mesh that it is in")
    common = set(members) & set(shards.mesh.flatten().tolist()) if shards is not None else {dist.get_rank()}
    if len(common) > 1:
        raise ValueError(f"ranks {sorted(common)} of mesh={replicas!r} have different shards of one model; give the other dimension, {HOW}")
    return members


def mesh_of_shards(model: torch.nn.Module) -> Optional[Any]:
    """That over which fully_shard has cut the model, where it has. Raises ValueError for one that it also averages over."""
    shards = None
    for group in (group for module in fsdp_modules(model) for group in groups_of(module)):
        averages = getattr(group.mesh_info, "replicate_mesh_dim", None)  # which that of HSDP has
        if averages is not None:
            names = group.mesh_info.mesh.mesh_dim_names or list(range(group.mesh_info.mesh.ndim))
            raise ValueError(f"fully_shard averages gradients over dimension '{names[averages]}' of its mesh by itself; give it the dimension of "
                             f"shards alone, {HOW}")
        shards = shards or group.fsdp_params[0].sharded_param.device_mesh
    return shards


def tell_of_sums(rank: int, model: torch.nn.Module) -> None:
    """By rank 0, where gloo adds up the gradients of shards of which FSDP asks for the mean, as that of torch 2.7 does. Collective over shards."""
    groups = [group for module in fsdp_modules(model) for group in groups_of(module) if asks_for_means(group)]
    for shards in dict.fromkeys(group.mesh_info.shard_process_group for group in groups):  # in one order on all ranks
        ranks = dist.get_world_size(shards)
        mean = torch.empty(1)
        dist.reduce_scatter_tensor(mean, torch.ones(ranks), op=dist.ReduceOp.AVG, group=shards)
        if rank == 0 and mean != 1:
            print(f"trigram: gloo of torch {torch.__version__} adds up gradients of shards where FSDP2 asks for their mean, so that they are {ranks} "
                  "times as large as they should be; give fully_shard mp_policy=MixedPrecisionPolicy(reduce_dtype=torch.float64), of which FSDP2 "
                  "divides the sum by itself, or take a newer torch", file=sys.stderr, flush=True)


def asks_for_means(group: Any) -> bool:
    """Of other types FSDP divides sums by itself. A policy is the parameter's, or in older torch its group's."""
    policies = [(one, (one if hasattr(one, "mp_policy") else group).mp_policy) for one in group.fsdp_params]
    kinds = {policy.reduce_dtype or policy.param_dtype or one.sharded_param.dtype for one, policy in policies}
    return bool(kinds & {torch.float32, torch.bfloat16})


def dimension_left(shards: Any) -> Any:
    whole = root_of(shards)
    left = [name for name in whole.mesh_dim_names or () if name not in (shards.mesh_dim_names or ())]
    if len(left) != 1:
        there = f"dimensions {left}" if left else "no dimension"
        raise ValueError(f"fully_shard has left {there} of {whole!r} along which ranks could train together; give mesh= the one, {HOW}")
    return whole[left[0]]


def root_of(mesh: Any) -> Any:
    """The mesh that it is a part of."""
    if hasattr(mesh, "_get_root_mesh"):
        return mesh._get_root_mesh()
    from torch.distributed.device_mesh import _mesh_resources  # torch before 2.10
    return _mesh_resources.get_root_mesh(mesh)
