import TransferEngine
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Where a secret is, without being one: `env:NAME` or `file:PATH`.
enum SecretReference: Sendable, Hashable, CustomStringConvertible {
  case environment(String)
  case file(String)

  init?(_ text: some StringProtocol) {
    if text.hasPrefix("env:"), Self.isVariable(text.dropFirst(4)) {
      self = .environment(String(text.dropFirst(4)))
    } else if text.hasPrefix("file:"), text.utf8.count > 5 {
      self = .file(String(text.dropFirst(5)))
    } else {
      return nil
    }
  }

  /// A name that every shell can read: what is printed for one must not be anything else to it.
  /// Source: POSIX.1-2017, XBD 3.235 "Name".
  private static func isVariable(_ name: some StringProtocol) -> Bool {
    func isLetter(_ byte: UInt8) -> Bool { byte == 0x5F || (0x41...0x5A).contains(byte & 0xDF) }
    return name.utf8.first.map(isLetter) ?? false
      && name.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) }
  }

  /// As it is stored.
  var text: String {
    switch self {
    case .environment(let name): "env:\(name)"
    case .file(let path): "file:\(path)"
    }
  }

  var description: String {
    switch self {
    case .environment(let name): "the environment variable \(name)"
    case .file(let path): "the file \(path)"
    }
  }

  /// The same with its file from the root, so that a run in another folder finds it.
  var rooted: SecretReference {
    switch self {
    case .environment: self
    case .file(let path): .file(AbsolutePath.of(path))
    }
  }

  /// - Throws: `auth.missing` when there is no secret of one line, saying what is there instead.
  func read() throws(Failure) -> String {
    let text = try content()
    let lines = text.split(whereSeparator: \.isNewline)
    guard let line = lines.first else { throw Failure(.authMissing, "\(self) is empty, and should hold a secret") }
    guard lines.count == 1 else {
      throw Failure(.authMissing, "\(self) has \(lines.count) lines, and a secret is one line")
    }
    return String(line)
  }

  private func content() throws(Failure) -> String {
    switch self {
    case .environment(let name):
      guard let text = Environment.value(name) else { throw Failure(.authMissing, "\(self) is not set, or empty") }
      return text
    case .file(let path):
      guard let bytes = FileText.bytes(path) else {
        throw Failure(.authMissing, "\(self) cannot be read: \(String(cString: strerror(errno)))")
      }
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw Failure(.authMissing, "\(self) is not UTF-8 text")
      }
      return text
    }
  }
}

extension BatchSettings {
  /// The same with every file that it names from the root: what is recorded must not depend on where a later run is
  /// started.
  /// - Throws: `.usage` for a credential that is not a reference.
  func rooted() throws(TransferError) -> BatchSettings {
    var settings = self
    settings.caFile = caFile.map(AbsolutePath.of)
    if let auth {
      let reference = try CredentialReference(parsing: auth)
      settings.auth = CredentialReference(reference.scheme, reference.place.rooted).text
    }
    settings.profile?.secrets = (profile?.secrets ?? [:]).mapValues { SecretReference($0)?.rooted.text ?? $0 }
    return settings
  }
}
