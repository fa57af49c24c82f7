/// The long part of `--help`.
enum ReceiverHelp {
  static let text = [plain, protocols, script, record].joined(separator: "\n\n")

  private static let plain = """
    Prints its URL when it is ready; SIGTERM or SIGINT stops it. With U=$(the
    URL):

      curl -T a.bin "$U/in/a.bin"
          store durably: 201 new, 204 replaced
      curl -T a.bin -H 'If-None-Match: *' "$U/in/a.bin"
          store unless the name is taken: 412
      curl -T - "$U/in/b.bin" < b.bin                    chunked body
      curl -T a.bin -H 'Repr-Digest: crc32c=:yZRlqg==:' "$U/in/a.bin"
          compare crc32c (RFC 9530): 400 when it differs
      curl --data-binary @a.bin "$U/in/"
          POST: a new object in/<number> each time, named in Location
      curl --data-binary @a.bin "$U/in/?name=a.bin"      POST as in/<number>-a.bin
      curl "$U/in/a.bin"
          fetch, with ETag "<crc32c>-<size>" and Repr-Digest
      curl -r 100-199 "$U/in/a.bin"
          one range; If-Range (ETag or date) is honoured
      curl -I "$U/in/a.bin"                              HEAD
      curl -X MKCOL "$U/new/"
          collection: 201, 405 taken, 409 no parent
      curl -X PROPFIND -H 'Depth: 1' "$U/in/"
          contents of a collection (WebDAV)
      curl "$U/in?list-type=2"
          all objects below it, in pages (ListObjectsV2)
      curl -X DELETE "$U/in/a.bin"
          remove object or empty collection: 204
    """

  private static let script = """
    Script (--script), one rule per line; the first rule that hits a request
    applies:

      match METHOD PATH [nth=N | every=N | p=X] [per=path] [times=T] : ACTION...
      match PUT /in/* nth=3 : status=503 retry-after=2 times=2
      match PUT * p=0.1     : cut-after=65536

      hold=NAME  late-hold=NAME  body-hold=N,NAME
      latency=MS  late-latency=MS  status=CODE  early-status=CODE
      late-status=CODE  retry-after=TEXT  redirect=URL
      cut-after=N  reset-after=N  stall=N,SECONDS  slow=BYTES_PER_S
      lose-answer  truncate-answer  garbage  wrong-digest
      forget-session  wrong-offset=N  forget-offset  offset-past-end
      locked=TIMES  no-104  bad-location=URL  html
      token=TEXT  limit=N
      version=N  wrong-byte=N  ignore-range  ignore-condition
      content-range=TEXT  earlier=N  parts=N
      field=NAME:VALUE  weak-etag  omit=NAME,...
      no-length  chunked

      METHOD and PATH may be *; PATH is compared as sent, percent-encoded. N
      counts body bytes (of the answer for GET); cut and reset keep nothing of a
      plain body, otherwise what the protocol keeps; lose-answer stores, then
      closes without an answer; late-status stores, then answers CODE;
      late-latency stores, and waits before it answers.

      hold, late-hold and body-hold wait as latency, late-latency and stall do,
      but until a test releases NAME (letters, digits, minus signs). A held
      request ends when its connection is closed. A test waits until N requests
      (default 1) are held at the same time, 410 when they were released
      meanwhile, and releases all of them and all later ones:

        curl "$U/-/holds/NAME?count=N"
        curl -X DELETE "$U/-/holds/NAME"

      From forget-session to limit for uploads of several requests: the upload
      becomes unknown (404), loses its last N bytes and reports that, reports that
      nothing is stored, announces an offset past its end, answers 423, sends no
      interim answers, another Location, an HTML page, TEXT as token or ID, 413
      above N bytes. From version to parts for GET: version N (1 to 255) of the
      object instead of the stored one, a wrong byte at offset N, 200 with the
      whole object, the object despite a condition, another Content-Range, a range
      that begins N bytes earlier, an object that was uploaded in parts of N bytes
      (HEAD with partNumber describes one). Then for all answers: another value of
      a field, a weak ETag, without these fields, without Content-Length, in
      chunks.
    """

  private static let record = """
    Record (--record), one JSON object per line, written before the answer leaves;
    all have t, at_ms, conn, req and, except open, path_b64 (base64 of the decoded
    path below the folder):

      open   pid seed                a receiver began to write
      start  method declared         request head; declared is Content-Length or -1
      fault  line effect             this line of the script is applied
      bytes  offset length [crc32c]  body bytes received, complete or cut
      commit size [crc32c]           complete under its final name
      delete, mkcol                  removed, made
      session protocol id state      an upload was opened, completed, aborted,
                                     expired or forgotten
      joined from_b64 offset length  bytes recorded under another path are now
                                     here in the object
      answer status                  about to be sent
      lost   status cause            not (completely) sent
    """
}
