import HTTPTypes
import TransferModel

/// A request as text, without its body from a file.
public struct RequestText: Sendable, Hashable {
  public var method: String
  public var url: String
  /// Names and values.
  public var fields: [Field]
  /// A small body, or the frame around a body from a file.
  public var body: [UInt8]?
  public var prefix: [UInt8]
  public var suffix: [UInt8]

  public struct Field: Sendable, Hashable {
    public var name: String
    public var value: String
  }

  package init(_ request: TransferRequest) {
    (method, url) = (request.method.rawValue, request.url)
    fields = request.fields.map { Field(name: $0.name.rawName, value: $0.value) }
    if case .bytes(let bytes) = request.body { body = bytes }
    (prefix, suffix) = (request.envelope?.prefix ?? [], request.envelope?.suffix ?? [])
  }
}
