/// `transfers help profiles`.
enum ProfileHelp {
  static let text = """
    A profile describes the protocol of an upload server: which requests are made, which values are extracted from the
    answers, and what status codes mean. It is stored with each batch; later edits do not affect recorded batches.

        transfers push DIR https://host/api --via token-blocks --input app_token=env:APP_TOKEN
        transfers push DIR https://host/api --via mine.yaml
        transfers profile show token-blocks > mine.yaml; transfers profile check mine.yaml
        transfers profile try mine.yaml --file a.bin --to https://host/api

    Top     profile: 1, name, base_url, inputs, file, chunk, auth, headers, session, steps, errors, on_ambiguous_last
    inputs  {name, secret, required, default}; given as NAME=VALUE, or as NAME=env:VARIABLE or NAME=file:PATH, which are
            read when needed, never stored, and required for secrets. Only built-in profiles can read variables themselves
            (listed by transfers profile check NAME)
    file    {min_size, max_size, need: [md5 …]}: digests of the whole file that steps use; the file is read for them
    chunk   {mode: sequential|parallel|single, size: 4MiB or {from: session.NAME}, fixed, min, max, multiple_of, max_count,
            remainder: last_small|last_absorbs, number_base: 0|1, parallel, hash: [crc32 …], idempotent}
    auth    {headers, refresh: STEP}; sent to the destination, and to hosts that the profile names and you allow
    session {ttl, ttl_from: session.NAME}
    steps   init, probe, probe_chunk, make_parent, prepare_chunk, chunk, complete, commit, abort, verify

    A step is {when, method, url, query, headers, body, auth: off, expect: 100|off|auto, timeout: {connect, idle, total},
    success: {status, require}, extract, offset: {from, when}, have, poll: {while, every, max, request}, rules, idempotent}.
    202 is a success of chunk, complete and commit only where success.status names it, or where verify follows.
    A relative url is appended to base_url, or to the destination. idempotent: the request can be repeated safely; GET, HEAD,
    PUT, DELETE and MKCOL are; for the step chunk chunk.idempotent is used, and required for other methods. After a lost
    answer to a step that is not, or to the chunk that completes the file, the server is queried (verify; before commit also
    probe with done); if neither exists, the file is unknown. verify with in_doubt: true is used only then.
    when skips a step; a query that may be skipped is not relied on. For chunk it is evaluated for empty files only: bytes
    are always sent.

    body    kind: none|empty|raw|multipart|form|json|xml|text, with fields or value; {$each: parts, …} produces a list
    extract session.NAME, part.NAME, result.NAME: {json: $.a.b[0] | xml: //a/b | header: NAME | status | regex: "(…)",
            resolve: url, plus: N, type: int|string|time|bool, default, required, when}
    have    offset, next, numbers, ranges_missing, done of a probe; exists of probe_chunk
    require {json|xml|header|body_regex, eq|ne|in|exists|matches, if_present}; a value that equals file.size or a digest is
            the proof; a length or digest missing from the answer is inconclusive, not different. ne needs a value.
            in_doubt (of verify): applies only while it is unknown whether the last step took effect
    rule    {if: {status, json, xml, header, body_regex, curl, seen}, do, set: {offset}, max, delay, note}; without curl
            it matches only answers that arrived
    do      ok, retry, retry_after, reprobe, skip_chunk, set_offset, restart_session, refresh_auth, prepare_again,
            shrink_chunk, make_parents, fail; the first matching rule applies, before those of errors
    on_ambiguous_last  what to do when the answer to the last chunk was lost and its repetition is refused:
            resend (fail), probe, commit_anyway, restart, fail (unknown)

    A profile sends requests to the destination; any other host must be allowed with --allow-host HOST[:PORT]. Built-in
    profiles may also follow an https URL that their server sends, without credentials, and to no address of this machine or
    of a private network unless the destination has one. Nothing ever goes from https to http. "transfers profile check" and
    --dry-run list every host and every environment variable.

    Templates are text with {{…}}: file.name .path .ext .size .mtime .mime .HASH, chunk.index .number .count .start .end
    .end_exclusive .size .nominal_size .first .last .range .HASH, chunks, session.*, part.*, parts, it.*, result.*, input.*,
    parent.path (of make_parent), now, uuid, attempt, with + - * /, comparisons, and, or, not, and filters behind "|":
    urlencode pathencode base64 base64url hex raw upper lower json ascii_json pad(5) int dec default(x) prepend(x) bearer
    join(',') basename ext strip_ext httpdate iso8601 unix_ms. Digests are hexadecimal unless "raw" or "dec" says otherwise;
    crc64 is CRC-64/NVME, quickxor the QuickXorHash of OneDrive.

    Example: chunks in any order, and a merge call.

        profile: 1
        name: mine
        inputs: [{name: token, secret: true, required: true}]
        auth: {headers: {Authorization: "Bearer {{input.token}}"}}
        chunk: {mode: parallel, size: 8MiB, number_base: 0}
        steps:
          chunk: {method: PUT, url: "/up/{{uuid}}/{{chunk.number}}", body: {kind: raw}}
          complete:
            method: POST
            url: "/up/{{uuid}}/merge"
            body: {kind: json, value: {name: "{{file.path}}", chunks: "{{chunks | int}}"}}
            success: {status: [200], require: [{json: $.size, eq: "{{file.size}}"}]}

    """
}
