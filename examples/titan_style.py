"""A transformer as torchtitan builds one: cut on the meta device, blocks recomputed and cut one by one, weights from a seed checkpoint. In a terminal:

    torchrun --nproc-per-node 4 examples/titan_style.py
"""

import torch
import torch.distributed as dist
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict, set_model_state_dict
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

import trigram

dist.init_process_group("gloo")
mesh = dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp_replicate", "dp_shard"))
torch.manual_seed(0)
blocks = [torch.nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True) for _ in range(2)]
model = torch.nn.Sequential(torch.nn.Embedding(16, 32), *map(checkpoint_wrapper, blocks), torch.nn.Linear(32, 16))
tokens, seed_checkpoint = torch.randint(16, (40, 4, 16, 8)), model.state_dict()
model.to("meta")
for part in (*model, model):
    fully_shard(part, mesh=mesh["dp_shard"], mp_policy=MixedPrecisionPolicy(torch.bfloat16, torch.float32))
model.to_empty(device="cpu")
set_model_state_dict(model, seed_checkpoint, options=StateDictOptions(full_state_dict=True))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 10))
job = trigram.with_trigram(model, [optimizer], "all_reduce", mesh=mesh["dp_replicate"]).trigram
for mine in tokens[:, dist.get_rank()]:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(mine).flatten(0, 1).float(), mine.amax(1).repeat_interleave(8))
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
job.finish(mean=True)
whole = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True))
if dist.get_rank() == 0:
    torch.save(whole, "titan_style.pt")
    print(f"loss {loss.item():.3f} after {len(tokens)} steps")
