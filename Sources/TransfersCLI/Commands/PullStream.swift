import TransferModel
import TransferReports
import Transfers

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `transfers pull URL -` and `transfers pull --into-tar FILE URL…`: data is written in order as it arrives, and not
/// recorded in a ledger. A signal ends the process.
struct PullStream {
  let files: DownloadFlags
  let rate: Int64?
  let common: CommonOptions
  let context: Context

  func run() throws(CommandFailure) {
    let options = try files.download(context)
    let reporter = ProgressReporter(context.err, isQuiet: common.quiet)
    defer { reporter.finish() }
    let streaming = try failing { () throws(TransferError) in
      try Streaming(options, rate: rate) { reporter.notice($0) }
    }
    guard let archive = files.intoTar, archive != DownloadFlags.dash else { return try toOutput(streaming) }
    try toFile(streaming, archive)
  }

  private func toOutput(_ streaming: Streaming) throws(CommandFailure) {
    guard !context.out.isTerminal else {
      throw .usage(
        "standard output is a terminal, and the file may contain control characters",
        remedy: "redirect it to a file or pipe")
    }
    let descriptor = context.out.descriptor
    try requireSuccess(
      try failing { () throws(TransferError) in
        files.intoTar == nil ? try streaming.file(to: descriptor) : try streaming.archive(to: descriptor)
      })
  }

  private func toFile(_ streaming: Streaming, _ path: NameBytes) throws(CommandFailure) {
    try requireSuccess(
      try failing { () throws(TransferError) in try streaming.archive(at: path, overwrites: files.overwrite) })
  }

  private func requireSuccess(_ result: StreamResult) throws(CommandFailure) {
    if let failed = result.failure { throw failure(failed) }
    context.out.markComplete()
    guard !common.quiet else { return }
    let figures = StreamFigures(result)
    if common.format.isForPeople {
      context.err.writeLine(figures.line)
    } else {
      context.err.writeJSON(JSONWriter.bytes(figures.tree) + [0x0A])
    }
  }

  private func failure(_ failed: StreamFailure) -> CommandFailure {
    let failure = failed.failure
    if failed.isClosedReader { return CommandFailure(.closed, "standard output was closed by its reader") }
    let status: ExitCode =
      switch failure.code {
      case .integrityMismatch: .mismatch
      case .localIO, .localDiskFull: .error
      case let code where code.category == .auth: .auth
      default: .allFailed
      }
    let partly = failed.written > 0 ? " (\(Quantity.count(Int(failed.written), "byte")) of it had been written)" : ""
    return CommandFailure(
      status, code: failure.code.rawValue,
      "\(failed.operation.rawValue) \"\(failed.path)\": \(printable(failure.message))\(partly)", remedy: remedy(failed))
  }

  private func remedy(_ failed: StreamFailure) -> String {
    let isOut = failed.written > 0 && (files.intoTar == nil || files.intoTar == DownloadFlags.dash)
    let discard = isOut ? "discard what was written, and " : ""
    return switch failed.failure.code {
    case .integrityMismatch: "\(discard)ask the source which content is right"
    case .policyExists: ""
    case .localDiskFull: "\(discard)free space and run the same command again"
    case .localIO: discard + Self.remedy(ofOutput: failed.failure.systemError)
    case .protoUnsupported: "\(discard)name its size in a list (--files-from), or pull it into a folder"
    case .protoBadReply: "\(discard)look at what the server sends for this URL: it may need --auth, or another URL"
    case let code where code.category == .auth:
      "\(discard)check the credentials (--auth) or the command of --url-command"
    case .http404, .http410, .httpRedirect, .protoNoDestination: "\(discard)check the URL"
    default: "\(discard)run the same command again; a pull into a folder continues where it stopped"
    }
  }
}

extension PullStream {
  fileprivate static func remedy(ofOutput code: Int32?) -> String {
    switch code {
    case ENOENT, ENOTDIR: "create the folder, or name another file"
    case EACCES, EPERM, EROFS: "check the permissions, or name another file"
    default: "see the system log"
    }
  }
}

/// The summary for people and programs, on standard error, because standard output has the files.
private struct StreamFigures {
  let files: Int
  let bytes: Int64
  /// How the last file was confirmed, and its digest.
  let confirmation: String
  let digest: String?

  init(_ result: StreamResult) {
    (files, bytes) = (result.files, result.bytes)
    confirmation = result.proof?.confirmation.rawValue ?? "none"
    digest = result.proof?.digest?.description
  }

  var tree: FigureTree {
    FigureTree(
      FigureObject([
        ("type", .text("streamed")), ("files", Cell(files)), ("bytes", .bytes(bytes)),
        ("confirmation", .text(confirmation)), ("digest", Cell(digest)),
      ]))
  }

  var line: String {
    let what = "\(Quantity.count(files, "file")), \(Quantity.bytes(bytes))"
    guard files == 1 else { return what }
    return what + ", confirmed by \(confirmation)" + (digest.map { ", \($0)" } ?? "")
  }
}
