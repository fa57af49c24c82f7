public import HTTPTypes
public import TransferModel

/// The properties of the whole file in the header of an answer with content.
public struct AnswerHead: Sendable, Hashable {
  /// Bytes; nil if the header does not say.
  public var size: Int64?
  public var digests: [Digest] = []
  /// Milliseconds since 1970 UTC.
  public var modifiedMs: Int64?

  public init(size: Int64?) { self.size = size }
}

extension GetProtocol {
  public func head(status: Int, _ fields: HTTPFields, _ facts: TransferFacts) -> AnswerHead {
    let range = status == 206 ? ContentRange(fields[.contentRange]) : nil
    var head = AnswerHead(size: status == 206 ? range?.size : length(fields, facts))
    let isWhole = status == 200 || (range?.size != nil && range?.range?.length == range?.size)
    var version = RemoteVersion(size: head.size ?? 0, fields, isWhole: isWhole, wallMs: facts.wallMs)
    source.complete(&version, fields)
    head.digests = isCoded(fields, facts) ? [] : version.digests
    head.modifiedMs = fields[.lastModified].flatMap { HTTPDate.parse($0, wallMs: facts.wallMs) }
    return head
  }
}
