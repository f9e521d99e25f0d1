"""Training steps of several models in turn, by the device's own clock."""

import statistics

import torch
import torch.nn.functional as F

ROUNDS, STEPS, WARM = 5, 6, 3


class Speed:
    def __init__(self, device, images):
        self.images = images
        self.x = torch.randn(images, 3, 224, 224, device=device)
        self.y = torch.randint(1000, (images,), device=device)

    def of(self, models):
        """In words: of each the median of its rounds in images a second, and the first one's share of the second's."""
        rounds = {name: [] for name in models}
        for number in range(WARM + ROUNDS):
            for name, pair in models.items():
                seconds = self.round(*pair)
                if number >= WARM:
                    rounds[name].append(self.images * STEPS / seconds)
        shares = [ours / theirs for ours, theirs in zip(*rounds.values())]
        speeds = ", ".join(f"{name} {statistics.median(each):.1f}" for name, each in rounds.items())
        return f"{speeds}; {statistics.median(shares):.3f} times as fast ({min(shares):.3f} to {max(shares):.3f} in {ROUNDS} rounds)"

    def round(self, model, optimizer):
        """Seconds of a few steps."""
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(STEPS):
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast("cuda", dtype=torch.float16):
                loss = F.cross_entropy(model(self.x), self.y)
            loss.backward()
            optimizer.step()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) / 1000
