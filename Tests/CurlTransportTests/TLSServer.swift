import TransferModel
import TransferTestSupport

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `openssl s_server` with a certificate of its own for 127.0.0.1.
final class TLSServer: Sendable {
  enum Behaviour: String {
    /// Answers every GET with a page, whose end is a closure alert.
    case page = "-www"
    /// The same, but only for clients with a certificate.
    case clientCertificate = "-Verify 1 -www"
    /// Sends what ``answer(_:)`` says.
    case manual = "-no_ticket"
  }

  let port: Int
  /// The path of the PEM file that makes the server trusted.
  let certificate: String
  private let directory: String
  private let process: pid_t
  private let input: Int32
  /// Stays open as long as the server may write to it.
  private nonisolated(unsafe) let output: UnsafeMutablePointer<FILE>

  /// nil if there is no `openssl` program.
  init?(_ behaviour: Behaviour = .page) {
    var template = Array("\(temporaryRoot)/transfers-tls-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { return nil }
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    certificate = directory + "/cert.pem"
    let key = directory + "/key.pem"
    let make = spawn([
      "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
      "-keyout", key, "-out", certificate, "-subj", "/CN=transfers-\(UInt32.random(in: 0 ... .max))", "-addext",
      "subjectAltName=IP:127.0.0.1",
    ])
    guard let make else { return nil }
    close(make.input)
    _ = readLines(make.output) { _ in false }
    waitpid(make.process, nil, 0)
    let options = behaviour.rawValue.split(separator: " ").map(String.init)
    let serve = spawn(["openssl", "s_server", "-accept", "127.0.0.1:0", "-key", key, "-cert", certificate] + options)
    guard let serve else { return nil }
    process = serve.process
    input = serve.input
    output = serve.output
    let line = readLines(serve.output) { $0.hasPrefix("ACCEPT") }
    port = line?.split(separator: ":").last.flatMap { Int($0) } ?? 0
  }

  /// A directory in which OpenSSL finds the certificate by the hash of its subject.
  func hashedDirectory() -> String? {
    guard let ask = spawn(["openssl", "x509", "-noout", "-hash", "-in", certificate]) else { return nil }
    close(ask.input)
    let hash = readLines(ask.output) { $0.count == 8 }
    waitpid(ask.process, nil, 0)
    guard let hash else { return nil }
    fclose(ask.output)
    let directory = directory + "/hashed"
    guard mkdir(directory, 0o700) == 0, symlink(certificate, "\(directory)/\(hash).0") == 0 else { return nil }
    return directory
  }

  /// Waits for the header of a request, and sends this text.
  func answer(_ text: String) {
    _ = readLines(output) { $0 == "\r" }
    _ = write(input, text, text.utf8.count)
  }

  /// Ends the process: its system closes the connection without an alert of TLS.
  func end() { kill(process, SIGKILL) }

  func stop() {
    close(input)
    // SIGKILL: the child inherits the signal mask of the thread that started it, which blocks SIGTERM here.
    kill(process, SIGKILL)
    waitpid(process, nil, 0)
    fclose(output)
    for name in ["cert.pem", "key.pem"] { unlink(directory + "/" + name) }
    let hashed = directory + "/hashed"
    if let folder = opendir(hashed) {
      while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        unlink("\(hashed)/\(name)")
      }
      closedir(folder)
      rmdir(hashed)
    }
    rmdir(directory)
  }
}

/// A program whose standard output and error are read through a pipe. `input` is the end of its standard input.
private struct Spawned {
  var process: pid_t
  var output: UnsafeMutablePointer<FILE>
  var input: Int32
}

private func spawn(_ arguments: [String]) -> Spawned? {
  var (ends, inputs): ([Int32], [Int32]) = ([0, 0], [0, 0])
  guard pipe(&ends) == 0, pipe(&inputs) == 0 else { return nil }
  for end in ends + inputs { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_adddup2(&actions, inputs[0], STDIN_FILENO)
  for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
    posix_spawn_file_actions_adddup2(&actions, ends[1], descriptor)
  }
  var process = pid_t()
  let argv = arguments.map { strdup($0) } + [nil]
  defer { for argument in argv { free(argument) } }
  let status = posix_spawnp(&process, arguments[0], &actions, nil, argv, environ)
  close(ends[1])
  close(inputs[0])
  guard status == 0, let output = fdopen(ends[0], "r") else { return nil }
  return Spawned(process: process, output: output, input: inputs[1])
}

/// The first line for which `isFound` is true; nil if the program ended first, in which case `output` is closed.
private func readLines(_ output: UnsafeMutablePointer<FILE>, until isFound: (String) -> Bool) -> String? {
  var buffer = [CChar](repeating: 0, count: 1000)
  while fgets(&buffer, Int32(buffer.count), output) != nil {
    let line = String(decoding: buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    if isFound(line) { return line }
  }
  fclose(output)
  return nil
}
