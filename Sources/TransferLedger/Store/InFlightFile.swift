import Glibc
public import TransferModel

/// How many bytes of the bodies in flight were sent, and how fast, in `<ledger>.inflight`: for display by other
/// processes. Only the acknowledged bytes in the ledger count as progress, no decision uses these numbers, and losing
/// them does no harm; so they cost no transaction and no flush. Used by one thread.
public final class InFlightFile {
  /// How often it is written.
  public static let everyMs: Int64 = 1_000
  /// More requests than are ever in flight; any others are omitted.
  fileprivate static let limit = 2_048
  private let descriptor: Int32
  private let run: RunID
  private var number: Int64 = 0
  private var isEmpty = true

  /// Starts with an empty file. nil if the file cannot be created; best effort.
  init?(path: String, _ run: RunID) {
    self.run = run
    descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return nil }
    _ = fchmod(descriptor, 0o600)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Replaces the file's content by `bodies` by request, as of `bootMs`. Does nothing while there is nothing to report.
  public func note(_ bodies: [AttemptID: InFlight], bootMs: Int64) {
    guard !bodies.isEmpty || !isEmpty else { return }
    isEmpty = bodies.isEmpty
    number += 1
    let kept = bodies.prefix(Self.limit)
    let records = kept.flatMap { [$0.key.rawValue, $0.value.bytes, $0.value.bytesPerSecond] }
    var words = [InFlightNote.magic, run.rawValue, number, bootMs, Int64(kept.count)] + records
    words.append(InFlightNote.check(words))
    _ = words.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
  }

  static func path(ofLedger path: String) -> String { path + ".inflight" }
}

/// The content of an ``InFlightFile``.
public struct InFlightNote: Sendable, Hashable {
  let run: RunID
  /// Counts the notes of a run.
  let number: Int64
  let bootMs: Int64
  let bodies: [(attempt: AttemptID, inFlight: InFlight)]

  /// A note that was not renewed for this long is outdated.
  private static let longestMs: Int64 = 5_000
  /// Identifies this version of the format. A note is only read on the machine that wrote it.
  fileprivate static let magic: Int64 = 0x3154_464E_4952_5402
  private static let headCount = 5
  private static let recordCount = 3

  /// nil if there is none, if it was read in the middle of a change, or if it is older than a few seconds at `bootMs`.
  public static func read(ofLedger path: String, bootMs: Int64) -> InFlightNote? {
    let descriptor = Glibc.open(InFlightFile.path(ofLedger: path), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    for _ in 0..<3 {
      if let note = read(descriptor) { return abs(bootMs -| note.bootMs) <= longestMs ? note : nil }
    }
    return nil
  }

  private static func read(_ descriptor: Int32) -> InFlightNote? {
    var words = [Int64](repeating: 0, count: headCount + recordCount * InFlightFile.limit + 1)
    let length = words.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
    let found = length / MemoryLayout<Int64>.size
    guard found > headCount, words[0] == magic, (0...Int64(InFlightFile.limit)).contains(words[4]) else { return nil }
    let end = headCount + recordCount * Int(words[4])
    guard end < found, words[end] == check(words[..<end]) else { return nil }
    let bodies = stride(from: headCount, to: end, by: recordCount).map { at in
      (AttemptID(rawValue: words[at]), InFlight(bytes: words[at + 1], bytesPerSecond: words[at + 2]))
    }
    return InFlightNote(run: RunID(rawValue: words[1]), number: words[2], bootMs: words[3], bodies: bodies)
  }

  /// A checksum: a partially overwritten note does not match it.
  fileprivate static func check(_ words: some Sequence<Int64>) -> Int64 {
    let sum = words.reduce(UInt64(0x9E37_79B9_7F4A_7C15)) { sum, word in
      (sum ^ UInt64(bitPattern: word)) &* 0xBF58_476D_1CE4_E5B9 ^ (sum >> 29)
    }
    return Int64(bitPattern: sum)
  }

  private init(run: RunID, number: Int64, bootMs: Int64, bodies: [(attempt: AttemptID, inFlight: InFlight)]) {
    (self.run, self.number, self.bootMs, self.bodies) = (run, number, bootMs, bodies)
  }

  public static func == (left: InFlightNote, right: InFlightNote) -> Bool {
    left.run == right.run && left.number == right.number
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(run)
    hasher.combine(number)
  }
}
