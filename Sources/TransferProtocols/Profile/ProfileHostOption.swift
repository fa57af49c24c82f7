public import TransferModel

extension ProtocolOption {
  static let allowHost = Self(
    "allow-host", .list,
    "A host other than the destination that the profile may contact; repeatable. *.DOMAIN matches all its hosts.",
    valueName: "host[:port]")
}

extension BatchSettings {
  /// Hosts other than the destination that a profile may contact: `HOST`, `HOST:PORT` or `*.DOMAIN`; nil for none.
  public var allowedHosts: [String]? {
    get { self[list: .allowHost] }
    set { self[list: .allowHost] = newValue }
  }
}
