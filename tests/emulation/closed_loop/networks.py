"""The networks between two hosts, and the methods that are tried on them."""

from dataclasses import dataclass

METHODS = ("all_reduce", "bytegrad", "qsgd", "local_sgd:every=4", "decentralized", "low_precision_decentralized")
MODELS = ("conv", "transformer")


@dataclass(frozen=True)
class Network:
    rate: int  # Mbit/s of every interface, each way
    delay: int = 0  # ms of a message, each way

    @property
    def name(self):
        return f"{self.rate}mbit" + (f"_{self.delay}ms" if self.delay else "")

    @property
    def about(self):
        return f"{self.rate} Mbit/s" + (f", {self.delay} ms" if self.delay else "")

    def emulation(self):
        """Flags of emulate."""
        return ["--hosts", "2", "--rate", f"{self.rate}mbit", "--delay", f"{self.delay}ms"]


TRACED = Network(200)
OTHERS = (Network(50), Network(100), Network(500), Network(200, 5))
NETWORKS = {network.name: network for network in (TRACED, *OTHERS)}
