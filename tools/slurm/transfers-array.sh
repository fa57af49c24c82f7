#!/usr/bin/env bash
# Moves the shards of a manifest by an array job of Slurm: one engine and one ledger for each shard.
#
#   transfers-array.sh [options] SHARDS SHARED BASE DEST [-- words of "transfers add"]
#   transfers-array.sh --task VERB SHARDS SHARED PLACE DEST RATE WORKERS TRIES LOCAL [words]
#
# The first is "transfers shard submit --slurm", which puts this script into SHARED and submits it (its --help has all
# options); the second is what Slurm runs for each shard.
#
# What becomes of a task: exit code 5 (work is left) queues it again, 77 (no credentials) holds it, all others are
# final; 1 also when work is left after TRIES runs. TERM (180 s before the time limit, and at a preemption where the
# site has preempt_send_user_signal) lets the running requests end. Each run ends with SHARED/NAME.db, a backup of the
# ledger. A later run goes on with the ledger on its node when nothing newer is known, else with the backup. If another
# node may have sent something after it, what must not be sent twice becomes "unknown" (transfers help resolve).
set -euo pipefail

# fail CODE TEXT
fail() {
  printf 'transfers-array: %s\n' "$2" >&2
  exit "$1"
}

# The shards in their order, as `shards` ("SHA-256  NAME"), from shards.json, which is written last; fails when they are
# no whole set.
list_shards() {
  local index=$1/shards.json count there
  [[ -d $1 ]] || fail 66 "no folder of shards \"$1\"; make it with \"transfers manifest shard M --shards N --into $1\""
  [[ -e $index ]] || fail 66 "\"$1\" has no shards.json and is no whole set; make one with \"transfers manifest shard\""
  mapfile -t shards < <(sed -nE 's/^\{"shard":"(shard-[0-9]+\.jsonl)",.*"sha256":"([0-9a-f]{64})"\},?$/\2  \1/p' "$index")
  count=$(sed -nE 's/^\{"set":"transfers.shards\/1",.*"count":([0-9]+),.*/\1/p' "$index")
  [[ $(tail -n 1 "$index") == "]}" && $count == "${#shards[@]}" ]] || fail 65 "\"$index\" was cut off, or is no index of shards"
  ((${#shards[@]})) || fail 66 "\"$1\" has no shards: the manifest was empty"
  there=$(find "$1" -maxdepth 1 -name 'shard-*.jsonl' | wc -l)
  ((there == count)) || fail 65 "\"$1\" has $there shards, and its index $count: they are of several sets, or some are lost"
}

# task VERB SHARDS SHARED PLACE DEST RATE WORKERS TRIES LOCAL WORD…: one run of the shard SLURM_ARRAY_TASK_ID.
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
    fail 65 "\"$shard\" differs from its index: it was cut off or changed, or is of another set"
  local folder=$9
  shift 9
  words=("$@")
  name=$(basename "$shard" .jsonl)
  if [[ $folder == - ]]; then folder=${SLURM_TMPDIR:-${TMPDIR:-/tmp}}; fi
  # One folder on the node for each shared one, also if that is removed and made again: jobs do not meet.
  [[ -e $shared/id ]] || fail 66 "no \"$shared/id\": the folder was removed; submit again"
  here=$folder/transfers-$(id -u)-$(<"$shared/id")
  (umask 077 && mkdir -p "$here")
  [[ -O $here ]] || fail 77 "\"$here\" belongs to somebody else"
  store=$here/$name.db
  # The task alone: SLURM_JOB_ID of the last one stands for the whole array.
  me=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
  this_try=$me.${SLURM_RESTART_COUNT:-0}.$(hostname).${SLURMD_NODENAME:-}
  newest='' state=''
  engine='' stopping=''
  trap 'stopping=yes; if [[ $engine ]]; then kill -TERM "$engine" 2>/dev/null || true; fi' TERM
  # A shard may be submitted twice. The engine keeps this lock, too.
  exec 9>"$here/$name.task"
  flock -w 60 9 || fail 6 "another task is at work on $name on this node"
  if ((${SLURM_RESTART_COUNT:-0})); then remark ''; fi # what held it is over
  know_shard
  take_ledger
  begin
  work
  end_with "$code"
}

# put FILE TEXT: durably, or not at all.
put() {
  printf '%s\n' "$2" >"$1.new"
  sync "$1.new"
  mv "$1.new" "$1"
  sync "$(dirname "$1")"
}

# Another shard of the same name, or another destination, is other work: the ledger here is not that of it.
know_shard() {
  local sum
  sum=$({ cat "$shard" && printf '%s\0' "$verb" "$place" "$dest" "${words[@]}"; } | sha256sum)
  [[ -e $shared/$name.sum ]] || put "$shared/$name.sum" "$sum"
  [[ $(<"$shared/$name.sum") == "$sum" ]] ||
    fail 64 "\"$shared\" has the ledger of another $name: other files, or another destination; use another folder"
}

# SHARED/NAME.try names the run that had the newest ledger, and says whether it has ended ("closed": the backup has all
# that it did) or not ("open"). Before the first "open" of an upload there is a backup.
# HERE/NAME.try names the run that had the ledger here, and while it begins what SHARED/NAME.try said before.
take_ledger() {
  local last='' before=''
  if [[ -e $shared/$name.try ]]; then read -r newest state <"$shared/$name.try"; fi
  if [[ -e $here/$name.try ]]; then read -r last before <"$here/$name.try"; fi
  if [[ ! $newest ]]; then
    record
  elif [[ -e $store && ($last == "$newest" || $before == "$newest $state") ]]; then
    printf 'transfers-array: %s goes on with the ledger on this node\n' "$name" >&2
  else
    restore "$state"
  fi
}

restore() {
  local old file
  if compgen -G "$store*" >/dev/null; then
    # It may know more. The database goes last: another one would take its write-ahead log for its own.
    old=$(mktemp -d "$here/older-$name.XXXXXX")
    for file in "$store"[.-]* "$store"; do
      if [[ -e $file ]]; then mv "$file" "$old/" || fail 7 "cannot move \"$file\" aside"; fi
    done
    printf 'transfers-array: an older ledger of %s is kept in "%s" on %s\n' "$name" "$old" "$(hostname)" >&2
  fi
  # A pull that was cut off in its first run: what it fetched is known there only.
  [[ -e $shared/$name.db ]] || fail 1 "the ledger of $name is only on the node of its first run: let it run there"
  cp "$shared/$name.db" "$store.new"
  sync "$store.new"
  rm -f "$here/$name.copied"
  # Until an engine has run with it, however often a run ends before that.
  if [[ $1 == closed ]]; then put "$here/$name.copied" "$newest"; fi
  mv "$store.new" "$store"
  if [[ $1 == closed ]]; then
    printf 'transfers-array: %s goes on with the backup, which has all that was sent\n' "$name" >&2
  else
    printf 'transfers-array: %s goes on with a backup that is older than what was sent\n' "$name" >&2
  fi
}

# Records the files of the shard. Killed and repeated it adds what is missing: nothing was sent yet.
record() {
  if [[ $verb == add ]]; then
    # The list is whole before anything is recorded: a shard that was cut off fails here.
    transfers manifest convert "$shard" --to list0 --output "$here/$name.list" || exit
    local code=0 # 3: some files cannot be sent; they are recorded as failed, and the others go out
    transfers add --store "$store" --name "$name" --files-from0 "$here/$name.list" --base "$place" "${words[@]}" \
      "$dest" || code=$?
    ((code == 0 || code == 3)) || finish "$code"
    rm -f "$here/$name.list"
    back_up || fail 7 "no backup in \"$shared\"; nothing was sent"
  fi
}

begin() {
  put "$here/$name.try" "$this_try $newest $state"
  put "$shared/$name.try" "$this_try open"
}

back_up() { transfers store backup --quiet --force --store "$store" "$shared/$name.db" && sync "$shared"; }

# Runs the engine beside this shell, which hears TERM meanwhile and hands it on. Sets `code`.
work() {
  local copied=() run
  if [[ -e $here/$name.copied ]]; then copied=(--trust-copy); fi
  run=(transfers run "${copied[@]}" "${limits[@]}" --store "$store" --progress none)
  if [[ $verb == pull ]]; then
    # Also the next time: one that was ended early may not have recorded all files.
    run=(transfers pull --name "$name" --files-from "$shard" "${limits[@]}" --store "$store" --progress none
      "${words[@]}" "$place")
  fi
  code=5
  if [[ $stopping ]]; then return; fi
  "${run[@]}" &
  engine=$!
  if [[ $stopping ]]; then kill -TERM "$engine" 2>/dev/null || true; fi
  # A trap ends `wait`, not the engine.
  while :; do
    code=0
    wait "$engine" || code=$?
    kill -0 "$engine" 2>/dev/null || break
  done
  engine=''
  rm -f "$here/$name.copied"
}

# end_with CODE: keeps the ledger, then ends the task.
end_with() {
  local code=$1
  if [[ $(<"$shared/$name.try") != "$this_try open" ]]; then
    # Its backup must not take the place of that one's, which says what was sent since.
    fail 6 "another run of $name has begun meanwhile; the ledger of this one is \"$store\" on $(hostname)"
  fi
  if back_up; then
    put "$shared/$name.try" "$this_try closed"
    put "$here/$name.try" "$this_try"
  else
    printf 'transfers-array: no backup of %s in "%s"; the ledger is "%s" on %s\n' "$name" "$shared" "$store" \
      "$(hostname)" >&2
    if ((code == 0)); then code=7; fi
  fi
  finish "$code"
}

# finish CODE: lets Slurm know.
finish() {
  case $1 in
    5 | 130 | 137 | 143) again ;;
    77)
      remark "held: no usable credentials for $name; see to them, then: scontrol release $me"
      hand_over 77 RequeueExitHold requeuehold
      ;;
    *) exit "$1" ;;
  esac
}

# Slurm has begun to preempt this job.
preempted() { [[ $(scontrol show job "$me" 2>/dev/null) =~ PreemptTime=[0-9] ]]; }

again() {
  if ((${SLURM_RESTART_COUNT:-0} + 1 >= tries)); then
    fail 1 "work of $name is left after $tries runs; \"scontrol requeue $me\" lets it go on"
  fi
  if [[ $stopping ]] && preempted; then
    # A task that ends by itself does not count as preempted, and is not queued again.
    printf 'transfers-array: %s is preempted, and waits to be ended\n' "$name" >&2
    while :; do sleep 10 & wait $! || true; done
  fi
  hand_over 5 RequeueExit requeue
}

# hand_over CODE SETTING VERB: exits with CODE where the site's SETTING acts on it; else asks for VERB.
hand_over() {
  local setting
  setting=$(scontrol show config 2>/dev/null | awk -v name="$2" '$1 == name { print $3 }')
  if [[ ,$setting, != *,$1,* ]]; then
    printf 'transfers-array: exit code %d: scontrol %s %s\n' "$1" "$3" "$me" >&2
    # Slurm ends this job when it has heard that.
    trap 'exit 0' TERM
    if scontrol "$3" "$me"; then while :; do sleep 10 & wait $! || true; done; fi
  fi
  exit "$1"
}

# remark TEXT: in the log, and where people look for a task that does not start (squeue --Format=Comment).
remark() {
  [[ ! $1 ]] || printf 'transfers-array: %s\n' "$1" >&2
  scontrol update "JobId=$me" "Comment=$1" >/dev/null 2>&1 || true
}

if [[ ${1:-} == --task ]]; then task "${@:2}"; else exec transfers shard submit --slurm "$@"; fi
