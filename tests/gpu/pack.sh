#!/usr/bin/env bash
# Packs what tests/gpu/check.sh needs of build/gpu into a new folder of its own, stripped: pack.sh DIR. What programs
# look for in the source tree lies there where they look for it next, beside the folder that they are in.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$root/build/gpu
most=$((50 * 1024 * 1024))
programs=(experiments/trigram tests/gpu/test_gpu tests/gpu/failing_gpu_job tests/gpu/test_gpu_host tests/gpu/meeting_job
          tests/test_kernels_cuda tests/benchmark_cuda_kernels tests/gpu/test_gpu_session)
library=python/libtrigram_session.so
scripts=$here/pytorch # what check.sh gives to a Python that has PyTorch
mutant=tests/gpu/test_kernels_cuda_fmad # goes along where there is room

[[ $# == 1 ]] || { sed -n '2,3p' "${BASH_SOURCE[0]}"; exit 2; }
[[ ! -e $1 ]] || { echo "$1 is there already; name a new folder"; exit 2; }
for program in "${programs[@]}" "$library" net/libnccl-net-trigram.so; do
  [[ -x $build/$program ]] || { echo "$build/$program is not built: cmake --preset gpu && cmake --build --preset gpu"; exit 2; }
done

mkdir -p "$1/bin"
for program in "${programs[@]}"; do
  strip -o "$1/bin/${program##*/}" "$build/$program"
done
mkdir -p "$1/net"
strip --strip-unneeded -o "$1/net/libnccl-net-trigram.so" "$build/net/libnccl-net-trigram.so"
mkdir -p "$1/python"
cp -r "$root/python/trigram" "$1/python"
find "$1/python" -name __pycache__ -prune -exec rm -r {} +
mkdir -p "$1/python/trigram/lib" # where the package looks first
strip --strip-unneeded -o "$1/python/trigram/lib/${library##*/}" "$build/$library"
if [[ -d $scripts ]]; then cp -r "$scripts" "$1"; fi
DESTDIR=$(cd "$1" && pwd)/installed cmake --install "$build" --prefix / >"$1/installed.log" 2>&1 || { cat "$1/installed.log"; exit 1; }
mkdir -p "$1/share"
mv "$1/installed/share/trigram" "$1/share/trigram"
rm -r "$1/installed" "$1/installed.log"
cp -r "$root/tests/vectors" "$1/vectors"
cp "$here/check.sh" "$here/launch.sh" "$1"

bytes=$(du -sb "$1" | cut -f1)
if [[ -x $build/$mutant ]]; then
  strip -o "$1/bin/${mutant##*/}" "$build/$mutant"
  with_mutant=$(du -sb "$1" | cut -f1)
  if ((with_mutant <= most)); then bytes=$with_mutant; else rm "$1/bin/${mutant##*/}" && echo "without ${mutant##*/}: no room"; fi
fi
echo "$1: $((bytes / 1024 / 1024)) MiB; there: ./check.sh --build ."
((bytes <= most)) || { echo "more than $((most / 1024 / 1024)) MiB"; exit 1; }
