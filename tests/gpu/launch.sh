#!/usr/bin/env bash
# Starts RANKS processes of one command as torchrun does, with its variables: launch.sh RANKS COMMAND... Ends with the
# first exit status that is not 0; the other processes then have 15 seconds to end by themselves.
set -um # each rank leads a process group of its own, which can be ended as a whole
ranks=$1
shift
# Below the ports that the kernel gives to outgoing connections, one of which may have taken a higher one.
export WORLD_SIZE=$ranks MASTER_ADDR=127.0.0.1 MASTER_PORT=$((20000 + RANDOM % 12000)) TORCHELASTIC_RUN_ID=launch-$$
TRIGRAM_SECRET=${TRIGRAM_SECRET:-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')}
export TRIGRAM_SECRET
# A line with the exit status of each rank that ends. Bash's own `wait -n` says 127 now and then, where a rank had ended
# before it was asked.
exec {ended}<> <(:)
groups=()
for ((rank = 0; rank < ranks; ++rank)); do
  { RANK=$rank LOCAL_RANK=$rank "$@"; echo $? >&"$ended"; } </dev/null &
  groups+=("-$!")
done
end_all() {
  kill -- "${groups[@]}" 2>/dev/null
  sleep 1 # for what they still have to say
  kill -9 -- "${groups[@]}" 2>/dev/null
  exit 143
}
trap end_all INT TERM
status=0
for ((left = ranks; left > 0 && status == 0; --left)); do
  read -r status <&"$ended"
done
end=$((SECONDS + 15))
while ((left > 0 && SECONDS < end)) && read -t "$((end - SECONDS))" -r _ <&"$ended"; do left=$((left - 1)); done
kill -9 -- "${groups[@]}" 2>/dev/null
exit "$status"
