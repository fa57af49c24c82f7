public import TransferModel

extension ProtocolOption {
  static let allowHost = Self(
    "allow-host", .list,
    "A host beside the destination that the profile may send to; repeatable. *.DOMAIN stands for all in it.",
    valueName: "host[:port]")
}

extension BatchSettings {
  /// Hosts beside the destination that a profile may lead to: `HOST`, `HOST:PORT` or `*.DOMAIN`; nil for none.
  public var allowedHosts: [String]? {
    get { self[list: .allowHost] }
    set { self[list: .allowHost] = newValue }
  }
}
