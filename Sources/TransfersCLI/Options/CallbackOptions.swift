import ArgumentParser
import TransferModel
import Transfers

/// Who is told what became of the files of a batch.
struct CallbackOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Tell of each file that is done: exec:PROGRAM ARGUMENTS (JSON on its standard input) or webhook:URL. Repeatable.",
      valueName: "receiver"))
  var onDone: [String] = []

  @Option(
    help: ArgumentHelp("Tell of each file that failed, or whose outcome is unknown. Repeatable.", valueName: "receiver")
  )
  var onFailed: [String] = []

  @Option(
    help: ArgumentHelp(
      "Where the key is that signs webhooks: env:NAME, file:PATH, credential:NAME or command:PROGRAM.",
      valueName: "reference"))
  var webhookKey: String?

  func validate() throws {
    if let webhookKey, !CallbackText.isReference(webhookKey) {
      throw ValidationError("--webhook-key takes a reference, never a secret: \(SecretPlaces.list)")
    }
    for text in onDone + onFailed where CallbackText.read(text, .done) == nil {
      throw ValidationError(
        "--on-done and --on-failed take \(CallbackText.kinds); a program is named from the root or found in PATH")
    }
  }

  /// nil for nobody.
  var settings: [CallbackSetting]? {
    let done = onDone.compactMap { CallbackText.read($0, .done, key: webhookKey) }
    let failed = onFailed.flatMap { text in
      [CallbackEvent.failed, .unknown].compactMap { CallbackText.read(text, $0, key: webhookKey) }
    }
    return done.isEmpty && failed.isEmpty ? nil : done + failed
  }
}

/// Who is told what the runs of a job did.
enum JobCallbacks {
  /// - Throws: `.config` for a receiver that cannot be understood.
  static func read(_ job: ConfigSection) throws(CommandFailure) -> [CallbackSetting] {
    let key = job["webhook_key"]?.value
    if let key, !CallbackText.isReference(key) {
      throw CommandFailure(
        .config, "job \(job.name): webhook_key takes a reference, never a secret", remedy: SecretPlaces.list)
    }
    var settings: [CallbackSetting] = []
    for text in job["on_result"]?.values ?? [] {
      for event in [CallbackEvent.succeeded, .unsuccessful] {
        guard let setting = CallbackText.read(text, event, key: key) else {
          throw CommandFailure(
            .config, "job \(job.name): on_result takes \(CallbackText.kinds)", remedy: "transfers help config")
        }
        settings.append(setting)
      }
    }
    guard let ping = job["ping"]?.value else { return settings }
    guard let pings = CallbackText.pings(ping) else {
      throw CommandFailure(
        .config, "job \(job.name): ping takes an http or https URL, or where one is kept",
        remedy: "ping: file:/etc/transfers/ping")
    }
    return settings + pings
  }
}
