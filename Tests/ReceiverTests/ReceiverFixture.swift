import Glibc
import Receiver
import TransferModel
import TransferTestSupport

/// A receiver in a temporary folder; deinit stops it and removes the folder.
final class ReceiverFixture {
  let server: ReceiverServer
  let folder: String
  private let base: String

  init(script: String = "", seed: UInt64 = 1, _ change: (inout ReceiverSettings) -> Void = { _ in }) throws {
    var template = Array("\(temporaryRoot)/receiver-tests-XXXXXX".utf8CString)
    base = String(cString: mkdtemp(&template))
    folder = base + "/objects"
    var settings = ReceiverSettings(directory: folder, recordPath: base + "/record")
    settings.script = try FaultScript(text: script)
    settings.seed = seed
    change(&settings)
    do {
      server = try ReceiverServer(settings)
    } catch {
      // deinit does not run for a value that was never created.
      removeTree(base)
      throw error
    }
    try server.start()
  }

  deinit {
    server.stop()
    removeTree(base)
  }

  func client(receiveTimeoutMs: Int = 20_000) -> RawClient {
    RawClient(port: server.port, receiveTimeoutMs: receiveTimeoutMs)
  }

  /// One request on a connection of its own.
  @discardableResult
  func ask(_ method: String, _ path: String, _ body: [UInt8]? = nil, fields: [String] = []) -> RawClient.Reply? {
    let client = client()
    client.send(Self.request(method, path, body, fields: fields))
    return client.reply(toHead: method == "HEAD")
  }

  static func request(_ method: String, _ path: String, _ body: [UInt8]?, fields: [String] = []) -> [UInt8] {
    let length = body.map { ["Content-Length: \($0.count)"] } ?? []
    let lines = ["\(method) \(path) HTTP/1.1", "Host: test"] + length + fields
    return Array(lines.joined(separator: "\r\n").utf8) + Array("\r\n\r\n".utf8) + (body ?? [])
  }

  func events() throws -> [ReceiverEvent] { try ReceiverRecord.read(path: base + "/record") }

  /// The content of a file below the objects' folder; nil if there is none.
  func content(_ path: String) -> [UInt8]? {
    let file = open(folder + "/" + path, O_RDONLY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var out: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while case let count = buffer.withUnsafeMutableBytes({ read(file, $0.baseAddress!, $0.count) }), count > 0 {
      out += buffer[..<count]
    }
    return out
  }

  func names(_ path: String = "") -> [String] { Self.names(folder + "/" + path) }

  /// The names in the hidden folder; empty when nothing is partly received.
  var staged: [String] { names(".transfers-receiver") }

  /// The total size of the files in the hidden folder.
  var stagedBytes: Int {
    staged.reduce(0) { sum, name in
      var found = stat()
      return stat("\(folder)/.transfers-receiver/\(name)", &found) == 0 && found.st_mode & S_IFMT == S_IFREG
        ? sum + Int(found.st_size) : sum
    }
  }

  private static func names(_ path: String) -> [String] {
    rawNames(path).map { String(decoding: $0.bytes, as: UTF8.self) }.sorted()
  }

  private static func rawNames(_ path: String) -> [NameBytes] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var out: [NameBytes] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { NameBytes(Array($0.prefix { $0 != 0 })) }
      if name != NameBytes(".") && name != NameBytes("..") { out.append(name) }
    }
    return out
  }

  /// Removes a tree made by tests: folders have plain names, files may have any.
}

extension [ReceiverEvent] {
  /// The committed sizes with their paths, in order.
  var commits: [(path: String, size: Int64)] {
    compactMap { event in
      if case .commit(let size, _) = event.kind { (event.path.description, size) } else { nil }
    }
  }

  var received: [ByteRange] {
    compactMap { event in if case .bytes(let range, _) = event.kind { range } else { nil } }
  }

  var kinds: [String] {
    map { event in
      switch event.kind {
      case .open: "open"
      case .start(let method, _): "start \(method)"
      case .fault(let line, let effect): "fault \(line) \(effect)"
      case .bytes(let range, _): "bytes \(range.offset)+\(range.length)"
      case .commit(let size, _): "commit \(size)"
      case .delete: "delete"
      case .makeCollection: "mkcol"
      case .session(let name, _, let state): "session \(name) \(state.rawValue)"
      case .joined(let from, let range): "joined \(from) \(range.offset)+\(range.length)"
      case .answer(let status): "answer \(status)"
      case .content(let range): "content \(range.offset)+\(range.length)"
      case .lost(let status, let cause): "lost \(status) \(cause)"
      }
    }
  }
}

/// Bytes that look random and are the same every time.
func sample(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }
