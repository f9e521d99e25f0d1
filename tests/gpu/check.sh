#!/usr/bin/env bash
# Checks everything that needs a GPU, within ten minutes; leaves a log of each row, a table and the figures in a folder.
#
#   tests/gpu/check.sh [--out DIR]               builds with the preset `gpu` first, for the GPU that it finds
#   tests/gpu/check.sh --build DIR [--out DIR]   uses what was built in DIR, or packed into it
#   tests/gpu/check.sh --doubles --build DIR     the same rows, on doubles of CUDA and NCCL and on little data
#   tests/gpu/check.sh --pack DIR                packs what build/gpu has into the new folder DIR: for a machine with no
#                                                more than a driver and NCCL, where DIR/check.sh --build DIR needs nothing else
#
# Without --out the folder is check-of-gpus here; table.txt and figures.txt there grow row by row. No row that fails ends
# the others. --seconds N gives it another time than 590 s. Exit code: 0 if nothing failed, 1 if something did, 3 if there
# was no time for all rows; without a GPU 2, after what needs none.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  sed -n '2,12p' "${BASH_SOURCE[0]}"
  exit 2
}

build='' out=check-of-gpus doubles=false budget=590
while (($# > 0)); do
  case $1 in
    --doubles) doubles=true ;;
    --build | --out | --pack | --seconds)
      (($# > 1)) || usage
      [[ $1 == --pack ]] && exec "$here/pack.sh" "$2"
      case $1 in
        --out) out=$2 ;;
        --seconds)
          [[ $2 =~ ^[0-9]+$ ]] || usage
          budget=$2
          ;;
        *) build=$(cd "$2" && pwd) || exit 2 ;;
      esac
      shift
      ;;
    *) usage ;;
  esac
  shift
done
[[ $doubles == false || -n $build ]] || usage

reserve=0 # seconds that are kept for later rows
rows=0 failures=0 without_time=0
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 2
table=$out/table.txt figures=$out/figures.txt
: >"$figures"
printf '%-38s %-8s %7s  %s\n' check result seconds remark >"$table"

seconds_left() { echo $((budget - SECONDS - reserve)); }

# row CHECK RESULT SECONDS REMARK
row() {
  rows=$((rows + 1))
  printf '%-38s %-8s %7s  %s\n' "$@" | tee -a "$table"
}

# figure NAME VALUE: one of those that the documentation promises.
figure() { printf '%-38s %s\n' "$1" "$2" >>"$figures"; }

# log_of CHECK: where its output is.
log_of() { echo "$out/$(tr -cs 'a-z0-9\n' '-' <<<"${1,,}" | sed 's/-$//').log"; }

# no_time NAME SECONDS WHAT: a row that did not run, or not to its end, since later ones need the time.
no_time() {
  without_time=$((without_time + 1))
  row "$1" skipped "$2" "$3: no time left of $budget s"
}

# check NAME LIMIT REMARK_PATTERN COMMAND...: runs it for LIMIT seconds at most. The remark is the last line of its output
# that matches the pattern; where that begins with $counts, some test must have passed. Returns 1 where it failed or was
# skipped.
check() {
  local name=$1 limit=$(($2 * patience)) pattern=$3 begin=$SECONDS status left log took remark
  shift 3
  log=$(log_of "$name")
  left=$(seconds_left)
  ((left >= 5)) || { no_time "$name" 0 "never ran"; return 1; }
  timeout --kill-after=5 "$((limit < left ? limit : left))" "$@" >"$log" 2>&1
  status=$?
  took=$((SECONDS - begin))
  remark=$(grep -aE "$pattern" "$log" | tail -n 1 | cut -c1-90)
  if ((status == 0)) && [[ $pattern == "$counts"* ]] && ! tests_ran "$log"; then
    local needed
    needed=$(grep -aom 1 'needs [0-9]* GiB of device memory.*' "$log") && row "$name" skipped "$took" "$needed" && return 1
    status="0, but no test passed"
  fi
  if [[ $status == 0 ]]; then
    row "$name" passed "$took" "$remark"
    return 0
  fi
  if [[ $status == 124 || $status == 137 ]]; then
    ((left < limit && took >= left)) && { no_time "$name" "$took" "was cut"; return 1; }
    ((took >= limit)) && remark="more than $limit s; $remark"
  fi
  failures=$((failures + 1))
  row "$name" FAILED "$took" "exit code $status; $remark"
  echo "--- the end of $log:"
  tail -n 40 "$log"
  echo "---"
  return 1
}

# tests_ran LOG: whether GoogleTest says that some test passed, and no process that it skips all.
tests_ran() { grep -qaE '^\[  PASSED  \] [1-9]' "$1" && ! grep -qaE '^skipped:' "$1"; }

# fails NAME LIMIT TEXT COMMAND...: the command must fail, within LIMIT seconds, saying TEXT. It runs only where there is
# time for its own limit, which ends all its ranks: the row's does not reach them.
fails() {
  local name=$1 limit=$2 text=$3
  shift 3
  (($(seconds_left) > limit + 20)) || { no_time "$name" 0 "never ran"; return 1; }
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

# sharded NAME LIMIT SHARDS COMMAND...: so many processes of one test executable side by side, each with its part.
sharded() {
  local name=$1 limit=$2 shards=$3
  shift 3
  # shellcheck disable=SC2016 # expanded by the inner shell
  check "$name" "$limit" "$counts" bash -c '
    shards=$1 part=$2; shift 2
    for ((i = 0; i < shards; ++i)); do
      GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$i "$@" >"$part.$i" 2>&1 &
      pids[i]=$!
    done
    status=0
    for ((i = 0; i < shards; ++i)); do
      wait "${pids[i]}" || status=$?
      cat "$part.$i"; rm "$part.$i"
    done
    exit "$status"
  ' sharded "$shards" "$(log_of "$name")" "$@"
}

# program NAME: where the build, or the pack, has it; its counterpart on doubles.
program() {
  local folder name=$1
  if [[ $doubles == true && $name =~ ^(trigram|test_gpu|test_gpu_session|failing_gpu_job|test_kernels_cuda|benchmark_cuda_kernels)$ ]]; then
    name+=_on_host
  fi
  for folder in bin tests/gpu tests experiments; do
    [[ -x $build/$folder/$name ]] && echo "$build/$folder/$name" && return
  done
  echo "$build/bin/$name" # which will not be found
}

# library NAME: where the build, or the pack, has it.
library() {
  local folder
  for folder in python python/trigram/lib; do
    [[ -e $build/$folder/$1 ]] && echo "$build/$folder/$1" && return
  done
}

# net_plugin: the plugin for NCCL, where the build, or the pack, has it.
net_plugin() { echo "$build/net/libnccl-net-trigram.so"; }

# package: the folder that Python's package lies in, in the tree or in the pack.
package() { if [[ -d $here/python ]]; then echo "$here/python"; else echo "$here/../../python"; fi; }

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

end() {
  echo
  cat "$table"
  echo
  [[ -s $figures ]] && cat "$figures" && echo
  echo "$failures failed, $rows rows, $without_time without time left, $SECONDS s; logs: $out/"
  ((failures == 0)) || exit 1
  ((without_time == 0)) || exit 3
  exit "$1"
}

counts='^\[  PASSED  \]|tests? ran'

# What is tried, and on how much: doubles are slow, and other tests have tried all of it on them.
if [[ $doubles == true ]]; then
  shards=2 patience=2
  all_kernels='SameBits.*:Arithmetic.*' lanes='StreamOrder.*' some_host='Hosts*' sanitized='SameBits.Fill'
  conformance() { echo "Everywhere/Exchange*timeout_60s_on_$1"; }
  training='EveryAlgorithm/SameTraining*bytegrad*'
  small=4099 large=8192 odd=4133
  export LD_LIBRARY_PATH=$build/tests/gpu/nccl_on_host${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
else
  shards=4 patience=1
  all_kernels='*-Beyond4GiB.*' lanes='StreamOrder.*:Everywhere/Lanes*_on_2' some_host='*'
  sanitized='SameBits*:SameFrames*'
  conformance() { echo "Everywhere/*_on_$1"; }
  training='EveryAlgorithm/SameTraining*:TrainingOnGpus*'
  small=$((1 << 26)) large=$((1 << 28)) odd=67108861
fi

has_gpu=$doubles
if [[ $doubles == false ]] && nvidia-smi -L 2>/dev/null | grep -q GPU; then
  has_gpu=true
elif [[ $has_gpu == false && -z $build ]]; then
  echo "skipped: no CUDA device (nvidia-smi names none)"
  exit 2
fi

if [[ -z $build ]]; then
  root=$(cd "$here/../.." && pwd)
  build=$root/build/gpu
  begin=$SECONDS
  if cd "$root" && cmake --preset gpu -DCMAKE_CUDA_ARCHITECTURES=native >"$out/build.log" 2>&1 &&
    cmake --build --preset gpu --parallel >>"$out/build.log" 2>&1; then
    row build passed $((SECONDS - begin)) "$build"
  else
    tail -n 40 "$out/build.log"
    failures=1
    row build FAILED $((SECONDS - begin)) "see $out/build.log"
    end 1
  fi
  budget=$((budget + SECONDS - begin)) # compiling is no checking
fi

launch=$here/launch.sh
trigram=$(program trigram)
test_kernels=$(program test_kernels_cuda)
test_gpu=$(program test_gpu)
test_session=$(program test_gpu_session)
benchmark=$(program benchmark_cuda_kernels)
failing=$(program failing_gpu_job)
mutated=$(program test_kernels_cuda_fmad)
given=${CUDA_VISIBLE_DEVICES-0} # of which the first is used: others may be lent to others
one_gpu=(env "CUDA_VISIBLE_DEVICES=${given%%,*}")

# What needs no GPU. The loader's own failures end with 1 or 127; of a library that is too old it says so.
programs=("$trigram" "$test_gpu" "$test_session" "$failing" "$(program test_gpu_host)" "$(program meeting_job)"
          "$test_kernels" "$benchmark")
[[ -x $mutated ]] && programs+=("$mutated")
# shellcheck disable=SC2016 # expanded by the inner shell
check "programs start" 30 "^[0-9]+ of|does not start" bash -c '
  for program; do
    said=$(timeout 10 "$program" --help 2>&1 </dev/null); status=$?
    if ((status >= 124)) || grep -qE "not found \(required by|error while loading shared|symbol lookup error" <<<"$said"; then
      echo "$said"; echo "${program##*/} does not start"; exit 1
    fi
  done
  echo "$# of $#"' start "${programs[@]}"
check "shipped files are found" 10 "two_by_four|bagua" "$trigram" list
check "ranks meet" 60 "$counts" "$(program test_gpu_host)" --gtest_brief=1 "--gtest_filter=$some_host"
check "a launched job meets" 20 "done" "$launch" 3 "$(program meeting_job)" 0.5
# Ranks on CPUs, which speak to the plugin as NCCL does.
check "CPUs train by our net plugin" 60 "accuracy" env TRIGRAM_NET_INTERFACES=lo \
  "$trigram" run --backend "net:plugin=$(net_plugin)" --ranks 2 --steps 20 --algorithm bytegrad --out "$out/run-by-net"
if [[ $has_gpu == false ]]; then
  # Each says so by itself, and none hangs or crashes.
  fails "the program says: no GPU" 20 "no CUDA device" "$trigram" run --backend gpu --ranks 2 --steps 2 --out "$out/run"
  check "the tests say: no GPU" 20 "skipped: no CUDA device" "$test_gpu"
  check "the session's tests say: no GPU" 20 "skipped: no CUDA device" "$test_session"
  check "the kernels' tests say: no GPU" 60 "no CUDA device" "$test_kernels"
  fails "the benchmark says: no GPU" 20 "no CUDA device" "$benchmark"
  row "everything else" skipped 0 "no CUDA device (nvidia-smi names none)"
  end 2
fi

# The machine, and one launch. Whatever hangs from here on, training and what goes wrong are tried.
reserve=160
((budget > 2 * reserve)) || reserve=0
if [[ $doubles == true ]]; then
  row "the machine" skipped 0 "doubles of CUDA and NCCL"
else
  # shellcheck disable=SC2016 # expanded by the inner shell
  check "the machine" 10 "^GPU" bash -c '
    nvidia-smi --query-gpu=name,driver_version,memory.total,compute_mode,clocks.max.sm,clocks.max.mem \
      --format=csv,noheader | sed "s/^/GPU /"
    nvidia-smi -q -d CLOCK,PERFORMANCE,ECC,COMPUTE | head -n 120
    df -h /dev/shm; ulimit -a; uname -a; nproc; ldd "$1"; env | grep -E "^(NCCL|CUDA)_"; true' facts "$trigram"
fi
if nccl=$(find_nccl); then
  [[ $nccl == /* ]] && export LD_LIBRARY_PATH=$nccl${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  row "NCCL is found" passed 0 "$nccl"
else
  failures=$((failures + 1))
  row "NCCL is found" FAILED 0 "neither the loader nor Python's nvidia.nccl has libnccl.so.2"
fi
check "one launch" 20 "$counts" "$test_kernels" --gtest_brief=1 --gtest_filter=SameBits.Fill

# Kernels: right, then fast.
sharded "kernels and codecs" 120 "$shards" "$test_kernels" --gtest_brief=1 "--gtest_filter=$all_kernels"
# Alone, for the memory.
check "kernels beyond 4 GiB" 40 "$counts" "$test_kernels" --gtest_brief=1 '--gtest_filter=Beyond4GiB.*'
for elements in "$small" "$large" "$odd"; do
  name="kernel benchmark, $elements elements"
  check "$name" 60 "copy|GB/s|%" "$benchmark" --elements "$elements" --repeats "$([[ $doubles == true ]] && echo 1 || echo 15)" || continue
  figure "$elements elements" "$(grep -aom 1 'copy on the device:.*' "$(log_of "$name")")"
  figure "$elements elements: kernels below target" "$(grep -ac 'below target' "$(log_of "$name")")"
done

# An exchange, as DECISIONS wants it measured: whether calls of NCCL are asked after or waited in.
for ranks in 2 4; do
  for blocking in off on; do
    name="an exchange, $ranks ranks, blocking=$blocking"
    check "$name" 30 "^ *67108864 |^ *64 " "${one_gpu[@]}" NCCL_DEBUG=INFO "$trigram" bench --backend "gpu:blocking=$blocking" --ranks "$ranks" \
      --op exchange --min-size 64 --max-size 64MiB --factor 1024 --iterations "$([[ $doubles == true ]] && echo 1 || echo 20)" || continue
    for size in 64 65536 67108864; do
      figure "$name, $size bytes" "$(awk -v size="$size" '$1 == size { print $4 " us, spread " $NF " %" }' "$(log_of "$name")")"
    done
  done
done
if [[ $doubles == true ]]; then
  row "ranks of one GPU use sockets" skipped 0 "the double says nothing of its transports"
else
  # shellcheck disable=SC2016 # expanded by the inner shell
  check "ranks of one GPU use sockets" 5 "via (NET/Socket|P2P|SHM)" bash -c '
    ! grep -aEm1 "via (P2P|SHM)" "$1" && grep -am1 "via NET/Socket" "$1"' of "$(log_of "an exchange, 2 ranks, blocking=off")"
fi

# Lanes, every collective, every algorithm.
check "streams and lanes, 2 ranks" 60 "$counts" "${one_gpu[@]}" "$launch" 2 "$test_gpu" --gtest_brief=1 "--gtest_filter=$lanes"
for ranks in 1 2 4; do
  check "conformance, $ranks ranks on one GPU" 90 "$counts" "${one_gpu[@]}" \
    "$launch" "$ranks" "$test_gpu" --gtest_brief=1 "--gtest_filter=$(conformance "$ranks")"
done
reserve=0
for ranks in 1 2 4; do
  check "training as on CPU, $ranks ranks" 60 "$counts" "${one_gpu[@]}" \
    "$launch" "$ranks" "$test_gpu" --gtest_brief=1 "--gtest_filter=$training"
done
for ranks in 1 2; do
  check "sessions follow streams, $ranks ranks" 60 "$counts" "${one_gpu[@]}" "$launch" "$ranks" "$test_session" --gtest_brief=1
done
check "training, forked ranks" 40 "$counts" "${one_gpu[@]}" "$test_gpu" --gtest_brief=1 "--gtest_filter=TrainingOnGpus*"
name="program: run --backend gpu"
if check "$name" 60 "accuracy|loss" "${one_gpu[@]}" \
  "$trigram" run --backend gpu --ranks 2 --steps 20 --algorithm bytegrad --out "$out/run"; then
  figure "an iteration of bytegrad, 2 ranks" "$(awk '/iteration/ { print $2 " s mean, " $5 " s median" }' "$(log_of "$name")")"
  figure "it used" "$(sed -n 's/^  uses  *//p' "$(log_of "$name")")"
fi

# NCCL by our net plugin, of which it must say three things: where it cannot use a plugin it goes on without a word. Ranks
# that share a GPU are hosts of their own (NCCL_HOSTID), so that every byte goes by it.
by_plugin=("${one_gpu[@]}" NCCL_DEBUG=INFO "NCCL_NET_PLUGIN=$(net_plugin)" TRIGRAM_NET_INTERFACES=lo)
# shellcheck disable=SC2016 # expanded by the inner shell
says_so='"$@" 2>&1 | tee "$log"; (("${PIPESTATUS[0]}" == 0)) || exit 1
  for line in "Successfully loaded external network plugin" "Initialized NET plugin Trigram" "Assigned NET plugin Trigram"; do
    grep -qF "$line" "$log" || { echo "NCCL does not say: $line"; exit 1; }
  done'
if [[ $doubles == true ]]; then
  row "NCCL by our net plugin, 2 ranks" skipped 0 "the double of NCCL loads no plugin"
else
  name="NCCL by our net plugin, 2 ranks"
  if check "$name" 90 "^ *67108864 |does not say" "${by_plugin[@]}" "log=$out/nccl-by-our-net-plugin.txt" bash -c "$says_so" by \
    "$trigram" bench --backend gpu:collectives=vendor --ranks 2 --op all_reduce --min-size 1MiB --max-size 64MiB --factor 8 --iterations 5; then
    figure "$name, 64 MiB all-reduced" "$(awk '$1 == 67108864 { print $4 " us" }' "$(log_of "$name")")"
  fi
  check "its sums are those of threads" 90 "$counts" "${by_plugin[@]}" \
    "$launch" 2 "$test_gpu" --gtest_brief=1 "--gtest_filter=Everywhere/Collectives*vendor_on_2"
  if command -v all_reduce_perf >/dev/null && command -v mpirun >/dev/null; then
    # shellcheck disable=SC2016 # expanded by the ranks
    check "nccl-tests by our net plugin, 2 ranks" 90 "Out of bounds values|does not say" "${by_plugin[@]}" NCCL_TESTS_DEVICE=0 \
      "log=$out/nccl-tests-by-our-net-plugin.txt" bash -c "$says_so"'; grep -q "Out of bounds values : 0 OK" "$log"' by \
      mpirun -n 2 bash -c 'NCCL_HOSTID=host-${OMPI_COMM_WORLD_RANK:-$PMI_RANK} exec all_reduce_perf -b 1M -e 64M -f 8 -g 1'
  else
    row "nccl-tests by our net plugin, 2 ranks" skipped 0 "all_reduce_perf of nccl-tests, built with MPI, or mpirun is not here"
  fi
fi

# PyTorch models, by whatever python3 has PyTorch.
beside_ddp=$here/pytorch/beside_ddp.py
session=$(library libtrigram_session.so)
if [[ $doubles == true ]]; then
  row "PyTorch models" skipped 0 "no PyTorch has doubles of CUDA; python.gpu_on_doubles lends it one"
elif [[ ! -e $session ]]; then
  row "PyTorch models" skipped 0 "libtrigram_session.so is not built"
elif ! said=$(timeout 60 "${one_gpu[@]}" python3 -B "$beside_ddp" --there 2>&1); then
  row "PyTorch models" skipped 0 "$(tail -n 1 <<<"${said:-python3 does not start}" | sed 's/^skipped: //')"
else
  for ranks in 1 2; do
    name="PyTorch beside DDP, $ranks ranks"
    folder=$(mktemp -d)
    check "$name" 120 "^held|Error|images/s" "${one_gpu[@]}" "PYTHONPATH=$(package)" "TRIGRAM_SESSION=$session" \
      "$launch" "$ranks" python3 -B "$beside_ddp" "$folder" && figure "$name" "$(grep -ao 'images/s.*' "$(log_of "$name")")"
    rm -r "$folder"
  done
  # NCCL takes one rank of a job on a GPU, so that nobody joins it or is lost.
  folder=$(mktemp -d)
  check "a member alone, cut off and gone on" 120 "^held|Error" "${one_gpu[@]}" "PYTHONPATH=$(package)" "TRIGRAM_SESSION=$session" \
    python3 -B "$here/pytorch/one_member.py" "$folder"
  rm -r "$folder"
fi

# What goes wrong.
fails "a rank that throws ends the job" 30 "the flux of rank 1 is 7" "${one_gpu[@]}" "$failing" throws gpu 2
fails "a rank that dies ends the job" 30 "rank 1 was ended by signal 9" "${one_gpu[@]}" "$failing" dies gpu 2
fails "a stuck exchange is reported" 40 "exchange number 1 has waited 3 s for: a receive of 24 bytes from rank 1" \
  "${one_gpu[@]}" "$failing" never_answers gpu:timeout=3s 2
fails "a stuck exchange that blocks, too" 40 "exchange number 1 has waited 3 s for: a receive of 24 bytes from rank 1" \
  "${one_gpu[@]}" "$failing" never_answers gpu:timeout=3s,blocking=on 2

# Kernels that count otherwise must be found by the suites that promise the CPU's bits.
if [[ $doubles == true ]]; then
  fails "suites find flushed subnormals" 60 "FAILED  \] SameBits" env CUDA_ON_HOST_MUTATION=flush_to_zero \
    "$test_kernels" --gtest_brief=1 --gtest_filter=SameBits.Elementwise
fi
if [[ -x $mutated ]]; then
  fails "suites find fused multiply-adds" 60 "FAILED  \] SameBits" "$mutated" --gtest_brief=1 '--gtest_filter=SameBits*'
else
  row "suites find fused multiply-adds" skipped 0 "test_kernels_cuda_fmad is not built (-DTRIGRAM_GPU_MUTANTS=ON)"
fi

# The sanitizer may be there and be refused the device, which says nothing of our kernels.
sanitize=(compute-sanitizer --error-exitcode 9)
probe=$out/probe-of-the-sanitizer.log
if ! command -v compute-sanitizer >/dev/null; then
  row "compute-sanitizer on kernels" skipped 0 "compute-sanitizer is not installed"
elif (($(seconds_left) < 60)); then
  no_time "compute-sanitizer on kernels" 0 "never ran"
elif ! timeout --kill-after=5 60 "${sanitize[@]}" "$test_kernels" --gtest_brief=1 \
  --gtest_filter='Arithmetic.ProductsQuotientsAndRoots' >"$probe" 2>&1 && ! grep -q "ERROR SUMMARY" "$probe"; then
  row "compute-sanitizer on kernels" skipped 0 "it refuses: $(grep -avE '^ *$' "$probe" | grep -aiE 'error|not|denied|fail' | tail -n 1 | cut -c1-90)"
else
  for tool in memcheck racecheck synccheck initcheck; do
    check "compute-sanitizer, $tool" 150 "$counts|ERROR SUMMARY" "${sanitize[@]}" --tool "$tool" \
      "$test_kernels" --gtest_brief=1 "--gtest_filter=$sanitized"
  done
fi

end 0
