import TransferModel
import Transfers

/// Values of options and configuration keys as they are shown in output, errors and logs. A value where only a
/// reference to a secret is valid may be the secret itself and is hidden. The path of a receiver's URL is a secret.
enum ShownValues {
  static let hidden = "(hidden)"

  /// - Parameter name: of an option, without dashes, or of a key.
  static func of(_ name: String, _ values: [String]) -> [String] {
    switch name.replacing("_", with: "-") {
    case "auth": values.map { BatchSettings.isCredentialReference($0) ? $0 : hidden }
    case "webhook-key": values.map { CallbackText.isReference($0) ? $0 : hidden }
    case "ping": values.map { CallbackText.isReference($0) ? $0 : origin($0) }
    case "on-done", "on-failed", "on-batch-done", "on-batch-failed", "on-result": values.map(receiver)
    default: RecordedArguments.masked(values)
    }
  }

  private static func receiver(_ text: String) -> String {
    if text.hasPrefix("exec:") { return RecordedArguments.masked([text])[0] }
    let target = text.hasPrefix("webhook:") ? text.dropFirst("webhook:".count) : text[...]
    return CallbackText.isReference(String(target)) ? text : origin(text)
  }

  /// The text up to the host of its URL.
  private static func origin(_ text: String) -> String {
    guard let scheme = text.firstRange(of: "://") else { return hidden }
    let authority = text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    let isWhole = authority.endIndex == text.endIndex
    return "\(text[..<scheme.upperBound])\(host)\(isWhole ? "" : "/" + hidden)"
  }
}
