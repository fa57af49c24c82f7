import HTTPTypes
public import TransferModel

/// A query that changes nothing at a destination, and shows whether it answers and accepts the credentials. HEAD of a
/// nonexistent object for S3, OPTIONS for all others: a file server answers that to any client that it knows.
public struct DestinationQuestion: Sendable {
  private let settings: BatchSettings
  private let transferProtocol: any TransferProtocol

  /// - Throws: like ``AllProtocols/make(_:credentialsRegion:)``.
  public init(_ settings: BatchSettings) throws(TransferError) {
    self.settings = settings
    transferProtocol = try AllProtocols.make(settings, credentialsRegion: nil)
  }

  /// The request; `learned` is what an earlier answer showed, such as a region.
  package func request(_ context: RequestContext) throws(Failure) -> TransferRequest {
    if transferProtocol is S3Protocol { return try transferProtocol.request(.verify, facts(context), context) }
    if transferProtocol is TusProtocol { return try transferProtocol.request(.discover, facts(context), context) }
    var request = TransferRequest(method: .options, url: url)
    if let authorization = try context.credential.authorization { request.fields[.authorization] = authorization }
    return request
  }

  /// The facts learned from the answer; nil if the query need not be repeated.
  package func learned(from reply: TransferReply, _ context: RequestContext) -> LearnedFacts? {
    guard transferProtocol is S3Protocol else { return nil }
    let meaning = transferProtocol.interpret(reply, to: .verify, facts(context), context)
    guard let learned = meaning.learned, learned != context.learned else { return nil }
    return learned
  }

  /// The server's own description of its abilities, by lower-case field names.
  package static func told(_ reply: TransferReply) -> [String: String] {
    var told: [String: String] = [:]
    for text in fields {
      if let name = HTTPField.Name(text), let value = reply.fields[name] { told[text] = value }
    }
    return told
  }

  private static let fields = [
    "server", "allow", "dav", "tus-version", "tus-extension", "tus-max-size", "upload-limit", "accept-ranges",
    "x-amz-bucket-region",
  ]

  /// The name of the query for display.
  public var name: String { transferProtocol is S3Protocol ? "HEAD" : "OPTIONS" }

  /// A nonexistent file, with a name that nobody would use.
  private func facts(_ context: RequestContext) -> TransferFacts {
    let uid = UID.make(wallMs: context.wallMs)
    let key = (try? Destination(settings))?.key(
      forRelativePath: NameBytes(".transfers-test-\(uid)"), isSingleFile: false)
    let file = FileFacts(uid: uid, key: key ?? NameBytes(".transfers-test-\(uid)"), size: 0, mtimeMs: 0)
    var facts = TransferFacts(file: file, layout: ChunkLayout(whole: 0))
    facts.learned = context.learned
    return facts
  }

  /// The URL of the folder; for a template, the URL up to the first field.
  private var url: String {
    let whole = transferProtocol.location(ofKey: NameBytes(""))
    let scheme = whole.firstRange(of: "+http").map { whole[whole.index(after: $0.lowerBound)...] } ?? whole[...]
    return String(scheme.prefix { $0 != "{" && $0 != "?" })
  }
}
