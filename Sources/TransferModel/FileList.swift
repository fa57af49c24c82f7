/// A list of file names.
public struct FileList: Sendable, Hashable {
  public enum Separator: UInt8, Sendable, Hashable {
    case newline = 0x0A
    case nul = 0
  }

  /// nil for standard input.
  public var path: NameBytes?
  public var separator: Separator
  /// A listed file that does not exist is recorded as failed; without it the whole list is refused before anything is
  /// recorded.
  public var skipsMissing: Bool

  public init(path: NameBytes?, separator: Separator = .newline, skipsMissing: Bool = false) {
    self.path = path
    self.separator = separator
    self.skipsMissing = skipsMissing
  }
}
