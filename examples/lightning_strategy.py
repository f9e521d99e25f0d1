"""A module of Lightning, which trains alone for three steps of four. In a terminal: python examples/lightning_strategy.py"""

import sys

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset

from trigram.lightning import TrigramStrategy


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

strategy = TrigramStrategy(sys.argv[1] if len(sys.argv) > 1 else "local_sgd:every=4")
trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", devices=2, strategy=strategy, gradient_clip_val=1.0,
                            accumulate_grad_batches=2, logger=False, enable_checkpointing=False, enable_progress_bar=False)
model = Classifier()
trainer.fit(model, loader)
if trainer.is_global_zero:
    torch.save(model.layers.state_dict(), "lightning_strategy.pt")  # what ranks have trained together
