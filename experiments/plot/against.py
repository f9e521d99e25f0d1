"""What losses and accuracies are drawn against: steps, time, bytes, and joules and money where runs have them."""

import style


def scales(points):
    """(key, divisor, label) of each axis that all of these points of curves have."""
    def most(key):
        return max(point[key] for point in points)

    seconds, time = style.time_unit(most("time_s"))
    divisor, size = style.bytes_unit(most("bytes_mean"))
    found = [("step", 1, "steps"), ("time_s", seconds, f"time ({time})"), ("bytes_mean", divisor, f"sent by a rank, mean ({size})")]
    if all("energy_J" in point for point in points):
        joules, energy = style.energy_unit(most("energy_J"))
        found.append(("energy_J", joules, f"energy of all ranks ({energy})"))
    if all("money_USD" in point for point in points):
        found.append(("money_USD", 1, "money (USD)"))
    return found
