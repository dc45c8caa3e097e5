import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.FlushOptions;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteOptions;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * RocksDB for YCSB. Threads share one database, in the folder `rocksdb.dir`. With `rocksdb.sync` a write has ended when
 * it is sure. Files are read and written past the page cache (direct I/O), and the block cache is small, so that reads
 * are reads of the drive.
 */
public final class RocksDbBinding extends DB {
  private static RocksDB database;
  private static WriteOptions writes;
  private static int users;

  static {
    RocksDB.loadLibrary();
  }

  @Override
  public void init() throws DBException {
    synchronized (RocksDbBinding.class) {
      users++;
      if (database != null) {
        return;
      }
      long cache = Long.parseLong(getProperties().getProperty("rocksdb.cache", "8")) << 20;
      Options options = new Options()
          .setCreateIfMissing(true)
          .setUseDirectReads(true)
          .setUseDirectIoForFlushAndCompaction(true)
          .setTableFormatConfig(new BlockBasedTableConfig().setBlockCache(new LRUCache(cache)));
      writes = new WriteOptions().setSync(Boolean.parseBoolean(getProperties().getProperty("rocksdb.sync", "true")));
      try {
        database = RocksDB.open(options, getProperties().getProperty("rocksdb.dir", "rocksdb"));
      } catch (RocksDBException error) {
        throw new DBException(error);
      }
    }
  }

  @Override
  public void cleanup() throws DBException {
    synchronized (RocksDbBinding.class) {
      if (--users > 0) {
        return;
      }
      try (FlushOptions flush = new FlushOptions().setWaitForFlush(true)) {
        database.flush(flush);
      } catch (RocksDBException error) {
        throw new DBException(error);
      } finally {
        database.close();
        database = null;
      }
    }
  }

  @Override
  public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    try {
      byte[] row = database.get(name(table, key));
      if (row == null) {
        return Status.NOT_FOUND;
      }
      unpack(row).forEach((field, value) -> {
        if (fields == null || fields.contains(field)) {
          result.put(field, new ByteArrayByteIterator(value));
        }
      });
      return Status.OK;
    } catch (RocksDBException error) {
      return failed(error);
    }
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    try {
      byte[] row = database.get(name(table, key));
      if (row == null) {
        return Status.NOT_FOUND;
      }
      Map<String, byte[]> fields = unpack(row);
      values.forEach((field, value) -> fields.put(field, value.toArray()));
      database.put(writes, name(table, key), pack(fields));
      return Status.OK;
    } catch (RocksDBException error) {
      return failed(error);
    }
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    Map<String, byte[]> fields = new HashMap<>();
    values.forEach((field, value) -> fields.put(field, value.toArray()));
    try {
      database.put(writes, name(table, key), pack(fields));
      return Status.OK;
    } catch (RocksDBException error) {
      return failed(error);
    }
  }

  @Override
  public Status delete(String table, String key) {
    try {
      database.delete(writes, name(table, key));
      return Status.OK;
    } catch (RocksDBException error) {
      return failed(error);
    }
  }

  /** Rows in the order of their keys, from one on, as workload E asks for. */
  @Override
  public Status scan(String table, String start, int count, Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    try (RocksIterator rows = database.newIterator()) {
      for (rows.seek(name(table, start)); rows.isValid() && result.size() < count; rows.next()) {
        HashMap<String, ByteIterator> found = new HashMap<>();
        unpack(rows.value()).forEach((field, value) -> {
          if (fields == null || fields.contains(field)) {
            found.put(field, new ByteArrayByteIterator(value));
          }
        });
        result.add(found);
      }
      rows.status();
      return Status.OK;
    } catch (RocksDBException error) {
      return failed(error);
    }
  }

  private static byte[] name(String table, String key) {
    return (table + ":" + key).getBytes(StandardCharsets.UTF_8);
  }

  /** A row: of each field the length of its name, its name, the length of its value, its value. */
  private static byte[] pack(Map<String, byte[]> fields) {
    int bytes = 0;
    for (Map.Entry<String, byte[]> field : fields.entrySet()) {
      bytes += 2 * Integer.BYTES + field.getKey().getBytes(StandardCharsets.UTF_8).length + field.getValue().length;
    }
    ByteBuffer row = ByteBuffer.allocate(bytes);
    fields.forEach((field, value) -> {
      byte[] name = field.getBytes(StandardCharsets.UTF_8);
      row.putInt(name.length).put(name).putInt(value.length).put(value);
    });
    return row.array();
  }

  private static Map<String, byte[]> unpack(byte[] packed) {
    ByteBuffer row = ByteBuffer.wrap(packed);
    Map<String, byte[]> fields = new HashMap<>();
    while (row.hasRemaining()) {
      String field = new String(taken(row), StandardCharsets.UTF_8);
      fields.put(field, taken(row));
    }
    return fields;
  }

  private static byte[] taken(ByteBuffer row) {
    byte[] bytes = new byte[row.getInt()];
    row.get(bytes);
    return bytes;
  }

  private static Status failed(RocksDBException error) {
    System.err.println(error);
    return Status.ERROR;
  }
}
