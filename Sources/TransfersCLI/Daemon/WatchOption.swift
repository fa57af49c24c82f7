import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `--watch DIR=DEST` of the daemon: jobs that stand in no file. They are a configuration all the same, so that the
/// processes that the daemon starts know them, and that they have a name in the ledger.
struct WatchOption: Sendable {
  /// Where faults are said to be; no file has this name.
  static let name = "--watch"

  private var lines: [String] = []
  private var names: Set<String> = []

  init() {}

  /// - Throws: `.usage` for what is not DIR=DEST in UTF-8, or for two folders that one name would stand for.
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
        throw .usage("--watch: two folders would be the job \"\(name)\"", remedy: "name one in the configuration")
      }
      lines.append(
        "\(Self.quoted(name)): {\(Self.source(folder)), to: \(Self.quoted(String(parts[1]))), watch: true}")
    }
  }

  var isEmpty: Bool { lines.isEmpty }

  /// The configuration that they are, a job a line.
  var text: [UInt8] { Array("jobs:\n".utf8) + lines.flatMap { Array("  \($0)\n".utf8) } }

  /// - Throws: `.config` for a job whose name a file gives to another one.
  static func check(_ own: Config, beside files: Config) throws(CommandFailure) {
    guard let name = own.jobs.keys.sorted().first(where: { files.jobs[$0] != nil }) else { return }
    throw CommandFailure(
      .config, "--watch: the configuration has a job \"\(name)\" already", remedy: "give that \"watch: true\"")
  }

  /// The same from one start of the daemon to the next: what was sent is known by it.
  static func job(_ folder: String) -> String {
    let plain = folder.unicodeScalars.map { scalar -> Character in
      switch scalar {
      case "0"..."9", "A"..."Z", "a"..."z", ".", "_", "-": Character(scalar)
      default: "-"
      }
    }
    return String(("watch" + (plain.first == "-" ? "" : "-") + String(plain)).prefix(64))
  }

  /// The folder and nothing that its name would match as a pattern, also while it is not there.
  private static func source(_ folder: String) -> String {
    guard folder.contains(where: { "*?[".contains($0) }) else { return "from: [\(quoted(folder))]" }
    let escaped = folder.reduce(into: "") { text, character in
      if "*?[]\\".contains(character) { text += "\\" }
      text.append(character)
    }
    // Keys begin below the folder, as they do for one that is named.
    return "from: [\(quoted(escaped))], base: \(quoted(folder))"
  }

  /// A text of YAML in double quotes; what is not printable is escaped.
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
