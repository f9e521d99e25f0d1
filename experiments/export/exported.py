"""What a kind of export gives."""

import dataclasses


@dataclasses.dataclass
class Exported:
    files: dict = dataclasses.field(default_factory=dict)  # bytes by name
    took: list = dataclasses.field(default_factory=list)  # sentences: what was written
    left_out: list = dataclasses.field(default_factory=list)  # sentences: what the other tool has no word for
