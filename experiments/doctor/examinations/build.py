"""The program itself."""

TITLE = "trigram"
PLACE = 0


def found(trigram):
    build = trigram["build"]
    return [f"version {build['version']}, revision {build['revision']}, {build['build_type']}", f"{build['compiler']}, {build['flags']}"]
