import TransferModel

/// One answer, as seen by extractions and conditions. Documents are parsed when they are first needed. Lives as long as
/// one interpretation, on one thread.
final class ReplyReader {
  let status: Int
  let curlCode: Int32
  /// The URL of the request; references are resolved against it.
  let url: String
  let body: [UInt8]
  private let reply: TransferReply
  private var json: Result<JSONValue, DocumentFault>?
  private var xml: Result<XMLElement, DocumentFault>?

  /// Why the body is not a document of the kind that the profile expects.
  struct DocumentFault: Error, Hashable {
    var message: String
  }

  init(_ reply: TransferReply, url: String) {
    self.reply = reply
    self.url = url
    status = reply.status
    curlCode = reply.curlCode
    body = reply.body
  }

  func field(_ name: String) -> String? { reply.field(name) }

  func jsonDocument() throws(DocumentFault) -> JSONValue {
    let result = json ?? readJSON()
    json = result
    return try result.get()
  }

  func xmlDocument() throws(DocumentFault) -> XMLElement {
    let result = xml ?? readXML()
    xml = result
    return try result.get()
  }

  /// Why the document for a source cannot be read; nil if it can, or if the source needs none.
  func documentFault(_ source: Extraction.Source) -> String? {
    do throws(DocumentFault) {
      switch source {
      case .json: _ = try jsonDocument()
      case .xml: _ = try xmlDocument()
      case .header, .status, .body: break
      }
      return nil
    } catch {
      return error.message
    }
  }

  private func readJSON() -> Result<JSONValue, DocumentFault> {
    if isHTML { return .failure(DocumentFault(message: "the server answered an HTML page, not JSON")) }
    if let fault = incomplete("JSON") { return .failure(fault) }
    do throws(JSONFault) {
      return .success(try JSONReader.read(body))
    } catch {
      switch error {
      case .tooLarge: return .failure(DocumentFault(message: "the answer is more than 4 MiB of JSON"))
      case .tooDeep:
        return .failure(
          DocumentFault(message: "the JSON of the answer is nested deeper than \(JSONReader.deepest) levels"))
      case .notUTF8, .loneSurrogate, .syntax: return .failure(DocumentFault(message: "the answer is not JSON"))
      }
    }
  }

  private func readXML() -> Result<XMLElement, DocumentFault> {
    if isHTML { return .failure(DocumentFault(message: "the server answered an HTML page, not XML")) }
    if let fault = incomplete("XML") { return .failure(fault) }
    do throws(XMLFault) {
      return .success(try XMLElement(document: body))
    } catch {
      return .failure(DocumentFault(message: "the answer is not XML that can be read"))
    }
  }

  private func incomplete(_ kind: String) -> DocumentFault? {
    if reply.isBodyTruncated { return DocumentFault(message: "the answer was cut off, and its \(kind) is incomplete") }
    return body.isEmpty ? DocumentFault(message: "the answer is empty, not \(kind)") : nil
  }

  /// Typical output of proxies, login pages and crashed applications.
  var isHTML: Bool {
    if let type = field("content-type")?.lowercased(), type.hasPrefix("text/html") { return true }
    return isPage
  }

  /// Whether the body is an HTML document, whatever its media type: scripts that answer a bare word with the media type
  /// of HTML are common.
  var isPage: Bool {
    let start = body.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }.prefix(15).map { $0 | 0x20 }
    return start.starts(with: "<!doctype html".utf8.map { $0 | 0x20 }) || start.starts(with: "<html".utf8)
  }
}
