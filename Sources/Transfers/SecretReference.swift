import TransferEngine
import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A reference to a secret, not itself secret: `env:NAME`, `file:PATH`, `command:PROGRAM ARGUMENTS`, or
/// `credential:NAME` for a credential that systemd passes to a service (`LoadCredential=`).
enum SecretReference: Sendable, Hashable, CustomStringConvertible {
  case environment(String)
  case file(String)
  /// The command as it was written; see ``ShellWords``.
  case command(String)
  case credential(String)

  init?(_ text: some StringProtocol) {
    if text.hasPrefix("env:"), Self.isVariable(text.dropFirst(4)) {
      self = .environment(String(text.dropFirst(4)))
    } else if text.hasPrefix("file:"), text.utf8.count > 5 {
      self = .file(String(text.dropFirst(5)))
    } else if text.hasPrefix("command:"), Self.isCommand(text.dropFirst(8)) {
      self = .command(String(text.dropFirst(8)))
    } else if text.hasPrefix("credential:"), Self.isCredentialName(text.dropFirst(11)) {
      self = .credential(String(text.dropFirst(11)))
    } else {
      return nil
    }
  }

  /// The program must be a name in `PATH` or an absolute path, because a later run may be started in another folder.
  private static func isCommand(_ text: some StringProtocol) -> Bool {
    guard let program = ShellWords.split(String(text))?.first else { return false }
    return !program.isEmpty && (program.hasPrefix("/") || !program.utf8.contains(0x2F))
  }

  /// One component of a path. Source: systemd.exec(5), "LoadCredential=".
  private static func isCredentialName(_ name: some StringProtocol) -> Bool {
    (1...255).contains(name.utf8.count) && !name.hasPrefix(".")
      && name.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
      }
  }

  /// A name that is valid in every shell: text printed for a shell must not mean anything else to it.
  /// Source: POSIX.1-2017, XBD 3.235 "Name".
  private static func isVariable(_ name: some StringProtocol) -> Bool {
    func isLetter(_ byte: UInt8) -> Bool { byte == 0x5F || (0x41...0x5A).contains(byte & 0xDF) }
    return name.utf8.first.map(isLetter) ?? false
      && name.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) }
  }

  /// The text as it is stored.
  var text: String {
    switch self {
    case .environment(let name): "env:\(name)"
    case .file(let path): "file:\(path)"
    case .command(let command): "command:\(command)"
    case .credential(let name): "credential:\(name)"
    }
  }

  var description: String {
    switch self {
    case .environment(let name): "the environment variable \(name)"
    case .file(let path): "the file \(path)"
    case .command(let command): "the command \(ShellWords.split(command)?.first ?? "")"
    case .credential(let name): "the credential \(name) of the service"
    }
  }

  /// The same with an absolute path of its file, so that a run in another folder finds it.
  var rooted: SecretReference {
    switch self {
    case .environment, .command, .credential: self
    case .file(let path): .file(AbsolutePath.of(path))
    }
  }

  /// - Parameters:
  ///   - limitMs: how long a command may take, in milliseconds.
  ///   - isOver: called while a command runs; true when nobody waits any longer.
  /// - Throws: `auth.missing` when the secret is not exactly one line, with a description of what was found.
  func read(
    limitMs: Int64 = RunningCommand.credentialLimitMs, isOver: () -> Bool
  ) throws(Failure) -> String {
    let text = try content(limitMs, isOver)
    let lines = text.split(whereSeparator: \.isNewline)
    guard let line = lines.first else { throw Failure(.authMissing, "\(self) is empty; it must contain a secret") }
    guard lines.count == 1 else {
      throw Failure(.authMissing, "\(self) has \(lines.count) lines; a secret must be one line")
    }
    return String(line)
  }

  private func content(_ limitMs: Int64, _ isOver: () -> Bool) throws(Failure) -> String {
    switch self {
    case .environment(let name):
      guard let text = Environment.secret(name) else {
        throw Failure(.authMissing, "\(self) (env:\(name)) is not set, or empty")
      }
      return text
    case .file(let path): return try text(ofFile: path)
    case .command(let command):
      let words = ShellWords.split(command) ?? []
      return try text(RunningCommand.credential(words, limitMs: limitMs, isOver: isOver))
    case .credential(let name):
      guard let folder = Environment.value("CREDENTIALS_DIRECTORY") else {
        throw Failure(.authMissing, "\(self) does not exist: CREDENTIALS_DIRECTORY, which systemd sets, is not set")
      }
      return try text(ofFile: "\(folder)/\(name)")
    }
  }

  private func text(ofFile path: String) throws(Failure) -> String {
    let bytes: [UInt8]
    do throws(FileText.Unreadable) {
      bytes = try FileText.read(NameBytes(path), limit: Self.longest + 1)
    } catch {
      throw Failure(.authMissing, "\(self) cannot be read: \(error.cause)")
    }
    guard bytes.count <= Self.longest else {
      throw Failure(.authMissing, "\(self) is longer than \(Self.longest) bytes; it must contain one secret")
    }
    return try text(bytes)
  }

  /// The maximum size of a secret's file, in bytes.
  private static let longest = 64 << 10

  private func text(_ bytes: [UInt8]) throws(Failure) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Failure(.authMissing, "\(self) is not UTF-8 text")
    }
    return text
  }
}

extension RunningCommand {
  /// How long a command may take to supply a secret, in milliseconds.
  static let credentialLimitMs: Int64 = 60_000
  /// The delay before a command that may succeed later is retried, in milliseconds.
  private static let credentialRetryMs: Int64 = 10_000

  /// The output of a command that supplies a secret. Blocking.
  /// - Throws: `auth.missing`, with a retry delay if the command may succeed later; `engine.interrupted` when `isOver`.
  static func credential(
    _ words: [String], limitMs: Int64 = credentialLimitMs, isOver: () -> Bool
  ) throws(Failure) -> [UInt8] {
    let command = try RunningCommand(words, code: .authMissing)
    do throws(Failure) { return try command.output(limitMs: limitMs, isOver: isOver) } catch {
      var failure = error
      if command.isTemporary { failure.retryAfterMs = credentialRetryMs }
      throw failure
    }
  }
}

extension BatchSettings {
  /// The same with absolute paths of all files that it names: the recorded settings must not depend on the folder in
  /// which a later run is started.
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
