/// The help topics about what a command is told: `selectors` and `time`.
enum SelectorHelp {
  static let selectors = """
    One grammar says which rows a command is about, for status, list, report, follow and every control verb.

      b12  f345  c9  a77  s4  a batch, a file, a chunk, an attempt, a session; ranges b12-b15 with both ends
      019f3a5b…               the beginning of a uid, 8 hex digits or more
      -                       ids from standard input, separated by white space or NUL
      --batch b12|NAME        only what is in this batch
      --job NAME              only what this configured job recorded
      --dest TEXT|GLOB        only transfers to this destination: a part of the destination, or a glob for all of it
      --host GLOB             only what goes to this host: up3.example, *.example, 127.0.0.1:8791
      --label KEY=VALUE       only batches with this label
      --path GLOB             only sources with this path; without / or * in front the end of the path is meant
      --state STATES          settling pending active finishing done paused failed cancelled unknown superseded, or
                                backoff     pending, but not before a time
                                running     active, finishing
                                verifying   finishing
                                unfinished  settling, pending, active, finishing, paused
                                finished    done, failed, cancelled, superseded
      --error GLOB            only what failed like this: net.*, http.503, source.changed
      --direction up|down     only uploads, or only downloads
      --min-size N  --max-size N  only files of this size or more, or less: 0, 4096, 20M; both ends belong to it
      --slower-than TIME      only files at rest that took longer, first attempt to end: 90s, 10m
      --attempts N            only files with so many attempts: 3, '>3', '<=2', 2-5
      --unverified            only done files of which the server showed no more than success
      --since T  --until T    only what falls into this time; see "transfers help time"
      --last                  only the newest batch
      --all                   everything; required where an empty selection is refused
      --hidden                also what clean and rm have hidden; always there for ids, wait, gc, reports, and lists of
                                chunks, attempts and events

    Different kinds narrow each other; several of one kind add up: "--state failed --error 'http.*' --error 'net.*'"
    are files that failed for either reason. Ids are one kind. Chunks and attempts are ids for list and show, sessions for gc.
    In a glob * stands for any bytes (also /), ? for one character, [a-z] for one of these. Quote it for the shell.

    A verb that changes something refuses an empty selection, and says how many rows --all would touch. With -n it
    prints the ids that it would change. What is not there (an id, a batch, a state) is wrong use, exit 64; a selection
    that matches nothing is said and exits 0, or 9 with --fail-if-empty.

      transfers list files --state failed --error 'http.5*' --ids | transfers retry -
      transfers pause --host up3.example --now
      transfers cancel --batch nightly --path '*.tmp' -n

    """

  static let time = """
    --since T and --until T mark a half-open window: what happens at T itself belongs to --since T.

      24h  90m  7d  2w  1d12h           that long ago
      today  yesterday                  the beginning of that day
      2026-11-01  "2026-11-01 18:30"    local time, as the tables show it (TZ)
      2026-11-01T18:30:00Z  …+01:00     RFC 3339
      last-run                          the start of the newest run of the engine
      boot                              the start of this machine

    A file or batch is placed by when it came to rest and, while it has not, by when it was added; in reports of files
    and batches --by started, finished or created asks for another time, which what has none is not in. Attempts are in
    the window when they overlap it, events when they were recorded in it.
    A time span (--timeout, --deadline) is written like the first line: 90s, 30m, 8h. A deadline may also be a time.

    """
}
