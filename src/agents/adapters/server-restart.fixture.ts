import { expect, onTestFinished } from "vitest";
import { createTempFolder } from "../../../test/support/store-factories.ts";
import { connect } from "../../client/index.ts";
import type { Agent } from "../../engine/index.ts";
import type { Task } from "../../protocol/index.ts";
import { createServer } from "../../server/index.ts";
import { requireTask } from "./adapter.contract.ts";

/** Creates a server that closes at the end of the test. Closing it has the same effect as kill -9. */
async function serve(
  served: Agent,
  store: `sqlite:${string}`,
): Promise<{ url: string; kill: () => Promise<void> }> {
  const server = createServer(served, { store, observer: false });
  const kill = (): Promise<void> => server.close({ graceMs: 0 });
  onTestFinished(kill);
  return { url: (await server.listen()).url, kill };
}

/** Serves the agent until `interrupted` resolves, kills the server, and resolves with the task of a second server. */
export async function runThroughRestart(
  createAgent: (attempt: number) => Agent,
  interrupted: Promise<void>,
): Promise<Task> {
  const { folder, remove } = await createTempFolder();
  onTestFinished(remove);
  const store = `sqlite:${folder}/tasks.db` as const;
  const first = await serve(createAgent(1), store);
  const client = await connect(first.url);
  const { id } = await requireTask(client.send("pay 5", { configuration: { returnImmediately: true } }));
  await interrupted;
  await first.kill();
  const second = await serve(createAgent(2), store);
  const restarted = await connect(second.url);
  const read = (): Promise<Task> => restarted.tasks.get(id);
  await expect.poll(async () => (await read()).status.state).toBe("TASK_STATE_COMPLETED");
  return await read();
}
