/// One element of a scanned document; text between children is joined.
struct XMLElement: Hashable {
  var name: String
  var text = ""
  var children: [XMLElement] = []

  /// The root of a complete document.
  init(document bytes: [UInt8]) throws(XMLFault) {
    var scanner = try XMLScanner(bytes)
    var open: [XMLElement] = []
    var root: XMLElement?
    while let event = try scanner.next() {
      switch event {
      case .open(let name): open.append(XMLElement(name: name))
      case .text(let text): open[open.count - 1].text += text
      case .close:
        let done = open.removeLast()
        if open.isEmpty { root = done } else { open[open.count - 1].children.append(done) }
      }
    }
    guard let root else { throw .unfinished }
    self = root
  }

  init(name: String, children: [XMLElement] = []) {
    self.name = name
    self.children = children
  }

  /// The first child of that name.
  subscript(_ name: String) -> XMLElement? { children.first { $0.name == name } }

  /// The trimmed text of the first child of that name; nil if there is none or it is empty.
  func value(_ name: String) -> String? {
    guard let text = self[name]?.text else { return nil }
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\n" || $0 == "\r" || $0 == "\t" || $0 == "\r\n" }
    let trimmed = text.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
    return trimmed.isEmpty ? nil : String(trimmed)
  }

  func all(_ name: String) -> [XMLElement] { children.filter { $0.name == name } }
}
