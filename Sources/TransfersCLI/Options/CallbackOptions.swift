import ArgumentParser
import TransferModel
import Transfers

/// Receivers of callbacks about a batch and its files.
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
      "Callback when all files of the batch have ended and all are done. Repeatable.", valueName: "receiver"))
  var onBatchDone: [String] = []

  @Option(
    help: ArgumentHelp(
      "Callback when all files of the batch have ended but some are not done. Repeatable.", valueName: "receiver"))
  var onBatchFailed: [String] = []

  @Option(
    help: ArgumentHelp(
      "Reference to the key that signs webhooks: env:NAME, file:PATH, credential:NAME or command:PROGRAM.",
      valueName: "reference"))
  var webhookKey: String?

  func validate() throws {
    if let webhookKey, !CallbackText.isReference(webhookKey) {
      throw ValidationError("--webhook-key takes a reference, never a secret: \(SecretPlaces.list)")
    }
    let all = [
      ("--on-done", onDone), ("--on-failed", onFailed), ("--on-batch-done", onBatchDone),
      ("--on-batch-failed", onBatchFailed),
    ]
    for (option, texts) in all {
      // The value is not quoted: it may be the URL of a webhook, which is a secret.
      guard texts.contains(where: { CallbackText.read($0, .done) == nil }) else { continue }
      throw ValidationError(
        "\(option) takes \(CallbackText.kinds); a program is an absolute path or is searched in PATH"
      )
    }
  }

  /// nil if there are no receivers.
  var settings: [CallbackSetting]? {
    let done = onDone.compactMap { CallbackText.read($0, .done, key: webhookKey) }
    let failed = onFailed.flatMap { text in
      [CallbackEvent.failed, .unknown].compactMap { CallbackText.read(text, $0, key: webhookKey) }
    }
    let ofBatch = [(onBatchDone, CallbackEvent.batchDone), (onBatchFailed, .batchFailed)].flatMap { texts, event in
      texts.compactMap { CallbackText.read($0, event, key: webhookKey) }
    }
    let all = done + failed + ofBatch
    return all.isEmpty ? nil : all
  }
}

/// Receivers of callbacks about the runs of a job.
enum JobCallbacks {
  /// - Throws: `.config` for an invalid receiver.
  static func read(_ job: ConfigSection) throws(CommandFailure) -> [CallbackSetting] {
    if let problem = problem(job) {
      throw CommandFailure(
        .config, "read configuration: \(problem.setting.place): \(problem.text)", remedy: "transfers help config")
    }
    return (results(job) ?? []) + (pings(job) ?? []) + (mails(job) ?? [])
  }

  /// The first invalid key, and the error.
  static func problem(_ job: ConfigSection) -> (setting: ConfigSetting, text: String)? {
    if let setting = job["webhook_key"], !CallbackText.isReference(setting.value) {
      return (setting, "webhook_key takes a reference, never a secret: \(SecretPlaces.list)")
    }
    if let setting = job["on_result"], results(job) == nil { return (setting, "on_result takes \(CallbackText.kinds)") }
    if let setting = job["ping"], pings(job) == nil {
      return (setting, "ping takes an http or https URL, or a reference to one (file:PATH, env:NAME)")
    }
    if let setting = job["mail"], mails(job) == nil {
      return (setting, "mail takes addresses like user@host.example, and sendmail a program path without spaces")
    }
    for key in ["mail_remind", "on_result_remind"] {
      if let setting = job[key], TimeSpan(text: setting.value) == nil {
        return (setting, "\(key) takes a time like 24h or 30m, or 0s for each run")
      }
    }
    if job["on_result"] == nil, let idle = job["on_result_remind"] {
      return (idle, "on_result_remind needs receivers in \"on_result\"")
    }
    guard job["mail"] == nil, let idle = job["mail_on"] ?? job["sendmail"] ?? job["mail_remind"] else { return nil }
    return (idle, "\(idle.key) needs \"mail\"")
  }

  /// The default of `mail_remind`, the interval between two mails about the same failure: a day.
  static let mailRemindMs: Int64 = 86_400_000

  /// - Parameter key: the key for the interval after which the same result is reported again.
  /// - Returns: nil if the key is missing.
  private static func pace(_ key: String, _ job: ConfigSection) -> CallbackPace? {
    job[key].flatMap { TimeSpan(text: $0.value) }.map { $0.ms > 0 ? .changes(remindMs: $0.ms) : .each }
  }

  private static func results(_ job: ConfigSection) -> [CallbackSetting]? {
    var settings: [CallbackSetting] = []
    for text in job["on_result"]?.values ?? [] {
      for event in [CallbackEvent.succeeded, .unsuccessful] {
        guard var setting = CallbackText.read(text, event, key: job["webhook_key"]?.value) else { return nil }
        setting.pace = pace("on_result_remind", job) ?? .each
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
    let asked = pace("mail_remind", job)
    let isEach = job["mail_on"]?.value == "result"
    return CallbackText.mails(
      addresses, by: job["sendmail"]?.value,
      [
        (.succeeded, isEach ? asked ?? .each : .recovery),
        (.unsuccessful, asked ?? (isEach ? .each : .changes(remindMs: mailRemindMs))),
      ])
  }
}
