public import HTTPTypes
public import TransferModel

/// What the header of an answer that brings content says of the whole file.
public struct AnswerHead: Sendable, Hashable {
  /// Bytes; nil where it does not say.
  public var size: Int64?
  public var digests: [Digest] = []
  /// Milliseconds since 1970 UTC.
  public var modifiedMs: Int64?

  public init(size: Int64?) { self.size = size }

  public init(status: Int, _ fields: HTTPFields, wallMs: Int64) {
    size = status == 206 ? ContentRange(fields[.contentRange])?.size : GetProtocol.length(fields)
    digests = ToldDigests.all(fields, isWhole: status == 200)
    modifiedMs = fields[.lastModified].flatMap { HTTPDate.parse($0, wallMs: wallMs) }
  }
}
