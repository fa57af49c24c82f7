import TransferModel
import TransferProtocols

/// What stands in a rebuilt request for its secrets. Two requests that are built with different marks differ where a
/// secret was worked into something else.
struct ReplaySecrets {
  private(set) var text = ShellText()
  private(set) var credential: Credential?
  /// Options of curl that carry the credential instead of a field.
  private(set) var options: [String] = []
  /// `Authorization` and what belongs to a signature is not taken from the request.
  private(set) var isSigned = false
  private(set) var replacesAuthorization = false
  /// Names of variables that hold what works as a secret and is not looked up by the program, with what they are.
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

  /// curl signs anew: a signature holds for some minutes.
  private mutating func sign(_ settings: BatchSettings) {
    credential = .aws(accessKey: "access", secretKey: "secret", sessionToken: nil)
    isSigned = true
    options = [#"--user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY""#]
  }

  /// Takes the place of a value that works as a secret, under a variable of that name.
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

  /// How a shell reads what a reference names. Commands are not repeated: who wrote this ledger may be somebody else.
  private static func shell(_ place: String) -> String {
    switch SecretReference(place) {
    case .environment(let name): "${\(name)}"
    case .file(let path): "$(cat \(ShellText.quoted(path)))"
    case .credential(let name): "$(cat \"$CREDENTIALS_DIRECTORY\"/\(name))"
    case .command, nil: "$SECRET"
    }
  }
}
