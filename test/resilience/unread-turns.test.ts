import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { connect, type ConnectOptions } from "../../src/client/index.ts";
import { ScriptedAgent, workingTestEvent } from "../../src/engine/engine.fixture.ts";
import { systemClock } from "../../src/engine/index.ts";
import { createServer } from "../../src/server/index.ts";
import { MemoryStore, SqliteStore } from "../../src/stores/index.ts";
import { createTempFolder } from "../support/store-factories.ts";

/** Keeps the timers of 30 seconds, which only turns without readers have, so that the test lets the time pass. */
function keepGracePeriods(): (() => void)[] {
  const kept: (() => void)[] = [];
  const schedule = systemClock.schedule.bind(systemClock);
  const spy = vi.spyOn(systemClock, "schedule").mockImplementation((ms, callback) => {
    if (ms !== 30_000) return schedule(ms, callback);
    kept.push(callback);
    return () => {};
  });
  onTestFinished(() => spy.mockRestore());
  return kept;
}

const BINDINGS = ["JSONRPC", "HTTP+JSON", "GRPC", "in the process"] as const;
const STORES = {
  memory: () => Promise.resolve(new MemoryStore()),
  SQLite: async () => {
    const { folder, remove } = await createTempFolder();
    onTestFinished(remove);
    return new SqliteStore(join(folder, "tasks.db"));
  },
};

describe.each(Object.entries(STORES))("with the store %s, a client", (_name, createStore) => {
  it.each(BINDINGS)(
    "that disconnects from a blocking SendMessage over %s leaves its turn unread [E24]",
    async (binding) => {
      const graceEnds = keepGracePeriods();
      const agent = new ScriptedAgent({ whenUnread: "cancel" });
      const server = createServer(agent, { store: await createStore() });
      const { url } = await server.listen({ grpc: true });
      onTestFinished(() => server.close({ graceMs: 0 }));
      const options: ConnectOptions =
        binding === "in the process"
          ? { fetch: (input, init) => server.fetch(new Request(input, init)) }
          : { binding };
      const client = await connect(url, options);
      const disconnect = new AbortController();
      const answer = client.send("go", { signal: disconnect.signal }).catch(String);
      const { run } = (await agent.waitForRun(0)).emit(workingTestEvent);
      run.signal.addEventListener("abort", () => agent.runs[0]?.end());
      await expect.poll(() => client.tasks.get(run.taskId)).toMatchObject({ id: run.taskId });
      expect(graceEnds).toEqual([]);
      disconnect.abort();
      expect(await answer).toContain("abort");
      await expect.poll(() => graceEnds.length).toBe(1);
      graceEnds[0]?.();
      const readState = async (): Promise<string> => (await client.tasks.get(run.taskId)).status.state;
      await expect.poll(readState).toBe("TASK_STATE_CANCELED");
    },
  );
});
