/// Bytes of running bodies that were sent and are not acknowledged yet, as their engine last published them. For
/// display.
public struct InFlight: Sendable, Hashable {
  public var bytes: Int64
  /// Over the last seconds.
  public var bytesPerSecond: Int64

  package init(bytes: Int64 = 0, bytesPerSecond: Int64 = 0) {
    (self.bytes, self.bytesPerSecond) = (bytes, bytesPerSecond)
  }

  package static func + (left: InFlight, right: InFlight) -> InFlight {
    InFlight(bytes: left.bytes +| right.bytes, bytesPerSecond: left.bytesPerSecond +| right.bytesPerSecond)
  }
}

/// The running body of one request.
package struct InFlightBody: Sendable, Hashable {
  package var file: FileID
  /// When its attempt began, in milliseconds since 1970 UTC.
  package var startedMs: Int64
  package var inFlight: InFlight

  package init(file: FileID, startedMs: Int64, _ inFlight: InFlight) {
    (self.file, self.startedMs, self.inFlight) = (file, startedMs, inFlight)
  }
}

extension [InFlightBody] {
  package var byFile: [FileID: InFlight] {
    reduce(into: [:]) { $0[$1.file] = ($0[$1.file] ?? InFlight()) + $1.inFlight }
  }
}
