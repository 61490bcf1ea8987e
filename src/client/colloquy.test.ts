import { once } from "node:events";
import { createServer as createProxy, connect as dial, type AddressInfo, type Socket } from "node:net";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agent, inputRequired, status } from "../adapters/index.ts";
import type { Agent } from "../engine/index.ts";
import { A2AError, type StreamResponse, textOf } from "../protocol/index.ts";
import { createServer } from "../server/index.ts";
import { collect, connect } from "./index.ts";
import { all, describeRemote, type Served, taskOf, WAYS_OF_0_3, WAYS_OF_1_0 } from "./remote.contract.ts";

const obedient: Agent = agent(
  { name: "Obedient", description: "Does as it is told.", capabilities: { streaming: true } },
  async function* ({ text, task, signal }) {
    const isAnswer = (task.history ?? []).filter(({ role }) => role === "ROLE_USER").length > 1;
    if (text === "ask") yield inputRequired("Which colour?");
    else if (text === "wait") {
      yield status();
      await once(signal, "abort");
    } else if (text.startsWith("numbers ")) {
      for (let number = 1; number <= Number(text.slice(8)); number++) {
        yield `${number} `;
        // Lets the server write now and then, so that there is something to cut.
        if (number % 5 === 0) await new Promise(setImmediate);
      }
    } else if (isAnswer) yield `got ${text}`;
    else yield* ["one ", "two ", "three"];
  },
);

async function serve(): Promise<Served> {
  const server = createServer(obedient, { store: "memory" });
  const { url } = await server.listen({ grpc: true });
  return { url, close: () => server.close() };
}

describeRemote("our own server", [...WAYS_OF_1_0, ...WAYS_OF_0_3], serve);

/** A connection to a server that breaks, every time, once that many bytes of answers have come through. */
async function breaking(
  target: string,
): Promise<{ url: string; breakAfter(bytes: number[]): void; close(): void }> {
  const { hostname, port } = new URL(target);
  let left: number[] = [];
  const open = new Set<Socket>();
  const proxy = createProxy((client) => {
    const server = dial(Number(port), hostname);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      open.add(one);
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
    }
    client.pipe(server);
    server.on("data", (bytes) => {
      const [budget = Infinity, ...later] = left;
      client.write(bytes.subarray(0, budget));
      if (bytes.length < budget) left = left.length > 0 ? [budget - bytes.length, ...later] : [];
      else {
        left = later;
        client.end(() => client.resetAndDestroy());
      }
    });
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    breakAfter: (bytes) => (left = bytes),
    close: () => {
      proxy.close();
      for (const socket of open) socket.destroy();
    },
  };
}

describe.each(["JSONRPC", "HTTP+JSON"] as const)("over a network that breaks, over %s", (binding) => {
  it("a stream loses nothing, has nothing twice and runs once [E2, E3, E4, E10, F-11]", async () => {
    const served = await serve();
    const network = await breaking(served.url);
    let cuts = 0;
    const sleep = (): Promise<void> => {
      cuts += 1;
      return Promise.resolve();
    };
    const remote = await connect(network.url, { binding, reconnect: { tries: 20, sleep } });
    const breaks = fc.array(fc.integer({ min: 1, max: 4_000 }), { maxLength: 12 });
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(breaks, async (bytes) => {
        network.breakAfter(bytes);
        sent += 1;
        const asked = taskOf(await collect(remote.stream("ask", { contextId: "all" })));
        expect(asked.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
        const events = await all(remote.stream("numbers 100", { taskId: asked.id }));
        network.breakAfter([]);
        // A message that was cut before its first event is sent again, and finds its turn over when that was quick: the
        // stream then begins with the task that holds all of it.
        const streamed = events.flatMap((event) => {
          if ("artifactUpdate" in event) return event.artifactUpdate.artifact.parts;
          return "task" in event ? (event.task.artifacts ?? []).flatMap(({ parts }) => parts) : [];
        });
        const expected = Array.from({ length: 100 }, (_, index) => `${index + 1} `).join("");
        expect(textOf(streamed)).toBe(expected);
        expect(taskOf(await collect(replay(events))).artifacts).toMatchObject([
          { parts: [{ text: expected }] },
        ]);
        expect((await remote.task.list({ contextId: "all" })).totalSize).toBe(sent);
      }),
      { numRuns: 25 },
    );
    expect(cuts).toBeGreaterThan(25);
    network.close();
    await served.close();
  });
});

async function* replay(events: readonly StreamResponse[]): AsyncGenerator<StreamResponse> {
  yield* events;
}

it("what is wrong with a request comes back with its path [F-10, D-04]", async () => {
  const served = await serve();
  for (const binding of ["JSONRPC", "HTTP+JSON"] as const) {
    const remote = await connect(served.url, { binding });
    const failure = await remote.send([], { messageId: "" }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(A2AError);
    expect(failure).toMatchObject({
      reason: "INVALID_PARAMS",
      violations: [{ field: "message.messageId" }, { field: "message.parts" }],
    });
  }
  await served.close();
});
