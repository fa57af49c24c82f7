import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The file of `prom_file`, which each run of a job replaces.
enum MetricsFile {
  /// How all metrics of this program begin.
  static let beginning = Array("# HELP transfers_".utf8)

  /// Whether nothing is there, or an empty file, or metrics of this program. Any other file would be lost.
  static func mayReplace(_ path: String) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { return errno == ENOENT }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: beginning.count)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    return count == 0 || count == bytes.count && bytes == beginning
  }
}

extension Config {
  /// The files of `prom_file` of all jobs.
  var metricsFiles: [String] { jobs.values.compactMap { $0["prom_file"]?.value } }
}
