/// Which part of a source is sent if it has grown since it was last sent.
public enum GrowingFiles: String, Sendable, CaseIterable, Codable {
  /// All of it, as a new generation of its object.
  case whole
  /// Only what was appended, as an object of its own.
  case segments
}
