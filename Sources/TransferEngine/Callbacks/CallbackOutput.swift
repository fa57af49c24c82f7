import TransferProtocols

/// What came back from a receiver, as it may be kept.
package enum CallbackOutput {
  /// With these secrets hidden, in whichever spelling, and of URLs all that may be one: path, parts of it, query.
  package static func masked(_ output: [UInt8], _ secrets: [String], urls: [String] = []) -> [UInt8] {
    let named = secrets.enumerated().map { ("\($0.offset)", $0.element) }
    return SecretMask(.inputs(Dictionary(uniqueKeysWithValues: named)), capabilities: urls).applied(toExcerpt: output)
  }
}
