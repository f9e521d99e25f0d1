"""Begins a product with the file that CONTRIBUTING's recipe links: new.py KIND NAME. Each folder of experiments/skeletons is a kind, with
one file in the folders that it has in the source tree, the last of which may have its name; so a new kind is a new folder there. In the source tree it is `./trigram new`,
before anything is built; `trigram new` starts it too, which knows the products of its build. Prints where it wrote and ends with 0, or
prints why not and ends with 2."""

import difflib
import pathlib
import re
import sys

REFUSED = 2
EXAMPLE = "trigram new algorithm my_average"
LONGEST_NAME = 64
HERE = pathlib.Path(__file__).resolve().parent
SKELETONS = HERE.parent / "skeletons"
TREE = HERE.parent.parent


class Refused(Exception):
    """Why nothing was begun."""


def kinds():
    return sorted(path.name for path in SKELETONS.iterdir() if path.is_dir())


def skeleton_of(kind):
    [skeleton] = (path for path in (SKELETONS / kind).rglob("*") if path.is_file())
    return skeleton


def help_text():
    return (f"Begins a product with the file that CONTRIBUTING.md links, under its new name.\nKIND is {', '.join(kinds())}.\n"
            "Where the current folder has the folder of that kind, as the source tree has, it is written there.\n\n"
            f"usage: trigram new KIND NAME\n\nexample: {EXAMPLE}")


def require_kind(kind):
    known = kinds()
    if kind not in known:
        near = difflib.get_close_matches(kind, known, 1)
        raise Refused(f"unknown kind {shown(kind)}{f' (did you mean {near[0]!r}?)' if near else ''}; this build has: {', '.join(known)}")


def require_name(name):
    if len(name) > LONGEST_NAME or not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise Refused(f"trigram new: {shown(name)} cannot be a name; write at most {LONGEST_NAME} lower-case letters and digits, a letter "
                      "first, with single underscores between them, as in damped_average")


def shown(word):
    return ascii(word if len(word) <= 100 else word[:97] + "...")


def home_of(kind, skeleton):
    """The folder of the kind, and whether each of its products has a folder of its own there."""
    home = skeleton.relative_to(SKELETONS / kind).parent
    has_own_folder = home.name == skeleton.stem
    return home.parent if has_own_folder else home, has_own_folder


def require_free(kind, name, home):
    """Refuses what the sources have: a file of that name beside those of the kind, or a product that is registered there by it."""
    sources = TREE / home
    if not (TREE / "CMakeLists.txt").is_file() or not sources.is_dir():
        return  # installed: the program knows
    registered = re.compile(rf'::(?:Registration|Composition)\s+\w+\s*[({{]\s*"((?:\w+/)?{name})"')
    for path in sources.rglob("*.*"):
        taken = path.stem == name and name
        if not taken and path.suffix in (".cpp", ".cu"):
            found = registered.search(path.read_text("utf-8", "replace"))
            taken = found and found.group(1)
        if taken:
            raise Refused(f"trigram new: there is {kind} '{taken}' already; choose another name")


def class_name(name):
    """"DampedAverage" for damped_average."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def begun(skeleton, name):
    """The skeleton with the new name in place of its own."""
    text, own = skeleton.read_text("utf-8"), skeleton.stem
    if name != own and re.search(rf"\b{class_name(name)}\b", text):
        raise Refused(f"trigram new: the class of '{name}' would be {class_name(name)}, a name that its file needs for something else; "
                      "choose another")
    return text.replace(own, name).replace(class_name(own), class_name(name))


def write_new(path, text):
    try:
        path.parent.mkdir(exist_ok=True)
        with open(path, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise Refused(f"trigram new: {path} is there already; choose another name, or move it away") from None
    except OSError as error:
        raise Refused(f"trigram new: {path} cannot be written: {error.strerror}") from None


def main(words):
    if words[:1] == ["--"]:
        words = words[1:]
    elif "--help" in words or "-h" in words:
        print(help_text())
        return 0
    try:
        if len(words) != 2:
            raise Refused(f"trigram new: say KIND and NAME, as in: {EXAMPLE}")
        kind, name = words
        require_kind(kind)
        require_name(name)
        skeleton = skeleton_of(kind)
        home, has_own_folder = home_of(kind, skeleton)
        require_free(kind, name, home)
        place = (home if home.is_dir() else pathlib.Path()) / (name if has_own_folder else "") / (name + skeleton.suffix)
        write_new(place, begun(skeleton, name))
    except Refused as reason:
        print(reason)
        return REFUSED
    print(f'{place}: begun; lines with "Change:" say what to make your own')
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
