import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { agent, connect, createServer, inputRequired } from "../../src/entries/colloquy.ts";
import { collectRecordedAgents, startReplay } from "../../src/studio/tap/index.ts";
import type { DecodedTrafficLine } from "../../src/observe/trace/index.ts";
import { readTrafficFile } from "../../src/observe/trace/recording/index.ts";

const counter = agent({ name: "counter", description: "Counts" }, async function* ({ text, history }) {
  if (text === "ask" && history.length === 1) yield inputRequired("How far?");
  yield "one ";
  yield "two";
});

/** Uses the agent, and returns what the client received without ids and times. */
async function useAgent(url: string, options: Parameters<typeof connect>[1] = {}): Promise<unknown> {
  const client = await connect(url, options);
  const events = [];
  for await (const event of client.stream("count")) events.push(event);
  const response = await client.send("ask");
  const error = await client.tasks.get("missing").catch((reason: unknown) => String(reason));
  return JSON.parse(
    JSON.stringify([events, response, error]).replaceAll(/"[\da-f]{8}-[\da-f-]{27}"/g, '"id"'),
  );
}

describe.each(["server", "client"] as const)("the record of a %s", (vantage) => {
  it.each(["1.0", "0.3"] as const)("is replayed to a client of A2A %s", async (version) => {
    const file = join(mkdtempSync(join(tmpdir(), "colloquy-replay-")), "traffic.jsonl");
    const record = { record: { file } };
    const server = createServer(counter, {
      store: "memory",
      ...(vantage === "server" ? record : {}),
    });
    const { url } = await server.listen({ port: 0 });
    const recorded = await useAgent(url, { version, ...(vantage === "client" ? record : {}) });
    await server.close();
    await vi.waitFor(() => expect(readFileSync(file, "utf8")).toContain("TASK_NOT_FOUND"), {
      timeout: 10_000,
    });
    const lines: DecodedTrafficLine[] = [];
    for await (const line of readTrafficFile(file)) lines.push(line);
    const [recordedAgent] = collectRecordedAgents(lines);
    if (!recordedAgent) throw new Error("The record contains no agent.");
    expect(recordedAgent.incompleteRequests).toBe(0);
    const misses: string[] = [];
    const replay = await startReplay(recordedAgent, { speed: "max", onMiss: (text) => misses.push(text) });
    expect(await useAgent(replay.url, { version })).toEqual(recorded);
    expect(misses).toEqual([]);
    await replay.close();
  });
});
