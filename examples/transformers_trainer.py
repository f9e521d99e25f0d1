"""A Trainer of transformers, whose model trains alone for three steps of four. In a terminal:

    torchrun --nproc-per-node 2 examples/transformers_trainer.py
"""

import sys

import torch
from transformers import Trainer, TrainingArguments

from trigram import huggingface


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4))

    def forward(self, features, labels):
        logits = self.layers(features)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


torch.manual_seed(0)
x = torch.randn(1024, 20)
data = [{"features": one, "labels": label} for one, label in zip(x, (x[:, :4] + x[:, 4:8]).argmax(1))]
arguments = TrainingArguments("trained", num_train_epochs=2, per_device_train_batch_size=32, gradient_accumulation_steps=2, learning_rate=0.01,
                              use_cpu=True, save_strategy="no", report_to="none", disable_tqdm=True)
trainer = Trainer(Classifier(), arguments, train_dataset=data)
huggingface.attach(trainer, sys.argv[1] if len(sys.argv) > 1 else "local_sgd:every=4")
trainer.train()
if trainer.is_world_process_zero():
    torch.save(trainer.model.layers.state_dict(), "transformers_trainer.pt")  # what ranks have trained together
