import type { SqlDatabase } from "./sql-database.ts";
import { TaskTextIndexer } from "../task-text-indexer.ts";
import { listTaskWords } from "../task-words.ts";
import { restoreTaskByKey } from "./task-reader.ts";
import type { SqlAccess, TaskTables } from "./task-tables.ts";

/**
 * Full-text index over the words of stopped tasks. Triggers queue the tasks whose turns have ended, so that the writer of
 * the tasks need not know the index, and a crash loses no task. The tokenizer `ascii` splits the stored words only at the
 * spaces between them. `secure-delete` removes the words of deleted tasks from the file.
 */
const CREATE_TEXT_INDEX_SQL = `
  CREATE VIRTUAL TABLE task_text_words USING fts5 (words, tokenize = 'ascii', detail = none);
  INSERT INTO task_text_words (task_text_words, rank) VALUES ('secure-delete', 1);
  CREATE TABLE task_text_words_queue (task INTEGER PRIMARY KEY);
  CREATE TRIGGER task_text_words_inserted AFTER INSERT ON task WHEN new.running = 0
    BEGIN INSERT OR IGNORE INTO task_text_words_queue VALUES (new.key); END;
  CREATE TRIGGER task_text_words_updated AFTER UPDATE OF seq, running ON task WHEN new.running = 0
    BEGIN INSERT OR IGNORE INTO task_text_words_queue VALUES (new.key); END;
  CREATE TRIGGER task_text_words_deleted AFTER DELETE ON task
    BEGIN
      DELETE FROM task_text_words WHERE rowid = old.key;
      DELETE FROM task_text_words_queue WHERE task = old.key;
    END;
  INSERT INTO task_text_words_queue SELECT key FROM task WHERE running = 0;
`;

interface SqlTextIndexOptions extends Pick<SqlAccess, "write"> {
  /** Runs a transaction that needs no sync, because a power failure restores the queue together with the index. */
  readonly transact: <T>(work: (tables: TaskTables) => T) => T;
}

/** Creates the text index of a store. */
export function createSqlTextIndex({ write, transact }: SqlTextIndexOptions): TaskTextIndexer {
  return new TaskTextIndexer({
    start: () => write(({ db }) => createTaskTextIndex(db)),
    indexBatch: (limit) => transact((tables) => indexQueuedTasks(tables, limit)),
  });
}

/** Creates the tables of the index, if they do not exist. Call within a transaction. */
export function createTaskTextIndex(db: SqlDatabase): void {
  const exists = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'task_text_words'").get() !== undefined;
  if (exists) return;
  db.exec(CREATE_TEXT_INDEX_SQL);
}

/** Indexes at most `limit` queued tasks, and returns whether more tasks wait. Call within a transaction. */
function indexQueuedTasks(tables: TaskTables, limit: number): boolean {
  const { sql } = tables;
  const queued = sql.all<{ task: number }>("SELECT task FROM task_text_words_queue LIMIT ?", limit + 1);
  for (const { task } of queued.slice(0, limit)) {
    const words = listTaskWords(restoreTaskByKey(tables, task).task).join(" ");
    sql.run("DELETE FROM task_text_words WHERE rowid = ?", task);
    sql.run("INSERT INTO task_text_words (rowid, words) VALUES (?, ?)", task, words);
    sql.run("DELETE FROM task_text_words_queue WHERE task = ?", task);
  }
  return queued.length > limit;
}
