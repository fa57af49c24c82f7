import Testing
import TransferModel
import TransferProtocols

@testable import TransferEngine

#if canImport(Glibc)
  import Glibc
#endif

/// How the partial file of a download is opened or made for the body of an answer.
@Suite struct TargetOrderTests {
  private let folder: TemporaryFolder
  private let nothing = SourceIdentity(size: 0, mtimeNs: 0, ctimeNs: 0, inode: 0, device: 0)

  init() throws { folder = try TemporaryFolder() }

  private var names: TargetNames {
    TargetNames(folder.path.appending(NameBytes("/a")), below: folder.path, UID(high: 1, low: 2))
  }

  private func order(
    holdsBytes: Bool = false, stored: Int64 = 0, endsChunk: Bool = true, overwrites: Bool = false,
    known: SourceIdentity? = nil
  ) -> TargetOrder {
    TargetOrder(
      target: Target(names, known: known ?? nothing, overwrites: overwrites), holdsBytes: holdsBytes, size: 20,
      range: ByteRange(offset: stored, length: 20 - stored), stored: ByteRange(offset: 0, length: stored),
      endsChunk: endsChunk, algorithm: .crc32c, content: { _, _ in .other })
  }

  @Test func onlyAChunkThatEndsOnStoredBytesReadsThem() {
    #expect(order().isShort)
    #expect(order(stored: 5, endsChunk: false).isShort)
    #expect(!order(stored: 5).isShort)
  }

  @Test func thePartialFileIsMadeBesideTheFinalName() throws {
    let prepared = try order().perform().get()
    #expect(prepared.region != nil && !prepared.holdsPast)
    let partial = folder.path.appending(NameBytes("/")).appending(names.partial)
    #expect(partial.withCString { access($0, F_OK) } == 0)
    #expect(names.final.withCString { access($0, F_OK) } != 0)
  }

  @Test func anExistingFileIsRefusedBeforeAnythingIsFetched() {
    folder.write(NameBytes("/a"), "mine")
    guard case .failure(let refused) = order().perform() else { return #expect(Bool(false), "it was not refused") }
    #expect(refused.failure.code == .policyExists && refused.action == .permanent)
    guard case .success = order(overwrites: true).perform() else {
      return #expect(Bool(false), "--overwrite replaces it")
    }
  }

  /// Everything that was stored is lost with it: the file begins again.
  @Test func aPartialFileThatIsGoneEndsTheSession() {
    let known = SourceIdentity(size: 20, mtimeNs: 1, ctimeNs: 1, inode: 7, device: 8)
    guard case .failure(let gone) = order(holdsBytes: true, stored: 5, known: known).perform() else {
      return #expect(Bool(false), "it was made anew, with a hole")
    }
    #expect(gone.action == .sessionGone)
  }
}
