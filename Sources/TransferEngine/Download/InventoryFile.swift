import TransferModel
import TransferProtocols

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// An S3 Inventory on the disk: its `manifest.json`, and the CSV files that it names. Blocking; needs memory for one
/// block.
struct InventoryFile {
  let inventory: S3Inventory
  private let path: NameBytes

  /// - Parameter block: the beginning of the opened `manifest.json`.
  /// - Throws: `.badList`, `.noSource`.
  init(_ block: [UInt8], _ file: OpenBlocks, _ path: NameBytes?) throws(TransferError) {
    let name = path ?? NameBytes("standard input")
    inventory = try S3Inventory(try file.rest(after: block, most: S3Inventory.largest), name)
    guard let path else {
      throw TransferError(
        .badList, "read inventory", name, cause: "its CSV files cannot be found",
        remedy: "give the path of manifest.json")
    }
    self.path = path
  }

  /// Calls the body with each object and the path of its CSV file. Size and MD5 of a CSV file are compared when all of
  /// it was read.
  /// - Throws: `.noSource` for a CSV file that is missing; `.badList` for one that is not what the manifest says; what
  ///   `body` throws.
  func read(_ body: (InventoryObject, NameBytes) throws(TransferError) -> Void) throws(TransferError) {
    for part in inventory.parts {
      let path = try place(of: part)
      var (digest, size) = (RunningDigest(.md5), Int64(0))
      let file = try OpenBlocks(path, path) { bytes in
        digest.update(bytes)
        size += Int64(bytes.count)
      }
      let reader = InventoryReader(inventory, name: path)
      var block = try file.next(fillsUp: false)
      while !block.isEmpty {
        try block.withUnsafeBufferPointer { block throws(TransferError) in
          try reader.read(UnsafeRawBufferPointer(block), isLast: false) { object throws(TransferError) in
            try body(object, path)
          }
        }
        block = try file.next(fillsUp: false)
      }
      try reader.read(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true) { object throws(TransferError) in
        try body(object, path)
      }
      guard part.size ?? size == size, part.md5 ?? digest.finish() == digest.finish() else {
        throw TransferError(
          .badList, "read inventory", path, cause: "its size or MD5 is not that in \(self.path.embedded)",
          remedy: "copy it again")
      }
    }
  }

  /// Where the bucket has it beside the folder of `manifest.json` (`config-ID/data`), or in or below that folder.
  private func place(of part: S3Inventory.Part) throws(TransferError) -> NameBytes {
    let folder = SourceFound.parent(SourceFound.absolute(path))
    let places = [SourceFound.parent(folder).appending(NameBytes("data")), folder, folder.appending(NameBytes("data"))]
    for place in places.map({ $0.appending(part.name) }) where place.withCString({ access($0, F_OK) }) == 0 {
      return place
    }
    throw TransferError(
      .noSource, "read inventory", path, cause: "its file \"\(part.name.embedded)\" is not here",
      remedy: "copy it beside manifest.json, or into ../data as in the bucket")
  }
}
