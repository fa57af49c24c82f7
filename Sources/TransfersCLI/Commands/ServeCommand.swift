import ArgumentParser
import HTTPServer
import TransferModel
import TransferReports
import Transfers

/// `transfers serve`: the page of the report, live in a browser.
struct ServeCommand: Command, ChangesRows {
  static let configuration = CommandConfiguration(
    commandName: "serve", abstract: "Show the report live in a browser, with buttons if --control is given.",
    discussion: """
      Prints a URL with a token that is new at each start and grants access. The first page shows "status" and the \
      page of "report --format html"; others show the lists and reports, and the history of each file and where its \
      time went. Pages refresh automatically, and cost almost nothing while nothing changes. The selection is the \
      default of the pages; a URL may select other rows (/files?state=failed), but verbs stay within the selection.

      --control adds buttons for pause, resume, retry, cancel, rm and clean, on each row and for all; without it \
      nothing can be changed. Programs send the token as "Authorization: Bearer":

        /api/v1/PAGE        the --json output of the command, also ?format=csv and
                            other formats; the selection as parameters. PAGE is now,
                            status, files, batches, chunks, attempts, events,
                            history, show/f1, why/f1, report/KIND or schema
        POST /api/v1/VERB   {"id": ["f1"], "now": true}; needs --control and
                            Content-Type: application/json
        /metrics            report summary --format prometheus
        /healthz            "ok", without a token

      It listens on this machine only. --allow-remote permits other addresses, with a token of your own from \
      --token-file, which only you may read; there is no TLS: put a proxy in front (--host-name NAME is the name in \
      the browser then), or use ssh -L. Ends with Ctrl-C or SIGTERM.

      Examples:
        transfers serve
        transfers serve --control --last
        transfers serve --listen unix:/run/user/1000/transfers.sock
      """)

  @Option(help: ArgumentHelp("127.0.0.1:8787, [::1]:0 (0: a free port) or unix:/path.sock.", valueName: "address"))
  var listen = NameBytes("127.0.0.1:8787")
  @Flag(help: "Allow changes: buttons and POST.") var control = false
  @Option(
    help: ArgumentHelp("Take the token from this file, which only you may read.", valueName: "file"),
    completion: .file()) var tokenFile: NameBytes?
  @Flag(help: "Listen on an address that other machines can reach; needs --token-file.") var allowRemote = false
  @Option(help: ArgumentHelp("A host name that browsers use for this server; repeatable.", valueName: "name"))
  var hostName: [String] = []
  @OptionGroup(title: "Selection") var selection: SelectionOptions
  @OptionGroup var common: CommonOptions

  func execute(_ context: Context) throws(CommandFailure) {
    let address = try failing { () throws(TransferError) in try ListenAddress(listen) }
    try check(address)
    let token = try tokenFile.map { (path) throws(CommandFailure) in try TokenFile.read(path) }
    let ledger = try LedgerAccess.open(try common.storePath(context), context)
    defer { ledger.close() }
    // The selection must be valid.
    _ = try selection.filter(ledger, context)
    let base = try ServeTerms(selection.terms)
    let desk = Lock<ServeDesk?>(nil)
    let server = try failing { () throws(TransferError) in
      try HTTPServer(address) { request in
        desk.withLock(\.self)?.answer(request) ?? HTTPResponse(503, text: "not ready")
      }
    }
    let sessions = ServeSessions(token: token ?? ServeSessions.newToken(), port: server.port)
    let guards = ServeGuard(
      hostNames: Set(hostName.map { $0.lowercased() }), isLocal: address.isLocal, mayControl: control,
      sessions: sessions)
    desk.withLock { $0 = ServeDesk(guards, base: base, context, ledger: ledger) }
    try work(server, ServeOutput(address, port: server.port, control, sessions.printed(given: token)), ledger, context)
  }

  private func check(_ address: ListenAddress) throws(CommandFailure) {
    if common.output != nil {
      throw .usage("serve prints its URL at once, and does not end; leave out --output")
    }
    guard !address.isLocal else { return }
    guard allowRemote else {
      throw .usage(
        "\(listen) is reachable from other machines, and there is no TLS",
        remedy: "listen on 127.0.0.1 and use ssh -L, or --allow-remote with --token-file")
    }
    guard tokenFile != nil else {
      throw .usage("--allow-remote needs a token of your own", remedy: "--token-file FILE")
    }
  }

  private func work(
    _ server: HTTPServer, _ value: ServeOutput, _ ledger: OpenStore, _ context: Context
  ) throws(CommandFailure) {
    let stops = Mailbox<Void>()
    context.signals?.handle { _, _ in
      stops.put(())
      return true
    }
    try failing { () throws(TransferError) in try server.start() }
    defer { server.stop() }
    try common.print(value, store: StoreIdentity(ledger), context)
    if !common.quiet { context.err.writeLine("serving\(control ? "" : " read-only"); Ctrl-C ends it") }
    _ = stops.take()
  }
}

/// The address of the server.
struct ServeOutput: OutputValue {
  let url, listen: String
  let control: Bool

  init(_ address: ListenAddress, port: UInt16, _ control: Bool, _ token: String?) {
    self.control = control
    let fragment = token.map { "#token=\($0)" } ?? ""
    switch address {
    case .tcp(let host, _):
      listen = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
      url = "http://\(listen)/\(fragment)"
    case .unix(let path):
      (listen, url) = ("unix:\(path)", "http://localhost/\(fragment)")
    }
  }

  static let form = ReportForm<ServeOutput>(
    "transfers.serve/1",
    [
      .facts([
        .text("url", "") { $0.url }.saying { $0.url }, .text("listen") { $0.listen },
        .flag("control") { $0.control },
      ])
    ])
}

extension SelectionOptions {
  /// As query parameters of a request.
  var terms: [HTTPRequest.Term] { rows.selection.with(labels: labels).terms }
}

extension ServeSessions {
  /// A token from a file is already known, and is not printed.
  func printed(given: String?) -> String? { given == nil ? String(decoding: token, as: UTF8.self) : nil }
}
