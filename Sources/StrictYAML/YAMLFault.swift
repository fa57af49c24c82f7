/// A position in a document: line and column count from 1, the column in characters.
public struct SourceMark: Sendable, Hashable, Comparable {
  public var line: Int
  public var column: Int

  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  public static func < (a: SourceMark, b: SourceMark) -> Bool { (a.line, a.column) < (b.line, b.column) }
}

/// One error in a document.
public struct YAMLFault: Error, Sendable, Hashable {
  public var mark: SourceMark
  /// One line in lower case; may quote the document, so escape it before printing.
  public var message: String

  public init(_ mark: SourceMark, _ message: String) {
    self.mark = mark
    self.message = message
  }
}
