import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// Digests that answers name, and what they are compared with.
@Suite struct ToldDigestTests {
  private static let bytes = Array("some bytes".utf8)
  private static func digest(_ algorithm: DigestAlgorithm) -> Digest { RunningDigest.of(bytes, algorithm) }
  private static func text(_ algorithm: DigestAlgorithm) -> String { base64(digest(algorithm).bytes) }

  private func fields(_ pairs: [(String, String)]) throws -> HTTPFields {
    var fields = HTTPFields()
    for (name, value) in pairs { fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value)) }
    return fields
  }

  private func told(_ pairs: [(String, String)], isWhole: Bool = false) throws -> [DigestAlgorithm] {
    let found = ToldDigests.all(try fields(pairs), isWhole: isWhole)
    #expect(found.allSatisfy { $0 == Self.digest($0.algorithm) })
    return found.map(\.algorithm)
  }

  @Test func theFieldsOfAllKindsAreRead() throws {
    #expect(
      try told([("Repr-Digest", "sha-512=:AA==:, sha-256=:\(Self.text(.sha256)):, crc32c=:\(Self.text(.crc32c)):")])
        == [.crc32c, .sha256])
    #expect(try told([("Repr-Digest", "sha-512=:\(Self.text(.sha512)):")]) == [.sha512])
    #expect(try told([("Content-Digest", "sha-512=:\(Self.text(.sha512)):")], isWhole: true) == [.sha512])
    #expect(try told([("Digest", "sha-512=\(Self.text(.sha512))")]) == [.sha512])
    #expect(try told([("x-goog-hash", "crc32c=\(Self.text(.crc32c)),md5=\(Self.text(.md5))")]) == [.crc32c, .md5])
    #expect(
      try told([("x-goog-hash", "crc32c=\(Self.text(.crc32c))"), ("x-goog-hash", "md5=\(Self.text(.md5))")])
        == [.crc32c, .md5])
    #expect(try told([("Digest", "SHA-256=\(Self.text(.sha256)),adler32=03da0195")]) == [.sha256])
    let amazon = ("x-amz-checksum-crc64nvme", Self.text(.crc64nvme))
    #expect(try told([amazon, ("x-amz-checksum-type", "FULL_OBJECT")], isWhole: true) == [.crc64nvme])
    #expect(try told([amazon, ("x-amz-checksum-type", "FULL_OBJECT")]).isEmpty)
  }

  /// Digests of parts of the file, or of bytes other than those that are sent.
  @Test func whatIsNotOfTheWholeFileIsNotTaken() throws {
    let amazon = ("x-amz-checksum-crc32c", Self.text(.crc32c))
    #expect(try told([amazon], isWhole: true).isEmpty)
    #expect(try told([amazon, ("x-amz-checksum-type", "COMPOSITE")], isWhole: true).isEmpty)
    let google = ("x-goog-hash", "md5=\(Self.text(.md5))")
    #expect(try told([google, ("x-goog-stored-content-encoding", "gzip")]).isEmpty)
    #expect(try told([google, ("x-goog-stored-content-encoding", "identity")]) == [.md5])
    for pair in [("Content-MD5", Self.text(.md5)), ("Content-Digest", "md5=:\(Self.text(.md5)):")] {
      #expect(try told([pair]).isEmpty)
      #expect(try told([pair], isWhole: true) == [.md5])
    }
    for value in ["", "=", "md5", "md5=", "md5=%", "crc32c=AAAAAAA=", "md5=\(Self.text(.crc32c))"] {
      #expect(try told([("x-goog-hash", value), ("Digest", value)]).isEmpty, "\(value)")
    }
  }

  private func judged(
    _ told: [DigestAlgorithm], expected: Digest? = nil, size: Int64? = nil, partDigest: Digest? = digest(.crc32c)
  ) -> ContentComparison {
    let length = Int64(Self.bytes.count)
    var version = RemoteVersion(size: length)
    version.digests = told.map(Self.digest)
    let file = FileFacts(uid: UID(high: 1, low: 2), key: NameBytes("a"), size: length, mtimeMs: 0)
    var facts = TransferFacts(file: file, layout: ChunkLayout(whole: length))
    facts.file.expected = ExpectedContent(size: size, digests: [expected].compactMap(\.self))
    facts.parts = [PartReceipt(seq: 0, length: length, etag: "", digest: partDigest, confirmation: .size)]
    return ContentComparison(version, facts)
  }

  /// The file is read again only for digests that were not computed while it arrived, and for at most one of its
  /// server's.
  @Test func asLittleAsPossibleIsRead() {
    #expect(judged([]).unread.isEmpty)
    #expect(judged([.md5, .sha256, .crc32c]).unread.isEmpty)
    #expect(judged([.md5, .sha256, .crc64nvme]).unread == [Self.digest(.crc64nvme)])
    #expect(judged([.md5, .sha512]).unread == [Self.digest(.sha512)])
    #expect(judged([.crc32c], partDigest: nil).unread == [Self.digest(.crc32c)])
    #expect(judged([.crc32c], expected: Self.digest(.sha256)).unread == [Self.digest(.sha256)])
  }

  @Test func whatAPersonExpectsDecides() {
    let wrong = RunningDigest.of([1], .crc32c)
    #expect(judged([], expected: Self.digest(.crc32c)).mismatch == nil)
    #expect(judged([], expected: wrong).mismatch?.code == .integrityMismatch)
    #expect(judged([], size: 11).mismatch?.code == .integrityMismatch)
    #expect(judged([], size: 10).mismatch == nil)
    let proof = judged([.crc32c], expected: Self.digest(.sha256)).proof
    #expect(proof.confirmation == .digest && proof.digest == Self.digest(.sha256) && proof.remoteDigest == nil)
    #expect(judged([]).proof.confirmation == .size)
  }

  @Test func theSizeThatIsExpectedIsComparedBeforeTheFirstByte() throws {
    let settings = BatchSettings(destination: "http://h/", download: DownloadSettings(folder: NameBytes("/in")))
    let proto = try #require(try AllProtocols.make(settings, credentialsRegion: nil) as? GetProtocol)
    let file = FileFacts(uid: UID(high: 1, low: 2), key: NameBytes("a.zip"), size: 0, mtimeMs: 0)
    var facts = TransferFacts(file: file, layout: ChunkLayout(whole: 0))
    facts.file.expected.size = 10
    for (length, isRefused) in [("11", true), ("10", false)] {
      let fields = try fields([("Content-Length", length), ("Content-Type", "text/html")])
      let content = proto.content(status: 200, fields, of: .create, facts)
      guard case .refused(let meaning) = content else {
        #expect(!isRefused)
        continue
      }
      guard isRefused, case .failed(let failure, .permanent) = meaning.outcome else { return #expect(Bool(false)) }
      #expect(failure.code == .integrityMismatch)
    }
  }
}
