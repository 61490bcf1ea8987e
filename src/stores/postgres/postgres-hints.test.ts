import { expect, it } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import type { NodeHint } from "../../cluster/index.ts";
import { PostgresHints } from "./postgres-hints.ts";
import { PostgresPool } from "./postgres-pool.ts";
import { DEFAULT_POSTGRES_OPTIONS } from "./postgres-store-options.ts";

const { url, reason } = await findTestDatabase();

it.skipIf(reason)(
  "a node that closes with waiting hints, and opens again, sends its later hints [E21]",
  async () => {
    const pool = await PostgresPool.create({ ...DEFAULT_POSTGRES_OPTIONS, url, size: 2 });
    const options = { ...DEFAULT_POSTGRES_OPTIONS, url, connection: pool, onOtherNode: () => {} };
    const [sender, receiver] = [new PostgresHints(options), new PostgresHints(options)];
    const received = new Set<string>();
    let wake = (): void => {};
    const waitUntil = async (isDone: () => boolean): Promise<void> => {
      while (!isDone()) await new Promise<void>((resolve) => (wake = resolve));
    };
    const notice = (hint: NodeHint): void => {
      if (hint.kind === "events") for (const id of hint.taskIds) received.add(id);
      wake();
    };
    for (const hints of [sender, receiver]) {
      hints.onHint(notice);
      hints.open();
    }
    const send = (...taskIds: string[]): void => sender.send({ kind: "events", taskIds });
    await waitUntil(() => sender.isReceiving && receiver.isReceiving);
    try {
      for (let round = 0; round < 10; round++) {
        send(`first ${round}`);
        await Promise.resolve();
        // Waits for the notification in progress, and then for the shortest time between two notifications.
        send(`second ${round}`);
        await waitUntil(() => received.has(`first ${round}`));
        await sender.close();
        sender.open();
        await waitUntil(() => sender.isReceiving);
        send(`third ${round}`);
        await waitUntil(() => received.has(`third ${round}`));
      }
      expect(received.size).toBeGreaterThanOrEqual(20);
    } finally {
      await Promise.all([sender.close(), receiver.close()]);
      await pool.close();
    }
  },
);
