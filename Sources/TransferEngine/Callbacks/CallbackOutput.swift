import TransferProtocols

/// The answer of a receiver in a form that may be stored.
package enum CallbackOutput {
  /// Masks these secrets, in any encoding, and every part of a URL that may be a secret: the path, its components and
  /// the query.
  package static func masked(_ output: [UInt8], _ secrets: [String], urls: [String] = []) -> [UInt8] {
    let named = secrets.enumerated().map { ("\($0.offset)", $0.element) }
    return SecretMask(.inputs(Dictionary(uniqueKeysWithValues: named)), capabilities: urls).applied(toExcerpt: output)
  }
}
