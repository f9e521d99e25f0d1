#!/usr/bin/env bash
# Starts RANKS processes of one command as torchrun does, with its variables: launch.sh RANKS COMMAND... Ends with the
# first exit status that is not 0; the other processes then have 15 seconds to end by themselves.
set -u
ranks=$1
shift
# Below the ports that the kernel gives to outgoing connections, one of which may have taken a higher one.
export WORLD_SIZE=$ranks MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + RANDOM % 12000)) TORCHELASTIC_RUN_ID=launch-$$
TRIGRAM_SECRET=${TRIGRAM_SECRET:-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')}
export TRIGRAM_SECRET
pids=()
for ((rank = 0; rank < ranks; ++rank)); do
  RANK=$rank LOCAL_RANK=$rank "$@" &
  pids+=($!)
done
trap 'kill "${pids[@]}" 2>/dev/null' INT TERM
status=0
for _ in "${pids[@]}"; do
  wait -n || {
    status=$?
    break
  }
done
if ((status != 0)); then
  for ((tenths = 0; tenths < 150; ++tenths)); do
    [[ -z $(jobs -rp) ]] && break
    sleep 0.1
  done
  kill -9 "${pids[@]}" 2>/dev/null
fi
wait
exit "$status"
