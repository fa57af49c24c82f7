public import TransferModel

extension ProtocolOption {
  static let parallel = Self(
    "parallel", .flag, "tus: send a large file as several parallel uploads that the server concatenates, if it can.")
  static let methodOverride = Self(
    "method-override", .flag, "tus: PATCH and DELETE as POST with X-HTTP-Method-Override.")
}

extension BatchSettings {
  /// Several concurrent uploads that the server joins, if it can.
  public var isParallel: Bool {
    get { self[flag: .parallel] }
    set { self[flag: .parallel] = newValue }
  }
  /// Sends PATCH and DELETE as POST with `X-HTTP-Method-Override`.
  public var overridesMethod: Bool {
    get { self[flag: .methodOverride] }
    set { self[flag: .methodOverride] = newValue }
  }
}
