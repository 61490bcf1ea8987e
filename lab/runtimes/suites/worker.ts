/**
 * The suites of a worker, which has no modules of Node.js: the contract of the memory store, and the contract of servers
 * through `fetch`.
 */
import { defineServerContract } from "../../../src/server/server.contract.ts";
import { createServer } from "../../../src/server/portable/index.ts";
import { MemoryStore } from "../../../src/stores/portable/index.ts";
import { defineTaskStoreContract } from "../../../src/stores/task-store.contract.ts";
import { runCollectedTests, type TestResult } from "../portable-vitest.ts";

/** Tests of push configurations, which servers in workers do not support. */
const NEEDS_PUSH_NOTIFICATIONS =
  /has every required field and the capabilities|returns its own error codes|stores push configurations/;

// Workers create no random values outside of a request.
let isDefined = false;
function defineTestsOnce(): void {
  if (isDefined) return;
  isDefined = true;
  defineTaskStoreContract("MemoryStore", () => new MemoryStore());
  defineServerContract("fetch", (agents, options) => {
    const server = createServer(agents, options);
    const url = "http://agents.test";
    return Promise.resolve({
      server,
      endpoint: {
        url,
        send: (path, init) => server.fetch(new Request(url + path, init)),
        close: () => server.close({ graceMs: 50 }),
      },
    });
  });
}

const handler = {
  async fetch(request: Request): Promise<Response> {
    defineTestsOnce();
    const prefix = new URL(request.url).searchParams.get("prefix") ?? "";
    const results: TestResult[] = await runCollectedTests(
      (name) => name.startsWith(prefix) && !NEEDS_PUSH_NOTIFICATIONS.test(name),
    );
    return Response.json(results);
  },
};
export default handler;
