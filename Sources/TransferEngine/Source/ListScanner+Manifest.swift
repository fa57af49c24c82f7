import CSys
import TransferModel
import TransferProtocols

// Lists of files to send that are manifests: tables, JSON lines and checksum files.

extension ListScanner {
  /// Examines every file of a manifest, whose paths are relative to the base.
  func scan(_ format: ManifestFormat) throws(TransferError) {
    let reader = ManifestReader(format, name: list.list.name, isUpload: true)
    while let block = try list.nextBlock() {
      try reader.read(block, isLast: false) { entry throws(TransferError) in try look(entry) }
    }
    try reader.read([]) { entry throws(TransferError) in try look(entry) }
    if reader.isSigned { try scanner.visit(.remark("the signature of \(list.list.name.embedded) was not checked")) }
    try refuseMissing()
  }

  private func look(_ entry: ManifestEntry) throws(TransferError) {
    list.line = entry.line
    try entry.path.bytes.withUnsafeBufferPointer { path throws(TransferError) in
      let start = try place(UnsafeRawBufferPointer(path))
      var status = csys_file_status()
      let code = self.status(&status)
      try take(start, status, code, ListedFile(entry, of: list.list.name))
    }
  }
}
