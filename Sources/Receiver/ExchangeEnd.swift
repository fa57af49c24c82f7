import Glibc

/// Why a request did not take its normal course.
enum ExchangeEnd: Error {
  /// The request is refused with this answer.
  case refuse(Answer)
  /// The script closes the connection here.
  case cut
  /// The script resets the connection here.
  case reset
  /// The client went away, or the server is being stopped.
  case gone
  /// A later request took over the upload.
  case superseded
  /// The client sent nothing for too long.
  case timedOut

  static func refuse(_ status: Int, _ text: String, fields: [Answer.Field] = []) -> ExchangeEnd {
    .refuse(Answer(status, text: text, fields: fields))
  }

  /// Maps a failed system call on a stored object to an answer for the client.
  static func systemError(_ code: Int32, _ operation: String) -> ExchangeEnd {
    switch code {
    case ENOENT: .refuse(404, "\(operation): nothing is stored there")
    case EACCES, EPERM, EROFS: .refuse(403, "\(operation): \(errorText(code))")
    case ELOOP: .refuse(403, "\(operation): symbolic links are not followed")
    case ENOTDIR: .refuse(409, "\(operation): a parent is not a collection, or is a symbolic link")
    case EISDIR, EEXIST, ENOTEMPTY: .refuse(409, "\(operation): \(errorText(code))")
    case ENAMETOOLONG: .refuse(414, "\(operation): a name is longer than 255 bytes")
    case ENOSPC, EDQUOT: .refuse(507, "\(operation): \(errorText(code))")
    default: .refuse(500, "\(operation): \(errorText(code))")
    }
  }
}

/// The system's text for an error number.
func errorText(_ code: Int32) -> String {
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
    guard strerror_r(code, buffer.baseAddress!, buffer.count) == 0 else { return "error \(code)" }
    return String(cString: buffer.baseAddress!)
  }
}
