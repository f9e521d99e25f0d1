"""Sets of times as sorted lists of intervals (begin, end) that do not touch."""


def united(intervals):
    """Their union."""
    union = []
    for begin, end in sorted(intervals):
        if union and begin <= union[-1][1]:
            if end > union[-1][1]:
                union[-1] = (union[-1][0], end)
        elif end > begin:
            union.append((begin, end))
    return union


def without(intervals, others):
    """What of the one union lies outside of the other."""
    left, at = [], 0
    for begin, end in intervals:
        while at < len(others) and others[at][1] <= begin:
            at += 1
        i = at
        while i < len(others) and others[i][0] < end:
            if others[i][0] > begin:
                left.append((begin, others[i][0]))
            begin = max(begin, others[i][1])
            i += 1
        if begin < end:
            left.append((begin, end))
    return left


def length(intervals, begin=float("-inf"), end=float("inf")):
    """How long a union is between two times."""
    return sum(max(0.0, min(last, end) - max(first, begin)) for first, last in intervals)


def shares(intervals):
    """How long each would take alone, of such as share one wire evenly while several are on it; in the order given."""
    own, on, last = [0.0] * len(intervals), set(), 0.0
    ends = [(end, False, i) for i, (begin, end) in enumerate(intervals) if begin < end]
    for time, begins, i in sorted(ends + [(intervals[i][0], True, i) for _, _, i in ends]):
        for one in on:
            own[one] += (time - last) / len(on)
        (on.add if begins else on.remove)(i)
        last = time
    return own
