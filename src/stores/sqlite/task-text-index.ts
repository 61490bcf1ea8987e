import type { SqlDatabase } from "./sql-database.ts";
import type { Task } from "../../protocol/index.ts";

/**
 * Full-text index over the messages and artifacts of stopped tasks. Triggers queue the tasks whose turns have ended, so
 * that the writer of the tasks need not know the index, and a crash loses no task. `secure-delete` removes the words of
 * deleted tasks from the file. Earlier versions of Colloquy, which do not index, leave the queue to later versions.
 */
const CREATE_TEXT_INDEX_SQL = `
  CREATE VIRTUAL TABLE task_text USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2');
  INSERT INTO task_text (task_text, rank) VALUES ('secure-delete', 1);
  CREATE TABLE task_text_queue (task INTEGER PRIMARY KEY);
  CREATE TRIGGER task_text_inserted AFTER INSERT ON task WHEN new.running = 0
    BEGIN INSERT OR IGNORE INTO task_text_queue VALUES (new.key); END;
  CREATE TRIGGER task_text_updated AFTER UPDATE OF running ON task WHEN new.running = 0
    BEGIN INSERT OR IGNORE INTO task_text_queue VALUES (new.key); END;
  CREATE TRIGGER task_text_deleted AFTER DELETE ON task
    BEGIN
      DELETE FROM task_text WHERE rowid = old.key;
      DELETE FROM task_text_queue WHERE task = old.key;
    END;
  INSERT INTO task_text_queue SELECT key FROM task WHERE running = 0;
`;

/** Maximum length of the text that the index contains of a task, in characters. */
const MAX_TEXT_LENGTH = 32_768;

/** Condition that a task matches the words of the parameter `$text`. Considers the newest 20,000 matches. */
export const MATCHES_TEXT_SQL = `task.key IN (
  SELECT rowid FROM task_text WHERE task_text MATCH $text ORDER BY rowid DESC LIMIT 20000
)`;

/** Creates the tables of the index, if they do not exist. Call within a transaction. */
export function createTaskTextIndex(db: SqlDatabase): void {
  const exists = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'task_text'").get() !== undefined;
  if (!exists) db.exec(CREATE_TEXT_INDEX_SQL);
}

/** Indexes at most `limit` queued tasks, and returns whether more tasks wait. Call within a transaction. */
export function indexQueuedTasks(db: SqlDatabase, limit: number, foldTask: (key: number) => Task): boolean {
  const queued = db.prepare("SELECT task FROM task_text_queue LIMIT ?").all(limit + 1);
  const deleteText = db.prepare("DELETE FROM task_text WHERE rowid = ?");
  const insertText = db.prepare("INSERT INTO task_text (rowid, text) VALUES (?, ?)");
  const deleteQueued = db.prepare("DELETE FROM task_text_queue WHERE task = ?");
  for (const { task } of queued.slice(0, limit)) {
    const key = task as number;
    deleteText.run(key);
    insertText.run(key, extractText(foldTask(key)));
    deleteQueued.run(key);
  }
  return queued.length > limit;
}

/** Returns the texts of the messages and artifacts of a task. */
function extractText({ history = [], status, artifacts = [] }: Task): string {
  const parts = [...history, ...(status.message ? [status.message] : []), ...artifacts].flatMap(
    (content) => content.parts,
  );
  const texts: string[] = [];
  let length = 0;
  for (const part of parts) {
    if (!("text" in part)) continue;
    texts.push(part.text.slice(0, MAX_TEXT_LENGTH - length));
    length += part.text.length;
    if (length >= MAX_TEXT_LENGTH) break;
  }
  return texts.join("\n").toWellFormed();
}

/**
 * Converts words to a query of SQLite's full-text search. A task must contain all words, and a word that begins with
 * the last word. Returns `undefined` if the text has no word. Operators of the query language have no effect.
 */
export function toFullTextQuery(text: string): string | undefined {
  const words = text.normalize("NFC").match(/[\p{L}\p{M}\p{N}]+/gu);
  if (!words) return undefined;
  return `${words
    .slice(0, 32)
    .map((word) => `"${word}"`)
    .join(" ")} *`;
}
