public import StrictYAML
public import TransferModel

/// The faults in a profile, in the order of the text, up to ``ProfileFaults/most``.
public struct ProfileFaults: Error, Sendable, Hashable {
  public static let most = 20

  /// The file as it was named, displayed before each line.
  public var file: String
  public var faults: [YAMLFault]

  public init(file: String, faults: [YAMLFault]) {
    self.file = file
    self.faults = faults
  }

  /// The same as a list of texts.
  public var lines: [(line: Int, column: Int, message: String)] {
    faults.map { (line: $0.mark.line, column: $0.mark.column, message: $0.message) }
  }
}

extension ProfileFaults {
  /// In one line: the first fault, and the number of others.
  public var transferError: TransferError {
    guard let first = faults.first else {
      return TransferError(.bug, "read profile", NameBytes(file), cause: "no fault")
    }
    let more = faults.count > 1 ? " (and \(faults.count - 1) more)" : ""
    return TransferError(
      .config, "read profile", NameBytes(file),
      cause: "line \(first.mark.line), column \(first.mark.column): \(first.message)\(more)",
      remedy: "\"transfers profile check\" shows all of it")
  }
}
