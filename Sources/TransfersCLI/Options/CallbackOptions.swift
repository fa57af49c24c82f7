import ArgumentParser
import TransferModel
import Transfers

/// Receivers of callbacks about the files of a batch.
struct CallbackOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Callback for each done file: exec:PROGRAM ARGUMENTS (JSON on its standard input) or webhook:URL. Repeatable.",
      valueName: "receiver"))
  var onDone: [String] = []

  @Option(
    help: ArgumentHelp("Callback for each file that failed or is unknown. Repeatable.", valueName: "receiver")
  )
  var onFailed: [String] = []

  @Option(
    help: ArgumentHelp(
      "Reference to the key that signs webhooks: env:NAME, file:PATH, credential:NAME or command:PROGRAM.",
      valueName: "reference"))
  var webhookKey: String?

  func validate() throws {
    if let webhookKey, !CallbackText.isReference(webhookKey) {
      throw ValidationError("--webhook-key takes a reference, never a secret: \(SecretPlaces.list)")
    }
    for text in onDone + onFailed where CallbackText.read(text, .done) == nil {
      throw ValidationError(
        "--on-done and --on-failed take \(CallbackText.kinds); a program is an absolute path or is searched in PATH")
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

/// Receivers of callbacks about the runs of a job.
enum JobCallbacks {
  /// - Throws: `.config` for a receiver that cannot be understood.
  static func read(_ job: ConfigSection) throws(CommandFailure) -> [CallbackSetting] {
    if let problem = problem(job) {
      throw CommandFailure(.config, "job \(job.name): \(problem.text)", remedy: "transfers help config")
    }
    return (results(job) ?? []) + (pings(job) ?? []) + (mails(job) ?? [])
  }

  /// The first key that cannot be understood, and why.
  static func problem(_ job: ConfigSection) -> (setting: ConfigSetting, text: String)? {
    if let setting = job["webhook_key"], !CallbackText.isReference(setting.value) {
      return (setting, "webhook_key takes a reference, never a secret: \(SecretPlaces.list)")
    }
    if let setting = job["on_result"], results(job) == nil { return (setting, "on_result takes \(CallbackText.kinds)") }
    if let setting = job["ping"], pings(job) == nil {
      return (setting, "ping takes an http or https URL, or where one is kept (file:PATH, env:NAME)")
    }
    if let setting = job["mail"], mails(job) == nil {
      return (setting, "mail takes addresses as user@host.example, and sendmail a program without a space in its path")
    }
    guard job["mail"] == nil, let idle = job["mail_on"] ?? job["sendmail"] else { return nil }
    return (idle, "\(idle.key) says how \"mail\" is sent, and there is none")
  }

  private static func results(_ job: ConfigSection) -> [CallbackSetting]? {
    var settings: [CallbackSetting] = []
    for text in job["on_result"]?.values ?? [] {
      for event in [CallbackEvent.succeeded, .unsuccessful] {
        guard let setting = CallbackText.read(text, event, key: job["webhook_key"]?.value) else { return nil }
        settings.append(setting)
      }
    }
    return settings
  }

  private static func pings(_ job: ConfigSection) -> [CallbackSetting]? {
    job["ping"].map { CallbackText.pings($0.value) } ?? []
  }

  private static func mails(_ job: ConfigSection) -> [CallbackSetting]? {
    guard let addresses = job["mail"]?.values else { return [] }
    let events: [CallbackEvent] = job["mail_on"]?.value == "result" ? [.succeeded, .unsuccessful] : [.unsuccessful]
    return CallbackText.mails(addresses, by: job["sendmail"]?.value, events)
  }
}
