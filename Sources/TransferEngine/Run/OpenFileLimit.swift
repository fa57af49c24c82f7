import CSys

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// How many descriptors this process may have (`ulimit -n`), and how many of them are left for transferred files.
public struct OpenFileLimit {
  /// The ledger, its sidecar files, standard streams, folders of a scan, commands.
  private static let others = 64

  let limit: Int

  init(_ limit: Int? = nil) { self.limit = limit ?? Self.ofProcess }

  private static var ofProcess: Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1_024 }
    return Int(clamping: limit.rlim_cur)
  }

  /// The descriptors that remain besides those of the connections and of the folders that the preparing threads have
  /// open: some for each file of a group.
  func files(workers: Int, threads: Int) -> Int {
    let folders = (threads + 1) * 2 * LocalFiles.mostTogether
    return max(Self.fewest, limit - Self.others - workers - folders)
  }

  /// With fewer, some files wait until others are closed, and then continue (`local.fd_limit`).
  private static let fewest = 16

  /// Raises the limit of this process as far as permitted; programs that it starts keep the previous limit.
  public static func raise() { csys_raise_file_limit() }
}
