import TransferModel

/// One protocol below the reserved prefix `/-/`.
protocol Endpoint {
  /// The first path components after the prefix that select this protocol.
  static var names: [String] { get }

  init(exchange: Exchange, target: EndpointTarget)

  /// Carries out the request, including the check of credentials.
  func answer() throws(ExchangeEnd) -> Answer

  /// Adds the fields that every answer of the protocol has, even a refusal.
  func completed(_ answer: Answer) -> Answer
}

extension Endpoint {
  func completed(_ answer: Answer) -> Answer { answer }
}

/// A request target below the reserved prefix.
struct EndpointTarget {
  /// The first component, which selected the protocol.
  var name: String
  /// The components after it as they were sent; the last one is empty if the path ends with a slash.
  var rest: [ArraySlice<UInt8>]
  var query: Query

  /// The components as text, for comparisons.
  var words: [String] { rest.map { String(decoding: $0, as: UTF8.self) } }

  /// The path from component `index` on, as an object's name.
  func objectPath(from index: Int) throws(ExchangeEnd) -> ObjectPath {
    var path: [UInt8] = []
    for component in rest.dropFirst(index) { path += [0x2F] + component }
    return try ObjectPath(objectAt: path[...])
  }
}

/// All protocols of the receiver.
enum Endpoints {
  static let all: [any (Endpoint & SendableMetatype).Type] = [
    TusEndpoint.self, ResumableEndpoint.self, FormEndpoint.self, BlocksEndpoint.self, ChunksEndpoint.self,
    BrowserChunksEndpoint.self,
    DropzoneEndpoint.self, QiniuEndpoint.self, GraphEndpoint.self, DropboxEndpoint.self, NextcloudEndpoint.self,
    GoogleEndpoint.self, DavPatchEndpoint.self,
  ]

  /// The target below `/-/`, even if the minus is percent-encoded; nil for a path of plain objects.
  static func reserved(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    for prefix in ["/-/", "/%2D/", "/%2d/"] where path.starts(with: prefix.utf8) {
      return path.dropFirst(prefix.utf8.count)
    }
    return nil
  }

  static func answer(_ exchange: Exchange, _ reserved: ArraySlice<UInt8>) throws(ExchangeEnd) -> Answer {
    let components = reserved.split(separator: 0x2F, omittingEmptySubsequences: false)
    let name = String(decoding: components[0], as: UTF8.self)
    // Clients create all collections of a path, from the top.
    if name.isEmpty, exchange.head.method == "MKCOL" { throw .refuse(405, "the collection exists") }
    guard let type = all.first(where: { $0.names.contains(name) }) else {
      throw .refuse(404, "no protocol has this path; see transfers-receiver --help")
    }
    let target = EndpointTarget(
      name: name, rest: Array(components.dropFirst()), query: try Query(exchange.head.query))
    let endpoint = type.init(exchange: exchange, target: target)
    do throws(ExchangeEnd) {
      return endpoint.completed(try endpoint.answer())
    } catch {
      if case .refuse(let answer) = error { throw .refuse(endpoint.completed(answer)) }
      throw error
    }
  }
}
