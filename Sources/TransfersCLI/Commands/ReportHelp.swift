enum ReportHelp {
  /// The text of `transfers report --help`.
  static let discussion = """
    Acked bytes are the bytes of chunks that servers acknowledged; transferred bytes are the body bytes of all \
    attempts. The difference, bytes_unacked in documents, was transferred again or not acknowledged. How much a \
    killed engine had transferred is not known: then bytes_unacked is the minimum and bytes_unacked_at_most the \
    maximum. Goodput is acked bytes divided by the time from first start to last end (wall), or by the time in which \
    a request was in flight (active). Percentiles are nearest rank over successful part attempts. A report that \
    could be printed exits with 0.

    summary begins with the three largest costs; documents have all of them. Costs counted as requests are sums over \
    requests of the time spent on connections, on waiting for answers or on bytes that do not count, and over \
    repeated attempts of the wait before them; concurrent requests each count. Costs counted as wall are the time in \
    which files were paused, or in which a batch had work or was between its attempts and no engine ran (or the \
    machine slept), counted once, until the last heartbeat of an engine.

    throughput distributes the bytes of each attempt evenly over its duration. Intervals begin at multiples of \
    --bucket in UTC; an attempt counts where it began, an error in its last millisecond; Workers is the mean number of \
    concurrent attempts. --since and --until set the window.

    batches reports whole batches with at least one selected file. summary, hosts, retries, daily, weekly and \
    monthly count the attempts that overlap the window. Days begin at midnight UTC, weeks on Monday; in these \
    reports files count where they ended, attempts where they began, and the longest batch where its last attempt \
    ended. Errors are attempts that ended with retry, fatal, unknown or crashed; Verified is the share of done files \
    that the server confirmed with more than success. Since, for a host, is the time when a run last stored its \
    concurrency.

    slow lists the files with the longest wall time, from recording to their end: 20, or --limit; --sort orders \
    these. Parts and causes are those of "transfers why".

    latency measures four times: chunk.ack, from the start of the first attempt for a chunk until it is known to be \
    stored; attempt, a successful request for a part; file.wall, a done file since it was recorded; batch.wall, a \
    batch whose files have all ended, from recording to the last end. --by groups them by host, batch, protocol, \
    direction or job; for fewer than 20 values the 95th percentile is the maximum. --sla 'file.wall<10m' (or <=) \
    adds how many met this objective; failed and unfinished files have no latency.

    waste compares the body bytes of attempts with the bytes that servers acknowledged. The rest was sent by \
    attempts that failed, crashed or were interrupted, by successful ones of which the server stored less, or for \
    files that were superseded before they were done; in_flight is still undecided. Efficiency is acked divided by \
    transferred.

    chunks lists the chunks of one file (report chunks f345), at most 10,000 or --limit: when each was first sent, \
    when it was known to be stored, and the status of that answer. The state is the current one; --map prints one \
    character for each.

    After "transfers store prune", sums of the deleted history remain by batch, run and quarter of an hour. summary, \
    failures, hosts, batches, runs, daily, weekly and monthly include them, and every report gives the number of \
    attempts that it could not include.

    integrity counts done files by proof: digest, etag, size, or none (unverified); files that failed because the \
    server has different content; and the findings of the newest "transfers verify", if any.

    compare A B shows two batches or time windows side by side, with the change from A to B, absolute and in percent \
    of A. A and B are b12, the name of a batch, 2026-11-01..2026-11-08 (half-open; either end may be omitted, or be \
    anything of "transfers help time"), a day (today, 2026-11-01), this-week, last-week, this-month, last-month, or \
    7d until now. Other options narrow both; --fail-on applies to B.

    receipts lists how each done file was confirmed, and the findings of later checks; "transfers store receipts" \
    adds proofs. events lists actions of people and engines; its window applies to the time of the event. runs lists \
    when each engine ran, how it ended, and the selected attempts that it began; Recovered are those that were open \
    when it crashed.

    trace writes the attempts to the file of -o, gzipped if its name ends in .gz, for ui.perfetto.dev and \
    chrome://tracing: a track for each host, each of its connections and each file, and for each batch its critical \
    path: backwards from the attempt that ended last, each time to the attempt that had ended last when that one \
    began.

    otlp sends the ended attempts to an OpenTelemetry collector (--endpoint, OTLP over HTTP with JSON), as spans: \
    those of a file form one trace. Requests without an answer, or answered with 429, 502, 503 and 504, are repeated \
    up to five times, each with a message. The method of a request is not recorded, and sent as _OTHER. Rejected spans \
    exit with 3, a refusal with 77 (401, 403) or 78, and a collector that cannot be reached with 78.
    """
}
