import Glibc
public import TransferModel

/// What requests in flight have read from their files, in `<ledger>.sending`: written before the bytes are passed to
/// the transport, so that after a kill it is known what a server may have received. It survives a kill of the process
/// but not a power cut. An older state of it is harmless: bytes that it does not cover count as unknown. Memory-mapped,
/// so a note costs no system call. Safe to use from any thread.
public final class SendingJournal: @unchecked Sendable {
  /// One request; used by one thread at a time.
  public final class Entry: @unchecked Sendable {
    private let journal: SendingJournal
    private let attempt: AttemptID
    /// Taken with the first note.
    private var slot: Int?

    fileprivate init(_ journal: SendingJournal, _ attempt: AttemptID) {
      (self.journal, self.attempt) = (journal, attempt)
    }

    deinit { if let slot { journal.free(slot) } }

    /// Records all that was read so far. Only CRC-32C and CRC-64/NVME digests are kept.
    public func note(_ piece: SentContent.Piece) {
      guard let record = SendingRecord(attempt, piece) else { return }
      if slot == nil { slot = journal.takeSlot() }
      if let slot {
        journal.memory.storeBytes(of: record, toByteOffset: slot * SendingRecord.size, as: SendingRecord.self)
      }
    }
  }

  private struct Slots {
    var count = 0
    var free: [Int] = []
  }
  /// Room for more requests than are ever in flight.
  private static let byteCount = 64 << 10
  private let memory: UnsafeMutableRawPointer
  private let slots = Lock(Slots())

  /// Starts with an empty journal: the old content belongs to requests that have been recovered. nil if it cannot be
  /// created; best effort.
  init?(path: String) {
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    _ = fchmod(descriptor, 0o600)
    // Touching a page without disk space would kill the process.
    guard posix_fallocate(descriptor, 0, off_t(Self.byteCount)) == 0,
      let memory = mmap(nil, Self.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED
    else { return nil }
    self.memory = memory
  }

  deinit { munmap(memory, Self.byteCount) }

  public func entry(_ attempt: AttemptID) -> Entry { Entry(self, attempt) }

  /// nil if there are too many requests; this one is then not recorded.
  private func takeSlot() -> Int? {
    slots.withLock { slots in
      if let free = slots.free.popLast() { return free }
      guard (slots.count + 1) * SendingRecord.size <= Self.byteCount else { return nil }
      slots.count += 1
      return slots.count - 1
    }
  }

  private func free(_ slot: Int) { slots.withLock { $0.free.append(slot) } }

  static func path(ofLedger path: String) -> String { path + ".sending" }

  /// The content of a journal; empty if there is none.
  static func read(_ path: String) -> [AttemptID: SentContent.Piece] {
    let descriptor = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return [:] }
    defer { close(descriptor) }
    // Reading the records one by one would cost a thousand system calls at the start of each run.
    let content = [UInt8](unsafeUninitializedCapacity: byteCount) { bytes, count in
      count = max(0, pread(descriptor, bytes.baseAddress, byteCount, 0))
    }
    var found: [AttemptID: SentContent.Piece] = [:]
    content.withUnsafeBytes { bytes in
      for at in stride(from: 0, through: bytes.count - SendingRecord.size, by: SendingRecord.size) {
        let record = bytes.loadUnaligned(fromByteOffset: at, as: SendingRecord.self)
        if let piece = record.piece { found[AttemptID(rawValue: record.attempt)] = piece }
      }
    }
    return found
  }
}

/// A record of the journal; only read on the machine that wrote it.
private struct SendingRecord {
  var attempt: Int64 = 0
  var offset: Int64 = 0
  var length: Int64 = 0
  var digest: UInt64 = 0
  /// 1: CRC-32C, 2: CRC-64/NVME.
  var algorithm: UInt64 = 0
  var check: UInt64 = 0

  static let size = MemoryLayout<SendingRecord>.stride

  init() {}

  init?(_ attempt: AttemptID, _ piece: SentContent.Piece) {
    switch piece.digest.algorithm {
    case .crc32c: algorithm = 1
    case .crc64nvme: algorithm = 2
    case .crc32, .md5, .sha1, .sha256, .sha512, .quickxor: return nil
    }
    self.attempt = attempt.rawValue
    (offset, length) = (piece.range.offset, piece.range.length)
    digest = piece.digest.bytes.reduce(0) { $0 << 8 | UInt64($1) }
    check = sum
  }

  /// A checksum: a truncated or partially overwritten record does not match it.
  private var sum: UInt64 {
    [UInt64(bitPattern: attempt), UInt64(bitPattern: offset), UInt64(bitPattern: length), digest, algorithm].reduce(
      0x9E37_79B9_7F4A_7C15
    ) { ($0 ^ $1) &* 0xBF58_476D_1CE4_E5B9 ^ ($0 >> 29) }
  }

  var piece: SentContent.Piece? {
    guard check == sum, attempt > 0, offset >= 0, length > 0 else { return nil }
    let range = ByteRange(offset: offset, length: length)
    switch algorithm {
    case 1: return SentContent.Piece(range: range, digest: Digest(crc32c: UInt32(truncatingIfNeeded: digest)))
    case 2: return SentContent.Piece(range: range, digest: Digest(crc64nvme: digest))
    default: return nil
    }
  }
}
