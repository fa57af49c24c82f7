import CSys
import Glibc
import TransferModel

/// How far a ledger has progressed. It is written beside the ledger after the commit and before anything is sent, so
/// the ledger itself is never behind it; a ledger that is behind was restored from a copy.
struct Watermark: Equatable {
  var store: UID
  /// The newest run.
  var run: UID
  /// The newest attempt that it began; 0 for none yet.
  var attempt: Int64

  static func path(ofLedger path: String) -> String { path + ".watermark" }

  /// nil if there is none, or it is not valid.
  init?(at path: String) {
    let descriptor = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = max(0, read(descriptor, &bytes, bytes.count))
    self.init(text: String(decoding: bytes.prefix(count), as: UTF8.self))
  }

  /// That of the file itself, which moves with it: an extended attribute.
  init?(ofFile path: String) {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = max(0, csys_attribute(path, Self.attribute, &bytes, bytes.count))
    self.init(text: String(decoding: bytes.prefix(Int(count)), as: UTF8.self))
  }

  /// Best effort: some file systems have no extended attributes.
  func store(inFile path: String) {
    let bytes = Array(text.utf8)
    _ = csys_set_attribute(path, Self.attribute, bytes, bytes.count)
  }

  init(store: UID, run: UID, attempt: Int64) {
    (self.store, self.run, self.attempt) = (store, run, attempt)
  }

  init?(text: String) {
    let words = text.split(separator: " ").map(String.init)
    guard words.count == 5, words[0] == Self.name, words[4] == "\n", let store = UID(hex: words[1]),
      let run = UID(hex: words[2]), let attempt = Int64(words[3]), attempt >= 0
    else { return nil }
    self.init(store: store, run: run, attempt: attempt)
  }

  /// Has a fixed length, so that it can be overwritten in place with one write, which needs no disk space.
  var text: String {
    let digits = String(attempt)
    let number = String(repeating: "0", count: max(0, 20 - digits.count)) + digits
    return "\(Self.name) \(store.hex) \(run.hex) \(number) \n"
  }

  private static let name = "transfers-watermark-1"
  private static let attribute = "user.transfers.watermark"
}

/// The file of a watermark while an engine runs. Best effort: without it copies are recognized only by their birth
/// times. Its name is made durable when a run begins; what it has then is not, because after a power cut an older one
/// does no harm. Used by one thread at a time.
final class WatermarkFile: @unchecked Sendable {
  private let descriptor: Int32
  private var mark: Watermark

  init?(path: String, _ mark: Watermark) {
    descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return nil }
    self.mark = mark
    _ = fchmod(descriptor, 0o600)
    guard write(), fsync(descriptor) == 0, Self.syncFolder(of: path) else {
      close(descriptor)
      return nil
    }
  }

  private static func syncFolder(of path: String) -> Bool {
    let folder = Glibc.open(StoreFile.split(path).folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return false }
    defer { close(folder) }
    return syncFolderNames(folder) == 0
  }

  deinit { close(descriptor) }

  /// Records that an attempt is durable in the ledger.
  func raise(to attempt: Int64) {
    guard attempt > mark.attempt else { return }
    mark.attempt = attempt
    _ = write()
  }

  private func write() -> Bool {
    let bytes = Array(mark.text.utf8)
    return pwrite(descriptor, bytes, bytes.count, 0) == bytes.count
  }
}

extension UID {
  fileprivate var hex: String { description.filter { $0 != "-" } }

  fileprivate init?(hex: String) {
    guard hex.utf8.count == 32, let high = UInt64(hex.prefix(16), radix: 16),
      let low = UInt64(hex.suffix(16), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }
}
