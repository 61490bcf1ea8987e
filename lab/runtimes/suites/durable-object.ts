/**
 * The suites of a Durable Object with the compatibility with Node.js: the contract of task stores, on the SQLite database
 * of the object, and the contract of servers.
 */
import { beforeEach, describe } from "vitest";
import {
  createDurableObjectServer,
  type DurableObjectContext,
} from "../../../src/server/durable-object/index.ts";
import type { Server } from "../../../src/server/index.ts";
import { defineServerContract } from "../../../src/server/server.contract.ts";
import { DurableObjectStore, type DurableObjectStorage } from "../../../src/stores/durable-object/index.ts";
import { defineTaskStoreContract } from "../../../src/stores/task-store.contract.ts";
import { runCollectedTests, type TestResult } from "../portable-vitest.ts";

/** Drops all tables, because the tests of one object share its database. */
function clearDatabase({ sql }: DurableObjectStorage): void {
  const tables = sql.exec(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_cf_%'",
  );
  // With the table of a text index, SQLite drops the tables that contain its data.
  for (const { name } of tables.toArray()) sql.exec(`DROP TABLE IF EXISTS ${name as string}`);
}

/** The object that runs the tests. Cloudflare can replace an idle object by another one with the same storage. */
let currentContext: DurableObjectContext;
const storeOptions = { pushSecretKeys: [Buffer.alloc(32, 1).toString("base64")] };
let isDefined = false;

function defineTestsOnce(): void {
  if (isDefined) return;
  isDefined = true;
  defineTaskStoreContract("DurableObjectStore", () => {
    clearDatabase(currentContext.storage);
    return new DurableObjectStore(currentContext.storage, storeOptions);
  });
  describe("in a Durable Object", () => {
    beforeEach(() => clearDatabase(currentContext.storage));
    defineServerContract("fetch", (agents, { store: _store, ...options } = {}) => {
      const server = createDurableObjectServer(currentContext, agents, { ...options, store: storeOptions });
      const url = "http://agents.test";
      return Promise.resolve({
        // The contract calls no function that only servers with sockets have.
        server: server as unknown as Server,
        endpoint: {
          url,
          send: (path, init) => server.fetch(new Request(url + path, init)),
          close: () => server.close({ graceMs: 50 }),
        },
      });
    });
  });
}

/** Runs the tests whose names begin with the search parameter `prefix`, in an object. */
export class SuiteHost {
  readonly #context: DurableObjectContext;

  constructor(context: DurableObjectContext) {
    this.#context = context;
  }

  async fetch(request: Request): Promise<Response> {
    currentContext = this.#context;
    defineTestsOnce();
    const prefix = new URL(request.url).searchParams.get("prefix") ?? "";
    const results: TestResult[] = await runCollectedTests((name) => name.startsWith(prefix));
    return Response.json(results);
  }

  /** The tests do not use the alarm that the commits of the store set. */
  alarm(): void {}
}

interface SuiteEnvironment {
  readonly SUITES: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

const handler = {
  fetch: (request: Request, { SUITES }: SuiteEnvironment): Promise<Response> =>
    SUITES.getByName("suites").fetch(request),
};
export default handler;
