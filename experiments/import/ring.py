"""A ring's latency and bandwidth from times of all-reduces: t = 2 (p - 1) latency + 2 (p - 1) / p bytes / bandwidth, by least squares of
relative errors, neither below zero."""


def fitted(rows, ranks):
    """(latency, bandwidth, mean relative error) of (bytes, seconds) pairs; latency is None where all have one size."""
    points = [(float(size), float(time)) for size, time in rows if time > 0 and size > 0]
    if not points or ranks < 2:
        return None
    begin, slope = line(points)
    if slope <= 0:
        return None
    errors = [abs((begin + slope * size) / time - 1) for size, time in points]
    latency = begin / (2 * (ranks - 1)) if len({size for size, _ in points}) > 1 else None
    return latency, 2 * (ranks - 1) / ranks / slope, sum(errors) / len(errors)


def ends(collectives, ranks):
    """(latencies, bandwidths) by the longest and by the shortest times of each, where they can be fitted."""
    found = [fitted([(one.bytes, end(one.seconds)) for one in collectives], ranks) for end in (max, min)]
    return [one[0] for one in found if one and one[0]], [one[1] for one in found if one]


def line(points):
    """Begin and slope; where the best line begins below zero, the best through zero."""
    weights = [1 / time**2 for _, time in points]
    sums = [sum(weight * value for weight, value in zip(weights, values)) for values in (
        [1 for _ in points], [size for size, _ in points], [size * size for size, _ in points], [time for _, time in points],
        [size * time for size, time in points])]
    one, size, square, time, product = sums
    determinant = one * square - size * size
    if len({size for size, _ in points}) > 1 and determinant > 0:
        begin, slope = (square * time - size * product) / determinant, (one * product - size * time) / determinant
        if begin >= 0 and slope > 0:
            return begin, slope
    return 0.0, product / square
