#!/usr/bin/env bash
# Moves the shards of a manifest with an array job of Slurm: one engine and one ledger for each shard.
#
#   transfers-array.sh [options] SHARDS SHARED BASE DEST [-- arguments of "transfers add"]
#   transfers-array.sh --task VERB SHARDS SHARED PLACE DEST RATE WORKERS TRIES LOCAL [arguments]
#
# The first is "transfers shard submit --slurm", which puts this script into SHARED and submits it (its --help has all
# options); the second is what Slurm runs for each shard.
#
# The end of a task: exit code 5 (work is left) requeues it, 77 (no credentials) holds it, all others are final; the
# exit code is also 1 when work is left after TRIES runs. TERM (180 s before the time limit, and at a preemption if the
# site has preempt_send_user_signal) lets the running requests end. Each run ends with SHARED/NAME.db, a backup of the
# ledger. A later run continues with the ledger on its node if nothing newer is known, otherwise with the backup. If
# another node may have sent something after that backup, requests that must not be repeated become "unknown" (transfers
# help resolve).
set -euo pipefail

# fail CODE TEXT
fail() {
  printf 'transfers-array: %s\n' "$2" >&2
  exit "$1"
}

# Reads the shards in order into `shards` ("SHA-256  NAME") from shards.json, which is written last; fails when the set
# is incomplete.
list_shards() {
  local index=$1/shards.json count there
  [[ -d $1 ]] || fail 66 "no folder of shards \"$1\"; make it with \"transfers manifest shard M --shards N --into $1\""
  [[ -e $index ]] || fail 66 "\"$1\" has no shards.json and is not complete; make one with \"transfers manifest shard\""
  mapfile -t shards < <(sed -nE 's/^\{"shard":"(shard-[0-9]+\.jsonl)",.*"sha256":"([0-9a-f]{64})"\},?$/\2  \1/p' "$index")
  count=$(sed -nE 's/^\{"set":"transfers.shards\/1",.*"count":([0-9]+),.*/\1/p' "$index")
  [[ $(tail -n 1 "$index") == "]}" && $count == "${#shards[@]}" ]] || fail 65 "\"$index\" is incomplete, or is not an index of shards"
  ((${#shards[@]})) || fail 66 "\"$1\" has no shards: the manifest was empty"
  there=$(find "$1" -maxdepth 1 -name 'shard-*.jsonl' | wc -l)
  ((there == count)) || fail 65 "\"$1\" has $there shards, its index lists $count: they are of several sets, or some are lost"
}

# task VERB SHARDS SHARED PLACE DEST RATE WORKERS TRIES LOCAL ARGUMENT…: one run of the shard SLURM_ARRAY_TASK_ID.
task() {
  verb=$1 shared=$3 place=$4 dest=$5 tries=$8
  limits=()
  if (($6)); then limits+=(--rate "$6"); fi
  if (($7)); then limits+=(--workers "$7"); fi
  list_shards "$2"
  local entry=${shards[SLURM_ARRAY_TASK_ID - 1]:-}
  [[ $entry ]] || fail 66 "no shard $SLURM_ARRAY_TASK_ID in \"$2\""
  shard=$2/${entry##* }
  (cd "$2" && sha256sum --check --status <<<"$entry") ||
    fail 65 "\"$shard\" differs from its index: it is truncated or changed, or belongs to another set"
  local folder=$9
  shift 9
  words=("$@")
  name=$(basename "$shard" .jsonl)
  if [[ $folder == - ]]; then folder=${SLURM_TMPDIR:-${TMPDIR:-/tmp}}; fi
  # One folder on the node for each shared one, even if that is removed and created again, so that jobs do not collide.
  [[ -e $shared/id ]] || fail 66 "no \"$shared/id\": the folder was removed; submit again"
  here=$folder/transfers-$(id -u)-$(<"$shared/id")
  (umask 077 && mkdir -p "$here")
  [[ -O $here ]] || fail 77 "\"$here\" belongs to somebody else"
  store=$here/$name.db
  # The ID of this task alone: SLURM_JOB_ID of the last task stands for the whole array.
  me=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
  this_try=$me.${SLURM_RESTART_COUNT:-0}.$(hostname).${SLURMD_NODENAME:-}
  newest='' state='' sum=''
  engine='' stopping=''
  trap 'stopping=yes; if [[ $engine ]]; then kill -TERM "$engine" 2>/dev/null || true; fi' TERM
  # A shard may be submitted twice. The engine keeps this lock, too.
  exec 9>"$here/$name.task"
  flock -w 60 9 || fail 6 "another task works on $name on this node"
  if ((${SLURM_RESTART_COUNT:-0})); then remark ''; fi # it is no longer held
  know_shard
  take_ledger
  begin
  work
  end_with "$code"
}

# put FILE TEXT: writes it durably, or not at all, and fails. Its steps are joined, because bash ignores "set -e" in a
# function that is called in a condition.
put() { printf '%s\n' "$2" >"$1.new" && sync "$1.new" && mv "$1.new" "$1" && sync "$(dirname "$1")"; }

# Another shard of the same name, or another destination, is different work: the ledger here does not belong to it.
# SHARED/NAME.sum is written when the files are recorded. Before that, a call with another destination is a correction.
# The options of a pull apply to each run and may change; those of an upload are recorded with the files.
know_shard() {
  local recorded=("$verb" "$place" "$dest")
  if [[ $verb == add ]]; then recorded+=("${words[@]}"); fi
  sum=$({ cat "$shard" && printf '%s\0' "${recorded[@]}"; } | sha256sum)
  [[ ! -e $shared/$name.sum || $(<"$shared/$name.sum") == "$sum" ]] ||
    fail 64 "\"$shared\" has the ledger of another $name: other files, another destination or other options of add; use \
another folder"
}

# SHARED/NAME.try names the run that had the newest ledger, and says whether it has ended ("closed": the backup contains
# all that it did) or not ("open"). Before the first "open" of an upload there is a backup. HERE/NAME.try names the run
# that had the ledger here, and while that run starts, the previous content of SHARED/NAME.try.
take_ledger() {
  local last='' before=''
  if [[ -e $shared/$name.try ]]; then read -r newest state <"$shared/$name.try"; fi
  if [[ -e $here/$name.try ]]; then read -r last before <"$here/$name.try"; fi
  if [[ ! $newest ]]; then
    record
  elif [[ -e $store && ($last == "$newest" || $before == "$newest $state") ]]; then
    printf 'transfers-array: %s continues with the ledger on this node\n' "$name" >&2
  else
    restore "$state"
  fi
}

# Moves the ledger on this node aside: it may know more.
set_aside() {
  local old file
  compgen -G "$store*" >/dev/null || return 0
  # The database moves last: another one would take its write-ahead log for its own.
  old=$(mktemp -d "$here/older-$name.XXXXXX")
  for file in "$store"[.-]* "$store"; do
    if [[ -e $file ]]; then mv "$file" "$old/" || fail 7 "cannot move \"$file\" aside"; fi
  done
  printf 'transfers-array: an older ledger of %s is kept in "%s" on %s\n' "$name" "$old" "$(hostname)" >&2
}

restore() {
  set_aside
  # A pull was interrupted in its first run: only that node knows what it fetched.
  [[ -e $shared/$name.db ]] || fail 1 "the ledger of $name is only on the node of its first run: let it run there"
  cp "$shared/$name.db" "$store.new"
  sync "$store.new"
  rm -f "$here/$name.copied"
  # Until an engine has run with it, even if several runs end before that.
  if [[ $1 == closed ]]; then put "$here/$name.copied" "$newest"; fi
  mv "$store.new" "$store"
  if [[ $1 == closed ]]; then
    printf 'transfers-array: %s continues with the backup, which contains all that was sent\n' "$name" >&2
  else
    printf 'transfers-array: %s continues with a backup that is older than what was sent\n' "$name" >&2
  fi
}

# Records the files of the shard. If it is killed and repeated, it adds the missing ones: nothing was sent yet. A ledger
# of other files or another destination, which an earlier call has left here, is not continued.
record() {
  if [[ ! -e $here/$name.sum || $(<"$here/$name.sum") != "$sum" ]]; then set_aside; fi
  put "$here/$name.sum" "$sum"
  if [[ $verb == add ]]; then
    # The list is complete before anything is recorded: a truncated shard fails here.
    transfers manifest convert "$shard" --to list0 --output "$here/$name.list" || exit
    # 3: some files do not exist any more or cannot be sent; they are recorded as failed, and the others are sent.
    local code=0
    transfers add --store "$store" --name "$name" --missing skip --files-from0 "$here/$name.list" --base "$place" \
      "${words[@]}" "$dest" || code=$?
    # 4: none of them can be sent. Nothing is left to do; the backup shows why ("store merge"), and another call records
    # them again.
    if ((code == 4)) && [[ -e $store ]]; then back_up || fail 7 "no backup in \"$shared\"; nothing was sent"; fi
    ((code == 0 || code == 3)) || finish "$code"
    rm -f "$here/$name.list"
    back_up || fail 7 "no backup in \"$shared\"; nothing was sent"
  fi
  put "$shared/$name.sum" "$sum"
}

begin() {
  put "$here/$name.try" "$this_try $newest $state"
  put "$shared/$name.try" "$this_try open"
}

back_up() { transfers store backup --quiet --force --store "$store" "$shared/$name.db" && sync "$shared"; }

# Runs the engine in the background, so that this shell receives TERM and forwards it. Sets `code`.
work() {
  local copied=() run
  if [[ -e $here/$name.copied ]]; then copied=(--trust-copy); fi
  run=(transfers run "${copied[@]}" "${limits[@]}" --store "$store" --progress none)
  if [[ $verb == pull ]]; then
    # Also in the next run: a run that ended early may not have recorded all files.
    run=(transfers pull --name "$name" --files-from "$shard" "${copied[@]}" "${limits[@]}" --store "$store"
      --progress none "${words[@]}" "$place")
  fi
  code=5
  if [[ $stopping ]]; then return; fi
  local before
  before=$(requests)
  "${run[@]}" &
  engine=$!
  if [[ $stopping ]]; then kill -TERM "$engine" 2>/dev/null || true; fi
  # A trap interrupts `wait`, not the engine.
  while :; do
    code=0
    wait "$engine" || code=$?
    kill -0 "$engine" 2>/dev/null || break
  done
  engine=''
  rm -f "$here/$name.copied"
  if [[ $code == 5 && ! $stopping && $before == *" waiting" && $(requests) == "$before" ]]; then note_idle; fi
}

# The number of requests in the ledger, and whether files wait for a time (Retry-After).
requests() {
  local sql="SELECT (SELECT count(*) FROM v_attempts)
    || iif(EXISTS (SELECT 1 FROM v_files WHERE not_before IS NOT NULL), ' waiting', '') AS requests"
  # Lines of CSV end with CR LF.
  transfers store sql --store "$store" --format csv "$sql" 2>/dev/null | tail -n 1 | tr -d '\r' || true
}

# SHARED/NAME.idle counts the runs of this task that only found that nothing was due; they are not tries.
note_idle() { put "$shared/$name.idle" "$me $(($(idle_runs) + 1))" || true; }

idle_runs() {
  local task='' runs=0
  if [[ -e $shared/$name.idle ]]; then read -r task runs <"$shared/$name.idle" || true; fi
  if [[ $task == "$me" ]]; then echo "$runs"; else echo 0; fi
}

# end_with CODE: keeps the ledger, then ends the task.
end_with() {
  local code=$1 newest_try=''
  read -r newest_try <"$shared/$name.try" || true
  if [[ $newest_try && $newest_try != "$this_try open" ]]; then
    # Its backup must not replace the newer one, which records what was sent since.
    fail 6 "another run of $name has begun meanwhile; the ledger of this one is \"$store\" on $(hostname)"
  fi
  if [[ ! $newest && ! -e $store ]]; then
    # A pull that was refused before it recorded anything.
    rm -f "$shared/$name".{sum,try} "$here/$name".{sum,try}
    finish "$code"
  fi
  # The exit code of the engine counts, even if the shared folder fails now.
  if ! { [[ $newest_try ]] && back_up && put "$shared/$name.try" "$this_try closed" &&
    put "$here/$name.try" "$this_try"; }; then
    printf 'transfers-array: no backup of %s in "%s"; the ledger is "%s" on %s\n' "$name" "$shared" "$store" \
      "$(hostname)" >&2
    if ((code == 0)); then code=7; fi
  fi
  finish "$code"
}

# finish CODE: reports the result to Slurm.
finish() {
  case $1 in
    5 | 130 | 137 | 143) again ;;
    77)
      remark "held: no usable credentials for $name; fix them, then: scontrol release $me"
      hand_over 77 RequeueExitHold requeuehold
      ;;
    *) exit "$1" ;;
  esac
}

# Whether Slurm has begun to preempt this job.
preempted() { [[ $(scontrol show job "$me" 2>/dev/null) =~ PreemptTime=[0-9] ]]; }

again() {
  if ((${SLURM_RESTART_COUNT:-0} + 1 - $(idle_runs) >= tries)); then
    fail 1 "work of $name is left after $tries runs; \"scontrol requeue $me\" continues it"
  fi
  if [[ $stopping ]] && preempted; then
    # A task that exits by itself does not count as preempted, and is not requeued.
    printf 'transfers-array: %s is preempted and waits for Slurm to end it\n' "$name" >&2
    while :; do sleep 10 & wait $! || true; done
  fi
  hand_over 5 RequeueExit requeue
}

# hand_over CODE SETTING VERB: exits with CODE if the site's SETTING acts on it; otherwise asks Slurm for VERB.
hand_over() {
  local setting
  # Without an answer (slurmctld restarts, or is busy) the setting may still act on the exit code.
  setting=$(scontrol show config 2>/dev/null | awk -v name="$2" '$1 == name { print $3 }') || setting=''
  if [[ ,$setting, != *,$1,* ]]; then
    printf 'transfers-array: exit code %d: scontrol %s %s\n' "$1" "$3" "$me" >&2
    # Slurm ends this job when it has received that.
    trap 'exit 0' TERM
    if scontrol "$3" "$me"; then while :; do sleep 10 & wait $! || true; done; fi
  fi
  exit "$1"
}

# remark TEXT: in the log, and in the comment of a task that does not start (squeue --Format=Comment).
remark() {
  [[ ! $1 ]] || printf 'transfers-array: %s\n' "$1" >&2
  scontrol update "JobId=$me" "Comment=$1" >/dev/null 2>&1 || true
}

if [[ ${1:-} == --task ]]; then task "${@:2}"; else exec transfers shard submit --slurm "$@"; fi
