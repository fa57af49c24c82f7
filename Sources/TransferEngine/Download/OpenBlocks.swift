import CSys
import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A file that is read sequentially, and decompressed if it is compressed with gzip.
final class OpenBlocks {
  private static let size = 256 << 10

  private let descriptor: Int32
  private let name: NameBytes
  private let isOurs: Bool
  private let bytes: PlainBytes

  /// - Parameter stored: takes all bytes as stored, before they are decompressed.
  init(
    _ path: NameBytes?, _ name: NameBytes, stored: @escaping (UnsafeRawBufferPointer) -> Void = { _ in }
  ) throws(TransferError) {
    self.name = name
    isOurs = path != nil
    descriptor = path?.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NOCTTY) } ?? 0
    let code = errno
    bytes = PlainBytes(descriptor, name, stored: stored)
    guard descriptor >= 0 else {
      throw TransferError(.noSource, "read list", name, cause: systemText(code), remedy: "check the path")
    }
  }

  deinit { if isOurs, descriptor >= 0 { close(descriptor) } }

  var isFolder: Bool {
    var status = csys_file_status()
    return csys_status_fd(descriptor, &status) == 0 && status.mode & S_IFMT == S_IFDIR
  }

  /// Empty only at the end. Data from a pipe is returned as it arrives, unless `fillsUp` requests a full block to
  /// detect the format; JSON is detected by its first character.
  func next(fillsUp: Bool) throws(TransferError) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: Self.size)
    var done = 0
    while done < block.count {
      let count = try block.withUnsafeMutableBufferPointer { block throws(TransferError) in
        try bytes.read(into: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(block)[done...]))
      }
      if count == 0 { break }
      done += count
      if !fillsUp || block[0] == 0x7B { break }
    }
    block.removeLast(block.count - done)
    return block
  }

  /// The rest, after its beginning.
  /// - Throws: `.badList` if it is longer than `most` bytes.
  func rest(after front: [UInt8], most: Int) throws(TransferError) -> [UInt8] {
    var (text, block) = (front, try next(fillsUp: false))
    while !block.isEmpty {
      guard text.count + block.count <= most else {
        throw TransferError(
          .badList, "read list", name, cause: "it is longer than \(most >> 20) MiB", remedy: "check the file")
      }
      text += block
      block = try next(fillsUp: false)
    }
    return text
  }
}

extension NameBytes {
  /// The name without the ending of a compressed file, which says nothing about the format of its content.
  var uncompressed: NameBytes {
    bytes.count > 3 && bytes.suffix(3).elementsEqual(".gz".utf8) ? NameBytes(Array(bytes.dropLast(3))) : self
  }
}
