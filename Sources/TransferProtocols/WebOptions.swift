import TransferModel

/// Options that say something to some protocols only: where they would be ignored they are refused.
enum WebOptions {
  /// - Throws: `.usage`, naming the option and the destinations that know it.
  static func check(_ settings: BatchSettings, _ destination: Destination) throws(TransferError) {
    let method: WebMethod? = if case .web(let place) = destination.place { place.method } else { nil }
    let web = settings.web ?? WebSettings()
    try require(
      web.fields == nil && web.fileField == nil || method == .form, "--field and --file-field", "form+http(s)")
    try require(web.contentType == nil || method != nil, "--content-type", "web")
    try require(
      web.digest == nil || method == .tus || method == .resumable, "--digest", "tus+http(s) and resumable+http(s)")
    try require(
      web.interop == nil && web.method == nil || method == .resumable, "--interop and --method", "resumable+http(s)")
    try require(web.isSequential == nil || method == .tus, "--no-parallel", "tus+http(s)")
    try require(web.overridesMethod == nil || method == .tus, "--method-override", "tus+http(s)")
    try require(
      !settings.ifNoneMatch || (method != .form && method != .tus), "--if-none-match",
      "s3, http(s), post+http(s), dav+http(s) and resumable+http(s)")
  }

  private static func require(_ isUnderstood: Bool, _ option: String, _ where: String) throws(TransferError) {
    guard !isUnderstood else { return }
    throw TransferError(
      .usage, "read \(option)", cause: "this destination does not know it",
      remedy: "leave it out; it is for \(`where`) destinations")
  }
}
