# The lines above say what is to be made. This job starts Dask's scheduler on its first node and a worker on each, and hands them
# the cells. It puts itself back into the queue where its time ends or its scheduler is lost, and Slurm does where it
# is preempted; what is finished by then is kept, and is not made again.
runs_made() { find "$out/runs" "$out/predictions" \( -name run.json -o -path '*/predictions/*.json' \) 2>/dev/null | wc -l; }

# A job that has finished nothing in its time would do the same again.
come_back() {
  trap '' USR1
  if [ "$(runs_made)" = "$made_before" ]; then
    echo "trigram: no run was finished in the time of this job, so that it does not come back; give it more by --slurm-time" >&2
    exit 1
  fi
  echo "trigram: the job comes back after $(runs_made) runs" >&2
  scontrol requeue "$SLURM_JOB_ID"
  sleep 60
}

export DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED=False  # threads that wait for a program need no samples of where they are
scheduler=$out/slurm/scheduler-$SLURM_JOB_ID.json
mkdir -p "$out/slurm"
rm -f "$scheduler"
made_before=$(runs_made)
trap come_back USR1

srun --overlap --nodes=1 --ntasks=1 --relative=0 --cpu-bind=none \
  "$python" -m distributed.cli.dask_scheduler --scheduler-file "$scheduler" --port 0 --no-dashboard >>"$out/slurm/dask.txt" 2>&1 &
scheduler_step=$!
srun --overlap --nodes="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 --cpu-bind=none --no-kill --kill-on-bad-exit=0 bash -c '
  until [ -f "$0" ]; do sleep 0.2; done
  exec "$1" -m distributed.cli.dask_worker --scheduler-file "$0" --nthreads "$SLURM_CPUS_ON_NODE" --no-dashboard --death-timeout 60 \
    --local-directory "${TMPDIR:-/tmp}"' "$scheduler" "$python" >>"$out/slurm/dask.txt" 2>&1 &
until [ -f "$scheduler" ]; do
  kill -0 "$scheduler_step" 2>/dev/null || { echo "trigram: Dask's scheduler did not start; $out/slurm/dask.txt says why" >&2; exit 1; }
  sleep 0.2
done

"$program" "${words[@]}" --executor="dask:$scheduler" &
conductor=$!
wait "$conductor"
code=$?
[ "$code" != "$executor_is_gone" ] || come_back
rm -f "$scheduler"
exit "$code"
