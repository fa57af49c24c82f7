import TransferModel

/// A document for programs: objects and arrays with figures as leaves.
package indirect enum FigureTree: Sendable, Hashable {
  case figure(Cell)
  case object([Member])
  case array([FigureTree])

  package struct Member: Sendable, Hashable {
    package let key: String
    package let value: FigureTree

    package init(_ key: String, _ value: FigureTree) { (self.key, self.value) = (key, value) }

    /// `<key>_b64` with the base64 of the exact bytes, for a name that is not valid UTF-8.
    var exactBytes: Member? {
      guard case .figure(.name(let name)) = value, name.utf8 == nil else { return nil }
      return Member(key + "_b64", .figure(.text(base64(name.bytes))))
    }
  }

  /// The content of a report, without the header of a document.
  package init(_ report: Report) { self = .object(Self.members(report.sections)) }

  package init(_ object: FigureObject) {
    self = .object(object.fields.map { Member($0.key, .figure($0.cell)) })
  }

  package init(_ table: FigureTable) {
    self = .array(
      table.rows.map { row in
        .object(zip(table.headings, row).map { Member($0.key, .figure($1)) })
      })
  }

  private static func members(_ sections: [ReportSection]) -> [Member] {
    sections.flatMap { section -> [Member] in
      guard let content = tree(section.content) else { return [] }
      guard let key = section.key else {
        if case .object(let members) = content { return members }
        return []
      }
      return [Member(key, content)]
    }
  }

  /// nil for content only for people.
  private static func tree(_ content: ReportSection.Content) -> FigureTree? {
    switch content {
    case .words: nil
    case .facts(let facts, _): .object(facts.map { Member($0.heading.key, .figure($0.cell)) })
    case .table(let table, _): FigureTree(table)
    case .object(let sections): .object(members(sections))
    case .document(let tree): tree
    case .absent: .figure(.none)
    }
  }

  /// Every figure with its path, `files.done` or `chunks.0.id`, sorted like JSON keys; empty ones are omitted.
  package func leaves(_ path: String = "") -> [(key: String, cell: Cell)] {
    func below(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
    switch self {
    case .figure(let cell):
      let parts = cell.parts
      return parts.map { parts in parts.map { (below($0.key), $0.cell) } } ?? [(path, cell)]
    case .array(let array): return array.enumerated().flatMap { $1.leaves(below(String($0))) }
    case .object(let members):
      let all = members.flatMap { [$0] + ($0.exactBytes.map { [$0] } ?? []) }
      return all.sorted { $0.key < $1.key }.flatMap { $0.value.leaves(below($0.key)) }
    }
  }

  /// Only the members named by `paths` (`files` or `files.done`).
  package func choosing(_ paths: [String]) throws(UnknownFigure) -> FigureTree {
    switch self {
    case .array(let array):
      var chosen: [FigureTree] = []
      for element in array { chosen.append(try element.choosing(paths)) }
      return .array(chosen)
    case .figure(let cell):
      guard let parts = cell.parts else { throw UnknownFigure(name: paths.joined(separator: ","), known: []) }
      return try FigureTree.object(parts.map { Member($0.key, .figure($0.cell)) }).choosing(paths)
    case .object(let members):
      var chosen: [Member] = []
      for path in paths {
        let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
        guard let name = parts.first, let member = members.first(where: { $0.key == name }) else {
          throw UnknownFigure(name: path, known: members.map(\.key).sorted())
        }
        let wanted = parts.count == 1 ? member.value : try member.value.choosing([parts[1]])
        if let index = chosen.firstIndex(where: { $0.key == name }) {
          chosen[index] = Member(name, chosen[index].value.merging(wanted))
        } else {
          chosen.append(Member(name, wanted))
        }
      }
      return .object(chosen)
    }
  }

  private func merging(_ other: FigureTree) -> FigureTree {
    if case .array(let own) = self, case .array(let others) = other {
      return .array(zip(own, others).map { $0.merging($1) })
    }
    guard case .object(let own) = self, case .object(let others) = other else { return other }
    let kept = own.map { member in
      others.first { $0.key == member.key }.map { Member(member.key, member.value.merging($0.value)) } ?? member
    }
    return .object(kept + others.filter { other in !own.contains { $0.key == other.key } })
  }
}

/// A requested figure does not exist in this result.
package struct UnknownFigure: Error, Sendable, Hashable {
  package let name: String
  /// The existing ones; empty if nothing can be chosen.
  package let known: [String]
}

extension Cell {
  /// The members of a figure that is an object or an array for programs.
  var parts: [(key: String, cell: Cell)]? {
    switch self {
    case .texts(let texts): texts.sorted { $0.key < $1.key }.map { ($0.key, .text($0.value)) }
    case .counts(let counts): counts.sorted { $0.key < $1.key }.map { ($0.key, Cell($0.value)) }
    case .list(let texts): texts.enumerated().map { (String($0.offset), .text($0.element)) }
    default: nil
    }
  }
}
