import TransferModel
import Testing

@testable import TransferProtocols

@Suite struct OptionalAbilityTests {
  private func inUse(_ destination: String) throws -> ProtocolInUse {
    ProtocolInUse(try AllProtocols.make(BatchSettings(destination: destination), credentialsRegion: nil))
  }

  @Test(
    arguments: [
      ("s3://bucket/", true, false, false), ("http://h/", false, false, false), ("form+http://h/", false, false, false),
      ("tus+http://h/", false, true, false), ("resumable+http://h/", false, true, true),
    ])
  func whatATypeConformsToIsFound(
    _ destination: String, _ findsUnlistedUploads: Bool, _ plansLate: Bool, _ hearsInterim: Bool
  ) throws {
    let proto = try inUse(destination)
    #expect(proto.findsUnlistedUploads == findsUnlistedUploads)
    #expect(proto.plansLate == plansLate)
    #expect(proto.hearsInterim == hearsInterim)
  }

  @Test func onlyWebDAVCreatesCollections() throws {
    for destination in ["s3://bucket/", "http://h/", "post+http://h/"] {
      let makesParents = try inUse(destination).parents != nil
      #expect(!makesParents, "\(destination)")
    }
    let chunk = StepRequest.chunk(ChunkFacts(seq: 0, range: ByteRange(offset: 0, length: 5)))
    let dav = try inUse("dav+http://h/in/").parents
    #expect(dav?.needsParents(chunk) == true && dav?.needsParents(.makeParent(depth: 1)) == false)
    let davPatch = try inUse("davpatch+http://h/in/").parents
    #expect(davPatch?.needsParents(.create) == true && davPatch?.needsParents(chunk) == false)
  }

  @Test func whatIsNotSaidHasOneMeaning() throws {
    let proto = try inUse("http://h/in/")
    let facts = Scene.facts(size: 5, session: "u")
    let chunk = ChunkFacts(seq: 0, range: ByteRange(offset: 0, length: 5), acked: 2)
    #expect(proto.bodyRange(of: chunk, facts) == ByteRange(offset: 2, length: 3))
    #expect(proto.digestsAhead(LearnedFacts(), facts.layout).isEmpty)
    #expect(proto.fileDigests(for: .chunk(chunk), facts).isEmpty)
    #expect(proto.receipt(of: chunk, in: ListedPart(seq: 0, length: 5, etag: "")) == nil)
    #expect(proto.abortTargets(facts) == ["u"])
    #expect(proto.abortTargets(Scene.facts()).isEmpty)
    #expect(try proto.plannedRequests(size: 5) == 1 && proto.plannedDiscovery == 0)
    #expect(try proto.layoutOfShortChunks(size: 5) == proto.layout(size: 5))
    #expect(try proto.layout(facts) == proto.layout(size: 5))
  }

  @Test func whatIsSaidIsAsked() throws {
    let s3 = try inUse("s3://bucket/")
    #expect(try s3.plannedRequests(size: 100 << 20) == s3.layout(size: 100 << 20).count + 2)
    #expect(s3.digestsOfListing == [.crc64nvme, .md5])
    #expect(try s3.layoutOfShortChunks(size: 1 << 30).count > s3.layout(size: 1 << 30).count)
    #expect(try inUse("tus+http://h/").plannedDiscovery == 1)
  }

  /// The server named an upload like the object, or like the URL at which uploads are created.
  @Test(
    arguments: [
      ("resumable+http://h/in/", "http://h/a%20b"), ("resumable+http://h/in/?x=1", "http://h/a%20b?x=1"),
      ("resumable+http://h/in/?x=1", "http://h/a%20b"), ("tus+http://h/files/", "http://h/files/"),
      ("tus+http://h/files/?x=1", "http://h/files/"),
    ])
  func nothingButAnUploadIsAborted(_ destination: String, _ url: String) throws {
    let proto = try inUse(destination)
    func targets(_ url: String) -> [String] { proto.abortTargets(Scene.facts(key: "a b", size: 5, session: url)) }
    #expect(targets(url) == [])
    #expect(targets("http://h/files/?id=1") == ["http://h/files/?id=1"])
  }
}
