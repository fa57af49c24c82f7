import Receiver
import Testing
import TransferModel
import TransferProtocols
import TransferTestSupport
import Transfers

@testable import TransferLedger

#if canImport(Glibc)
  import Glibc
#endif

/// Shared by tests of downloads from the bundled receiver.
protocol PullScenes {}

extension PullScenes {
  func pull(
    _ scene: Scene, _ names: [String], overwrites: Bool = false, partSize: Int64? = 64 << 10
  ) throws -> Scene.Outcome {
    let added = try add(scene, names, overwrites: overwrites, partSize: partSize)
    return Scene.Outcome(added: added, result: try scene.run())
  }

  func add(
    _ scene: Scene, _ names: [String], overwrites: Bool = false, partSize: Int64? = 64 << 10
  ) throws -> AddResult {
    mkdir("\(scene.root)/in", 0o700)
    var options = DownloadOptions(
      urls: names.map { scene.url + "/up/" + $0 }, folder: NameBytes("\(scene.root)/in"))
    options.overwrites = overwrites
    if let partSize { options.options["part-size"] = .number(partSize) }
    return try TransferStore(at: scene.storePath).add(options)
  }

  /// Makes objects of these sizes on the receiver; returns them by name.
  func objects(_ scene: Scene, _ sizes: [Int]) throws -> [String: [UInt8]] {
    mkdir("\(scene.root)/kept/up", 0o700)
    var all: [String: [UInt8]] = [:]
    for (n, size) in sizes.enumerated() {
      let bytes = noise(size)
      all["o\(n)"] = bytes
      try Scene.write(bytes, to: NameBytes("\(scene.root)/kept/up/o\(n)"))
    }
    return all
  }

  func expectSame(_ scene: Scene, _ objects: [String: [UInt8]]) throws {
    for (name, bytes) in objects {
      #expect(areSame(try Scene.read(NameBytes("\(scene.root)/in/\(name)")), bytes), "\(name)")
    }
    #expect(try Scene.names(in: "\(scene.root)/in", hidden: true) == objects.keys.sorted())
  }

  /// The ranges that the receiver sent of an object, in order.
  func ranges(_ scene: Scene, _ name: String) throws -> [ByteRange] {
    try ReceiverRecord.read(path: "\(scene.root)/record.ndjson").compactMap { event in
      guard event.path.description == "up/\(name)", case .content(let range) = event.kind else { return nil }
      return range
    }
  }

  func cause(_ scene: Scene) throws -> String? {
    try Connection(path: scene.storePath, access: .readOnly).rowsOnce("SELECT cause FROM file") { $0.text(0) }.first
  }

  func confirmation(_ scene: Scene) throws -> String {
    try Connection(path: scene.storePath, access: .readOnly).rowsOnce("SELECT confirmation FROM receipt") {
      $0.text(0)
    }[0]
  }

  /// Requests that were recorded before they were sent.
  func requests(_ scene: Scene) throws -> Int {
    try Connection(path: scene.storePath, access: .readOnly).rowsOnce(
      "SELECT count(*) FROM attempt WHERE operation <> 'abort'"
    ) { $0.int(0) }[0]
  }

  func rows(_ scene: Scene) throws -> Int {
    try Connection(path: scene.storePath, access: .readOnly).rowsOnce("SELECT count(*) FROM file") { $0.int(0) }[0]
  }
}
