/// `transfers help sources`.
enum SourcesHelp {
  static let text = """
    What is sent, and which key (path at the destination) each file gets

    One source
      transfers push data/ s3://b/in/            data/x/1 -> in/x/1       a folder: what is in it, with its tree
      transfers push data/x/1 s3://b/in/         data/x/1 -> in/1         a file: its name
      transfers push data/x/1 s3://b/in/one      data/x/1 -> in/one       no final slash: exactly that name
    A final slash of the source makes no difference.

    Several sources: their paths below the deepest folder that holds all of them
      transfers push data/a data/b s3://b/in/    data/a/1 -> in/a/1       data/b/1 -> in/b/1
      transfers push data/1 data/2 s3://b/in/    data/1   -> in/1         data/2   -> in/2
      transfers push x/1 y/1 s3://b/in/          x/1      -> in/x/1       y/1      -> in/y/1
    So two files never get one key. What a shell makes of data/* can be one source today and two tomorrow: name the
    folder, quote the pattern, or give --base where keys must stay the same.

    --base FOLDER: the paths below FOLDER, whatever is named; everything must be below it
      transfers push --base data data/x/1 s3://b/in/      data/x/1 -> in/x/1

    Patterns: a source that does not exist and holds * ? or [ is a pattern. * and ? stop at a slash, ** crosses folders,
    [a-z] and [!a-z] are sets, a backslash takes the next character as it is. Names that begin with a dot need a dot.
      transfers push 'data/*/*.bin' s3://b/in/   data/x/1.bin -> in/x/1.bin       below the folder before the first wildcard

    Lists: --files-from FILE (one name a line), --files-from0 FILE (a NUL behind each), FILE - or the source - is standard input
      find data -type f -print0 | transfers add --files-from0 - s3://b/in/        data/x/1 -> in/data/x/1
      transfers push --base data --files-from list s3://b/in/                     x/1 (in the list) -> in/x/1
    Relative names are relative to the working folder, or to --base, and are the key. Names from the root keep all of their
    path (/data/1 -> in/data/1), or with --base what is below it; both kinds together need --base.
    Each line is a name as it is: blank lines are skipped, # and spaces are part of the name. A carriage return at the
    end of a line (CRLF) is dropped, with a remark, when no file has it in its name. A name that comes again counts once.
    A list is checked to its end before anything is recorded: a file that is not there ends with 66 (--missing skip: it is
    recorded as failed and the others go on); a folder, a NUL in a list of lines, or ".." ends with 65.

    Two files with one key (possible with a {name} template, and with form+ where no --field says {path}) are an error
    before anything is recorded (64).
    --include and --exclude are compared with the path below the base; the first rule that matches decides.
    Symbolic links, FIFOs, sockets and devices in folders and lists are skipped with a line; --follow-symlinks follows
    links and notices loops. A link that is named as a source is followed.

    Files that are still being written
      transfers push --settle 60s data/ s3://b/in/        sends a file when two looks, 60 s apart or more, saw the same
      transfers push --ready-file '{path}.done' data/ s3://b/in/        sends data/1 when data/1.done is there
    Size, times and inode are compared; the time is measured by a clock that nobody can set. push and run wait for files
    whose time ends within ten minutes, and send others meanwhile; a file that changes twice while they wait is left (5).
    With --no-wait-for-settling they leave all of them to a later run, and exit with 0.
    A marker is not sent. {path} is the file, {dir}/ its folder, {name} its name, {stem} its name without its extension.

    Files that go when they were sent
      transfers push --after delete data/ s3://b/in/
      transfers push --after move:/data-sent data/ s3://b/in/        data/x/1 -> /data-sent/x/1, never replacing a file
    Done after the receipt is recorded, when the server has confirmed at least the size (--after-proof digest: a digest;
    any: only success), when no other batch needs the file, and when it is still what was sent. A file that is kept is
    told with its reason, and changes no exit code; "transfers status" counts it. The folder must be on the same file
    system, and not hold the sources; a relative one is below the working folder, and a job takes none. An empty marker
    goes with its file, that of a folder with the last file in it; a {stem} marker and empty folders stay. A list needs
    --base. What one batch deletes and another moves is moved. Files that were sent before without --after stay.

    --dry-run (-n) shows what would be done, and -v also what would not; it writes nothing.

    """
}
