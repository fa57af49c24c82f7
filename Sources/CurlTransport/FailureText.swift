internal import HTTPTypes
internal import TransferModel

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// What is said of a request that failed, besides the messages of libcurl.
enum FailureText {
  /// libcurl's message may quote its input; a message that quotes one of our values is replaced by the general text.
  static func withoutSecrets(_ message: String, otherwise general: String, _ request: TransferRequest) -> String {
    var secrets = request.fields.filter { $0.name.canonicalName != "host" }.map(\.value)
    if let query = request.url.firstIndex(of: "?") { secrets.append(String(request.url[query...].dropFirst())) }
    let quotes = secrets.contains { $0.utf8.count >= 6 && message.contains($0) } || ProxySecrets.areQuoted(in: message)
    let text = quotes ? general : message
    return printable(String(text.prefix(300)))
  }

  /// The cause if the system refused a socket because it has too little of something; nil for any other errno.
  static func shortage(_ error: Int32) -> String? {
    switch error {
    case EMFILE: "too many open files; raise the limit of open files (ulimit -n)"
    case ENFILE: "too many open files in the whole system; raise its limit (sysctl fs.file-max)"
    case ENOBUFS, ENOMEM: "the system has no memory for a socket; end other programs"
    default: nil
    }
  }
}
