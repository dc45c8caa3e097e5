import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteOptions;

/**
 * Rows in a database of RocksDB, for power_cuts.py: opens the folder that is named, then answers lines. `put N` writes
 * row N, and answers N when it is sure; `check N` answers how many of the rows up to N are there and right, and the last
 * that is there.
 */
public final class RocksDbSure {
  private static final long BUFFER_BYTES = 256 << 10;

  static {
    RocksDB.loadLibrary();
  }

  private static byte[] key(long row) {
    return String.format("%012d", row).getBytes(StandardCharsets.US_ASCII);
  }

  private static byte[] value(long row) {
    return (row + ":" + "x".repeat(200) + ":" + Long.toHexString(row * 0x9e3779b97f4a7c15L)).getBytes(StandardCharsets.US_ASCII);
  }

  private static String check(RocksDB database, long sure) throws RocksDBException {
    long right = 0;
    for (long row = 1; row <= sure; row++) {
      if (Arrays.equals(database.get(key(row)), value(row))) {
        right++;
      }
    }
    try (RocksIterator all = database.newIterator()) {
      all.seekToLast();
      long last = all.isValid() ? Long.parseLong(new String(all.key(), StandardCharsets.US_ASCII)) : 0;
      return right + "\t" + last;
    }
  }

  public static void main(String[] words) throws Exception {
    // a small buffer: tables are written, and compacted, between the cuts
    Options options = new Options().setCreateIfMissing(true).setWriteBufferSize(BUFFER_BYTES);
    options.setUseDirectReads(true).setUseDirectIoForFlushAndCompaction(true);
    WriteOptions writes = new WriteOptions().setSync(true);
    BufferedReader asked = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    try (RocksDB database = RocksDB.open(options, words[0])) {
      for (String line = asked.readLine(); line != null; line = asked.readLine()) {
        String[] parts = line.split(" ");
        long row = Long.parseLong(parts[1]);
        if (parts[0].equals("put")) {
          database.put(writes, key(row), value(row));
          System.out.println(row);
        } else {
          System.out.println(check(database, row));
        }
      }
    }
  }
}
