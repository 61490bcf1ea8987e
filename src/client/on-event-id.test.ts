import { afterEach, expect, it } from "vitest";
import { agent } from "../agents/adapters/index.ts";
import type { StreamResponse } from "../protocol/index.ts";
import { createServer, type Server } from "../server/index.ts";
import { connect } from "./index.ts";

let server: Server | undefined;
afterEach(() => server?.close({ graceMs: 0 }));

it("reports the id of each event, after which a subscription continues", async () => {
  const counter = agent({ name: "counter", description: "Counts" }, async function* () {
    yield "1 ";
    yield "2 ";
    yield "3";
  });
  server = createServer(counter, { store: "memory", mergeChunks: false });
  const client = await connect((await server.listen()).url);
  const events: StreamResponse[] = [];
  const ids: string[] = [];
  for await (const event of client.stream("go", { onEventId: (id) => ids.push(id) })) {
    events.push(event);
    expect(ids).toHaveLength(events.length);
  }
  const [first] = events;
  const taskId = first && "task" in first ? first.task.id : "";
  for (const [index, after] of ids.slice(0, -1).entries()) {
    const rest: StreamResponse[] = [];
    const restIds: string[] = [];
    for await (const event of client.tasks.subscribe(taskId, { after, onEventId: (id) => restIds.push(id) }))
      rest.push(event);
    expect(rest).toEqual(events.slice(index + 1));
    expect(restIds).toEqual(ids.slice(index + 1));
  }
});
