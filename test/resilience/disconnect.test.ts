import { EventEmitter, once } from "node:events";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { agent } from "../../src/agents/adapters/index.ts";
import type { Observer } from "../../src/engine/index.ts";
import { createServer } from "../../src/server/index.ts";
import { HTTP_BINDINGS, fetchTask, STREAM_REQUESTS, createUserMessage } from "../support/http-bindings.ts";
import { readSseStream } from "../support/raw-stream.ts";
import { STORE_FACTORIES } from "../support/store-factories.ts";

const WORDS = Array.from({ length: 200 }, (_, at) => `word${at} `);

describe.each(HTTP_BINDINGS)("a client that disconnects after the first event, over %s", (binding) => {
  it.each(STORE_FACTORIES)(
    "changes nothing: with $name the task completes with all output [E2, F-19]",
    async ({ openStore }) => {
      const happened = new EventEmitter();
      const observer: Observer = {
        onRun: ({ phase }) => {
          if (phase === "end") happened.emit("end");
        },
      };
      const talker = agent({ name: "talker", description: "Talks once it is told to" }, async function* () {
        yield "begin ";
        await once(happened, "client left");
        yield* WORDS;
      });
      const { store, remove } = await openStore();
      onTestFinished(remove);
      const server = createServer({ talker }, { store, observer });
      onTestFinished(() => server.close());
      const { agents } = await server.listen();
      const url = agents[0]?.url ?? "";
      const ended = once(happened, "end");

      const { send, event } = STREAM_REQUESTS[binding];
      let taskId = "";
      for await (const { data } of readSseStream(send(url, createUserMessage("m-1", "go")))) {
        const first = event(data);
        taskId = "task" in first ? first.task.id : "";
        break;
      }
      happened.emit("client left");
      await ended;

      // A run ends before the commit of its last events.
      const task = await vi.waitFor(
        async () => {
          const read = await fetchTask(url, taskId);
          expect(read.status.state).toBe("TASK_STATE_COMPLETED");
          return read;
        },
        { timeout: 30_000 },
      );
      expect(task.artifacts?.[0]?.parts).toEqual([{ text: `begin ${WORDS.join("")}` }]);
    },
  );
});
