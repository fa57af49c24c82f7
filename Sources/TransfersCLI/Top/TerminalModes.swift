import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A terminal that gives each key at once and shows a second screen. What it was before is put back on every way out:
/// the end of the command, a signal, a rest.
enum TerminalModes {
  private struct Changed {
    let descriptor, out: Int32
    let before: termios
  }

  private static let changed = Lock<Changed?>(nil)

  /// False where there is no terminal to change.
  static func enter(_ descriptor: Int32, _ out: Int32) -> Bool {
    var modes = termios()
    guard tcgetattr(descriptor, &modes) == 0 else { return false }
    let before = modes
    modes.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
    modes.c_iflag &= ~tcflag_t(IXON)
    withUnsafeMutableBytes(of: &modes.c_cc) { codes in
      codes[Int(VMIN)] = 0
      codes[Int(VTIME)] = 0
      // Ctrl-Z comes as a key: the screen is put back first.
      codes[Int(VSUSP)] = 0
      // Ctrl-\ would end the process at once.
      codes[Int(VQUIT)] = 0
    }
    return changed.withLock { changed in
      guard tcsetattr(descriptor, TCSADRAIN, &modes) == 0 else { return false }
      if changed == nil { changed = Changed(descriptor: descriptor, out: out, before: before) }
      say("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J", out)
      return true
    }
  }

  /// What it was. Nothing to do where nothing was changed; any thread.
  static func restore() {
    changed.withLock { changed in
      guard let was = changed else { return }
      say("\u{1B}[0m\u{1B}[?25h\u{1B}[?1049l", was.out)
      var before = was.before
      tcsetattr(was.descriptor, TCSANOW, &before)
      changed = nil
    }
  }

  private static func say(_ text: String, _ descriptor: Int32) {
    let bytes = Array(text.utf8)
    _ = write(descriptor, bytes, bytes.count)
  }
}
