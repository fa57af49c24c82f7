import Testing
import TransferModel

@testable import TransferProtocols

/// For which profiles the same ID or URL from the server, for two files or two chunks, is a fault.
@Suite struct ProfileUploadNameTests {
  private func proto(_ text: String) throws -> ProfileProtocol {
    let profile = try Profile.read(Array(text.utf8), file: "test")
    return try ProfileProtocol(profile: profile, url: "http://h/up", inputs: [:], partSize: nil)
  }

  private func proto(steps: String) throws -> ProfileProtocol {
    try proto("profile: 1\nname: t\nchunk: {mode: parallel, idempotent: true}\nsteps:\n\(steps)")
  }

  private func named(_ proto: ProfileProtocol, _ notes: [String: String]) -> UploadName? {
    let id = ProfileUploadNames(profile: proto.profile).remoteID(notes, orElse: "our-uuid")
    let meaning = Interpretation.opened(OpenedSession(remoteID: id, expiresAtMs: nil))
    var facts = Scene.facts(size: 5)
    facts.session = SessionFacts(remoteID: nil, intendedAtMs: 0)
    return proto.uploadName(meaning, to: .create, facts)
  }

  private func builtin(_ name: String) throws -> ProfileProtocol {
    let profile = try Profile.read(#require(BuiltinProfile.text(name)), file: name)
    let inputs = Dictionary(uniqueKeysWithValues: profile.inputs.filter { !$0.isSecret }.map { ($0.name, "x") })
    return try ProfileProtocol(profile: profile, url: "http://h/up", inputs: inputs, partSize: nil)
  }

  @Test func aURLFromTheServerIsOneUpload() throws {
    for name in ["google", "graph"] {
      let found = named(try builtin(name), ["s.url": #""https://o/1""#, "s.expires_at": #"{"time":7}"#])
      #expect(found == UploadName("https://o/1", .everywhere), "\(name)")
    }
  }

  @Test func anIDIsOneUploadAtItsDestination() throws {
    #expect(named(try builtin("dropbox"), ["s.id": #""7""#]) == UploadName("7", .destination))
  }

  @Test func aTokenIsNotShown() throws {
    let found = try #require(named(try builtin("token-blocks"), ["s.token": #""secret""#]))
    #expect(found.scope == .destination && !found.text.contains("secret"))
    #expect(found == named(try builtin("token-blocks"), ["s.token": #""secret""#]))
    #expect(found != named(try builtin("token-blocks"), ["s.token": #""other""#]))
  }

  /// Like the UploadId of S3.
  @Test func anIDBesideThePathMayBeThatOfAnotherFile() throws {
    let proto = try builtin("qiniu-v2")
    #expect(named(proto, ["s.id": #""7""#]) == nil)
    #expect(ProfileUploadNames(profile: proto.profile).remoteID(["s.id": #""7""#], orElse: "our-uuid") == "7")
  }

  @Test(arguments: ["nextcloud", "numbered-chunks", "dropzone", "flow", "resumablejs", "qiniu-v1"])
  func ourOwnUUIDIsNotCompared(_ name: String) throws {
    #expect(named(try builtin(name), [:]) == nil)
    let names = ProfileUploadNames(profile: try builtin(name).profile)
    #expect(names.remoteID([:], orElse: "our-uuid") == "our-uuid")
  }

  @Test func severalValuesAreComparedTogether() throws {
    let proto = try proto(
      steps: """
          init: {method: POST, url: /i, extract: {session.id: {json: $.i}, session.host: {json: $.h}}}
          chunk: {method: PUT, url: "/{{session.host}}/{{session.id}}/{{chunk.number}}", body: {kind: raw, raw: chunk}}
        """)
    let names = [("1", "a"), ("1", "b"), ("2", "a")].map { named(proto, ["s.id": "\"\($0)\"", "s.host": "\"\($1)\""]) }
    #expect(Set(names).count == 3 && !names.contains(nil))
  }

  /// A size is no name, and neither is what the requests for chunks do not contain.
  @Test func whatDescribesAnUploadIsNotItsName() throws {
    let proto = try proto(
      """
      profile: 1
      name: t
      chunk: {mode: sequential, size: {from: session.part}}
      steps:
        init: {method: POST, url: /i, extract: {session.part: {json: $.s, required: true}, session.log: {json: $.l}}}
        chunk: {method: PUT, url: "/c?n={{chunk.number}}&p={{session.part}}", body: {kind: raw, raw: chunk}}
      """)
    #expect(named(proto, ["s.part": "4194304", "s.log": #""x""#]) == nil)
  }

  @Test func theFileNameOfAFormFieldTellsNothing() throws {
    func proto(_ fields: String) throws -> ProfileProtocol {
      try self.proto(
        steps: """
            init: {method: POST, url: /i, extract: {session.id: {json: $.i}}}
            chunk:
              method: POST
              url: /c
              body: {kind: multipart, fields: [{name: id, value: "{{session.id}}"}, \(fields)]}
          """)
    }
    let file = #"{name: file, file: chunk, filename: "{{file.name}}"}"#
    #expect(named(try proto(file), ["s.id": #""1""#]) != nil)
    #expect(named(try proto(#"{name: path, value: "{{file.path}}"}, "# + file), ["s.id": #""1""#]) == nil)
  }

  // MARK: - Uploads of chunks

  private func ofChunk(_ chunkURL: String, _ remote: [String: String]) throws -> UploadName? {
    let proto = try proto(
      steps: """
          prepare_chunk: {method: POST, url: /p, extract: {part.url: {json: $.u}}}
          chunk: {method: PUT, url: "\(chunkURL)", body: {kind: raw, raw: chunk}}
        """)
    let chunk = ChunkFacts(seq: 3, range: ByteRange(offset: 0, length: 5))
    return proto.uploadName(.chunkPrepared(remote), to: .prepareChunk(chunk), Scene.facts(size: 5, session: "u"))
  }

  @Test func anUploadOfAChunkIsThatOfNoOtherChunk() throws {
    let remote = ["url": #""http://o/1""#]
    #expect(try ofChunk("{{part.url}}", remote) == UploadName("http://o/1", .everywhere, chunk: 3))
    #expect(try ofChunk("{{part.url}}?id={{uuid}}", remote) == UploadName("http://o/1", .file, chunk: 3))
    #expect(try ofChunk("{{part.url}}?n={{chunk.number}}", remote) == nil)
    #expect(try ofChunk("{{part.url}}", [:]) == nil)
  }
}
