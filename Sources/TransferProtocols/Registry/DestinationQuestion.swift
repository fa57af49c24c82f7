import HTTPTypes
public import TransferModel

/// A question that changes nothing at a destination: whether it is there, and whether it takes the credentials. HEAD of
/// an object that is not there for S3, OPTIONS for all others: a server of files answers that to anybody it knows.
public struct DestinationQuestion: Sendable {
  private let settings: BatchSettings
  private let transferProtocol: any TransferProtocol

  /// - Throws: what ``AllProtocols/make(_:credentialsRegion:)`` throws.
  public init(_ settings: BatchSettings) throws(TransferError) {
    self.settings = settings
    transferProtocol = try AllProtocols.make(settings, credentialsRegion: nil)
  }

  /// The question; `learned` is what an answer to it taught, a region for example.
  public func request(_ context: RequestContext) throws(Failure) -> TransferRequest {
    if transferProtocol is S3Protocol { return try transferProtocol.request(.verify, facts(context), context) }
    if transferProtocol is TusProtocol { return try transferProtocol.request(.discover, facts(context), context) }
    var request = TransferRequest(method: .options, url: url)
    if let authorization = try context.credential.authorization { request.fields[.authorization] = authorization }
    return request
  }

  /// What the answer taught about the destination; nil where the question need not be asked again.
  public func learned(from reply: TransferReply, _ context: RequestContext) -> LearnedFacts? {
    guard transferProtocol is S3Protocol else { return nil }
    let meaning = transferProtocol.interpret(reply, to: .verify, facts(context), context)
    guard let learned = meaning.learned, learned != context.learned else { return nil }
    return learned
  }

  /// The server's own words about what it can, by the names of their fields in lower case.
  public static func told(_ reply: TransferReply) -> [String: String] {
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

  /// The name of the question, for people.
  public var name: String { transferProtocol is S3Protocol ? "HEAD" : "OPTIONS" }

  /// A file that is not there: its name is that of nothing that anybody would send.
  private func facts(_ context: RequestContext) -> TransferFacts {
    let uid = UID.make(wallMs: context.wallMs)
    let key = (try? Destination(settings))?.key(
      forRelativePath: NameBytes(".transfers-test-\(uid)"), isSingleFile: false)
    let file = FileFacts(uid: uid, key: key ?? NameBytes(".transfers-test-\(uid)"), size: 0, mtimeMs: 0)
    var facts = TransferFacts(file: file, layout: ChunkLayout(whole: 0))
    facts.learned = context.learned
    return facts
  }

  /// Of the folder; a template is asked about as far as it is one.
  private var url: String {
    let whole = transferProtocol.location(ofKey: NameBytes(""))
    let scheme = whole.firstRange(of: "+http").map { whole[whole.index(after: $0.lowerBound)...] } ?? whole[...]
    return String(scheme.prefix { $0 != "{" && $0 != "?" })
  }
}
