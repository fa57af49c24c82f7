public import TransferModel
import TransferProtocols

/// Built-in profiles and profiles in files.
public enum ProfileLibrary {
  /// One error in a profile; line and column count from 1.
  public struct Fault: Sendable, Hashable {
    public var line: Int
    public var column: Int
    public var message: String
  }

  /// What `check` found.
  public struct Report: Sendable, Hashable {
    /// Empty when the profile has no readable name.
    public var name: String
    /// SHA-256 of the canonical text, in hexadecimal digits; empty when there are faults.
    public var digest: String
    public var faults: [Fault]
    /// Origins written in the profile to which it sends besides the destination; they need `--allow-host`.
    public var hosts: [String] = []
    /// Steps whose URL is given by a server.
    public var serverNamedSteps: [String] = []
    /// Environment variables that are read when an input is not given, with the name of the input.
    public var variables: [String: String] = [:]
  }

  /// What a user needs to know about a profile before using it.
  public struct Summary: Sendable, Hashable {
    public var name: String
    /// The first sentence of its comment.
    public var about: String
    public var chunks: String
    public var inputs: [Input]
    /// Steps that leave a file unknown if their answer is lost.
    public var unrepeatable: [String]
  }

  public struct Input: Sendable, Hashable {
    public var name: String
    public var isSecret: Bool
    public var isRequired: Bool
  }

  /// Names of the built-in profiles.
  public static let names = BuiltinProfile.names

  /// The text of a built-in profile, or of the file with that path.
  /// - Throws: `.usage` when there is neither.
  public static func text(_ nameOrPath: String) throws(TransferError) -> [UInt8] {
    if let text = BuiltinProfile.text(nameOrPath) { return text }
    let cause: String
    do throws(FileText.Unreadable) { return try FileText.read(NameBytes(nameOrPath)) } catch {
      cause = error.isMissing ? "there is no such file" : "the file cannot be read: \(error.cause)"
    }
    throw TransferError(
      .usage, "read profile", NameBytes(nameOrPath),
      cause: "\(cause), and no built-in profile of that name",
      remedy: "name a file, or one of: \(names.joined(separator: ", "))")
  }

  /// Reads a profile and reports all errors in it.
  public static func check(_ nameOrPath: String) throws(TransferError) -> Report {
    do {
      let profile = try Profile.read(try text(nameOrPath), file: nameOrPath)
      var report = Report(name: profile.name, digest: hexText(profile.digest.bytes), faults: [])
      report.hosts = profile.writtenHosts
      report.serverNamedSteps = profile.serverNamedSteps
      for input in profile.inputs {
        if let variable = variable(nameOrPath, input.name) { report.variables[variable] = input.name }
      }
      return report
    } catch let faults as ProfileFaults {
      let list = faults.lines.map { Fault(line: $0.line, column: $0.column, message: $0.message) }
      return Report(name: "", digest: "", faults: list)
    } catch {
      throw error as? TransferError ?? TransferError(.bug, "read profile", cause: "\(error)")
    }
  }

  /// The built-in profiles.
  public static func builtin() throws(TransferError) -> [Summary] {
    var list: [Summary] = []
    for name in names { list.append(try summary(name)) }
    return list
  }

  private static func summary(_ name: String) throws(TransferError) -> Summary {
    let text = try text(name)
    let profile = try read(text, name)
    let proto = try ProfileProtocol(profile: profile, url: "https://host", inputs: [:], partSize: nil)
    let line = text.prefix { $0 != 0x0A }.drop { $0 == 0x23 || $0 == 0x20 }
    let words = String(decoding: line, as: UTF8.self)
    return Summary(
      name: name, about: words.firstRange(of: ". ").map { String(words[..<$0.lowerBound]) } ?? words,
      chunks: profile.chunkWords,
      inputs: profile.inputs.map { Input(name: $0.name, isSecret: $0.isSecret, isRequired: $0.isRequired) },
      unrepeatable: proto.unrepeatableSteps)
  }

  private static func read(_ text: [UInt8], _ name: String) throws(TransferError) -> Profile {
    do throws(ProfileFaults) {
      return try Profile.read(text, file: name)
    } catch {
      throw error.transferError
    }
  }

  // MARK: - Using one

  /// The settings that a batch stores of a profile. `inputs` are `name=value`; for a secret, and for any other value
  /// that must not be stored, the value is `env:NAME` or `file:PATH`. Without `needsSecrets`, no secret has to be
  /// given, because nothing will be sent.
  /// - Throws: `.usage` for inputs that the profile does not have, or that must not be given in clear text; `.config`
  ///   for a profile with faults.
  public static func settings(
    via nameOrPath: String, inputs: [String], needsSecrets: Bool = true
  ) throws(TransferError) -> ProfileSettings {
    let profile = try read(try text(nameOrPath), nameOrPath)
    let isBuiltin = BuiltinProfile.text(nameOrPath) != nil
    var settings = ProfileSettings(name: profile.name, text: profile.text, isBuiltin: isBuiltin ? true : nil)
    for pair in inputs {
      let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard let input = profile.inputs.first(where: { $0.name == halves[0] }), halves.count == 2 else {
        throw unknown(halves[0], profile)
      }
      let isReference = SecretReference(halves[1]) != nil
      guard input.isSecret || isReference else {
        settings.inputs[input.name] = halves[1]
        continue
      }
      guard isReference else {
        throw TransferError(
          .usage, "use the profile", NameBytes(profile.name),
          cause: "its input \"\(input.name)\" is a secret, and command lines are visible to all users",
          remedy: "pass --input \(input.name)=env:NAME or --input \(input.name)=file:PATH")
      }
      settings.secrets[input.name] = halves[1]
    }
    for input in profile.inputs { fill(input, nameOrPath, &settings) }
    if !needsSecrets {
      for input in profile.inputs where input.isSecret { settings.secrets[input.name] = "env:\(input.name)" }
    }
    return settings
  }

  /// An input that was not given refers to the environment variable that the program knows for a built-in profile.
  private static func fill(_ input: ProfileInput, _ profile: String, _ settings: inout ProfileSettings) {
    guard settings.secrets[input.name] == nil, settings.inputs[input.name] == nil,
      let variable = variable(profile, input.name), Environment.value(variable) != nil
    else { return }
    settings.secrets[input.name] = "env:\(variable)"
  }

  /// A profile in a file has no such variable, whatever its name is.
  private static func variable(_ nameOrPath: String, _ input: String) -> String? {
    BuiltinProfile.text(nameOrPath) == nil ? nil : BuiltinProfile.variable(of: nameOrPath, input)
  }

  private static func unknown(_ name: String, _ profile: Profile) -> TransferError {
    let names = profile.inputs.map(\.name).joined(separator: ", ")
    return TransferError(
      .usage, "use the profile", NameBytes(profile.name), cause: "it has no input \"\(name)\"",
      remedy: names.isEmpty ? "leave --input out; this profile has no inputs" : "write NAME=VALUE with one of: \(names)"
    )
  }

  // MARK: - Trying one

  /// A request that an upload would make.
  public struct PlannedRequest: Sendable, Hashable {
    /// The step of the profile, with the number of the chunk.
    public var step: String
    public var method: String
    public var url: String
    /// `Name: value`
    public var headers: [String]
    /// The text of a small body, or else a description of its contents.
    public var body: String
  }

  /// The requests that the upload of the file at `path` would make, in order, if the server answers as the profile
  /// expects. Values from the server and secrets are shown by name. Reads the file; sends nothing.
  public static func rehearse(
    _ settings: BatchSettings, path: NameBytes
  ) throws(TransferError) -> [PlannedRequest] {
    // Throws an error that names the URL if it is invalid.
    _ = try Destination(settings)
    let proto = try ProfileProtocol(settings)
    let source = try RehearsedFile(path)
    let rehearsal = ProfileRehearsal(proto, key: path.lastComponent, size: source.size, mtimeMs: source.mtimeMs)
    return try rehearsal.requests { (range, algorithm) throws(TransferError) in
      try source.digest(range, algorithm)
    }.map { request in
      PlannedRequest(
        step: request.step, method: request.method, url: request.url, headers: request.headers, body: request.body)
    }
  }
}
