import TransferModel

extension ReceiverEvent {
  /// Parses one line without its newline; nil when the receiver did not write it.
  init?(line: ArraySlice<UInt8>) {
    guard let fields = JSON(Array(line)), let name = fields["t"]?.text, let atMs = fields["at_ms"]?.number,
      let connection = fields["conn"]?.number, let request = fields["req"]?.number,
      let kind = Kind(name, fields), let path = bytesFromBase64(fields["path_b64"]?.text ?? "")
    else { return nil }
    self.init(atMs: atMs, connection: connection, request: request, path: NameBytes(path), kind: kind)
    // A repeated or meaningless member is not read: a line is accepted only if writing it again gives the same bytes.
    guard self.line.dropLast().elementsEqual(line) else { return nil }
  }
}

extension ReceiverEvent.Kind {
  init?(_ name: String, _ fields: JSON) {
    switch name {
    case "open", "start", "fault": self.init(beginning: name, fields)
    case "bytes", "commit", "content": self.init(body: name, fields)
    case "session", "joined": self.init(upload: name, fields)
    case "delete": self = .delete
    case "mkcol": self = .makeCollection
    case "answer", "lost": self.init(ending: name, fields)
    default: return nil
    }
  }

  private init?(beginning name: String, _ fields: JSON) {
    if name == "open", let pid = fields["pid"]?.number, let seed = UInt64(fields["seed"]?.text ?? "") {
      self = .open(pid: pid, seed: seed)
    } else if name == "start", let method = fields["method"]?.text, let declared = fields["declared"]?.number {
      self = .start(method: method, declared: declared < 0 ? nil : declared)
    } else if name == "fault", let line = fields["line"]?.number, let effect = fields["effect"]?.text {
      self = .fault(line: Int(line), effect: effect)
    } else {
      return nil
    }
  }

  private init?(body name: String, _ fields: JSON) {
    let crc32c = fields["crc32c"]?.text.flatMap { UInt32($0, radix: 16) }
    if name == "commit", let size = fields["size"]?.number {
      self = .commit(size: size, crc32c: crc32c)
    } else if name != "commit", let offset = fields["offset"]?.number, let length = fields["length"]?.number,
      offset >= 0, length >= 0
    {
      let range = ByteRange(offset: offset, length: length)
      self = name == "bytes" ? .bytes(range, crc32c: crc32c) : .content(range)
    } else {
      return nil
    }
  }

  private init?(upload name: String, _ fields: JSON) {
    if name == "session", let spoken = fields["protocol"]?.text, let id = fields["id"]?.text,
      let state = ReceiverEvent.SessionState(rawValue: fields["state"]?.text ?? "")
    {
      self = .session(spoken, id: id, state)
    } else if name == "joined", let from = bytesFromBase64(fields["from_b64"]?.text ?? ""),
      let offset = fields["offset"]?.number, let length = fields["length"]?.number, offset >= 0, length >= 0
    {
      self = .joined(from: NameBytes(from), ByteRange(offset: offset, length: length))
    } else {
      return nil
    }
  }

  private init?(ending name: String, _ fields: JSON) {
    guard let status = fields["status"]?.number else { return nil }
    if name == "answer" {
      self = .answer(status: Int(status))
    } else if let cause = fields["cause"]?.text {
      self = .lost(status: Int(status), cause: cause)
    } else {
      return nil
    }
  }
}
