import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { QueuedTurnData, WebhookRegistration } from "../../engine/index.ts";
import { generatePushSecretKey } from "../push-secret-cipher.ts";
import {
  aliceTestTaskScope,
  createTestLogAppend,
  createTestSubmittedTaskEvent,
} from "../task-event-logs.fixture.ts";
import { SqliteStore, type SqliteStoreOptions } from "./sqlite-store.ts";
import { expectFileMode } from "../../../test/support/is-windows.ts";

const root = mkdtempSync(join(tmpdir(), "colloquy-push-secrets-"));
afterAll(() => rmSync(root, { recursive: true }));

const TOKEN = "token-0f-al1ce";
const CREDENTIALS = "cr3dentials-of-alice";
const registration: WebhookRegistration = {
  version: "1.0",
  config: {
    id: "w",
    taskId: "t",
    url: "https://example.com/",
    token: TOKEN,
    authentication: { scheme: "Bearer", credentials: CREDENTIALS },
  },
};
const queuedTurn: QueuedTurnData = {
  position: 1,
  message: { messageId: "queued", role: "ROLE_USER", parts: [{ text: "hi" }] },
  request: {},
  service: {},
  webhook: registration.config,
};

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(root, "store-"));
  path = join(folder, "tasks.db");
});

async function openStore(options: SqliteStoreOptions = {}): Promise<SqliteStore> {
  const store = new SqliteStore(path, options);
  await store.open();
  onTestFinished(() => store.close());
  return store;
}

/** Commits a task with one webhook per way of registration. */
async function registerWebhooks(store: SqliteStore): Promise<void> {
  const append = createTestLogAppend("t", 0, [createTestSubmittedTaskEvent("t")], {
    webhooks: [registration],
    queueChange: { added: [queuedTurn] },
  });
  expect(await store.commit([append])).toEqual([undefined]);
  await store.pushStore.put(aliceTestTaskScope, "t", {
    ...registration,
    config: { ...registration.config, id: "x" },
  });
}

/** Returns the names of the files in the folder that contain a secret, like `strings FILE | grep SECRET`. */
function findFilesWithSecrets(): string[] {
  return readdirSync(folder).filter((name) => {
    const bytes = readFileSync(join(folder, name));
    return [TOKEN, CREDENTIALS].some((secret) => bytes.includes(secret));
  });
}

describe("a SQLite store", () => {
  it("never writes the secrets of webhooks to its files in plain text [SEC-42]", async () => {
    const store = await openStore();
    await registerWebhooks(store);
    const files = readdirSync(folder).toSorted();
    expect(files).toEqual(expect.arrayContaining(["tasks.db", "tasks.db-wal", "tasks.db.key"]));
    expect(readFileSync(`${path}-wal`).includes("https://example.com/")).toBe(true);
    expect(findFilesWithSecrets()).toEqual([]);
    await store.close();
    expect(readFileSync(path).includes("https://example.com/")).toBe(true);
    expect(findFilesWithSecrets()).toEqual([]);
  });

  it("reads the secrets again after a restart, also those of queued messages", async () => {
    const first = await openStore();
    await registerWebhooks(first);
    await first.close();
    const store = await openStore();
    expect((await store.pushStore.get(aliceTestTaskScope, "t", "w"))?.config).toEqual(registration.config);
    expect((await store.load(aliceTestTaskScope, "t"))?.queuedTurns).toEqual([queuedTurn]);
  });

  it("creates a key that only the current user can read, and keeps it [SEC-43]", async () => {
    await (await openStore()).close();
    const key = readFileSync(`${path}.key`, "utf8");
    expectFileMode(`${path}.key`, 0o600);
    await (await openStore()).close();
    expect(readFileSync(`${path}.key`, "utf8")).toBe(key);
    expect(readdirSync(folder)).not.toContain("tasks.db.key.incomplete");
  });

  it("starts without its key, and explains for each webhook that the key is missing", async () => {
    const first = await openStore();
    await registerWebhooks(first);
    await first.close();
    rmSync(`${path}.key`);
    const store = await openStore();
    const webhook = await store.pushStore.get(aliceTestTaskScope, "t", "w");
    expect(webhook?.config).toEqual({
      id: "w",
      taskId: "t",
      url: "https://example.com/",
      authentication: { scheme: "Bearer" },
    });
    expect(webhook?.secretsError).toMatch(/which tasks\.db\.key does not contain; restore the key/);
    // A new registration works with the new key.
    await store.pushStore.put(aliceTestTaskScope, "t", registration);
    expect((await store.pushStore.get(aliceTestTaskScope, "t", "w"))?.config).toEqual(registration.config);
  });

  it("uses the given keys instead of a file, and keys can be rotated", async () => {
    const [oldKey, newKey] = [generatePushSecretKey(), generatePushSecretKey()];
    const first = await openStore({ pushSecretKeys: [oldKey] });
    await registerWebhooks(first);
    await first.close();
    expect(readdirSync(folder)).not.toContain("tasks.db.key");
    const store = await openStore({ pushSecretKeys: async () => [newKey, oldKey] });
    expect((await store.pushStore.get(aliceTestTaskScope, "t", "w"))?.config).toEqual(registration.config);
  });

  it("refuses an invalid key file, and states the file", async () => {
    writeFileSync(`${path}.key`, "not a key\n");
    await expect(new SqliteStore(path).open()).rejects.toThrow(
      /Key 1 of tasks\.db\.key is not 32 bytes in base64/,
    );
  });
});
