import HTTPTypes
import TransferModel

/// A request to S3 before it is signed. Field names are lower-case.
struct S3Draft {
  var method: HTTPRequest.Method
  var key: NameBytes
  var query: [(String, String)] = []
  /// The same with values that are object names, which may contain any bytes.
  var bytesInQuery: [(String, NameBytes)] = []
  /// All of them are signed: S3 refuses unsigned `x-amz-` fields.
  var fields: [(String, String)] = []
  /// Proxies change these, so they are left out of the signature.
  var unsignedFields: [(String, String)] = []
  var body = RequestBody.none
  var payload = SigV4.emptyPayload

  /// The complete request, dated by the server's clock.
  /// - Throws: `auth.missing` without a credential, or with one that is not allowed in a header field.
  func signed(_ settings: S3Settings, _ context: RequestContext) throws(Failure) -> TransferRequest {
    guard case .aws(let accessKey, let secretKey, let sessionToken)? = context.credential else {
      throw Failure(.authMissing, "s3 needs an access key and a secret key")
    }
    guard Self.isFieldText(accessKey), sessionToken.map(Self.isFieldText) ?? true else {
      throw Failure(.authMissing, "the access key or session token holds characters that a header field cannot carry")
    }
    let signer = SigV4(
      accessKey: accessKey, secretKey: secretKey, region: context.learned.region ?? settings.region,
      wallMs: context.wallMs + context.learned.clockSkewMs)
    let origin = settings.origin(learned: context.learned.region)
    let path = settings.path(key)
    let query = Self.canonical(query, bytesInQuery)
    var all = fields + [("x-amz-content-sha256", payload), ("x-amz-date", signer.date)]
    if let sessionToken { all.append(("x-amz-security-token", sessionToken)) }
    let authorization = signer.authorization(
      method: method.rawValue, path: path, query: query,
      fields: (all + [("host", origin.authority)]).map { (name: $0.0, value: $0.1) }, payload: payload)
    all += unsignedFields + [("authorization", authorization)]
    let url = origin.description + path + (query.isEmpty ? "" : "?" + query)
    return TransferRequest(method: method, url: url, fields: try Self.httpFields(all), body: body)
  }

  /// Encoded and sorted by bytes, so that the sent query equals the signed one.
  private static func canonical(_ query: [(String, String)], _ bytes: [(String, NameBytes)]) -> String {
    (query.map { ($0.0, Array($0.1.utf8)) } + bytes.map { ($0.0, $0.1.bytes) })
      .map { "\(PercentEncoding.component($0.0))=\(PercentEncoding.component($0.1))" }
      .sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }.joined(separator: "&")
  }

  private static func httpFields(_ list: [(String, String)]) throws(Failure) -> HTTPFields {
    var fields = HTTPFields()
    for (name, value) in list {
      guard let name = HTTPField.Name(name) else { throw Failure(.engineBug, "\(name) is not a field name") }
      fields.append(HTTPField(name: name, value: value))
    }
    return fields
  }

  private static func isFieldText(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
