#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Where the engines of this user and host meet that share a rate. It goes with a restart, as they do.
enum RateFolder {
  static var path: String {
    if let folder = Environment.value("XDG_RUNTIME_DIR"), folder.hasPrefix("/") { return "\(folder)/transfers" }
    // That of a login, which a job of cron has, too, without the variable.
    let login = "/run/user/\(geteuid())"
    return access(login, W_OK) == 0 ? "\(login)/transfers" : "/tmp/transfers-\(geteuid())"
  }
}
