#if canImport(Glibc)
  import Glibc
#endif

/// Makes calls of this thread, and of those that it starts, fail for as long as the process lives (seccomp(2)).
enum RefusingKernel {
  enum Call: Sendable { case renameExclusive, link, changeMode, allocate, write }

  struct Missing: Error { let what: String }

  private static func number(_ call: Call) -> UInt32 {
    // Source: <asm/unistd_64.h>, <asm-generic/unistd.h>
    #if arch(x86_64)
      switch call {
      case .renameExclusive: 316
      case .link: 265
      case .changeMode: 91
      case .allocate: 285
      case .write: 18
      }
    #else
      switch call {
      case .renameExclusive: 276
      case .link: 37
      case .changeMode: 52
      case .allocate: 47
      case .write: 68
      }
    #endif
  }

  /// struct sock_filter of <linux/filter.h>
  private struct Instruction {
    var code: UInt16
    var ifTrue: UInt8 = 0
    var ifFalse: UInt8 = 0
    var value: UInt32
  }

  private struct Program {
    var count: UInt16
    var start: UnsafeMutablePointer<Instruction>
  }

  private typealias Control = @convention(c) (Int32, UInt, UnsafeRawPointer?, UInt, UInt) -> Int32

  static func refuse(_ calls: [(call: Call, code: Int32)]) throws {
    // BPF_LD | BPF_W | BPF_ABS: the number of the call; BPF_JMP | BPF_JEQ | BPF_K; BPF_RET | BPF_K.
    var program = [Instruction(code: 0x20, value: 0)]
    for (call, code) in calls {
      program.append(Instruction(code: 0x15, ifFalse: 1, value: number(call)))
      // SECCOMP_RET_ERRNO
      program.append(Instruction(code: 0x06, value: 0x0005_0000 | UInt32(code)))
    }
    // SECCOMP_RET_ALLOW
    program.append(Instruction(code: 0x06, value: 0x7FFF_0000))
    // Its variadic declaration is not imported.
    let control = unsafeBitCast(dlsym(nil, "prctl"), to: Control.self)
    let isRefusing = program.withUnsafeMutableBufferPointer { buffer in
      var filter = Program(count: UInt16(buffer.count), start: buffer.baseAddress!)
      // PR_SET_NO_NEW_PRIVS; PR_SET_SECCOMP with SECCOMP_MODE_FILTER.
      return control(38, 1, nil, 0, 0) == 0 && control(22, 2, &filter, 0, 0) == 0
    }
    guard isRefusing else { throw Missing(what: "no seccomp: \(errno)") }
  }
}
