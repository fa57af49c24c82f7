/// `transfers help formats` and `transfers help json`.
enum FormatHelp {
  static let formats = """
    --format FORM prints the same figures in one of these formats; --json is --format json.

      table     for people: sizes as 3.2 GiB, times in local time, names escaped; may change at any time
      json      one document; see "transfers help json"
      ndjson    one JSON record per line, row by row, then one of type "summary"
      csv       RFC 4180: a header, lines ending with CRLF, quotes only where needed
      tsv       a header, tabs; \\t \\n \\r \\\\ and \\xNN stand for control characters and backslashes
      markdown  headings, lists and tables for GitHub and GitLab
      html      one self-contained page: charts, tables that can be sorted and filtered; for -o FILE
      prometheus  metrics in the text format 0.0.4, for node_exporter's textfile collector; for reports, not for lists

    csv and tsv: plain numbers, sizes in bytes, times RFC 3339 UTC; unknown values are empty; labels are a JSON object.
    Each column of names has a second one, path_b64, with the exact bytes of a name that is not UTF-8. Results that are not
    lists (status, show, a summary) have two columns, key and value, one figure per line: "files.done", "chunks.0.id".
    Cells that begin with = + - or @ are left as they are: import such a file as text, do not open it in a spreadsheet.

    --columns a,b chooses columns by their names in JSON, in that order; --json=a,b does both. A part of a document is
    selected by its path: transfers status --columns files.failed,engine.alive

    -o FILE, --output FILE writes a temporary file beside FILE, syncs it and renames it: FILE has the complete result or
    its previous content. Its mode is 0600 less the umask. "-" is standard output; a device or a pipe is written directly.
    Commands that send or fetch files replace only an earlier result of such a command, and no FILE among their sources or
    in the folder of their downloads.

      transfers report files --format csv -o sent.csv
      transfers list files --state failed --format ndjson | jq -r 'select(.type=="file").path'

    """

  static let json = """
    "transfers store schema --json" prints the JSON Schema of each document.
    A document is one line (a list has a line for each row inside):
      {"schema":"transfers.status/3","generated_at":…,"store":{"path":…,"uid":…,"schema_version":…},
       "filters":{…},"data":…}
    data is an object, or an array with an object for each row. Keys are sorted.

    Within a schema number, fields and enumeration values may be added; none is renamed or changes its type.
    Numbers are numbers. Sizes are bytes, *_ms milliseconds, *_bps bytes a second. Times (*_at) are RFC 3339 UTC with
    milliseconds. Unknown values are null, never 0.
    File names are bytes: in one that is not UTF-8 invalid bytes are U+FFFD, and a second member with the name
    <key>_b64 holds its exact bytes in base64.

    --format ndjson prints records, one a line, for streams. Every record has "type": "batch", "file", "chunk",
    "attempt", "failure" …, and at the end "summary" with the number of rows and the head of the document: without it
    the stream was truncated. A result that is not a list is one record. A row with a figure "type" names it <type>_type.

    A command that does not exit with 0 prints as the last line of standard error
      {"type":"exit","code":3,"name":"partial","error":…,"message":…,"remedy":…,"retryable":false}

    Public SQL views have the same figures: transfers store schema

    """
}
