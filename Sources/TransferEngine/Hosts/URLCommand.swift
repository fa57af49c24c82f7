import CSys
public import TransferModel
public import TransferProtocols

/// Obtains the URL of a file from a program: the key on its standard input, one URL on its standard output. Its output
/// is neither stored nor shown.
public struct URLCommand: URLSource {
  private let arguments: [String]
  private let origin: WebOrigin
  private let limitMs: Int64
  /// Until when the program is not started, in nanoseconds of the boot clock: it timed out for one file, and would
  /// delay each of the others equally.
  private let restNs = Lock<Int64>(0)
  /// The pause after a timeout, as a multiple of the time limit.
  private static let restFactor: Int64 = 10

  /// - Parameters:
  ///   - origin: of the files.
  ///   - limitMs: time limit, in milliseconds.
  public init(arguments: [String], origin: WebOrigin, limitMs: Int64 = 60_000) {
    (self.arguments, self.origin, self.limitMs) = (arguments, origin, limitMs)
  }

  public func url(for key: NameBytes, isOver: @Sendable () -> Bool) throws(Failure) -> String {
    guard csys_boottime_ns() >= restNs.withLock(\.self) else {
      throw Failure(.authNeedsURL, "the command was not started: it timed out for another file a short while ago")
    }
    let text = try output(for: key, isOver)
    let lines = String(decoding: text, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard let line = lines.first else { throw Failure(.authNeedsURL, "the command returned no URL") }
    guard lines.count == 1 else { throw Failure(.authNeedsURL, "the command returned more than one URL") }
    try SignedURL.check(String(line), for: origin)
    return String(line)
  }
}

extension URLCommand {
  private func output(for key: NameBytes, _ isOver: () -> Bool) throws(Failure) -> [UInt8] {
    let command = try RunningCommand(arguments, input: key.bytes + [0x0A], code: .authNeedsURL)
    do throws(Failure) { return try command.output(limitMs: limitMs, isOver: isOver) } catch {
      if command.isLate { restNs.withLock { $0 = csys_boottime_ns() + Self.restFactor * limitMs * 1_000_000 } }
      throw error
    }
  }
}
