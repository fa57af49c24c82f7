import ArgumentParser
import Transfers
import TransferModel
import TransferReports

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `transfers prove`: proves that nothing was lost.
struct ProveCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "prove", abstract: "Prove that no file was lost, and write a certificate.",
    discussion: """
      Checks every file of the selection, including hidden ones, and the whole log: each file is done, failed, \
      cancelled or superseded; its chunks cover it without gap and overlap; each done chunk names the attempt that \
      succeeded; each done file has its receipt, and no later finding contradicts it; receipts, requests and events \
      match the log. Violations are listed, and the command exits with 8. If files are only not finished yet, it exits \
      with 5, and with 3 if one is unknown. A failed file is not a lost one: it is counted; --state done excludes it. \
      What the last scans of the sources left out is counted too, by cause: excluded, not ready, special, \
      known by --known-at, and refused.

      By default only the ledger is read. With --remote the destinations are queried first, about each done file: S3, \
      PUT and WebDAV by HEAD, tus and resumable uploads if the server still knows the upload, profiles by their step \
      "verify"; of downloads the local file is read. A file is proven if it has the confirmed digest, ETag or at least \
      size. An absent file, or one with a different size or digest, is a violation (8). If the server's answer is \
      inconclusive, or there is no way to query it, the file is listed, and the command exits with 3: "cannot tell" \
      means neither absent nor proven. Each query is recorded as a request, each answer as a receipt of its file. The \
      queries are a run of their own: while another engine owns the ledger, the command exits with 6. --subset 3/28 \
      spreads the queries over several nights.

      -o FILE writes a certificate: an in-toto Statement in a DSSE envelope, signed with the ledger's key (see \
      "transfers store seal"). Its subjects are the done files with their SHA-256. tools/verify-receipt.py checks it \
      without the ledger.

      Examples:
        transfers prove --batch nightly
        transfers prove --since 2026-10-01 --until 2026-11-01 -o october.json
        transfers prove --remote --subset 3/28
      """)

  @OptionGroup(title: "Selection") var rows: SelectionOptions
  @Flag(help: "Query the destinations about each done file, and read the local files of downloads.")
  var remote = false
  @Option(
    help: ArgumentHelp(
      "Only one of equal shares of the files: 3/28 is the third of 28. One share each night covers all in four weeks.",
      valueName: "k/n"))
  var subset: FileShare?
  @OptionGroup var common: CommonOptions

  private var writesCertificate: Bool { common.output.map { $0 != NameBytes("-") } ?? false }

  func validate() throws {
    guard writesCertificate, common.format != .table || common.columns != nil else { return }
    throw ValidationError(
      "-o writes the certificate, which has its own format; leave out --format, --json and --columns")
  }

  func execute(_ context: Context) throws(CommandFailure) {
    let path = try common.storePath(context)
    var ledger = try LedgerAccess.open(path, context)
    defer { ledger.close() }
    var filter = try rows.filter(ledger, context).withHidden
    filter.share = subset
    var asked: RemoteProof?
    if remote {
      // The queries write to the ledger; the proof afterwards includes their answers.
      ledger.close()
      asked = try RemoteQuestions(common, context).ask(path, filter)
      ledger = try LedgerAccess.open(path, context)
    }
    let (proof, certificate) = try prove(ledger, filter, asked, context)
    // A mistyped selection proves nothing.
    guard proof.total > 0 || !proof.holds else {
      throw CommandFailure(
        .empty, "prove: no file is selected", remedy: "run \"transfers list files\" with the same selection")
    }
    try print(LossProofFigures(proof, remote: asked), ledger, context)
    if let certificate, asked?.left ?? 0 == 0 {
      try write(certificate, context)
    } else if writesCertificate, let output = common.output {
      setAside(output, context)
    }
    try requireSuccess(proof, asked)
  }

  private var filters: [String: Cell] {
    rows.filters.merging(subset.map { ["subset": .text("\($0.number)/\($0.count)")] } ?? [:]) { $1 }
  }

  private func prove(
    _ ledger: OpenStore, _ filter: RowFilter, _ asked: RemoteProof?, _ context: Context
  ) throws(CommandFailure) -> (LossProof, SignedCertificate?) {
    guard writesCertificate else { return (try LedgerAccess.read(ledger) { try $0.lossProof(filter) }, nil) }
    return try failing { () throws(TransferError) in
      try ledger.certified(filter, filters: filters, provenMs: context.clock.wallMs, remote: asked)
    }
  }

  private func print(_ value: LossProofFigures, _ ledger: OpenStore, _ context: Context) throws(CommandFailure) {
    let store = try StoreIdentity(ledger)
    guard writesCertificate else { return try common.print(value, store: store, filters: filters, context) }
    guard !common.quiet || !value.holds else { return }
    try common.print(value, store: store, filters: filters, context.writing(to: context.err))
  }

  private func write(_ certificate: SignedCertificate, _ context: Context) throws(CommandFailure) {
    try failing { () throws(TransferError) in try certificate.write { context.out.write($0) } }
    context.out.markComplete()
    if certificate.undigested > 0, !common.quiet {
      let count = Quantity.count(certificate.undigested, "file")
      let place = certificate.subjects == 0 ? "the certificate has no subjects, only receipts" : "in it by receipt only"
      context.err.writeLine("\(count) without a known SHA-256: \(place); \(SHA256Advice.text)")
    }
  }

  /// A certificate of an earlier proof must not be mistaken for the result of this one.
  private func setAside(_ output: NameBytes, _ context: Context) {
    let old = NameBytes(output.bytes + Array(".old".utf8))
    func path(_ name: NameBytes) -> [CChar] { name.bytes.map { CChar(bitPattern: $0) } + [0] }
    guard isRegular(path(output)), rename(path(output), path(old)) == 0 else { return }
    context.err.writeLine("no certificate was written; that of an earlier proof is \"\(old)\" now")
  }

  private func isRegular(_ path: [CChar]) -> Bool {
    var facts = stat()
    return lstat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFREG
  }

  /// Files that are merely not finished are not lost; nil if there is another violation.
  private static func unfinished(_ proof: LossProof) -> CommandFailure? {
    guard proof.violations.allSatisfy({ $0.rule == .ended }) else { return nil }
    let states: [FileState] = [.settling, .pending, .active, .finishing, .paused]
    let (left, unknown) = (states.reduce(0) { $0 + (proof.files[$1] ?? 0) }, proof.files[.unknown] ?? 0)
    let parts = [(left, "not finished"), (unknown, "unknown")].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return CommandFailure(
      unknown > 0 ? .partial : .workLeft,
      "prove: of \(Quantity.count(proof.total, "file")) \(parts.joined(separator: " and ")); "
        + "nothing contradicts the others",
      remedy: "transfers run (resume for paused files, resolve for unknown ones), then prove again")
  }

  private func requireSuccess(_ proof: LossProof, _ asked: RemoteProof?) throws(CommandFailure) {
    guard proof.holds else {
      if let unfinished = Self.unfinished(proof) { throw unfinished }
      throw CommandFailure(
        .mismatch,
        "prove: \(Quantity.count(proof.violations.count, "violation")) in \(Quantity.count(proof.total, "file"))",
        remedy: "transfers show FILE, transfers push for what was lost, transfers run for what is not finished, "
          + "transfers store check for the log")
    }
    guard let asked, !asked.isProven else { return }
    if let wrong = asked.outcomes[.different].map({ $0 + (asked.outcomes[.absent] ?? 0) }) ?? asked.outcomes[.absent],
      wrong > 0
    {
      throw CommandFailure(
        .mismatch, "prove: \(Quantity.count(wrong, "file")) absent or different",
        remedy: "transfers show FILE; push of the same sources sends them again")
    }
    if let inconclusive = asked.outcomes[.inconclusive], inconclusive > 0 {
      throw CommandFailure(
        .partial, "prove: of \(Quantity.count(inconclusive, "file")) of \(asked.asked) the destination does not tell",
        remedy: "the list says why; nothing contradicts the others")
    }
    throw CommandFailure(
      .workLeft, "prove: stopped with \(Quantity.count(asked.left, "file")) not asked about",
      remedy: "the same command again, or --subset k/n")
  }
}

/// The queries of `prove --remote`: a run that signals can stop.
private struct RemoteQuestions {
  private let common: CommonOptions
  private let context: Context

  init(_ common: CommonOptions, _ context: Context) { (self.common, self.context) = (common, context) }

  func ask(_ path: String, _ filter: RowFilter) throws(CommandFailure) -> RemoteProof {
    let stop = StopSignal()
    let err = context.err
    let signals = context.signals ?? SignalWatch()
    signals.handle { _, count in
      guard stop.isHeard else { return false }
      if count == 1 {
        err.writeLine("stopping; the requests that are running are finished")
        stop.drain()
      } else {
        stop.stopNow()
      }
      return true
    }
    let isQuiet = common.quiet
    return try failing { () throws(TransferError) in
      try context.store(path).proveRemotely(
        filter, argv: RecordedArguments.masked(context.arguments),
        notice: { if !isQuiet, let line = NoticeText.line($0) { err.writeLine(line) } }, stop: stop)
    }
  }
}

extension LossProofFigures: OutputValue {}
