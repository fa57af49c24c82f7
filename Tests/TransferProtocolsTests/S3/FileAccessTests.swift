import HTTPTypes
import Testing
import TransferModel

@testable import TransferProtocols

/// Permissions and owner in the metadata of objects.
@Suite struct FileAccessTests {
  private func fields(_ mode: String?, _ owner: String? = nil, _ group: String? = nil) -> HTTPFields {
    var fields = HTTPFields()
    fields[HTTPField.Name("x-amz-meta-mode")!] = mode
    fields[HTTPField.Name("x-amz-meta-uid")!] = owner
    fields[HTTPField.Name("x-amz-meta-gid")!] = group
    return fields
  }

  /// rclone writes `100644`, s3fs `33188` (the same in decimal), others only the permissions.
  @Test(
    arguments: [
      ("100644", 0o644), ("0100640", 0o640), ("33188", 0o644), ("33261", 0o755), ("644", 0o644), ("0600", 0o600),
      ("0", 0), ("104755", 0o755), ("35309", 0o755), ("7777", 0o777),
      // A folder, a link, a device, and what is no number.
      ("40755", nil), ("16877", nil), ("120777", nil), ("", nil), ("-rw-r--r--", nil), ("0o644", nil), ("+644", nil),
      ("99999999999", nil), ("4294967295", nil), (nil, nil),
    ] as [(String?, UInt32?)])
  func bothFormsOfAModeAreRead(_ text: String?, _ mode: UInt32?) {
    #expect(FileAccess(fields(text), mode: true, owner: false).mode == mode)
  }

  @Test(
    arguments: [("0", 0), ("1000", 1000), ("4294967295", nil), ("-1", nil), ("root", nil), ("4294967296", nil)]
      as [(String, UInt32?)])
  func ownersAreNumbers(_ text: String, _ number: UInt32?) {
    let access = FileAccess(fields(nil, text, text), mode: true, owner: true)
    #expect(access == FileAccess(owner: number, group: number))
  }

  @Test func onlyWhatIsAskedForIsUsed() {
    let all = fields("100640", "5", "6")
    #expect(FileAccess(all, mode: false, owner: false).isEmpty)
    #expect(FileAccess(all, mode: true, owner: false) == FileAccess(mode: 0o640))
    #expect(FileAccess(all, mode: false, owner: true) == FileAccess(owner: 5, group: 6))
  }

  @Test func whatIsWrittenIsRead() {
    let access = FileAccess(mode: 0o4751, owner: 7, group: 0)
    #expect(access.fields.map(\.value) == ["100751", "7", "0"])
    var written = HTTPFields()
    for field in access.fields { written[HTTPField.Name(field.name)!] = field.value }
    #expect(FileAccess(written, mode: true, owner: true) == access)
    #expect(FileAccess(notes: access.notes) == access)
  }

  /// They are in the first answer, and belong to the version of the file.
  @Test(arguments: [true, false])
  func aDownloadKeepsThemWithItsSession(_ isAskedFor: Bool) throws {
    var settings = BatchSettings(
      destination: "s3://examplebucket/", options: ["endpoint-url": .text("http://127.0.0.1:5100")],
      download: DownloadSettings(folder: NameBytes("/in")))
    (settings.keepsMode, settings.keepsOwner) = (isAskedFor, isAskedFor)
    let proto = try #require(try AllProtocols.make(settings, credentialsRegion: nil) as? GetProtocol)
    let file = FileFacts(uid: Scene.uid, key: NameBytes("k"), size: 0, mtimeMs: 0)
    var facts = TransferFacts(file: file, layout: ChunkLayout(whole: 0))
    facts.session = SessionFacts(remoteID: nil, intendedAtMs: 0)
    var reply = TransferReply()
    (reply.status, reply.bytesReceived, reply.fields) = (206, 5, fields("100750", "5", "6"))
    (reply.fields[.contentRange], reply.fields[.eTag]) = ("bytes 0-4/5", "\"e\"")
    let meaning = proto.interpret(reply, to: .create, facts, Scene.context())
    _ = facts.apply(meaning, to: .create, proto.abilities)
    #expect(proto.access(facts) == (isAskedFor ? FileAccess(mode: 0o750, owner: 5, group: 6) : FileAccess()))
    // A download that continues the session with other options applies its own.
    settings.keepsOwner = false
    let later = try #require(try AllProtocols.make(settings, credentialsRegion: nil) as? GetProtocol)
    #expect(later.access(facts) == (isAskedFor ? FileAccess(mode: 0o750) : FileAccess()))
  }
}
