import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `--watch DIR=DEST` of the daemon: jobs that are in no file. They still form a configuration, so that the processes
/// that the daemon starts know them, and they have a name in the ledger.
struct WatchOption: Sendable {
  /// The position named in faults; no file has this name.
  static let name = "--watch"

  private var lines: [String] = []
  private var names: Set<String> = []

  init() {}

  /// - Throws: `.usage` for a value other than DIR=DEST in UTF-8, or for two folders with the same job name.
  init(_ values: [String]) throws(CommandFailure) {
    for value in values {
      let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty, !EscapedArgument.isEscaped(value) else {
        throw .usage(
          "--watch takes DIR=DEST in UTF-8, and this is \"\(EscapedArgument.shown(value))\"",
          remedy: "--watch /data/out=https://host/in/")
      }
      let folder = AbsolutePath.of(String(parts[0]))
      let name = Self.job(folder)
      guard names.insert(name).inserted else {
        throw .usage("--watch: two folders have the job name \"\(name)\"", remedy: "name one in the configuration")
      }
      lines.append(
        "\(Self.quoted(name)): {\(Self.source(folder)), to: \(Self.quoted(String(parts[1]))), watch: true}")
    }
  }

  var isEmpty: Bool { lines.isEmpty }

  /// The options as a configuration, one job per line.
  var text: [UInt8] { Array("jobs:\n".utf8) + lines.flatMap { Array("  \($0)\n".utf8) } }

  /// - Throws: `.config` if a file already has a job of the same name.
  static func check(_ own: Config, beside files: Config) throws(CommandFailure) {
    guard let name = own.jobs.keys.sorted().first(where: { files.jobs[$0] != nil }) else { return }
    throw CommandFailure(
      .config, "--watch: the configuration already has a job \"\(name)\"", remedy: "give that \"watch: true\"")
  }

  /// The same name at each start of the daemon: the ledger knows by it what was sent.
  static func job(_ folder: String) -> String {
    let plain = folder.unicodeScalars.map { scalar -> Character in
      switch scalar {
      case "0"..."9", "A"..."Z", "a"..."z", ".", "_", "-": Character(scalar)
      default: "-"
      }
    }
    return String(("watch" + (plain.first == "-" ? "" : "-") + String(plain)).prefix(64))
  }

  /// Names exactly this folder, even if its name is also a pattern or it does not exist.
  private static func source(_ folder: String) -> String {
    guard folder.contains(where: { "*?[".contains($0) }) else { return "from: [\(quoted(folder))]" }
    let escaped = folder.reduce(into: "") { text, character in
      if "*?[]\\".contains(character) { text += "\\" }
      text.append(character)
    }
    // Keys begin below the folder, as for a folder named without a pattern.
    return "from: [\(quoted(escaped))], base: \(quoted(folder))"
  }

  /// A YAML scalar in double quotes; non-printable characters are escaped.
  private static func quoted(_ text: String) -> String {
    var out = "\""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x22, 0x5C: out += "\\" + String(scalar)
      case 0x20..<0x7F: out.unicodeScalars.append(scalar)
      default:
        let digits = String(scalar.value, radix: 16)
        out += "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
      }
    }
    return out + "\""
  }
}
