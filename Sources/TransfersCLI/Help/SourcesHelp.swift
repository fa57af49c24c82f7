/// `transfers help sources`.
enum SourcesHelp {
  static let text = """
    Sources, and the key (path at the destination) of each file

    One source
      transfers push data/ s3://b/in/            data/x/1 -> in/x/1       a folder: its contents, with their tree
      transfers push data/x/1 s3://b/in/         data/x/1 -> in/1         a file: its name
      transfers push data/x/1 s3://b/in/one      data/x/1 -> in/one       no final slash: exactly that name
    A final slash of the source makes no difference.

    Several sources: their paths below the deepest common folder
      transfers push data/a data/b s3://b/in/    data/a/1 -> in/a/1       data/b/1 -> in/b/1
      transfers push data/1 data/2 s3://b/in/    data/1   -> in/1         data/2   -> in/2
      transfers push x/1 y/1 s3://b/in/          x/1      -> in/x/1       y/1      -> in/y/1
    So two files never get the same key. A shell may expand data/* to one source today and to two tomorrow: to keep keys
    stable, name the folder, quote the pattern, or give --base.

    --base FOLDER: the paths below FOLDER, for all sources; each must be below it
      transfers push --base data data/x/1 s3://b/in/      data/x/1 -> in/x/1

    Patterns: a source that does not exist and holds * ? or [ is a pattern. * and ? stop at a slash, ** crosses folders,
    [a-z] and [!a-z] are sets, a backslash escapes the next character. Names that begin with a dot need a dot.
      transfers push 'data/*/*.bin' s3://b/in/   data/x/1.bin -> in/x/1.bin       below the folder before the first wildcard

    Lists: --files-from FILE (one name per line), --files-from0 FILE (NUL-terminated); FILE - or the source - is standard input
      find data -type f -print0 | transfers add --files-from0 - s3://b/in/        data/x/1 -> in/data/x/1
      transfers push --base data --files-from list s3://b/in/                     x/1 (in the list) -> in/x/1
    Relative names are relative to the working folder, or to --base, and are the key. Absolute names keep their full path
    (/data/1 -> in/data/1), or with --base the path below it; both kinds together need --base.
    Each line is a literal name: blank lines are skipped, # and spaces are part of the name. A carriage return at the end of
    a line (CRLF) is removed, with a note, if no file has it in its name. A repeated name counts once.
    A list is read completely before anything is recorded: a missing file exits with 66 (--missing skip: it is recorded as
    failed and the others are sent); a folder, a NUL in a list of lines, or ".." exits with 65.
    A table (.csv, .tsv), JSON lines (.jsonl), a checksum file or --list-format can say more of each file: key, size and
    digest (compared before it is sent), content_type, storage_class, header.NAME and tag.KEY. Lists may be compressed
    with gzip. docs/manifests.md has the columns.

    What the destination has already
      transfers push --known-at inventory/manifest.json data/ s3://b/in/
    Files that an S3 Inventory, or a manifest with paths relative to the destination, lists with the same size and digest
    are not sent, and have no receipt; --known-by size compares sizes only.

    Two files with the same key (possible with a {name} template, and with form+ without {path} in a --field) are an error,
    and nothing is recorded (64).
    --include and --exclude are compared with the path below the base; the first rule that matches decides. A pattern
    without a slash is compared with the last name at any depth: 'logs/' is each folder of this name, '/logs/**' what is
    below the one in the base. An excluded folder is not entered; an include of a folder, 'logs/' or 'logs', takes what is
    below it. Braces are no alternatives: give an option for each pattern.
    Symbolic links, FIFOs, sockets and devices in folders and lists are skipped with a message; --follow-symlinks follows
    links and detects loops. A link that is given as a source is followed.

    Files that are still being written
      transfers push --settle 60s data/ s3://b/in/        sends a file after it has been unchanged for at least 60 s
      transfers push --ready-file '{path}.done' data/ s3://b/in/        sends data/1 when data/1.done exists
    Size, times and inode are compared; the time is measured by a clock that cannot be set. push and run wait for files
    whose time ends within ten minutes, and send others meanwhile; a file that changes twice in that time is left (5).
    With --no-wait-for-settling they leave all such files to a later run, and exit with 0.
    A marker is not sent. {path} is the file, {dir}/ its folder, {name} its name, {stem} its name without its extension.

    Files that grow
      transfers push --growing segments /var/log/app/ s3://b/logs/        sends only what was appended since the last push
    What was appended is an object of its own, named app.log.1795723456789.000000000004096: when the series began, and
    where the object begins. The objects of a series, in the order of their names, are the file. A file that was
    truncated, rewritten or replaced begins the next series; a log that was renamed continues its series. docs/jobs.md
    has the rules.

    Removing sources after they were sent
      transfers push --after delete data/ s3://b/in/
      transfers push --after move:/data-sent data/ s3://b/in/        data/x/1 -> /data-sent/x/1, never replacing a file
    Done after the receipt is recorded, if the server has confirmed at least the size (--after-proof digest: a digest;
    any: only success), if no other batch needs the file, and if it is still the file that was sent. A kept file is
    reported with the reason, and changes no exit code; "transfers status" counts it. The folder must be on the same
    file system, and must not contain the sources; a relative one is below the working folder, and is not allowed in a
    job. An empty marker is removed with its file, and the marker of a folder with the last file in it; a {stem} marker
    and empty folders stay. A list needs --base. A file that one batch deletes and another moves is moved. Files that
    were sent before without --after stay.

    --dry-run (-n) prints what would be sent, with -v also what would not; it changes nothing.

    """
}
