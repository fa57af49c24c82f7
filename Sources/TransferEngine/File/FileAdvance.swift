import TransferLedger
import TransferModel
import TransferProtocols

/// Determines how one file goes on: the unit that begins its next step, or ends it.
struct FileAdvance {
  private let proto: ProtocolInUse
  /// How many chunks may begin; 0 for none.
  private let chunkLimit: Int
  /// How long a table of published checksums may be that is requested now; see ``TableRoom``.
  private let tableRoom: Int64
  private let nowMs: Int64
  private var unit: FileUnit

  /// nil when there is nothing to do now.
  static func unit(
    of machine: inout FileMachine, _ proto: ProtocolInUse, chunkLimit: Int, tableRoom: Int64, nowMs: Int64
  ) -> FileUnit? {
    machine.look(proto, nowMs: nowMs)
    var advance = FileAdvance(
      proto: proto, chunkLimit: chunkLimit, tableRoom: tableRoom, nowMs: nowMs,
      unit: FileUnit(file: machine.claimed.id, session: machine.sessionID))
    advance.unit.isRepeatable = machine.abilities.repeatable
    advance.unit.opening = machine.abilities.chunkOpening
    // An empty file always has the same layout.
    let isEmpty = machine.facts.file.size == 0 && machine.claimed.direction == .upload
    if !machine.facts.isPlanned && (!proto.plansLate || isEmpty) { advance.plan(machine.facts.layout, &machine) }
    advance.go(&machine)
    return advance.unit.isEmpty ? nil : advance.unit
  }

  private mutating func go(_ machine: inout FileMachine) {
    switch machine.phase {
    case .held, .released: return
    case .ending:
      guard machine.openCount == 0 else { return }
      let isPlaceable = if machine.isFetched, case .place = proto.nextStep(machine.facts) { true } else { false }
      unit.changes += machine.endRelease(isPlaceable: isPlaceable)
    case .working, .finishing:
      guard !machine.requests.isControl else { return }
      step(&machine)
    }
  }

  private mutating func step(_ machine: inout FileMachine) {
    if machine.abilities.needsParts && machine.facts.isAllStored && machine.facts.parts.isEmpty {
      unit.wantsParts = true
      return machine.hold(.parts)
    }
    switch proto.nextStep(machine.facts) {
    case .chunks:
      guard planLate(&machine) else { return go(&machine) }
      beginChunks(limit: chunkLimit, &machine)
    case .chunkThatOpensSession:
      guard planLate(&machine) else { return go(&machine) }
      guard machine.openCount == 0, chunkLimit > 0 else { return }
      beginChunks(limit: 1, &machine)
      if unit.begin != nil { unit.begin = .chunkThatOpensSession }
    case .control(let step): begin(step, &machine)
    case .openSession(let remoteID, let notes):
      unit.changes.append(.beginOwnSession(remoteID: remoteID, notes: notes))
      machine.facts.session = SessionFacts(remoteID: remoteID, intendedAtMs: nowMs, notes: notes)
      go(&machine)
    case .dropSession(let failure):
      dropSession(failure, &machine)
      if machine.openCount == 0 { go(&machine) }
    case .complete(let proof):
      unit.changes.append(.complete(machine.receipt(proof)))
      machine.release()
    case .reuse(let proof):
      guard machine.openCount == 0 else { return }
      unit.begin = .reusing(proof)
      machine.hold(.reusing)
    case .place(let proof):
      guard machine.openCount == 0 else { return }
      unit.changes += machine.startFinishing()
      unit.begin = .placing(proof, named: givenPath(machine))
      machine.hold(.placing)
    case .fail(let failure):
      unit.changes += endWithoutStep(failure, &machine)
      if machine.openCount == 0 { go(&machine) }
    }
  }

  private mutating func plan(_ layout: ChunkLayout, _ machine: inout FileMachine) {
    machine.facts.layout = layout
    machine.facts.isPlanned = true
    machine.facts.storedChunks = 0
    unit.plan = layout
    guard machine.claimed.direction == .download else { return }
    machine.facts.file.size = layout.size
    unit.size = layout.size
  }

  /// Determines the layout for a protocol that had to open a session first. False if that is impossible; the file then
  /// ends.
  private mutating func planLate(_ machine: inout FileMachine) -> Bool {
    guard !machine.facts.isPlanned else { return true }
    do throws(TransferError) {
      plan(try proto.layout(machine.facts), &machine)
      return true
    } catch {
      machine.end(.fail(Failure(.policyLimit, error.cause), keepsSession: false))
      return false
    }
  }

  private mutating func beginChunks(limit: Int, _ machine: inout FileMachine) {
    let abilities = machine.abilities
    let most = abilities.parallelChunks ? abilities.mostParallel ?? .max : 1
    let count = machine.requests.beginChunks(unsent: machine.unsentCount, most: most, limit: limit, nowMs: nowMs)
    guard count > 0 else { return }
    // Then the proof in the answer to the last chunk can be compared.
    let done = machine.doneCount
    unit.wantsParts = abilities.needsParts && done > 0 && done == machine.facts.layout.count - 1
    unit.begin = .chunks(limit: count)
  }

  /// Does nothing for a step whose table must wait for others.
  private mutating func begin(_ step: StepRequest, _ machine: inout FileMachine) {
    let table = proto.longestTable(in: step, machine.facts)
    guard machine.openCount == 0, table ?? 0 <= tableRoom else { return }
    if step == .finish { unit.changes += machine.startFinishing() }
    unit.wantsParts = machine.doneCount > 0 && step.usesParts
    unit.isRepeatable = !machine.abilities.unrepeatable.contains(step.operation)
    machine.requests.beginControl(table: table)
    unit.begin = .control(step)
  }

  /// The path from the name that the server supplied; nil if the path does not change.
  private func givenPath(_ machine: FileMachine) -> NameBytes? {
    guard let name = proto.bodiesInAnswers?.givenName(machine.facts) else { return nil }
    let folder = machine.claimed.path.bytes.prefix(through: machine.claimed.path.bytes.lastIndex(of: 0x2F) ?? 0)
    let path = NameBytes(Array(folder) + name.bytes)
    return path == machine.claimed.path ? nil : path
  }

  /// The protocol sees no further step.
  private func endWithoutStep(_ failure: Failure, _ machine: inout FileMachine) -> [FileChange] {
    if machine.openCount == 0, let renewal = proto.places?.renewal(after: failure, machine.facts) {
      return machine.renewed(renewal, failure)
    }
    machine.end(.fail(failure, keepsSession: false))
    return []
  }

  /// The protocol gives up the session. This counts as a failure, so that a server whose sessions expire at once does
  /// not keep us busy forever.
  private func dropSession(_ failure: Failure, _ machine: inout FileMachine) {
    machine.sessionFate.lose(.gone)
    guard let delay = machine.failureCounts.delayAfterDropMs else {
      return machine.end(.fail(failure, keepsSession: false))
    }
    machine.end(.release(notBeforeMs: nowMs + delay, failure.code, isFailure: true))
  }
}
