import { once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import * as fc from "fast-check";
import { expect, it, onTestFinished, vi } from "vitest";
import { Quota } from "../base/data-structures/index.ts";
import type { Agent, AgentEvent, Run } from "../engine/index.ts";
import { getText } from "../protocol/index.ts";
import {
  encodeRawGrpcMessage,
  encodeRawGrpcPrefix,
  RawGrpcClient,
} from "./bindings/raw-grpc-client.fixture.ts";
import { createServer, type Server } from "./index.ts";
import { formatRawPostHead, openRawTestSocket } from "./raw-socket.fixture.ts";
import { countRuns } from "../../test/support/count-runs.ts";

const LARGE_TEXT_LENGTH = 900_000;
const callerHeaders = [{}, { authorization: "Bearer of-ada" }] as const;

/** Ends with an error, with a large artifact, or when `finish` resolves. */
class EndsLikeItsMessageAgent implements Agent {
  finish = Promise.withResolvers<void>();

  describe(): { name: string; description: string } {
    return { name: "books", description: "Ends in the way that the message names." };
  }

  async *execute({ message, signal }: Run): AsyncGenerator<AgentEvent> {
    const text = getText(message.parts);
    yield { status: { state: "TASK_STATE_WORKING" } };
    if (text === "fail") throw new Error("The agent fails.");
    if (text === "large")
      yield { artifact: { artifactId: "a", parts: [{ text: "x".repeat(LARGE_TEXT_LENGTH) }] } };
    if (text === "wait") await Promise.race([this.finish.promise, once(signal, "abort")]);
  }
}

/** One request, with the number of turns of the event loop after which the client ends it. */
const attackArbitrary = fc.record({
  kind: fc.constantFrom(
    "body",
    "cutBody",
    "chunked",
    "expect",
    "pipelined",
    "head",
    "fetch",
    "grpc",
    "cutGrpc",
  ),
  method: fc.constantFrom("GetTask", "SendMessage", "SendStreamingMessage", "SubscribeToTask", "Unknown"),
  text: fc.constantFrom("large", "wait", "fail", "x".repeat(300_000)),
  isAuthenticated: fc.boolean(),
  reads: fc.boolean(),
  turns: fc.integer({ min: 0, max: 40 }),
});
type Attack = typeof attackArbitrary extends fc.Arbitrary<infer T> ? T : never;

async function waitTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await nextTurn();
}

class BooksTest {
  readonly agent = new EndsLikeItsMessageAgent();
  readonly server: Server = createServer(this.agent, {
    store: "memory",
    observer: false,
    heartbeatMs: 20,
    authenticate: ({ header }) => ({
      tenant: "",
      principal: header("authorization") === undefined ? "" : "ada",
    }),
    limits: { bufferedBytes: 4_000_000, streams: 12, runs: 16, connections: 60, writeStallMs: 200 },
  });
  port = 0;
  grpcPort = 0;
  #largeTaskId = "";

  async open(): Promise<void> {
    const address = await this.server.listen({ grpc: { calls: 24, connections: 20 } });
    this.port = address.port;
    this.grpcPort = address.grpc?.port ?? 0;
    const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: "large" }] };
    const response = await this.server.fetch(
      new Request(address.url, {
        method: "POST",
        headers: { "content-type": "application/json", "a2a-version": "1.0" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }),
      }),
      { remoteAddress: "192.0.2.1" },
    );
    const reply = (await response.json()) as { result: { task: { id: string } } };
    this.#largeTaskId = reply.result.task.id;
  }

  async attack(attack: Attack): Promise<void> {
    if (attack.kind === "fetch") return await this.#attackFetch(attack);
    if (attack.kind === "grpc" || attack.kind === "cutGrpc") return await this.#attackGrpc(attack);
    const { socket } = await openRawTestSocket(this.port, { isPaused: !attack.reads });
    if (!attack.reads) socket.pause();
    socket.write(this.#formatRequests(attack));
    await waitTurns(attack.turns);
    socket.destroy();
  }

  #buildParams({ method, text }: Attack): object {
    if (method === "GetTask" || method === "SubscribeToTask") return { id: this.#largeTaskId };
    return { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] } };
  }

  #formatBody(attack: Attack): string {
    return JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: attack.method,
      params: this.#buildParams(attack),
    });
  }

  #formatRequests(attack: Attack): string {
    const body = this.#formatBody(attack);
    const headers = { "a2a-version": "1.0", ...callerHeaders[attack.isAuthenticated ? 1 : 0] };
    const whole = (text: string): string =>
      formatRawPostHead("/", { ...headers, "content-length": text.length }) + text;
    const formatters: Partial<Record<Attack["kind"], () => string>> = {
      cutBody: () => formatRawPostHead("/", { ...headers, "content-length": 900_000 }) + "x".repeat(200_000),
      chunked: () =>
        `${formatRawPostHead("/", { ...headers, "transfer-encoding": "chunked" })}${body.length.toString(16)}\r\n${body}`,
      expect: () =>
        formatRawPostHead("/", { ...headers, "content-length": body.length, expect: "100-continue" }),
      head: () =>
        `HEAD /tasks/${this.#largeTaskId}${attack.method === "GetTask" ? "" : ":subscribe"} HTTP/1.0\r\nhost: localhost\r\n\r\n`,
      pipelined: () =>
        whole(body) +
        whole(this.#formatBody({ ...attack, method: "GetTask" })) +
        whole(this.#formatBody(attack)),
    };
    return formatters[attack.kind]?.() ?? whole(body);
  }

  async #attackFetch(attack: Attack): Promise<void> {
    const headers = {
      "content-type": "application/json",
      "a2a-version": "1.0",
      ...callerHeaders[attack.isAuthenticated ? 1 : 0],
    };
    const request = new Request(`http://localhost:${this.port}/`, {
      method: "POST",
      headers,
      body: this.#formatBody(attack),
    });
    const pending = this.server.fetch(request, { remoteAddress: "192.0.2.7" });
    const readAndCancel = async (response: Response): Promise<void> => {
      const reader = response.body?.getReader();
      if (attack.reads) await reader?.read();
      await waitTurns(attack.turns);
      await reader?.cancel();
    };
    // The server ends a response that is not read in time.
    void pending.then(readAndCancel).catch(() => {});
    await waitTurns(attack.turns);
  }

  async #attackGrpc(attack: Attack): Promise<void> {
    const client = new RawGrpcClient(this.grpcPort, { initialWindowSize: attack.reads ? 65_535 : 1 });
    const operation = attack.method === "Unknown" ? "ListTasks" : attack.method;
    const stream = client.start(operation, callerHeaders[attack.isAuthenticated ? 1 : 0]);
    if (attack.reads) stream.resume();
    if (attack.kind === "grpc") stream.end(encodeRawGrpcMessage(operation, this.#buildParams(attack)));
    else
      stream.write(
        Buffer.concat([encodeRawGrpcPrefix(attack.turns > 20 ? 500_000 : 3_000_000), Buffer.alloc(60_000)]),
      );
    await waitTurns(attack.turns);
    if (attack.reads) stream.close();
    await waitTurns(attack.turns);
    client.close();
    client.socket.destroy();
  }
}

it("all shares are free again after requests of all kinds have ended in any way", async () => {
  const reserve = vi.spyOn(Quota.prototype, "reserveUnchecked");
  onTestFinished(() => reserve.mockRestore());
  await fc.assert(
    fc.asyncProperty(fc.array(attackArbitrary, { minLength: 1, maxLength: 30 }), async (attacks) => {
      reserve.mockClear();
      const test = new BooksTest();
      await test.open();
      try {
        await Promise.all(attacks.map((attack) => test.attack(attack)));
        test.agent.finish.resolve();
        await vi.waitFor(
          () => {
            const ledgers = new Set(reserve.mock.contexts as Quota[]);
            expect([...ledgers].map(({ reserved }) => reserved)).toEqual([...ledgers].map(() => 0));
          },
          { timeout: 30_000, interval: 5 },
        );
      } finally {
        await test.server.close({ graceMs: 0 });
      }
    }),
    { seed: 15, numRuns: countRuns(8, 60), interruptAfterTimeLimit: 60_000 },
  );
});
