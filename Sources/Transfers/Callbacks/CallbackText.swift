package import TransferModel
import TransferProtocols

/// Receivers of callbacks as people write them: `exec:PROGRAM ARGUMENTS`, `webhook:URL`, `ping:URL`, or a reference to
/// a URL that is secret (`webhook:file:PATH`).
package enum CallbackText {
  package static let kinds =
    "exec:PROGRAM ARGUMENTS, webhook:URL, or webhook:env:NAME or webhook:file:PATH for a URL that is a secret"

  /// nil for any other text. A program must be a name in `PATH` or an absolute path, because a later run may be started
  /// in another folder.
  package static func read(_ text: String, _ event: CallbackEvent, key: String? = nil) -> CallbackSetting? {
    let halves = text.split(separator: ":", maxSplits: 1).map(String.init)
    guard halves.count == 2, let kind = CallbackKind(rawValue: halves[0]) else { return nil }
    return setting(kind, halves[1], event, key)
  }

  /// The callbacks of a dead man's switch, which is notified of starts and ends.
  package static func pings(_ url: String) -> [CallbackSetting]? {
    guard isTarget(url) else { return nil }
    return [CallbackEvent.started, .succeeded, .unsuccessful].map { CallbackSetting($0, .ping, rooted(url)) }
  }

  /// A mail to all of these addresses for these events, each at its pace.
  /// - Parameter program: receives the message; nil for sendmail.
  /// - Returns: nil if an address is invalid, or if the program is not an absolute path or contains a space.
  package static func mails(
    _ addresses: [String], by program: String?, _ events: [(event: CallbackEvent, pace: CallbackPace)]
  ) -> [CallbackSetting]? {
    let words = [program ?? MailMessage.sendmail] + addresses
    guard !addresses.isEmpty, addresses.allSatisfy(MailMessage.isAddress), words[0].hasPrefix("/"),
      ShellWords.split(words.joined(separator: " ")) == words
    else { return nil }
    return events.map { CallbackSetting($0.event, .mail, words.joined(separator: " "), pace: $0.pace) }
  }

  private static func setting(
    _ kind: CallbackKind, _ target: String, _ event: CallbackEvent, _ key: String?
  ) -> CallbackSetting? {
    switch kind {
    case .exec:
      guard let program = ShellWords.split(target)?.first, !program.isEmpty else { return nil }
      return program.hasPrefix("/") || !program.utf8.contains(0x2F) ? CallbackSetting(event, kind, target) : nil
    case .webhook:
      guard isTarget(target) else { return nil }
      return CallbackSetting(event, kind, rooted(target), secret: key.map(rooted) ?? "")
    case .ping, .mail: return nil
    }
  }

  private static func isTarget(_ text: String) -> Bool { Webhook.isURL(text) || isReference(text) }

  /// Whether the text is a reference to a secret.
  package static func isReference(_ text: String) -> Bool { SecretReference(text) != nil }

  private static func rooted(_ text: String) -> String { SecretReference(text)?.rooted.text ?? text }

  /// The part of a target that may be shown: the path of a URL may be secret.
  package static func shown(_ setting: CallbackSetting) -> String {
    guard setting.kind != .exec, setting.kind != .mail, SecretReference(setting.target) == nil else {
      return setting.target
    }
    return Webhook.origin(of: setting.target)
  }
}
