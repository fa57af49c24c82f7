import ArgumentParser
import TransferModel
import TransferReports
import Transfers

/// `transfers profile try`.
struct ProfileTryCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "try",
    abstract: "Print the requests that an upload through a profile would make; sends nothing.",
    discussion: """
      Values that the server would send are shown by their names, secrets as (hidden). If there are many chunks, only \
      the first two and the last one are shown.
      """)

  @Argument(
    help: ArgumentHelp("A file, or a built-in profile.", valueName: "profile"), completion: .list(ProfileLibrary.names))
  var profile: String
  @Option(help: ArgumentHelp("The file that would be sent.", valueName: "path"), completion: .file())
  var file: NameBytes
  @Option(help: ArgumentHelp("The destination.", valueName: "url"))
  var to = "https://server.example"
  @Option(
    name: .customLong("input"),
    help: ArgumentHelp("An input of the profile; repeatable. Secrets need not be given.", valueName: "name=value"))
  var inputs: [String] = []
  @Option(
    name: .customLong("allow-host"),
    help: ArgumentHelp(
      "A host other than the destination that the profile may contact; repeatable.", valueName: "host[:port]"))
  var allowedHosts: [String] = []
  @Option(help: ArgumentHelp("Size of chunks (default: the profile's).", valueName: "bytes"))
  var partSize: ByteQuantity?
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let requests = try failing { () throws(TransferError) in
      var settings = BatchSettings(
        destination: to, profile: try ProfileLibrary.settings(via: profile, inputs: inputs, needsSecrets: false))
      settings.options["part-size"] = partSize.map { .number($0.bytes) }
      if !allowedHosts.isEmpty { settings.options["allow-host"] = .list(allowedHosts) }
      return try ProfileLibrary.rehearse(settings, path: file)
    }
    try common.print(
      ProfileTryOutput(requests), store: StoreIdentity(path: try? common.storePath(context)), context)
  }
}

/// What `profile try` would send.
struct ProfileTryOutput: OutputValue {
  private let requests: [ProfileLibrary.PlannedRequest]

  init(_ requests: [ProfileLibrary.PlannedRequest]) { self.requests = requests }

  static let form = ReportForm<ProfileTryOutput>(
    "transfers.profile.try/1",
    [
      .words { $0.text },
      .table("requests", nil, columns, TableLook(isForPrograms: true)) { $0.requests },
    ])

  private static let columns: [Column<ProfileLibrary.PlannedRequest>] = [
    .text("step", "Step") { $0.step },
    .text("method", "Method") { $0.method },
    .text("url", "URL") { $0.url },
    .list("headers", "Headers") { $0.headers },
    .text("body", "Body") { $0.body },
  ]

  /// The requests as plain text.
  private var text: String {
    requests.map { request in
      let head = "# \(request.step)\n\(request.method) \(request.url)\n"
      let headers = request.headers.map { $0 + "\n" }.joined()
      let body = request.body.isEmpty ? "" : "\n" + request.body + (request.body.hasSuffix("\n") ? "" : "\n")
      return head + headers + body
    }.joined(separator: "\n")
  }
}
