import StrictYAML
import TransferModel
import Testing

@testable import TransferProtocols

@Suite struct ProfileReadTests {
  /// The faults of `text`, as `line:column message`.
  static func faults(_ text: String) -> [String] {
    do {
      _ = try Profile.read(Array(text.utf8), file: "x.yaml")
      return []
    } catch {
      return error.faults.map { "\($0.mark.line):\($0.mark.column) \($0.message)" }
    }
  }

  static func read(_ text: String) throws -> Profile { try Profile.read(Array(text.utf8), file: "x.yaml") }

  /// A condition of a step cannot use a chunk, and may skip the request of an empty file only if `init` makes the file.
  @Test func nothingOfAChunkDecidesWhetherStepsAreSent() {
    let chunk = Self.faults(Self.smallest(step: ", when: \"chunk.lats\""))
    #expect(chunk.contains { $0.contains("there is no variable \"chunk\" here") }, "\(chunk)")
    let orphan = Self.faults(Self.smallest(step: ", when: \"file.size > 0\""))
    #expect(orphan.count == 1 && orphan[0].contains("no step init would make the file"), "\(orphan)")
  }

  /// A profile with one step, and what the test is about.
  static func smallest(_ rest: String = "", step: String = "") -> String {
    """
    profile: 1
    name: x
    \(rest)
    steps:
      chunk: {method: PUT, url: "/x", body: {kind: raw}\(step)}
    """
  }

  @Test func theSmallestProfileHasTheDefaults() throws {
    let profile = try Self.read(Self.smallest())
    #expect(profile.chunk == ChunkRules())
    let step = try #require(profile.step(.chunk))
    #expect(step.success.status.ranges == [200...201, 203...205, 209...225, 227...299])
    #expect(step.usesAuth && step.expect == .auto && step.rules.isEmpty)
    #expect(profile.onAmbiguousLast == .resend)
  }

  @Test func everyKeyIsUnderstood() throws {
    let profile = try Self.read(Self.everything)
    #expect(profile.inputs.map(\.name) == ["key", "bucket"])
    #expect(profile.inputs[0].isSecret && profile.inputs[0].isRequired)
    #expect(profile.inputs[1].byDefault == "b")
    #expect(profile.file == FileRules(minSize: 1, maxSize: 5_000_000_000, hashes: [.md5]))
    #expect(profile.chunk.mode == .parallel && profile.chunk.size == .session("part_size") && profile.chunk.isFixed)
    #expect(
      profile.chunk.minSize == 1 << 20 && profile.chunk.maxSize == 150_000_000 && profile.chunk.multipleOf == 320 << 10)
    #expect(profile.chunk.maxCount == 100 && profile.chunk.remainder == .lastAbsorbs && profile.chunk.numberBase == 0)
    #expect(profile.chunk.parallel == 3 && profile.chunk.hashes == [.crc32, .sha256] && !profile.chunk.isIdempotent)
    #expect(profile.session == SessionRules(ttlMs: 7 * 86_400_000, ttlFrom: "expires_at"))
    #expect(profile.auth.refresh?.extract.first?.scope == .secret)
    #expect(profile.errors.first?.action == .retryAfter)
    #expect(profile.onAmbiguousLast == .probe)
    let begin = try #require(profile.step(.begin))
    #expect(begin.query.map(\.isOptional) == [true, false])
    #expect(begin.timeout == StepTimeout(connectMs: 10_000, idleMs: 60_000, totalMs: nil))
    #expect(begin.extract.count == 4 && begin.expect == .off)
    let probe = try #require(profile.step(.probe))
    #expect(!probe.usesAuth && probe.have.missing != nil && probe.have.done?.status?.contains(201) == true)
    #expect(profile.step(.prepareChunk)?.isIdempotent == false && profile.step(.probe)?.isIdempotent == true)
    #expect(profile.step(.probeChunk)?.have.exists?.status?.contains(200) == true)
    let chunk = try #require(profile.step(.chunk))
    #expect(
      chunk.rules.map(\.action) == [.skipChunk, .retry, .restartSession, .refreshAuth, .prepareAgain, .shrinkChunk])
    #expect(chunk.rules[1].most == 3 && chunk.rules[1].delayMs == 5_000 && chunk.rules[1].note == "crc mismatch")
    #expect(chunk.rules[2].condition.curl == [55, 56] && chunk.rules[2].condition.seen?.contains(423) == true)
    guard case .multipart(let items) = chunk.body else { return }
    #expect(items.count == 4)
    #expect(profile.step(.commit)?.poll?.request?.method == "GET" && profile.step(.commit)?.poll?.maxMs == 60_000)
  }

  @Test func everyKeyCanAlsoBeJSON() throws {
    let profile = try Self.read(Self.everything)
    #expect(try Self.read(profile.text) == profile)
    #expect(profile.text.hasPrefix("{\"profile\": 1, \"name\": \"everything\""))
    #expect(profile.digest == RunningDigest.of(Array(profile.text.utf8), .sha256))
  }

  /// Comments, quotes, anchors and line breaks do not change the digest of a profile; a value does.
  @Test func theDigestIsOfTheContent() throws {
    let a = try Self.read("# hello\n" + Self.smallest("headers: {A: &v b}"))
    let b = try Self.read(Self.smallest("headers:\n  \"A\": 'b'"))
    #expect(a.digest == b.digest && a.text == b.text)
    #expect(try Self.read(Self.smallest("headers: {A: c}")).digest != a.digest)
  }

  @Test(arguments: [
    ("chonk: {}", "", "3:1 a profile has no key \"chonk\""),
    ("chunk: {sizee: 4MiB}", "", "3:9 chunk has no key \"sizee\""),
    ("chunk: {size: 4 bananas}", "", "3:15 chunk.size has to be a size"),
    ("chunk: {size: 99999999999TB}", "", "3:15 chunk.size has to be a size"),
    ("chunk: {mode: quick}", "", "3:15 chunk.mode has to be one of: sequential, parallel, single"),
    ("chunk: {fixed: yes}", "", "3:16 chunk.fixed has to be true or false, and this is text"),
    ("chunk: {size: 10MiB, multiple_of: 3MiB}", "", "3:15 chunk.size is not a multiple"),
    ("chunk: {size: {from: session.part_size}}", "", "3:15 chunk.size comes from a value of the session"),
    ("chunk: {hash: [crc33]}", "", "3:16 an element of chunk.hash has to be one of"),
    ("inputs: [{name: a}, {name: a}]", "", "3:28 there are two inputs \"a\""),
    ("inputs: [{name: a, secret: true, default: s3cret}]", "", "3:43 a secret has no default"),
    ("headers: {Content-Length: 5}", "", "3:11 the header Content-Length is set by the program"),
    ("headers: {\"A B\": 5}", "", "3:11 \"A B\" is not a header name"),
    ("headers: {A: \"{{chunk.size}}\"}", "", "3:14 there is no variable \"chunk\" here"),
    ("headers: {A: \"{{input.none}}\"}", "", "3:14 there is no input \"none\""),
    ("inputs: [{name: key}]\nheaders: {A: \"{{key}}\"}", "", "4:14 there is no variable \"key\"; write input.key"),
    ("headers: {A: \"{{session.tok}}\"}", "", "3:14 nothing extracts session.tok"),
    ("headers: {A: \"{{file.nam}}\"}", "", "3:14 there is no file.nam; there are: name path"),
    ("headers: {A: \"{{file.md5}}\"}", "", "3:14 file.md5 is not computed: add md5 to file.need"),
    ("headers: {A: \"x {{file.name|uper}}\"}", "", "3:29 headers.A: there is no filter \"uper\""),
    ("base_url: \"{{session.id}}\"", "", "3:11 there is no variable \"session\" here"),
    ("on_ambiguous_last: probe", "", "3:20 there is no step probe"),
    ("errors: [{if: {status: 500}, do: explode}]", "", "3:34 do has to be one of"),
    ("errors: [{if: {status: 99}, do: fail}]", "", "3:24 if.status: a status is a number"),
    ("errors: [{if: {}, do: fail}]", "", "3:15 if is empty"),
    ("errors: [{do: fail}]", "", "3:10 a rule needs"),
    ("errors: [{if: {status: 409}, do: set_offset}]", "", "3:10 set.offset and"),
    (
      "errors: [{if: {status: 409}, do: prepare_again}]", "",
      "3:10 a rule of errors prepares again, and there is no step"
    ),
    ("", ", retries: 5", "5:54 steps.chunk has no key \"retries\""),
    ("", ", query: {c: \"{{chunk.crc32}}\"}", "5:65 chunk.crc32 is not computed: add crc32 to chunk.hash"),
    ("", ", extract: {}", "5:63 steps.chunk.extract extracts nothing"),
    ("", ", extract: {token: {json: $.a}}", "5:64 \"token\" is not a place for a value"),
    ("", ", extract: {session.t: {type: int}}", "5:75 steps.chunk.extract.session.t extracts nothing"),
    ("", ", extract: {session.t: {json: a.b}}", "5:82 steps.chunk.extract.session.t.json: a JSON path must begin"),
    (
      "", ", extract: {session.t: {json: $.a, header: B}}",
      "5:75 steps.chunk.extract.session.t has the sources json and header"
    ),
    ("", ", extract: {session.t: {regex: \"(\"}}", "5:85 steps.chunk.extract.session.t.regex: a \")\" is missing"),
    ("", ", extract: {secret.t: {json: $.a}}", "5:64 only auth.refresh has secrets"),
    ("", ", in_doubt: true", "5:64 only verify can be asked \"in_doubt\" only"),
    ("", ", idempotent: false", "5:66 whether a chunk may be sent twice is said once, in chunk.idempotent"),
    ("", ", extract: {session.t: {json: $.a, when: \"chunk.lats\"}}", "5:93 there is no chunk.lats"),
    (
      "", ", extract: {session.t: {json: $.a, when: \"chunk.last and\"}}",
      "5:108 steps.chunk.extract.session.t.when: a value is missing"
    ),
    ("", ", success: {require: [{body_regex: a, eq: b}]}", "5:94 body_regex cannot be combined"),
    ("", ", success: {require: [{json: $.a, eq: b, in_doubt: true}]}", "5:103 only verify has"),
    (
      "", ", rules: [{if: {status: 404}, do: retry}, {if: {status: 409}, do: reprobe}]",
      "5:94 a rule of chunk asks to probe"
    ),
    ("chunk: {size: 9223372036854775807}", "", "3:15 chunk.size has to be a size"),
    ("chunk: {multiple_of: 9223372036854775807}", "", "3:22 chunk.multiple_of has to be a size"),
    ("", ", have: {exists: {status: 200}}", "5:60 only probe and probe_chunk have"),
    ("", ", success: {require: [{json: $.code}]}", "5:74 require needs one of eq, ne, in, exists, matches"),
    ("", ", timeout: {total: 5 parsecs}", "5:71 total has to be a time"),
    ("headers: {A: \"\\u0041 {{file.name|uper}}\"}", "", "3:14 headers.A: there is no filter \"uper\""),
    ("headers: {A: '''{{file.name|uper}}'}", "", "3:14 headers.A: there is no filter \"uper\""),
    ("headers: {A: 'é {{file.name|uper}}'}", "", "3:29 headers.A: there is no filter \"uper\""),
    ("", ", auth: on", "5:60 the auth of a step can only be \"off\""),
  ])
  func mistakesAreShownWhereTheyAre(_ top: String, _ step: String, _ expected: String) {
    let faults = Self.faults(Self.smallest(top, step: step))
    #expect(faults.contains { $0.hasPrefix(expected) }, "\(faults)")
    #expect(faults.count == 1, "\(faults)")
  }

  @Test(arguments: [
    ("name: x\nsteps: {chunk: {method: PUT, url: /x, body: {kind: raw}}}", "the key \"profile\" is missing"),
    ("profile: 2\nname: x\nsteps: {chunk: {method: PUT, url: /x, body: {kind: raw}}}", "1:10 the only version"),
    ("profile: 1\nsteps: {chunk: {method: PUT, url: /x, body: {kind: raw}}}", "the key \"name\" is missing"),
    ("profile: 1\nname: a b\nsteps: {chunk: {method: PUT, url: /x, body: {kind: raw}}}", "2:7 a name has"),
    ("profile: 1\nname: x\n", "the key \"steps\" is missing"),
    ("profile: 1\nname: x\nsteps: {init: {method: POST, url: /x}}", "3:8 the step \"chunk\" is missing"),
    ("profile: 1\nname: x\nsteps: {chunk: {method: POST, url: /x}}", "3:9 the step chunk sends no bytes"),
    ("profile: 1\nname: x\nsteps: {chunk: {url: /x, body: {kind: raw}}}", "3:16 steps.chunk needs the key \"method\""),
    (
      "profile: 1\nname: x\nsteps: {chunk: {method: put, url: /x, body: {kind: raw}}}",
      "3:25 steps.chunk.method is a method"
    ),
    (
      "profile: 1\nname: x\nsteps: {chunk: {method: PUT, url: /x, body: {kind: raw, value: 5}}}",
      "a body of kind raw has no \"value\""
    ),
    (
      "profile: 1\nname: x\nsteps: {chunk: {method: PUT, url: /x, body: {kind: raw, raw: file}}}",
      "3:62 steps.chunk.body.raw can be \"file\" only with chunk.mode: single"
    ),
    (
      "profile: 1\nname: x\nsteps: {chunk: {method: PUT, url: /x, body: {kind: raw}}, complete: {method: PUT, url: /y, offset: {from: {json: $.n}}}}",
      "3:100 only the step chunk has \"offset\""
    ),
    ("[1, 2]", "1:1 a profile has to be a map"),
    (
      "profile: 1\nname: x\nsteps: {chunk: {method: PUT, url: /x, body: {kind: raw}}, probe: {method: GET, url: /p}}",
      "3:66 steps.probe needs the key \"have\""
    ),
    (
      "profile: 1\nname: x\nsteps: {chunk: {method: PUT, url: /x, body: {kind: raw}}, init: {method: POST, url: /p, rules: [{if: {status: 404}, do: restart_session}]}}",
      "a loop"
    ),
    (
      "profile: 1\nname: x\nsteps: {chunk: {method: PUT, url: /x, body: {kind: raw}}, complete: {method: POST, url: /p, body: {kind: xml, value: {a: 1, b: 2}}}}",
      "an XML body has one element"
    ),
    (
      "profile: 1\nname: x\nsteps: {chunk: {method: PUT, url: /x, body: {kind: multipart, fields: [{name: f, file: chunk}, {name: g, file: chunk}]}}}",
      "has 2 files"
    ),
  ])
  func profilesThatAreNone(_ text: String, _ expected: String) {
    let faults = Self.faults(text)
    #expect(faults.contains { $0.contains(expected) }, "\(faults)")
  }

  @Test func allMistakesAreShownAtOnceInTheirOrder() {
    let faults = Self.faults(
      Self.smallest("chonk: 1\nheaders: {\"a b\": 1, Host: 2}\nchunk: {size: x}", step: ", b: 2"))
    #expect(faults.count == 5)
    #expect(faults.map { $0.prefix { $0 != ":" } } == ["3", "4", "4", "5", "7"])
    let many = (0..<50).map { "k\($0): 1" }.joined(separator: "\n")
    #expect(Self.faults(Self.smallest(many)).count == 20)
  }

  @Test func aProfileTakesNoVariableOfTheEnvironment() {
    let text = Self.smallest("inputs: [{name: a, secret: true, env: AWS_SECRET_ACCESS_KEY}]")
    #expect {
      try Self.read(text)
    } throws: { error in
      let faults = (error as? ProfileFaults)?.faults ?? []
      return faults.count == 1 && faults[0].message.contains("--input a=env:NAME")
    }
  }

  static let everything = """
    # Every key of the schema.
    profile: 1
    name: everything
    base_url: "https://{{input.bucket}}.example.com/api"
    inputs:
      - {name: key, secret: true, required: true}
      - {name: bucket, default: b}
    file: {min_size: 1, max_size: 5GB, need_size: true, need: [md5]}
    chunk:
      mode: parallel
      size: {from: session.part_size}
      fixed: true
      min: 1MiB
      max: 150MB
      multiple_of: 320KiB
      max_count: 100
      remainder: last_absorbs
      number_base: 0
      parallel: 3
      hash: [crc32, sha256]
      idempotent: false
    auth:
      headers: {Authorization: "Bearer {{secret.token | default(input.key)}}"}
      refresh:
        method: POST
        url: /token
        auth: off
        body: {kind: form, fields: [{name: key, value: "{{input.key}}"}]}
        extract: {secret.token: {json: $.access_token, required: true}}
    headers: {X-Common: "1", X-Opt?: "{{session.opt}}"}
    session: {ttl: 7d, ttl_from: session.expires_at, scope: file}
    steps:
      init:
        when: "file.size > 0"
        method: POST
        url: /init
        query: &q {"a?": "{{file.ext}}", b: "{{file.md5}}"}
        headers: {X-Init: yes}
        body: {kind: json, value: {name: "{{file.name}}", size: "{{file.size|int}}", deep: [1, {x: null, y: true}, 2.5]}}
        expect: off
        timeout: {connect: 10s, idle: 1m, total: null}
        success: {status: [200-299, 302], require: [{json: $.code, eq: 0}, {header: X-Ok, exists: true}, {body_regex: "ok"}]}
        extract:
          session.part_size: {json: $.partSize, type: int, default: 5242880}
          session.url: {header: Location, resolve: url, required: true}
          session.expires_at: {json: $.expires, type: time}
          session.opt: {regex: "opt=(\\\\d+)", plus: -1}
      probe:
        method: GET
        url: "{{session.url}}"
        auth: off
        have: {ranges_missing: {json: $.nextExpectedRanges, format: start-end}, done: {status: [200, 201]}}
      probe_chunk:
        method: GET
        url: "{{session.url}}"
        query: {n: "{{chunk.number}}"}
        have: {exists: {status: [200]}}
      prepare_chunk:
        method: POST
        url: /url
        cache: worker
        extract: {part.url: {json: $.url, required: true}}
      chunk:
        method: POST
        url: "{{part.url}}"
        body:
          kind: multipart
          fields: [{from_map: *q}, {name: crc, value: "{{chunk.crc32|dec}}"}, {name: file, file: chunk, filename: "{{file.name}}", type: "{{file.mime}}"}]
        extract: {part.etag: {header: ETag}, result.url: {json: $.data.fileUrl, when: "chunk.last"}}
        rules:
          - {if: {json: {path: $.code, eq: 40031}}, do: skip_chunk}
          - {if: {json: [{path: $.code, in: [40032, 40033]}, {path: $.retry, ne: false}]}, do: retry, max: 3, delay: 5s, note: crc mismatch}
          - {if: {curl: [56, 55], seen: [423]}, do: restart_session}
          - {if: {status: 401}, do: refresh_auth, max: 1}
          - {if: {header: {X-Url: expired, X-N: {matches: "^\\\\d"}}}, do: prepare_again}
          - {if: {body_regex: "too (large|big)"}, do: shrink_chunk}
      complete:
        method: POST
        url: "{{session.url}}/complete"
        body: {kind: json, value: {parts: {$each: parts, etag: "{{it.etag}}", n: "{{it.number|int}}"}}}
        rules: [{if: {xml: {path: //Code, eq: Gone}}, do: reprobe}]
      commit:
        method: POST
        url: /save
        body: {kind: xml, value: {Save: {Url: "{{result.url}}", Part: {$each: parts, $value: "{{it.etag}}"}}}}
        poll: {while: {status: [202]}, every: 2s, retry_after: false, max: 1m, request: {method: GET, url: /job, auth: off}}
      abort: {method: DELETE, url: "{{session.url}}", body: {kind: empty}}
      verify: {method: HEAD, url: "{{result.url}}"}
    errors: [{if: {status: 503}, do: retry_after}]
    on_ambiguous_last: probe
    """
}
