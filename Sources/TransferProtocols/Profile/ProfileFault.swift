/// Where something stands in a profile: both counted from 1, the column in characters.
public struct SourceMark: Sendable, Hashable, Comparable {
  public var line: Int
  public var column: Int

  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  public static func < (a: SourceMark, b: SourceMark) -> Bool { (a.line, a.column) < (b.line, b.column) }
}

/// One thing that is wrong in a profile.
public struct ProfileFault: Error, Sendable, Hashable {
  public var mark: SourceMark
  /// One line in lower case; may quote the profile, so escape it before printing.
  public var message: String

  public init(_ mark: SourceMark, _ message: String) {
    self.mark = mark
    self.message = message
  }
}

/// Everything that is wrong in a profile, in the order of the text, up to ``ProfileFaults/most``.
public struct ProfileFaults: Error, Sendable, Hashable {
  public static let most = 20

  /// The file as it was named; what people see before each line.
  public var file: String
  public var faults: [ProfileFault]

  public init(file: String, faults: [ProfileFault]) {
    self.file = file
    self.faults = faults
  }
}
