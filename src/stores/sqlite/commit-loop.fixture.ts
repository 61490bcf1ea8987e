/**
 * A separate process for the tests of locks and crashes. It opens the store at the given path and commits to
 * eight tasks at a time until it is killed. It prints `taskId seq` for every acknowledged append, or the
 * reason why the store cannot be opened.
 */
import { writeSync } from "node:fs";
import {
  createTestLogAppend,
  createTestSubmittedTaskEvent,
  createTestChunkEvent,
} from "../task-event-logs.fixture.ts";
import { SqliteStore } from "./sqlite-store.ts";

const [path = ""] = process.argv.slice(2);
const continuouslyCommittedTestStore = new SqliteStore(path);
try {
  await continuouslyCommittedTestStore.open();
} catch (error) {
  writeSync(1, `${String(error)}\n`);
  process.exit(1);
}
const testChunkText = "x".repeat(300);
for (let round = 0; ; round++) {
  const ids = Array.from({ length: 8 }, (_, n) => `${process.pid}-${Math.floor(round / 20)}-${n}`);
  const after = (round % 20) * 2;
  const batch = ids.map((id) =>
    createTestLogAppend(
      id,
      after,
      [
        after ? createTestChunkEvent(id, testChunkText) : createTestSubmittedTaskEvent(id),
        createTestChunkEvent(id, testChunkText),
      ],
      {
        messages: [{ messageId: `${id}-${after}`, seq: after + 1 }],
      },
    ),
  );
  const refusals = await continuouslyCommittedTestStore.commit(batch);
  // Write synchronously before the next commit, so that the pipe never lags behind the disk.
  for (const [n, id] of ids.entries()) if (!refusals[n]) writeSync(1, `${id} ${after + 2}\n`);
}
