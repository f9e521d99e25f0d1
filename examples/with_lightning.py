"""A module of Lightning, trained by its DDPStrategy with gradients in 8 bits. In a terminal:

    mpirun -n 4 --bind-to none python examples/with_lightning.py
"""

import os

import lightning
import torch
from lightning.pytorch.strategies import DDPStrategy
from torch.utils.data import DataLoader, TensorDataset

import trigram


class Gradients(lightning.Callback):
    """Averages them by a method of Trigram, on any device. DDPStrategy's own ddp_comm_hook is for GPUs alone."""

    def __init__(self, algorithm):
        self.algorithm = algorithm

    def on_train_start(self, trainer, module):
        self.hook = trigram.ddp_hook(trainer.strategy.model, self.algorithm, optimizer=trainer.optimizers[0])

    def on_train_end(self, trainer, module):
        self.hook.finish()


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))

    def training_step(self, batch, _):
        features, labels = batch
        return torch.nn.functional.cross_entropy(self.layers(features), labels)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)


for name, of_mpi in (("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"), ("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE")):
    if of_mpi in os.environ:  # with LOCAL_RANK, Lightning starts no processes of its own
        os.environ[name] = os.environ[of_mpi]
os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
os.environ.setdefault("MASTER_PORT", "29500")

torch.manual_seed(0)
x = torch.randn(1024, 20)
loader = DataLoader(TensorDataset(x, (x[:, :4] + x[:, 4:8]).argmax(1)), batch_size=32, shuffle=True)

gradients = Gradients("bytegrad")
trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", devices=int(os.environ["LOCAL_WORLD_SIZE"]), strategy=DDPStrategy(),
                            callbacks=[gradients], logger=False, enable_checkpointing=False, enable_progress_bar=False)
model = Classifier()
trainer.fit(model, loader)

if trainer.is_global_zero:
    print(gradients.hook.steps()[["step", "time_s", "bytes_sent", "exposed_s"]].tail(3))
    torch.save(model.layers.state_dict(), "with_lightning.pt")
