/**
 * A process of its own for the tests of locks and crashes: opens the store at the path it is given and commits until it
 * is killed, several tasks at a time. Prints `taskId seq` for every append that was acknowledged, or why it cannot open.
 */
import { writeSync } from "node:fs";
import { createAppend, createTaskEvent, createChunkEvent } from "../logs.fixture.ts";
import { SqliteStore } from "./sqlite-store.ts";

const [path = ""] = process.argv.slice(2);
const store = new SqliteStore(path);
try {
  await store.open();
} catch (error) {
  writeSync(1, `${String(error)}\n`);
  process.exit(1);
}
const words = "x".repeat(300);
for (let round = 0; ; round++) {
  const ids = Array.from({ length: 8 }, (_, n) => `${process.pid}-${Math.floor(round / 20)}-${n}`);
  const after = (round % 20) * 2;
  const batch = ids.map((id) =>
    createAppend(
      id,
      after,
      [after ? createChunkEvent(id, words) : createTaskEvent(id), createChunkEvent(id, words)],
      {
        messages: [{ messageId: `${id}-${after}`, seq: after + 1 }],
      },
    ),
  );
  const refusals = await store.commit(batch);
  // Only when the write has happened may the next commit begin: the pipe must not know less than the disk.
  for (const [n, id] of ids.entries()) if (!refusals[n]) writeSync(1, `${id} ${after + 2}\n`);
}
