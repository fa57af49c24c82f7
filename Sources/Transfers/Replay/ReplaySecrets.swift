import TransferModel
import TransferProtocols

/// Marks that replace the secrets of a rebuilt request. If it is built twice with different marks, the two requests
/// differ where a value was computed from a secret.
struct ReplaySecrets {
  private(set) var text = ShellText()
  private(set) var credential: Credential?
  /// Options of curl that pass the credential instead of a header field.
  private(set) var options: [String] = []
  /// `Authorization` and other fields of a signature are not taken from the request.
  private(set) var isSigned = false
  private(set) var replacesAuthorization = false
  /// Names and meanings of variables for values that act as secrets and that the program does not look up.
  private(set) var variables: [(name: String, meaning: String)] = []
  private let variant: Int

  init(_ settings: BatchSettings, variant: Int) throws(TransferError) {
    self.variant = variant
    switch try Destination(settings).definition.credential {
    case .aws: sign(settings)
    case .inputs:
      var values: [String: String] = [:]
      for (name, place) in (settings.profile?.secrets ?? [:]).sorted(by: { $0.key < $1.key }) {
        values[name] = mark(Self.shell(place))
      }
      credential = .inputs(values)
    case .reference: try refer(settings)
    }
  }

  private mutating func refer(_ settings: BatchSettings) throws(TransferError) {
    guard let auth = settings.auth else { return }
    let reference = try CredentialReference(parsing: auth)
    let shell = Self.shell(reference.place.text)
    switch reference.scheme {
    case .bearer: credential = .bearer(token: mark(shell))
    case .basic:
      credential = .basic(user: "user", password: "password")
      replacesAuthorization = true
      options = ["--basic", "--user \"\(shell)\""]
    }
  }

  /// curl signs the request itself, because a signature is only valid for some minutes.
  private mutating func sign(_ settings: BatchSettings) {
    credential = .aws(accessKey: "access", secretKey: "secret", sessionToken: nil)
    isSigned = true
    options = [#"--user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY""#]
  }

  /// A mark that replaces a value that acts as a secret; in the shell, it is a variable of that name.
  mutating func variable(_ name: String, _ meaning: String, around: (String) -> String = { $0 }) -> String {
    let name = String(name.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    variables.append((name, meaning))
    let value = around("transfersMark\(text.references.count)x\(variant)")
    text.references.append(ShellText.Reference(mark: value, shell: "$\(name)"))
    return value
  }

  private mutating func mark(_ shell: String) -> String {
    let mark = "transfersMark\(text.references.count)x\(variant)"
    text.references.append(ShellText.Reference(mark: mark, shell: shell))
    return mark
  }

  /// The shell expression for a reference. Commands are not repeated, because the ledger may have been written by
  /// somebody else.
  private static func shell(_ place: String) -> String {
    switch SecretReference(place) {
    case .environment(let name): "${\(name)}"
    case .file(let path): "$(cat \(ShellText.quoted(path)))"
    case .credential(let name): "$(cat \"$CREDENTIALS_DIRECTORY\"/\(name))"
    case .command, nil: "$SECRET"
    }
  }
}
