import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import {
  createTestChunkEvent,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
} from "../task-event-logs.fixture.ts";
import { runTestSql } from "./postgres-server.fixture.ts";
import { PostgresStore } from "./postgres-store.ts";

const { url, reason } = await findTestDatabase();

describe.skipIf(reason)("the text index of several nodes", () => {
  let nodes: PostgresStore[] = [];

  async function openNode({ indexesText }: { indexesText: boolean }): Promise<PostgresStore> {
    const node = new PostgresStore(url, { poolSize: 3 });
    await node.open();
    nodes.push(node);
    if (indexesText) await node.overview.textIndex?.start();
    return node;
  }

  async function storeTask(node: PostgresStore, id: string, content: string): Promise<void> {
    const log = [createTestSubmittedTaskEvent(id), createTestChunkEvent(id, content)];
    expect(await node.commit([createTestLogAppend(id, 0, log)])).toEqual([undefined]);
  }

  const expectFound = (node: PostgresStore, text: string, ids: readonly string[]): Promise<void> =>
    expect
      .poll(async () => (await node.overview.list({ text, limit: 9 })).tasks.map(({ taskId }) => taskId))
      .toEqual(ids);

  beforeEach(async () => {
    nodes = [];
    const node = await openNode({ indexesText: false });
    await runTestSql(url, "TRUNCATE colloquy.task CASCADE");
    await node.turns.renew();
  });

  afterEach(() => Promise.all(nodes.map((node) => node.close())));

  it("finds the tasks of every node", async () => {
    const [first, second] = [await openNode({ indexesText: true }), await openNode({ indexesText: true })];
    await storeTask(first, "a", "shared one");
    await storeTask(second, "b", "shared two");
    await expectFound(first, "shared", ["b", "a"]);
    await expectFound(second, "shared", ["b", "a"]);
  });

  it("gets the tasks of a node without the index when another node starts", async () => {
    const [plain] = nodes;
    for (let at = 0; at < 3; at++) await storeTask(plain as PostgresStore, `${at}`, "plain");
    const indexing = await openNode({ indexesText: true });
    await expectFound(indexing, "plain", ["2", "1", "0"]);
  });

  it("gets the tasks that a dead node has queued, and leaves those of a living node to it", async () => {
    const indexing = await openNode({ indexesText: true });
    // The node has compared all tasks with the index before it indexes the second batch.
    await storeTask(indexing, "first", "first");
    await expectFound(indexing, "first", ["first"]);
    await storeTask(indexing, "second", "second");
    await expectFound(indexing, "second", ["second"]);
    const [plain] = nodes;
    await storeTask(plain as PostgresStore, "dead", "late");
    await storeTask(plain as PostgresStore, "living", "late");
    await runTestSql(
      url,
      `INSERT INTO colloquy.node (id, renewal, lease_ms) VALUES ('00000000-0000-4000-8000-000000000001', 1, 60000);
      DELETE FROM colloquy.task_text_queue;
      DELETE FROM colloquy.task_text;
      INSERT INTO colloquy.task_text_queue (node, task) SELECT '00000000-0000-4000-8000-000000000001', key
        FROM colloquy.task WHERE task_id = 'living';
      INSERT INTO colloquy.task_text_queue (node, task) SELECT '00000000-0000-4000-8000-000000000002', key
        FROM colloquy.task WHERE task_id = 'dead';`,
    );
    await storeTask(indexing, "last", "last");
    await expectFound(indexing, "last", ["last"]);
    await expectFound(indexing, "late", ["dead"]);
  });
});
