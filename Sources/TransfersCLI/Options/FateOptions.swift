import ArgumentParser
import TransferModel
import Transfers

/// When a source is complete, and how it is removed after it was sent.
struct FateOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Send a new or changed file only after it has been unchanged for this time: 60s (default: at once). See \"transfers help sources\".",
      valueName: "time"))
  var settle: TimeSpan?

  @Option(
    help: ArgumentHelp(
      "Send only files that have this marker file: '{path}.done', '{dir}/{stem}.ready', or '{dir}/.done' for a whole folder. The marker is not sent.",
      valueName: "pattern"))
  var readyFile: String?

  @Option(
    help: ArgumentHelp(
      "What to do with a source when its file is done and the receipt is recorded: keep, delete or move:FOLDER.",
      valueName: "what"))
  var after: FateWord?

  @Option(
    help: ArgumentHelp(
      "What the server must have confirmed before --after deletes or moves a file: any (only success), size or digest (default: size).",
      valueName: "proof"))
  var afterProof: SourceRemoval.Proof?

  func validate() throws {
    if afterProof != nil, after == nil || after?.fate == .keep {
      throw ValidationError("--after-proof is for --after delete and --after move:FOLDER")
    }
    if let settle, settle.ms > Self.longestSettleMs { throw ValidationError("--settle is at most 30d") }
  }

  private static let longestSettleMs: Int64 = 30 * 86_400_000

  func apply(to options: inout UploadOptions) {
    options.settleMs = settle.flatMap { $0.ms > 0 ? $0.ms : nil }
    options.readyFile = readyFile
    options.fate = after?.fate ?? .keep
    options.fateProof = afterProof ?? .size
  }
}

extension SourceRemoval.Proof: ExpressibleByArgument {}

/// `keep`, `delete`, `move:FOLDER`.
struct FateWord: ExpressibleByArgument, Sendable {
  let fate: SourceFate

  init?(argument: String) {
    switch argument {
    case "keep": fate = .keep
    case "delete": fate = .delete
    case _ where argument.hasPrefix("move:") && argument.count > 5:
      fate = .move(to: NameBytes(embedded: String(argument.dropFirst(5))))
    default: return nil
    }
  }
}
