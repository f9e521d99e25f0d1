#!/usr/bin/env bash
# Checks everything that needs a GPU, within ten minutes, and prints one table at the end.
#
#   tests/gpu/check.sh               builds with the preset `gpu` first
#   tests/gpu/check.sh --build DIR   uses what was built in DIR, or packed into it
#   tests/gpu/check.sh --pack DIR    packs what build/gpu has into the new folder DIR: for a machine with no more than a
#                                    driver and NCCL, where DIR/check.sh --build DIR needs nothing else
#
# Exit code: 0 if nothing failed, 1 if something did; without a GPU 2, after what needs none.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=
case "${1:-}$#" in
  0) ;;
  --build2) build=$(cd "$2" && pwd) || exit 2 ;;
  --pack2) exec "$here/pack.sh" "$2" ;;
  *)
    sed -n '2,10p' "${BASH_SOURCE[0]}"
    exit 2
    ;;
esac

budget=590
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
rows=()
failures=0

seconds_left() { echo $((budget - SECONDS)); }

# row CHECK RESULT SECONDS REMARK
row() {
  rows+=("$1|$2|$3|$4")
  printf '%-34s %s (%s s) %s\n' "$1" "$2" "$3" "$4"
}

# check NAME LIMIT REMARK_PATTERN COMMAND...: runs it for LIMIT seconds at most. The remark is the last line of its output
# that matches the pattern.
check() {
  local name=$1 limit=$2 pattern=$3 log=$logs/log begin=$SECONDS status left
  shift 3
  left=$(seconds_left)
  if ((left < 5)); then
    row "$name" skipped 0 "no time left of $budget s"
    return
  fi
  timeout --kill-after=5 "$((limit < left ? limit : left))" "$@" >"$log" 2>&1
  status=$?
  local remark
  remark=$(grep -aE "$pattern" "$log" | tail -n 1 | cut -c1-90)
  if ((status == 0)); then
    row "$name" passed $((SECONDS - begin)) "$remark"
  else
    failures=$((failures + 1))
    ((status == 124 || status == 137)) && remark="more than $limit s; $remark"
    row "$name" FAILED $((SECONDS - begin)) "exit code $status; $remark"
    echo "--- the end of what $name said:"
    tail -n 40 "$log"
    echo "---"
  fi
}

# fails NAME LIMIT TEXT COMMAND...: the command must fail, within LIMIT seconds, saying TEXT.
fails() {
  local name=$1 limit=$2 text=$3
  shift 3
  # shellcheck disable=SC2016 # expanded by the inner shell
  check "$name" "$((limit + 20))" "$text" bash -c '
    limit=$1 text=$2; shift 2
    begin=$SECONDS
    said=$(timeout --kill-after=2 "$((limit + 15))" "$@" 2>&1); status=$?
    echo "$said"
    ((status != 0)) || { echo "it did not fail"; exit 1; }
    grep -qE "$text" <<<"$said" || { echo "it did not say: $text"; exit 1; }
    ((SECONDS - begin <= limit)) || { echo "it took more than $limit s"; exit 1; }
  ' fails "$limit" "$text" "$@"
}

# program NAME: where the build, or the pack, has it.
program() {
  local folder
  for folder in bin tests/gpu tests experiments; do
    [[ -x $build/$folder/$1 ]] && echo "$build/$folder/$1" && return
  done
  echo "$build/bin/$1" # which will not be found
}

print_table() {
  echo
  printf '%-36s %-8s %7s  %s\n' check result seconds remark
  local entry name result seconds remark
  for entry in "${rows[@]}"; do
    IFS='|' read -r name result seconds remark <<<"$entry"
    printf '%-36s %-8s %7s  %s\n' "$name" "$result" "$seconds" "$remark"
  done
  echo
  echo "$failures failed, ${#rows[@]} rows, $SECONDS s"
}

# find_nccl: the loader's own, or where pip puts it, whose folder the loader then gets. Says which.
find_nccl() {
  local folder python named=${LD_LIBRARY_PATH:-}
  for folder in ${named//:/ }; do
    [[ -e $folder/libnccl.so.2 ]] && echo "$folder" && return
  done
  if PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep -q "libnccl[.]so[.]2"; then
    echo "the loader's" && return
  fi
  for python in python3 python; do
    folder=$("$python" -c 'import nvidia.nccl; print(list(nvidia.nccl.__path__)[0] + "/lib")' 2>/dev/null) || continue
    [[ -e $folder/libnccl.so.2 ]] || continue
    echo "$folder" && return
  done
  return 1
}

has_gpu=false
if nvidia-smi -L 2>/dev/null | grep -q GPU; then
  has_gpu=true
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
elif [[ -z $build ]]; then
  echo "skipped: no CUDA device (nvidia-smi names none)"
  exit 2
fi

if [[ -z $build ]]; then
  root=$(cd "$here/../.." && pwd)
  build=$root/build/gpu
  begin=$SECONDS
  if cd "$root" && cmake --preset gpu -DCMAKE_CUDA_ARCHITECTURES=native >"$logs/build" 2>&1 &&
    cmake --build --preset gpu --parallel >>"$logs/build" 2>&1; then
    row build passed $((SECONDS - begin)) "$build"
  else
    tail -n 40 "$logs/build"
    row build FAILED $((SECONDS - begin)) "see above"
    exit 1
  fi
  budget=$((budget + SECONDS - begin)) # compiling is no checking
fi

launch=$here/launch.sh
trigram=$(program trigram)
counts='^\[  PASSED  \]|tests? ran'
check "programs start" 60 "." bash -c '
  for program; do
    "$program" --help >/dev/null 2>&1 </dev/null
    (($? < 126)) || { echo "$program does not start:"; "$program" --help; exit 1; }
  done
  echo "$# of $#"' start "$trigram" "$(program test_gpu)" "$(program test_kernels_cuda)" "$(program benchmark_cuda_kernels)"
check "shipped files are found" 30 "two_by_four|bagua" "$trigram" list
check "ranks meet" 120 "$counts" "$(program test_gpu_host)" --gtest_brief=1
check "a launched job meets" 60 "done" "$launch" 3 "$(program meeting_job)" 0.5
if [[ $has_gpu == false ]]; then
  # Each says so by itself, and none hangs or crashes.
  fails "the program says: no GPU" 20 "no CUDA device" "$trigram" run --backend gpu --ranks 2 --steps 2 --out "$logs/run"
  check "the tests say: no GPU" 20 "skipped: no CUDA device" "$(program test_gpu)"
  check "the kernels' tests say: no GPU" 60 "no CUDA device" "$(program test_kernels_cuda)"
  fails "the benchmark says: no GPU" 20 "no CUDA device" "$(program benchmark_cuda_kernels)"
  row "everything else" skipped 0 "no CUDA device (nvidia-smi names none)"
  print_table
  ((failures == 0)) && exit 2
  exit 1
fi

if nccl=$(find_nccl); then
  [[ $nccl == /* ]] && export LD_LIBRARY_PATH=$nccl${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  row "NCCL is found" passed 0 "$nccl"
else
  failures=$((failures + 1))
  row "NCCL is found" FAILED 0 "neither the loader nor Python's nvidia.nccl has libnccl.so.2"
fi

check "kernels and codecs" 120 "$counts" "$(program test_kernels_cuda)" --gtest_brief=1
check "kernel benchmark" 120 "copy|GB/s|%" "$(program benchmark_cuda_kernels)"
[[ -f $logs/log ]] && cp "$logs/log" "$logs/benchmark"
for ranks in 1 2 4; do
  check "conformance, $ranks ranks on one GPU" 150 "$counts" env CUDA_VISIBLE_DEVICES=0 \
    "$launch" "$ranks" "$(program test_gpu)" --gtest_brief=1 "--gtest_filter=Everywhere/*_on_$ranks:StreamOrder.*"
done
for ranks in 1 2 4; do
  check "training as on CPU, $ranks ranks" 90 "$counts" env CUDA_VISIBLE_DEVICES=0 \
    "$launch" "$ranks" "$(program test_gpu)" --gtest_brief=1 "--gtest_filter=EveryAlgorithm/SameTraining*:TrainingOnGpus*"
done
check "training, forked ranks" 40 "$counts" env CUDA_VISIBLE_DEVICES=0 \
  "$(program test_gpu)" --gtest_brief=1 "--gtest_filter=TrainingOnGpus*"
fails "a rank that throws ends the job" 30 "the flux of rank 1 is 7" \
  env CUDA_VISIBLE_DEVICES=0 "$(program failing_gpu_job)" throws gpu 2
fails "a rank that dies ends the job" 30 "rank 1 was ended by signal 9" \
  env CUDA_VISIBLE_DEVICES=0 "$(program failing_gpu_job)" dies gpu 2
fails "a stuck exchange is reported" 40 "exchange number 1 has waited 3 s for: a receive of 24 bytes from rank 1" \
  env CUDA_VISIBLE_DEVICES=0 "$(program failing_gpu_job)" never_answers gpu:timeout=3s 2
check "program: run --backend gpu" 60 "accuracy|loss" env CUDA_VISIBLE_DEVICES=0 \
  "$trigram" run --backend gpu --ranks 2 --steps 20 --algorithm bytegrad --out "$logs/run"

# The sanitizer may be there and be refused the device, which says nothing of our kernels.
sanitize="compute-sanitizer --error-exitcode 9 --leak-check no"
probe=$logs/probe
if ! command -v compute-sanitizer >/dev/null; then
  row "compute-sanitizer on kernels" skipped 0 "compute-sanitizer is not installed"
elif ! timeout --kill-after=5 60 $sanitize "$(program test_kernels_cuda)" --gtest_brief=1 \
  --gtest_filter='Arithmetic.ProductsQuotientsAndRoots' >"$probe" 2>&1 && ! grep -q "ERROR SUMMARY" "$probe"; then
  row "compute-sanitizer on kernels" skipped 0 "it refuses: $(grep -avE '^ *$' "$probe" | grep -aiE 'error|not|denied|fail' | tail -n 1 | cut -c1-90)"
else
  check "compute-sanitizer on kernels" 150 "ERROR SUMMARY" compute-sanitizer --error-exitcode 9 --leak-check no \
    "$(program test_kernels_cuda)" --gtest_brief=1
fi

if [[ -f $logs/benchmark ]]; then
  echo
  cat "$logs/benchmark"
fi
print_table
((failures == 0))
