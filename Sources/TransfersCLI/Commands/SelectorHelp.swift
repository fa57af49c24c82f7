/// The help topics about selections: `selectors` and `time`.
enum SelectorHelp {
  static let selectors = """
    status, list, report, follow and every control verb select rows with the same options.

      b12  f345  c9  a77  s4  a batch, a file, a chunk, an attempt, a session; ranges b12-b15 with both ends
      019f3a5b…               the beginning of a uid, 8 hex digits or more
      -                       IDs from standard input, separated by white space or NUL
      --batch b12|NAME        only this batch
      --job NAME              only files and batches recorded by this configured job
      --dest TEXT|GLOB        only transfers to this destination: a part of the destination, or a glob for all of it
      --host GLOB             only transfers to or from this host: up3.example, *.example, 127.0.0.1:8791
      --label KEY=VALUE       only batches with this label
      --path GLOB             only sources with this path; without a leading / or * the end of the path is compared
      --state STATES          settling pending active finishing done paused failed cancelled unknown superseded, or
                                backoff     pending, waiting for its retry time
                                running     active, finishing
                                verifying   finishing
                                unfinished  settling, pending, active, finishing, paused
                                finished    done, failed, cancelled, superseded
      --error GLOB            only failures with this error code: net.*, http.503, source.changed
      --direction up|down     only uploads, or only downloads
      --min-size N  --max-size N  only files of at least or at most this size (inclusive): 0, 4096, 20M
      --slower-than TIME      only ended files that took longer, first attempt to end: 90s, 10m
      --attempts N            only files with this number of attempts: 3, '>3', '<=2', 2-5
      --unverified            only done files that the server confirmed with nothing but success
      --since T  --until T    only this time window; see "transfers help time"
      --last                  only the newest batch
      --all                   everything; required where an empty selection is refused
      --hidden                include files hidden by clean and rm; always on for IDs, wait, gc, reports, and lists of
                                chunks, attempts and events

    Different options are combined with AND, several values of one option with OR:
    "--state failed --error 'http.*' --error 'net.*'" selects files that failed for either reason.
    IDs are one option. Chunk and attempt IDs are for list and show, session IDs for gc.
    In a glob * matches any bytes (also /), ? one character, [a-z] one of these. Quote it for the shell.

    A verb that changes something refuses an empty selection, and prints how many rows --all would change. With -n it
    prints the IDs that it would change. A nonexistent ID, batch or state is a usage error, exit 64; a selection
    without a match prints a note and exits with 0, or 9 with --fail-if-empty.

      transfers list files --state failed --error 'http.5*' --ids | transfers retry -
      transfers pause --host up3.example --now
      transfers cancel --batch nightly --path '*.tmp' -n

    """

  static let time = """
    --since T and --until T define a half-open window: T itself is included by --since, excluded by --until.

      24h  90m  7d  2w  1d12h           this long ago
      today  yesterday                  the beginning of that day
      2026-11-01  "2026-11-01 18:30"    local time, as the tables show it (TZ)
      2026-11-01T18:30:00Z  …+01:00     RFC 3339
      last-run                          the start of the newest run of the engine
      boot                              the start of this machine

    A file or batch counts at the time when it ended, or was added if it has not ended; in reports of files
    and batches --by started, finished or created selects another time, and excludes rows without it. Attempts are in
    the window if they overlap it, events if they were recorded in it.
    A duration (--timeout, --deadline) has the form of the first line: 90s, 30m, 8h. A deadline may also be a time.

    """
}
