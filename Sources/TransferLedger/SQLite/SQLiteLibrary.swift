import CSQLite

/// The SQLite library that this process runs with, which need not be the one that it was compiled with.
public enum SQLiteLibrary {
  /// `3.40.1`
  public static var version: String { String(cString: sqlite3_libversion()) }
  /// 3,040,001 for 3.40.1. Source: https://sqlite.org/c3ref/c_source_id.html
  public static var versionNumber: Int { Int(sqlite3_libversion_number()) }
  public static var isThreadSafe: Bool { sqlite3_threadsafe() != 0 }

  /// Whether a checkpoint can lose concurrent commits of another process ("WAL-reset bug"): 3.7.0 to 3.51.2, except
  /// 3.44.6 and 3.50.7 and later versions of their series. Source: https://sqlite.org/wal.html section 11.
  public static func hasWALResetBug(versionNumber: Int) -> Bool {
    let (series, patch) = (versionNumber / 1000, versionNumber % 1000)
    switch series {
    case ..<3_007, 3_052...: return false
    case 3_044: return patch < 6
    case 3_050: return patch < 7
    case 3_051: return patch < 3
    default: return true
    }
  }
}
