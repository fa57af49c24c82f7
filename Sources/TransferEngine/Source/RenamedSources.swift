import CSys
import TransferLedger
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The sources of an admission that were sent under other names before. Their content is not compared: inode, size and
/// mtime are those of a done file, and nothing has its path any more.
struct RenamedSources {
  private var count = 0
  private var first: (now: NameBytes, past: RenamedSource)?

  /// Blocking.
  mutating func take(_ one: RenamedSource, now: NameBytes) {
    guard Self.isGone(one.path) else { return }
    count += 1
    if first == nil { first = (now, one) }
  }

  /// nil if there is none.
  var text: String? {
    guard let (now, past) = first else { return nil }
    let files = count == 1 ? "1 file was" : "\(count) files were"
    return "\(files) sent under other names before, and renamed since: \"\(now.embedded)\" is "
      + "\(past.file) (\"\(past.path.embedded)\")\(count > 1 ? ", …" : ""); "
      + "\(count == 1 ? "it is" : "they are") sent again, except with --dedupe"
  }

  private static func isGone(_ path: NameBytes) -> Bool {
    var status = csys_file_status()
    return path.withCString { csys_status_at(AT_FDCWD, $0, 0, &status) } != 0 && (errno == ENOENT || errno == ENOTDIR)
  }
}
