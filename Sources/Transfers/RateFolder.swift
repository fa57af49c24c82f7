import TransferEngine
package import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The folder through which engines of this user and host share a rate. It does not survive a reboot, and neither do
/// they.
enum RateFolder {
  static var path: String {
    if let folder = Environment.value("XDG_RUNTIME_DIR"), folder.hasPrefix("/") { return "\(folder)/transfers" }
    // The runtime folder of a login; cron jobs can use it too, although they lack the variable.
    let login = "/run/user/\(geteuid())"
    return access(login, W_OK) == 0 ? "\(login)/transfers" : "/tmp/transfers-\(geteuid())"
  }
}

extension TransferStore {
  /// Joins a rate group and leaves it again.
  /// - Throws: `.usage` for an invalid name; an error of the folder if it cannot be used.
  package static func checkRateGroup(_ name: String) throws(TransferError) {
    try SharedRate(name, in: RateFolder.path).leave()
  }
}
