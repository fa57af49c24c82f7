import TransferModel
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The program and the libraries that it runs with.
enum ProgramChecks {
  static func all(_ facts: MachineFacts) -> [DoctorFinding] {
    [
      .ok("version.transfers", "transfers \(TransferClient.version), built with Swift \(facts.swift)"), curl(facts),
      sqlite(facts),
      trust(facts),
    ]
  }

  private static func curl(_ facts: MachineFacts) -> DoctorFinding {
    guard let version = facts.curl else {
      let problem = facts.curlProblem
      return .fail("version.libcurl", printable(problem?.cause ?? "not there"), problem?.remedy ?? "install libcurl")
    }
    let interesting = ["AsynchDNS", "HTTP2", "HTTP3", "IPv6", "UnixSockets", "brotli", "zstd"]
    let features =
      facts.curlFeatures.isEmpty ? "" : "; " + facts.curlFeatures.filter(interesting.contains).joined(separator: " ")
    guard let tls = facts.tls else {
      return .fail(
        "version.libcurl", "libcurl \(version) without TLS", "install a libcurl that is built with OpenSSL")
    }
    let text = "libcurl \(version), \(tls)\(features)"
    if !facts.curlFeatures.isEmpty, !facts.curlFeatures.contains("AsynchDNS") {
      return .warn(
        "version.libcurl", text,
        "use a libcurl with AsynchDNS: otherwise name servers that do not answer block all requests")
    }
    return .ok("version.libcurl", text)
  }

  private static func sqlite(_ facts: MachineFacts) -> DoctorFinding {
    guard facts.sqliteHasWALResetBug else { return .ok("version.sqlite", "SQLite \(facts.sqlite)") }
    return .warn(
      "version.sqlite",
      "SQLite \(facts.sqlite) can lose commits when one process checkpoints while another writes (WAL-reset bug)",
      "transfers prevents this between its own processes; let no other program write to the ledger; SQLite 3.51.3 is not affected"
    )
  }

  /// A file with at least one certificate, or a directory that is not empty.
  private static func trust(_ facts: MachineFacts) -> DoctorFinding {
    let remedy = "install ca-certificates, or name a PEM file in SSL_CERT_FILE or with --ca-file"
    guard let place = facts.caPlace else {
      return .fail("tls.trust", "no certificate authorities are known to libcurl", remedy)
    }
    let name = "\(NameBytes(place)) (\(facts.caOrigin))"
    var status = stat()
    guard stat(place, &status) == 0 else {
      return .fail("tls.trust", "\(name): \(printable(systemText(errno)))", remedy)
    }
    if status.st_mode & S_IFMT == S_IFDIR {
      return .ok("tls.trust", "certificate authorities in the directory \(name)")
    }
    guard let count = certificates(place) else {
      return .fail("tls.trust", "\(name): \(printable(systemText(errno)))", remedy)
    }
    return count > 0
      ? .ok("tls.trust", "\(count) certificate authorities in \(name)")
      : .fail("tls.trust", "\(name) holds no certificate", remedy)
  }

  private static func certificates(_ path: String) -> Int? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var count = 0
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      if strncmp(line, "-----BEGIN CERTIFICATE", 22) == 0 || strncmp(line, "-----BEGIN TRUSTED CERT", 23) == 0 {
        count += 1
      }
    }
    return count
  }
}
