"""A profile of what was traced: its layers are what became ready together in backward, tensors where shapes were recorded, else buckets."""

from imported import in_range, middle
from torch_trace.job import median_of
from torch_trace.steps import Ready

COLUMNS = "layer,tensor,parameters,dimensions,decays,forward_ms,backward_ms"
TAIL = 0.01  # of backward, behind the last gradient
TOGETHER = 1e-4  # of backward: tensors that become ready so near to each other are one layer


def by_tensor(job):
    """Whether tensors of all steps are known, and are those that buckets are made of."""
    first = job.steps[0]
    sizes = [one.elements for one in first.tensors]
    alike = all([one.elements for one in step.tensors] == sizes for step in job.steps)
    return bool(sizes) and alike and (not first.buckets or sum(sizes) == sum(one.elements for one in first.buckets))


def ready_of(job):
    """What became ready, in the order of backward, at the median of its shares."""
    lists = [step.tensors if by_tensor(job) else step.buckets for step in job.steps]
    latest, found = 0.0, []
    for same in zip(*lists):
        latest = max(latest, middle([one.at for one in same]))
        found.append((same[0], latest))
    return found


def layers_of(job):
    """[(tensors, share of backward that ends when they are ready)] in the order of backward. Where backward goes on behind the last
    gradient that travels, as of embeddings that no rank shares, a tensor of one element stands for what follows."""
    layers = []
    for one, at in ready_of(job):
        if by_tensor(job) and layers and at - layers[-1][1] < TOGETHER:
            layers[-1][0].append(one)
        else:
            layers.append(([one], at))
    if 1 - layers[-1][1] > TAIL:
        layers.append(([Ready(1, "float", 1.0)], 1.0))
    return layers


def profile_text(job, facts):
    """The table. Forward is one piece in a simulated step, so that how it is spread over layers, by backward, changes nothing."""
    layers = layers_of(job)
    milliseconds = {name: 1e3 * median_of(job.steps, name) for name in ("forward", "backward", "rest")}
    rows, before = [], 0.0
    for i, (tensors, at) in enumerate(layers):
        share = (1.0 if i + 1 == len(layers) else at) - before
        before = at
        rows.append(layer_rows(len(layers) - i, tensors, milliseconds["forward"] * share, milliseconds["backward"] * share))
    computing = [step.forward + step.backward for step in job.steps]
    lines = [f"# {key}: {value}" for key, value in facts]
    lines += [f"# compute: {in_range(1e-3 * (milliseconds['forward'] + milliseconds['backward']), computing, exact)}",
              f"# rest: {in_range(1e-3 * milliseconds['rest'], job.over_steps('rest'), exact)}", COLUMNS]
    return "\n".join(lines + [row for layer in reversed(rows) for row in layer]) + "\n"


def exact(value):
    return f"{1e3 * value:.6g}ms"


def layer_rows(number, tensors, forward, backward):
    """In forward order; the layer's time stands in its first row."""
    rows = []
    for i, one in enumerate(reversed(tensors)):
        dimensions = "x".join(map(str, one.dimensions or ()))
        decays = int(one.dimensions is None or len(one.dimensions) > 1)
        times = (f"{forward:.6g}", f"{backward:.6g}") if i == 0 else ("", "")
        rows.append(",".join([f"layer{number}", f"tensor{i + 1}", str(one.elements), dimensions, str(decays), *times]))
    return rows
