import CSys
import TransferModel

/// How many descriptors this process may have (`ulimit -n`), and how many of them are left for transferred files.
public struct OpenFileLimit {
  /// The ledger, its sidecar files, standard streams, folders of a scan, commands.
  private static let others = 64

  private let descriptors: DescriptorLimit
  var limit: Int { descriptors.count }

  init(_ limit: Int? = nil) { descriptors = DescriptorLimit(limit) }

  /// The descriptors that remain besides those of the connections with their threads, and of the folders that the
  /// preparing threads have open: some for each file of a group.
  func files(workers: Int, threads: Int) -> Int {
    let folders = (threads + 1) * 2 * LocalFiles.mostTogether
    return max(Self.fewest, limit - Self.others - workers - descriptors.wakeDescriptors - folders)
  }

  /// With fewer, some files wait until others are closed, and then continue (`local.fd_limit`).
  private static let fewest = 16

  /// Raises the limit of this process as far as permitted; programs that it starts keep the previous limit.
  public static func raise() { csys_raise_file_limit() }
}
