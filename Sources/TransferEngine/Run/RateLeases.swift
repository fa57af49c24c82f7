import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The files in which the members of a rate group publish what they use. Each member has one file, which it keeps
/// locked (`flock`) as long as it runs, so that the file of a killed member is recognised at once. Nothing here has to
/// survive a restart.
final class RateLeases {
  private static let patienceMs: Int64 = 20

  /// The folder of the group.
  private let folder: Int32
  /// Locked while a member reads or writes the files.
  private let gate: Int32
  private let own: Int32
  private let ownName: String

  /// - Parameter path: the folder of all groups of this user.
  init(_ group: String, in path: String) throws(TransferError) {
    func failure(_ cause: String) -> TransferError {
      TransferError(
        .config, "join rate group", NameBytes(group), cause: "\"\(path)\" \(cause)",
        remedy: "set XDG_RUNTIME_DIR to a folder that only you can read and write")
    }
    ownName = "\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 16))"
    let all = Self.openFolder(AT_FDCWD, path)
    defer { if all >= 0 { close(all) } }
    guard all >= 0 else { throw failure("cannot be used: \(systemText(errno))") }
    guard Self.isPrivate(all) else { throw failure("belongs to another user, or is accessible to others") }
    folder = Self.openFolder(all, "rate-\(group)")
    gate = openat(folder, "gate", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    // A file without a lock counts as abandoned, so it gets its name after it is locked.
    let newName = ".\(ownName)"
    own = openat(folder, newName, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    let nothing = RateNote(named: nil, taken: 0, isSending: false, atMs: 0)
    guard own >= 0, flock(own, LOCK_EX | LOCK_NB) == 0, write(nothing),
      renameat(folder, newName, folder, ownName) == 0
    else {
      let cause = systemText(errno)
      unlinkat(folder, newName, 0)
      for descriptor in [folder, gate, own] where descriptor >= 0 { close(descriptor) }
      throw failure("cannot be written: \(cause)")
    }
  }

  /// Removes its note, so that the other members no longer see it.
  func remove() { unlinkat(folder, ownName, 0) }

  deinit {
    remove()
    for descriptor in [folder, gate, own] { close(descriptor) }
  }

  /// Passes the notes of all other live members, and publishes the result of `decide`, while no other member does the
  /// same.
  /// - Returns: whether it was published; false also if another member holds the gate for longer than some
  ///   milliseconds, or if the other notes cannot be read.
  func publish(_ decide: ([RateNote]) -> RateNote) -> Bool {
    guard locked() else { return false }
    defer { flock(gate, LOCK_UN) }
    guard let others = others() else { return false }
    return write(decide(others))
  }

  private func locked() -> Bool {
    let endNs = csys_boottime_ns() + Self.patienceMs * 1_000_000
    while flock(gate, LOCK_EX | LOCK_NB) != 0 {
      guard csys_boottime_ns() < endNs else { return false }
      usleep(500)
    }
    return true
  }

  private func write(_ note: RateNote) -> Bool { pwrite(own, note.line, RateNote.length, 0) == RateNote.length }

  private func others() -> [RateNote]? {
    let copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0, let listing = fdopendir(copy) else { return nil }
    defer { closedir(listing) }
    var notes: [RateNote] = []
    while let entry = readdir(listing) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      guard name != ownName, name != "gate", !name.hasPrefix(".") else { continue }
      if let note = self.note(name) { notes.append(note) }
    }
    return notes
  }

  /// nil for a member that has ended, whose file is removed.
  private func note(_ name: String) -> RateNote? {
    // Opening a FIFO must not wait for its other end.
    let file = openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    guard flock(file, LOCK_SH | LOCK_NB) != 0 else {
      unlinkat(folder, name, 0)
      return nil
    }
    var line = [UInt8](repeating: 0, count: RateNote.length)
    let count = pread(file, &line, line.count, 0)
    return RateNote(line.prefix(max(0, count)))
  }

  /// -1 with `errno` if it is a link or not a folder, or cannot be created.
  private static func openFolder(_ parent: Int32, _ path: String) -> Int32 {
    guard mkdirat(parent, path, 0o700) == 0 || errno == EEXIST else { return -1 }
    return openat(parent, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
  }

  private static func isPrivate(_ folder: Int32) -> Bool {
    var status = stat()
    return fstat(folder, &status) == 0 && status.st_uid == geteuid() && status.st_mode & 0o077 == 0
  }
}
