"""A module of Lightning, trained by its DDPStrategy with gradients in 8 bits. In a terminal:

    torchrun --nproc-per-node 4 examples/with_lightning.py
"""

import os

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset

from trigram.lightning import GradientHook


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))

    def training_step(self, batch, _):
        features, labels = batch
        return torch.nn.functional.cross_entropy(self.layers(features), labels)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)


torch.manual_seed(0)
x = torch.randn(1024, 20)
loader = DataLoader(TensorDataset(x, (x[:, :4] + x[:, 4:8]).argmax(1)), batch_size=32, shuffle=True)

gradients = GradientHook("bytegrad")
trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", devices=int(os.environ["LOCAL_WORLD_SIZE"]), strategy="ddp",
                            callbacks=[gradients], logger=False, enable_checkpointing=False, enable_progress_bar=False)
model = Classifier()
trainer.fit(model, loader)

if trainer.is_global_zero:
    print(gradients.hook.steps()[["step", "time_s", "bytes_sent", "exposed_s"]].tail(3))
    torch.save(model.layers.state_dict(), "with_lightning.pt")
