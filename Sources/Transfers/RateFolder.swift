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
