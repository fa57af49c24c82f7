import TransferModel

/// Options that say something to some destinations only: where they would be ignored they are refused.
enum DestinationOptions {
  /// What tells destinations apart here.
  enum Kind: Hashable {
    case s3
    case web(WebMethod)
    case profile

    init(_ destination: Destination) {
      switch destination.place {
      case .s3: self = .s3
      case .web(let place): self = .web(place.method)
      case .endpoint: self = .profile
      }
    }

    /// As people begin such a destination.
    var words: String {
      switch self {
      case .s3: "s3"
      case .web(.put): "http(s)"
      case .web(let method): "\(method.rawValue)+http(s)"
      case .profile: "--via"
      }
    }
  }

  struct Option: Sendable {
    /// Without dashes.
    let long: String
    let kinds: [Kind]
    let isSaid: @Sendable (BatchSettings) -> Bool
  }

  private static let web = WebMethod.allCases.map(Kind.web)

  static let all = [
    Option(long: "endpoint-url", kinds: [.s3]) { $0.endpointURL != nil },
    Option(long: "region", kinds: [.s3]) { $0.region != nil },
    Option(long: "profile", kinds: [.s3]) { $0.awsProfile != nil },
    Option(long: "path-style", kinds: [.s3]) { $0.usePathStyle != nil },
    Option(long: "unsigned-payload", kinds: [.s3]) { $0.unsignedPayload },
    Option(long: "part-size", kinds: [.s3, .web(.tus), .web(.resumable), .profile]) { $0.partSize != nil },
    Option(long: "if-none-match", kinds: [.s3, .web(.put), .web(.post), .web(.dav), .web(.resumable)]) {
      $0.ifNoneMatch
    },
    Option(long: "auth", kinds: web) { $0.auth != nil },
    Option(long: "expect-continue", kinds: [.s3, .web(.put), .web(.post), .web(.dav), .web(.tus)]) {
      $0.expectContinue
    },
    Option(long: "field", kinds: [.web(.form)]) { $0.web?.fields != nil },
    Option(long: "file-field", kinds: [.web(.form)]) { $0.web?.fileField != nil },
    Option(long: "content-type", kinds: web) { $0.web?.contentType != nil },
    Option(long: "accept-html", kinds: [.web(.put), .web(.dav), .web(.resumable)]) { $0.web?.acceptsHTML != nil },
    Option(
      long: "accept-202", kinds: [.web(.put), .web(.post), .web(.dav), .web(.form), .web(.resumable)]
    ) { $0.web?.accepts202 != nil },
    Option(long: "digest", kinds: [.web(.tus), .web(.resumable)]) { $0.web?.digest != nil },
    Option(long: "parallel", kinds: [.web(.tus)]) { $0.web?.isParallel != nil },
    Option(long: "method-override", kinds: [.web(.tus)]) { $0.web?.overridesMethod != nil },
    Option(long: "interop", kinds: [.web(.resumable)]) { $0.web?.interop != nil },
    Option(long: "allow-host", kinds: [.profile]) { $0.allowedHosts != nil },
    Option(long: "method", kinds: [.web(.resumable)]) { $0.web?.method != nil },
  ]

  /// The options in `settings` that say nothing to their destination.
  static func foreign(_ settings: BatchSettings, _ destination: Destination) -> [Option] {
    let kind = Kind(destination)
    return all.filter { !$0.kinds.contains(kind) && $0.isSaid(settings) }
  }
}

extension AllProtocols {
  /// Options in `settings` that its destination does not know, by their long names without dashes.
  /// - Throws: `.usage` for a destination that cannot be understood.
  public static func foreignOptions(_ settings: BatchSettings) throws(TransferError) -> [String] {
    DestinationOptions.foreign(settings, try Destination(settings)).map(\.long)
  }

  /// Refuses what would be ignored. Asked when a batch is made, and never again: what is recorded must go on.
  /// - Throws: `.usage`, naming the first such option and the destinations that know it.
  public static func refuseForeignOptions(_ settings: BatchSettings) throws(TransferError) {
    let destination = try Destination(settings)
    guard let option = DestinationOptions.foreign(settings, destination).first else { return }
    let places = option.kinds.map(\.words).joined(separator: ", ")
    let isProfile = DestinationOptions.Kind(destination) == .profile
    throw TransferError(
      .usage, "read --\(option.long)", cause: "not supported for this destination",
      remedy: isProfile && option.long == "auth"
        ? "give the profile its secrets with --input" : "leave it out; it is for \(places) destinations")
  }
}
