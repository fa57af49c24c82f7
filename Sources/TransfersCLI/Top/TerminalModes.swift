import TransferModel

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A terminal that delivers each key at once and shows the alternate screen. Its previous state is restored however the
/// command ends or pauses: normally, by a signal, or by suspension.
enum TerminalModes {
  private struct Changed {
    let descriptor, out: Int32
    let before: termios
  }

  private static let changed = Lock<Changed?>(nil)

  /// False if there is no terminal to change.
  static func enter(_ descriptor: Int32, _ out: Int32) -> Bool {
    var modes = termios()
    guard tcgetattr(descriptor, &modes) == 0 else { return false }
    let before = modes
    modes.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
    modes.c_iflag &= ~tcflag_t(IXON)
    withUnsafeMutableBytes(of: &modes.c_cc) { codes in
      codes[Int(VMIN)] = 0
      codes[Int(VTIME)] = 0
      // Ctrl-Z arrives as a key, so that the screen is restored first.
      codes[Int(VSUSP)] = 0
      // Ctrl-\ would end the process immediately.
      codes[Int(VQUIT)] = 0
    }
    return changed.withLock { changed in
      guard tcsetattr(descriptor, TCSADRAIN, &modes) == 0 else { return false }
      if changed == nil { changed = Changed(descriptor: descriptor, out: out, before: before) }
      say("\u{1B}[?1049h\u{1B}[?25l\u{1B}[2J", out)
      return true
    }
  }

  /// Restores the previous state; does nothing if nothing was changed. Any thread.
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
