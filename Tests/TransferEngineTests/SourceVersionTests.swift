import Testing
import TransferLedger
import TransferModel
import TransferProtocols

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// Real files whose identity changes between two checks.
@Suite struct SourceVersionTests {
  private let folder: TemporaryFolder
  private let path: NameBytes
  private let text = String(repeating: "0123456789", count: 30_000)

  init() throws {
    folder = try TemporaryFolder()
    folder.write(NameBytes("source"), text)
    path = folder.path.appending(NameBytes("source"))
  }

  private func sent(_ length: Int64, acked: Int64, _ text: String? = nil) -> SentContent {
    let bytes = Array((text ?? self.text).utf8.prefix(Int(length)))
    let range = ByteRange(offset: 0, length: length)
    var content = SentContent()
    if length > 0 { content.pieces = [SentContent.Piece(range: range, digest: RunningDigest.of(bytes, .crc32c))] }
    if acked > 0 { content.acked = [ByteRange(offset: 0, length: acked)] }
    return content
  }

  private func version(
    _ content: SentContent, _ change: (inout SourceIdentity) -> Void = { _ in }
  ) throws -> SourceVersion {
    var admitted = try SourceFile(path: path).identity
    change(&admitted)
    return SourceVersion(admitted) { () throws(TransferError) in content }
  }

  private func chmod(_ mode: mode_t) { _ = path.withCString { Glibc.chmod($0, mode) } }

  /// Writes other content of the same size and restores the mtime.
  private func rewrite(at offset: off_t) throws {
    var status = stat()
    #expect(path.withCString { stat($0, &status) } == 0)
    let descriptor = path.withCString { open($0, O_WRONLY) }
    defer { close(descriptor) }
    #expect(pwrite(descriptor, "X", 1, offset) == 1)
    var times = [status.st_atim, status.st_mtim]
    #expect(futimens(descriptor, &times) == 0)
  }

  @Test func whatWasSentIsComparedOnce() throws {
    let version = try version(sent(200_000, acked: 200_000))
    chmod(0o640)
    let file = try SourceFile(path: path)
    #expect(try version.recognise(file) == file.identity)
    #expect(version.identity == file.identity)
    // The file is now known by its new ctime, so its content is not compared again.
    #expect(try version.recognise(file) == file.identity)
  }

  @Test func aHardLinkIsNoNewVersion() throws {
    let version = try version(sent(300_000, acked: 300_000))
    _ = path.withCString { source in folder.path.appending(NameBytes("link")).withCString { link(source, $0) } }
    #expect(try version.recognise(try SourceFile(path: path)) != nil)
  }

  @Test func nothingSentIsNothingToCompare() throws {
    let version = try version(SentContent())
    try rewrite(at: 5)
    #expect(try version.recognise(try SourceFile(path: path)) != nil)
  }

  /// A body whose answer was still awaited when its source was compared is compared before the file is finished.
  @Test(arguments: [false, true]) func whatNobodyComparedIsComparedBeforeFinish(isRewritten: Bool) throws {
    let before = sent(200_000, acked: 200_000)
    let known = Lock(SentContent())
    let version = SourceVersion(try SourceFile(path: path).identity) { () throws(TransferError) in known.withLock { $0 }
    }
    if isRewritten { try rewrite(at: 150_000) } else { chmod(0o640) }
    #expect(try version.recognise(try SourceFile(path: path)) != nil, "nothing is known to have been sent")
    #expect(version.needsProof)
    known.withLock { $0 = before }
    #expect(try version.recognise(try SourceFile(path: path)) != nil)
    let order = PreparationOrder(
      path: path, version: version, checksIdentity: true, digestsAhead: [], digestsOfFile: [], sentAlgorithm: .crc32c)
    let result = Preparation.perform(order)
    #expect((try? result.get()) != nil || isRewritten)
    if case .failure(let failed) = result { #expect(failed.failure.code == .sourceChanged && isRewritten) }
    #expect(version.needsProof == isRewritten)
  }

  @Test func anotherContentWithTheOldMtimeIsAnotherVersion() throws {
    let version = try version(sent(200_000, acked: 100_000))
    try rewrite(at: 150_000)
    #expect(try version.recognise(try SourceFile(path: path)) == nil)
  }

  /// Unknown content cannot be compared, so a changed ctime is refused. A changed device alone is accepted if the known
  /// content is the same.
  @Test func whatIsNotKnownCannotBeTheSame() throws {
    let version = try version(sent(100_000, acked: 100_001))
    let file = try SourceFile(path: path)
    chmod(0o640)
    #expect(try version.recognise(file) == nil)
    let remounted = try self.version(sent(100_000, acked: 100_001)) { $0.device += 1 }
    #expect(try remounted.recognise(file) != nil)
    let other = try self.version(sent(100_000, acked: 100_001, text.replacing("0", with: "1"))) { $0.device += 1 }
    #expect(try other.recognise(file) == nil)
  }

  @Test func ofAnotherBootTheDeviceIsNoQuestion() throws {
    var admitted = try SourceFile(path: path).identity
    (admitted.device, admitted.boot) = (admitted.device + 1, admitted.boot + 1)
    let version = SourceVersion(admitted) { () throws(TransferError) in
      Issue.record("nothing is to be compared")
      return SentContent()
    }
    let file = try SourceFile(path: path)
    #expect(try version.recognise(file) == file.identity)
    // Within this boot the device counts.
    #expect(version.identity.device == file.identity.device)
  }

  @Test func anotherFileOfTheSameSizeAndMtimeIsAnotherVersion() throws {
    let version = try version(sent(300_000, acked: 300_000))
    folder.write(NameBytes("other"), text)
    var status = stat()
    #expect(path.withCString { stat($0, &status) } == 0)
    let other = folder.path.appending(NameBytes("other"))
    var times = [status.st_atim, status.st_mtim]
    #expect(other.withCString { utimensat(AT_FDCWD, $0, &times, 0) } == 0)
    #expect(other.withCString { from in path.withCString { rename(from, $0) } } == 0)
    #expect(try version.recognise(try SourceFile(path: path)) == nil)
  }

  // MARK: - While it is read

  private func slice(_ range: ByteRange, _ file: SourceFile) -> FileSlice {
    FileSlice(file: file, path: path, range: range, admitted: file.identity, algorithm: .crc32c)
  }

  private func read(_ slice: FileSlice, from start: Int64 = 0, to end: Int64) -> Failure? {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    var offset = start
    while offset < end {
      let result = buffer.withUnsafeMutableBytes { slice.read(into: $0, at: offset) }
      switch result {
      case .success(let count): offset += Int64(count)
      case .failure(let failure): return failure
      }
    }
    return nil
  }

  @Test func permissionsMayChangeWhileABodyIsSent() throws {
    let slice = slice(ByteRange(offset: 50, length: 250_000), try SourceFile(path: path))
    #expect(read(slice, to: 100_000) == nil)
    chmod(0o640)
    #expect(read(slice, from: Int64(7 * 16_384), to: 250_000) == nil)
    #expect(slice.sentDigest() == RunningDigest.of(Array(text.utf8)[50..<250_050].map(\.self), .crc32c))
  }

  @Test(arguments: [60, 240_000]) func contentMayNot(_ place: Int) throws {
    let slice = slice(ByteRange(offset: 50, length: 250_000), try SourceFile(path: path))
    #expect(read(slice, to: 100_000) == nil)
    try rewrite(at: off_t(place))
    let failure = read(slice, from: Int64(7 * 16_384), to: 250_000)
    // Content that was not read yet is read in its current state, and only once.
    #expect(failure?.code == (place == 60 ? .sourceChanged : nil))
    #expect((slice.identityNow != nil) == (place == 60))
    #expect((slice.sentDigest() == nil) == (place == 60))
  }

  @Test func whatAPartOfABodyReadIsKnown() throws {
    let slice = slice(ByteRange(offset: 50, length: 250_000), try SourceFile(path: path))
    #expect(slice.sentPiece() == nil)
    #expect(read(slice, to: 16_384) == nil)
    let bytes = Array(Array(text.utf8)[50..<(50 + 16_384)])
    let piece = SentContent.Piece(
      range: ByteRange(offset: 50, length: 16_384), digest: RunningDigest.of(bytes, .crc32c))
    #expect(slice.sentPiece() == piece)
  }

  // MARK: - Before a request

  private func order(_ version: SourceVersion, range: ByteRange?, _ file: SourceFile) -> PreparationOrder {
    PreparationOrder(
      path: path, version: version, range: range, checksIdentity: true, digestsAhead: [], digestsOfFile: [],
      sentAlgorithm: .crc32c, file: file)
  }

  @Test func theNameHasToLeadToTheVersionBeforeFinish() throws {
    let version = try version(sent(300_000, acked: 300_000))
    let file = try SourceFile(path: path)
    chmod(0o640)
    let kept = try Preparation.perform(order(version, range: nil, file)).get()
    #expect(kept.body == nil)
    #expect(version.identity.ctimeNs == (try file.currentIdentity().ctimeNs))
    folder.write(NameBytes("other"), text)
    let other = folder.path.appending(NameBytes("other"))
    #expect(other.withCString { from in path.withCString { rename(from, $0) } } == 0)
    let replaced = #expect(throws: PreparationFailure.self) {
      try Preparation.perform(order(version, range: nil, file)).get()
    }
    #expect(replaced?.failure.code == .sourceChanged)
    #expect(replaced?.identityNow?.inode == (try SourceFile(path: path).identity.inode))
  }

  @Test func aBodyIsPreparedUnderItsNewCtime() throws {
    let version = try version(sent(100_000, acked: 100_000))
    let file = try SourceFile(path: path)
    chmod(0o640)
    let range = ByteRange(offset: 100_000, length: 200_000)
    let prepared = try Preparation.perform(order(version, range: range, file)).get()
    guard case .slice(let slice)? = prepared.body?.content else {
      Issue.record("no slice")
      return
    }
    #expect(read(slice, to: 200_000) == nil)
    try rewrite(at: 7)
    let failure = #expect(throws: PreparationFailure.self) {
      try Preparation.perform(order(version, range: range, file)).get()
    }
    #expect(failure?.failure.code == .sourceChanged && failure?.identityNow != nil)
  }
}
