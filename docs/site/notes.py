"""What the notes of a study say it asks, and what its figure cannot tell, for the gallery."""

import re


def paragraphs(text):
    return [part.strip() for part in text.split("\n\n") if part.strip()]


def from_gallery(text):
    return re.sub(r"\]\((?!\w+:|#|\.\./\.\.)", "](../experiments/studies/", text).replace("](../../", "](../")


def study(tree, name):
    """The first two sentences of the notes, and their paragraph of limits."""
    parts = paragraphs((tree / f"experiments/studies/{name}.md").read_text("utf-8"))
    opening = next(part for part in parts if not part.startswith(("#", "!", "|", "```", "**")))
    limits = [part for part in parts if re.match(r"\*\*What [^*]*\bcannot\b", part)]
    sentences = re.split(r"(?<=[a-z\d)`][.])\s+(?=[A-Z])", opening)
    return from_gallery("\n\n".join([" ".join(one for one in sentences[:2] if not one.endswith(":")), *limits]))
