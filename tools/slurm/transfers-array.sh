#!/usr/bin/env bash
# Moves the shards of a manifest with an array job of Slurm: one engine and one ledger for each shard.
#
#   transfers-array.sh [options] SHARDS SHARED BASE DEST [-- arguments of "transfers add"]
#   transfers-array.sh --task VERB SHARDS SHARED PLACE DEST TRIES LOCAL [limits] -- [arguments]
#
# The first is "transfers shard submit --slurm" (see its --help), which puts this script into SHARED and submits it; the
# second is what Slurm runs for each shard.
#
# The end of a task: exit code 5 (work is left) requeues it, 77 (no credentials) holds it, others are final, as is 1 if
# work is left after TRIES runs. TERM (180 s before the time limit, and at a preemption if the site has
# preempt_send_user_signal) lets the running requests end. Each run ends with SHARED/NAME.db, a backup of the ledger. A
# later run continues with the ledger on its node if nothing newer is known, else with the backup; what another node may
# have sent since becomes "unknown" if its request must not be repeated (transfers help resolve).
set -euo pipefail
[[ ${1:-} == --task ]] || exec transfers shard submit --slurm "$@"

say() { printf 'transfers-array: %s\n' "$1" >&2; }
fail() { say "$2"; exit "$1"; }
# put FILE TEXT: writes it durably, or not at all, and fails. Its steps are joined, because bash ignores "set -e" in a
# function that is called in a condition.
put() { printf '%s\n' "$2" >"$1.new" && sync "$1.new" && mv "$1.new" "$1" && sync "$(dirname "$1")"; }

back_up() { transfers store backup --quiet --force --store "$store" "$shared/$name.db" && sync "$shared"; }

# Renews the backup while the engine runs, so that less is repeated after a kill. Its lock is held meanwhile. The engine
# is told to end if Slurm has started another run elsewhere, because it lost this node for a while.
back_up_often() {
  exec 9>&- 8>"$here/saving" {pause}<> <(:)
  while ! read -rt "${SHARD_BACKUP_SECONDS:-900}" -u "$pause"; do
    flock 8
    latest=$(cut -d ' ' -f 1 "$shared/$name.try" 2>/dev/null) || true
    if [[ $latest && $latest != "$this_run" ]]; then kill -TERM "$engine" || true
    elif [[ -s $store ]]; then back_up || true; fi
    flock -u 8
  done
}

# Moves what is on this node aside: its ledger may know more.
set_aside() {
  local old found=("$store"*)
  [[ -e ${found[0]} ]] || return 0
  old=$(mktemp -d "$node/older-$name.XXXXXX")
  mv "$here" "$old/" || fail 7 "cannot move \"$here\" aside"
  mkdir -m 700 "$here"
  say "an older ledger of $name is kept in \"$old\" on $(hostname)"
}

# Records the files of the shard; a pull does that itself. Nothing was sent yet, so that one that was killed, or was
# given another destination, begins again.
record() {
  local code=0
  set_aside
  if [[ $verb == pull ]]; then return; fi
  # 3: some files do not exist any more, are not as the manifest says or cannot be sent; they are recorded as failed,
  # and the others are sent. 4: all are; the backup shows why ("store merge").
  transfers add --store "$store" --name "$name" --missing skip --files-from "$shard" --base "$place" "${words[@]}" \
    "$dest" || code=$?
  if ((code == 0 || code == 3 || code == 4)); then back_up || fail 7 "no backup in \"$shared\"; nothing was sent"; fi
  if ((code != 0 && code != 3)); then finish "$code"; fi
}

restore() {
  set_aside
  # A pull was interrupted in its first run: only that node knows what it fetched.
  [[ -e $shared/$name.db ]] || fail 1 "the ledger of $name is only on the node of its first run: let it run there"
  cp "$shared/$name.db" "$here/copy.db.new"
  sync "$here/copy.db.new"
  mv "$here/copy.db.new" "$store"
  if [[ $state == closed ]]; then
    copy=complete
    say "$name continues with the backup, which contains all that was sent"
  else
    copy=old
    say "$name continues with a backup that is older than what was sent"
  fi
}

# Runs the engine in the background, so that this shell receives TERM and forwards it. Sets `code`.
work() {
  local run=(transfers run) trust=()
  # Also in a later run: one that ended early may not have recorded all files.
  if [[ $verb == pull ]]; then run=(transfers pull --name "$name" --files-from "$shard" "${words[@]}" "$place"); fi
  if [[ $copy == complete ]]; then trust=(--trust-copy); fi
  code=5
  if [[ $stopping ]]; then return; fi
  "${run[@]}" "${trust[@]}" "${limits[@]}" --store "$store" --progress none &
  engine=$!
  back_up_often & saver=$!
  if [[ $stopping ]]; then kill -TERM "$engine" 2>/dev/null || true; fi
  # A trap interrupts `wait`, not the engine.
  while :; do
    code=0
    wait "$engine" || code=$?
    kill -0 "$engine" 2>/dev/null || break
  done
  engine=''
  # Not in the middle of a backup, which would replace the last one.
  { flock 8; kill "$saver" 2>/dev/null || true; } 8>"$here/saving"
  if [[ $copy == complete ]]; then copy=''; fi
  if [[ $code == 5 && ! $stopping ]] && was_idle; then idle=$((idle + 1)); fi
}

# Whether the last run only found that nothing was due yet (Retry-After).
was_idle() {
  local sql='SELECT EXISTS (SELECT 1 FROM v_files WHERE not_before IS NOT NULL) AND (SELECT max(id) FROM v_runs) >
    (SELECT run_id FROM v_attempts ORDER BY id DESC LIMIT 1) AS idle'
  [[ $(transfers store sql --store "$store" --format csv "$sql" 2>/dev/null) == *$'\n1'* ]]
}

keep() {
  local latest='' state=closed
  read -r latest _ <"$shared/$name.try" || true
  # Its backup must not replace the newer one, which records what was sent since.
  [[ ! $latest || $latest == "$this_run" ]] || fail 6 "$begun"
  if [[ $copy == old ]]; then state=open; fi
  if [[ $newest == none && ! -e $store ]]; then
    # A pull that was refused before it recorded anything.
    rm -f "$shared/$name.try" "$here/try"
  elif ((code == 7)) && ! transfers store check --quiet --store "$store"; then
    say "the ledger \"$store\" on $(hostname) is damaged; the backup stays as it was"
  elif ! { [[ $latest ]] && back_up && put "$shared/$name.try" "$this_run $state $idle $sum" &&
    put "$here/try" "$this_run - $copy"; }; then
    say "no backup of $name in \"$shared\"; the ledger is \"$store\" on $(hostname)"
    # The exit code of the engine counts, even if the shared folder fails now.
    if ((code == 0)); then code=7; fi
  fi
}

# finish CODE: reports the result to Slurm.
finish() {
  case $1 in
    5 | 129 | 1[3-9]?)
      ((restart + 1 - idle < tries)) ||
        fail 1 "work of $name is left after $tries runs; \"scontrol requeue $me\" continues it"
      if [[ $stopping && $(scontrol show job "$me" 2>/dev/null) =~ PreemptTime=[0-9] ]]; then
        # A task that exits by itself does not count as preempted, and is not requeued.
        say "$name is preempted and waits for Slurm to end it"
        wait_for_slurm
      fi
      hand_over 5 RequeueExit requeue
      ;;
    77)
      remark "held: no usable credentials for $name; fix them, then: scontrol release $me"
      hand_over 77 RequeueExitHold requeuehold
      ;;
  esac
  exit "$1"
}

wait_for_slurm() { while :; do sleep 10 & wait $! || true; done; }

# remark TEXT: in the log, and in the comment of a task that does not start (squeue --Format=Comment).
remark() {
  if [[ $1 ]]; then say "$1"; fi
  scontrol update "JobId=$me" "Comment=$1" >/dev/null 2>&1 || true
}

# hand_over CODE SETTING VERB: exits with CODE if the site's SETTING acts on it; otherwise asks Slurm for VERB.
hand_over() {
  local setting
  # Without an answer (slurmctld restarts, or is busy) the setting may still act on the exit code.
  setting=$(scontrol show config 2>/dev/null | awk -v name="$2" '$1 == name { print $3 }') || setting=''
  if [[ ,$setting, != *,$1,* ]]; then
    say "exit code $1: scontrol $3 $me"
    # Slurm ends this job when it has received that.
    trap 'exit 0' TERM
    if scontrol "$3" "$me"; then wait_for_slurm; fi
  fi
  exit "$1"
}

engine='' stopping=''
trap 'stopping=yes; [[ ! $engine ]] || kill -TERM "$engine" 2>/dev/null || true' TERM
verb=$2 shards=$3 shared=$4 place=$5 dest=$6 tries=$7 node=$8
shift 8
limits=()
while [[ $1 != -- ]]; do limits+=("$1") && shift; done
words=("${@:2}")
# The ID of this task alone: SLURM_JOB_ID of the last task stands for the whole array.
me=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
restart=${SLURM_RESTART_COUNT:-0}
this_run=$me.$restart.$(hostname).${SLURMD_NODENAME:-}

# "shard submit" has checked the whole set.
entry=$(sed -nE 's/^\{"shard":"(shard-[0-9]+\.jsonl)",.*"sha256":"([0-9a-f]{64})"\},?$/\2  \1/p' "$shards/shards.json" |
  awk -v "task=$SLURM_ARRAY_TASK_ID" 'NR == task') || fail 66 "no index of shards \"$shards/shards.json\""
[[ $entry ]] || fail 66 "no shard $SLURM_ARRAY_TASK_ID in \"$shards/shards.json\""
shard=$shards/${entry##* }
(cd "$shards" && sha256sum --check --status <<<"$entry") ||
  fail 65 "\"$shard\" differs from its index: it is truncated or changed, or belongs to another set"
name=$(basename "$shard" .jsonl)

# One folder on the node for each shared one, even if that is removed and created again, so that jobs do not collide.
[[ -e $shared/id ]] || fail 66 "no \"$shared/id\": the folder was removed; submit again"
if [[ $node == - ]]; then node=${SLURM_TMPDIR:-${TMPDIR:-/tmp}}; fi
node=$node/transfers-$(id -u)-$(<"$shared/id") here=$node/$name store=$here/$name.db
begun="another run of $name has begun meanwhile; the ledger of this one is \"$store\" on $(hostname)"
(umask 077 && mkdir -p "$node")
[[ -O $node ]] || fail 77 "\"$node\" belongs to somebody else"
# A shard may be submitted twice. The engine keeps this lock, too.
exec 9>"$node/$name.task"
flock -w 60 9 || fail 6 "another task works on $name on this node"
[[ -d $here ]] || mkdir -m 700 "$here"
if ((restart)); then remark ''; fi # it is no longer held

# What a ledger is for. The options of a pull apply to each run and may change; those of an upload are recorded with the
# files.
recorded=("$verb" "$place" "$dest")
if [[ $verb == add ]]; then recorded+=("${words[@]}"); fi
sum=$({ cat "$shard" && printf '%s\0' "${recorded[@]}"; } | sha256sum)
sum=${sum%% *}

# SHARED/NAME.try is "RUN STATE IDLE SUM": the run that had the newest ledger; whether it has ended ("closed": the
# backup contains all that was sent) or not ("open"); how many runs of its task were idle; what the ledger is for. It is
# first written when the files are recorded: until then, a call with another destination is a correction.
# HERE/try is "RUN BEFORE COPY": the run that had the ledger here; while it starts, RUN and STATE of SHARED/NAME.try
# before it; "complete" until an engine has run with a complete backup, "old" for good after one that was not: some of
# its files may have been sent by a node that was killed, and no later backup knows which.
newest=none state=none idle=0 known=$sum last='' before='' copy=''
if [[ -e $shared/$name.try ]]; then read -r newest state idle known <"$shared/$name.try"; fi
if [[ -e $here/try ]]; then read -r last before copy <"$here/try"; fi
[[ $known == "$sum" ]] || fail 64 "\"$shared\" has the ledger of another $name: other files, another destination or \
other options of add; use another folder"
if [[ $newest != "$me".* ]]; then idle=0; fi
if [[ $newest == none ]]; then
  record
elif [[ -e $store && ($last == "$newest" || $before == "$newest,$state") ]]; then
  say "$name continues with the ledger on this node"
else
  restore
fi
[[ $(cut -d ' ' -f 1 "$shared/$name.try" 2>/dev/null || echo none) == "$newest" ]] || fail 6 "$begun"
put "$here/try" "$this_run $newest,$state $copy"
put "$shared/$name.try" "$this_run open $idle $sum"
work
keep
finish "$code"
