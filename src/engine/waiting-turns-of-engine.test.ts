import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { createServer } from "../server/index.ts";
import { connect, type A2AClient } from "../client/index.ts";
import { agent } from "../agents/adapters/index.ts";
import { countWaitingTurns } from "./engine.ts";

it("counts queued turns, turns that wait for their context, and suspended turns", () => {
  const tasks = [
    { queuedTurnCount: 2, currentTurn: undefined },
    { queuedTurnCount: 0, currentTurn: { wakeAt: 5, hasEnded: false } },
    { queuedTurnCount: 1, currentTurn: { wakeAt: 5, hasEnded: true } },
  ];
  expect(countWaitingTurns(tasks, 4, 2)).toEqual({ task: 3, context: 4, time: 1, recovery: 2 });
});

it("an engine counts the turns that wait for the running turn of their task and of their context", async () => {
  const gate = Promise.withResolvers<void>();
  const slow = agent(
    { name: "slow", description: "Waits" },
    async function* () {
      await gate.promise;
      yield "done";
    },
    { concurrentTurns: "queue", whileWorking: "queue" },
  );
  const server = createServer(slow, { store: "memory", observer: false, metrics: { port: 0 } });
  const { url, metrics } = await server.listen();
  const client: A2AClient = await connect(url);
  const readWaiting = async (): Promise<string[]> => {
    const text = await (await fetch(`http://127.0.0.1:${metrics?.port}/metrics`)).text();
    return text.match(/^colloquy_turns_waiting\{.*$/gm) ?? [];
  };
  const configuration = { returnImmediately: true };
  const first = (await client.send("a", { configuration })) as { task: { id: string; contextId: string } };
  await client.send("b", { configuration, taskId: first.task.id });
  await client.send("c", { configuration, contextId: first.task.contextId });
  await expect
    .poll(readWaiting)
    .toEqual([
      'colloquy_turns_waiting{gen_ai_agent_name="slow",reason="task"} 1',
      'colloquy_turns_waiting{gen_ai_agent_name="slow",reason="context"} 1',
      'colloquy_turns_waiting{gen_ai_agent_name="slow",reason="time"} 0',
      'colloquy_turns_waiting{gen_ai_agent_name="slow",reason="recovery"} 0',
    ]);
  gate.resolve();
  await setImmediate();
  await expect.poll(async () => (await readWaiting()).every((line) => line.endsWith(" 0"))).toBe(true);
  await server.close({ graceMs: 0 });
});
