import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file with the certificate authorities to trust.
enum TrustFile {
  /// - Parameter name: the option or variable that names the file.
  /// - Throws: `.config` when it cannot be read or contains no PEM certificate. Nothing else is checked.
  static func check(_ path: String, namedBy name: String) throws(TransferError) {
    let bytes: [UInt8]
    do throws(FileText.Unreadable) { bytes = try FileText.read(NameBytes(path)) } catch {
      throw self.error(path, name, "it cannot be read: \(error.cause)")
    }
    // RFC 7468 section 5.1; OpenSSL also writes TRUSTED CERTIFICATE and X509 CERTIFICATE.
    let isPEM = bytes.split(separator: 0x0A).contains { line in
      line.starts(with: Array("-----BEGIN ".utf8)) && line.contains(Array(" CERTIFICATE-----".utf8))
        || line.starts(with: Array("-----BEGIN CERTIFICATE-----".utf8))
    }
    guard isPEM else { throw error(path, name, "it contains no PEM certificate") }
  }

  private static func error(_ path: String, _ name: String, _ cause: String) -> TransferError {
    TransferError(
      .config, "read \(name)", NameBytes(path), cause: cause,
      remedy: "name a PEM file of certificate authorities, or leave \(name) out to trust those of the system")
  }
}
