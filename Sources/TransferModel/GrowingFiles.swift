/// What is sent of a source that has grown since it was sent.
public enum GrowingFiles: String, Sendable, CaseIterable, Codable {
  /// All of it, as a new generation of its object.
  case whole
  /// Only what was appended, as an object of its own.
  case segments
}
