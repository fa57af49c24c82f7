import TransferModel

@testable import Receiver

/// The requests of a tus client, each on its own connection.
struct TusClient {
  let receiver: ReceiverFixture
  var endpoint = "/-/tus/"

  private static let fields = ["Tus-Resumable: 1.0.0"]
  static let type = "Content-Type: application/offset+octet-stream"

  func create(_ length: Int?, name: String? = nil, _ body: [UInt8] = [], fields: [String] = []) -> RawClient.Reply? {
    let size = length.map { ["Upload-Length: \($0)"] } ?? []
    let metadata = name.map { ["Upload-Metadata: filename \(base64(Array($0.utf8)))"] } ?? []
    return receiver.ask("POST", endpoint, body, fields: Self.fields + size + metadata + fields)
  }

  /// The path of a new upload.
  func upload(_ length: Int?, name: String? = nil, fields: [String] = []) -> String {
    Self.path(create(length, name: name, fields: fields)?.fields["location"])
  }

  /// The part of a URL after its authority.
  static func path(_ url: String?) -> String {
    guard let url, url.hasPrefix("http://") else { return url ?? "" }
    return "/" + url.dropFirst(7).split(separator: "/", maxSplits: 1).dropFirst().joined()
  }

  func patch(_ path: String, at offset: Int, _ body: [UInt8], fields: [String] = []) -> RawClient.Reply? {
    receiver.ask("PATCH", path, body, fields: Self.fields + [Self.type, "Upload-Offset: \(offset)"] + fields)
  }

  func head(_ path: String) -> RawClient.Reply? { receiver.ask("HEAD", path, fields: Self.fields) }

  /// The offset that HEAD reports; nil if it reports none.
  func offset(_ path: String) -> Int? { head(path)?.fields["upload-offset"].flatMap { Int($0) } }

  func delete(_ path: String) -> RawClient.Reply? { receiver.ask("DELETE", path, fields: Self.fields) }
}
