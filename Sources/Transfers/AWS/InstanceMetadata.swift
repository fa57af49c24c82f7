import TransferProtocols

/// The metadata service of an EC2 instance.
enum InstanceMetadata {
  static let endpointVariable = "AWS_EC2_METADATA_SERVICE_ENDPOINT"

  static var isDisabled: Bool { Environment.value("AWS_EC2_METADATA_DISABLED")?.lowercased() == "true" }

  /// Its URL, without a trailing slash.
  static var base: String {
    var text = Environment.value(endpointVariable) ?? "http://169.254.169.254"
    while text.hasSuffix("/") { text.removeLast() }
    return text
  }

  /// Whether this machine is an EC2 instance according to its firmware. This is checked because the address of the
  /// service is link-local: elsewhere, any host could answer there.
  /// Source: EC2 user guide, "Identify EC2 instances".
  static var isOnInstance: Bool {
    let places = [
      ("/sys/devices/virtual/dmi/id/sys_vendor", "amazon ec2"), ("/sys/devices/virtual/dmi/id/board_asset_tag", "i-"),
      ("/sys/hypervisor/uuid", "ec2"),
    ]
    return places.contains { path, beginning in
      FileText.bytes(path).map { String(decoding: $0, as: UTF8.self).lowercased().hasPrefix(beginning) } ?? false
    }
  }
}
