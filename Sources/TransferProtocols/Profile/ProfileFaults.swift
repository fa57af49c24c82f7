public import StrictYAML

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
