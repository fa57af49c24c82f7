import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The failure of a file whose source cannot be examined.
func sourceFailure(_ code: Int32) -> Failure {
  switch code {
  case EACCES, EPERM: Failure(.sourceDenied, "permission denied", systemError: code)
  case ENOENT, ENOTDIR: Failure(.sourceMissing, "no such file", systemError: code)
  case ELOOP: Failure(.sourceKind, "too many symbolic links", systemError: code)
  case EMFILE, ENFILE: Failure(.localFDLimit, "too many open files", systemError: code)
  default: Failure(.sourceIO, "cannot be read: \(systemText(code))", systemError: code)
  }
}

func noSource(_ source: NameBytes, _ code: Int32) -> TransferError {
  TransferError(.noSource, "read source", source, cause: systemText(code), remedy: "check the path")
}
