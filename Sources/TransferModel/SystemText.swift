#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The text of a system error in the middle of a sentence: `no such file or directory`.
package func systemText(_ code: Int32) -> String {
  let text = String(cString: strerror(code))
  // "RPC version wrong", "I/O error": an abbreviation stays.
  guard text.prefix(2).allSatisfy(\.isUppercase) || text.dropFirst().first == "/" else {
    return text.prefix(1).lowercased() + text.dropFirst()
  }
  return text
}
