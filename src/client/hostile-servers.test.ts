import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { A2AError } from "../protocol/index.ts";
import { collectStreamEventsForTest } from "./a2a-client.contract.ts";
import { collect, connect, type ConnectOptions } from "./index.ts";
import {
  buildTestAgentCard,
  connectToRequestRecordingTestServer,
  sendTestJsonResponse,
  sendTestSseEvents,
  startRequestRecordingTestServer,
} from "./request-recording-test-server.fixture.ts";

// The servers of these tests never end a response, or send more than any client should read.

const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } };

/** Starts a TCP server that answers each request with bytes of the test's choice. */
async function startRawServer(answer: (socket: Socket, path: string) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.on("data", (bytes) => answer(socket, /^\w+ (\S+)/.exec(bytes.toString("latin1"))?.[1] ?? ""));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Writes a chunk again and again until the client closes the connection. Returns the written bytes. */
function writeEndlessly(socket: Socket, chunk: string): () => number {
  const extra = (): void => void (socket.writable && socket.write(chunk, () => setImmediate(extra)));
  extra();
  return () => socket.bytesWritten;
}

function toHttpResponse(json: unknown): string {
  const body = JSON.stringify(json);
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Starts a raw server that serves a valid card, and answers all other requests with `answer`. */
async function connectToRawAgent(
  answer: (socket: Socket) => void,
  options: ConnectOptions = {},
): ReturnType<typeof connect> {
  const url = await startRawServer((socket, path) => {
    if (path.includes("/.well-known/")) socket.write(toHttpResponse(buildTestAgentCard(url)));
    else answer(socket);
  });
  return connect(url, { retry: { maxRetries: 0 }, reconnect: { maxRetries: 0 }, ...options });
}

async function catchError(work: Promise<unknown>): Promise<A2AError> {
  const failure: unknown = await work.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(A2AError);
  return failure as A2AError;
}

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
const ENDLESS_RESPONSES: readonly (readonly [string, (socket: Socket) => void])[] = [
  ["sends nothing", () => {}],
  ["drips its headers", (socket) => void writeEndlessly(socket, "H")],
  ["drips its body", (socket) => socket.write(`${HEAD}content-length: 1000\r\n\r\n[`)],
  ["floods interim responses", (socket) => writeEndlessly(socket, "HTTP/1.1 103 Early Hints\r\n\r\n")],
  ["floods headers", (socket) => writeEndlessly(socket, `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(1_000)}`)],
];

describe("a server that", () => {
  it.each(ENDLESS_RESPONSES)("%s cannot hold connect beyond its deadline", async (_, answer) => {
    const url = await startRawServer(answer);
    expect((await catchError(connect(url, { timeouts: { connectMs: 300 } }))).reason).toBe("UNAVAILABLE");
  });

  it.each(ENDLESS_RESPONSES)("%s cannot hold a call beyond its deadline", async (_, answer) => {
    const remote = await connectToRawAgent(answer, { timeouts: { callMs: 300, sendMs: 300 } });
    expect((await catchError(remote.tasks.get("t"))).reason).toBe("UNAVAILABLE");
    expect((await catchError(remote.send("hi"))).reason).toBe("UNAVAILABLE");
  });

  it("answers after the deadline is called only once, although reads are retried", async () => {
    const { remote, seen } = await connectToRequestRecordingTestServer(() => {}, {
      timeouts: { callMs: 200 },
    });
    expect((await catchError(remote.tasks.get("t"))).message).toContain("Raise timeouts.callMs");
    expect(seen()).toHaveLength(1);
  });

  it("sends an endless card is read up to 1 MiB [SEC-34]", async () => {
    let countBytes = (): number => 0;
    const url = await startRawServer((socket) => {
      socket.write(`${HEAD}\r\n`);
      countBytes = writeEndlessly(socket, " ".repeat(60_000));
    });
    expect((await catchError(connect(`${url}/card.json`))).message).toContain("larger than 1048576 bytes");
    expect(countBytes()).toBeLessThan(10_000_000);
  });

  it("sends an endless error is read up to 64 KiB", async () => {
    let countBytes = (): number => 0;
    const remote = await connectToRawAgent(
      (socket) => {
        socket.write("HTTP/1.1 503 Unavailable\r\ncontent-type: application/json\r\n\r\n");
        countBytes = writeEndlessly(socket, " ".repeat(60_000));
      },
      { binding: "HTTP+JSON" },
    );
    expect((await catchError(remote.tasks.get("t"))).reason).toBe("UNAVAILABLE");
    expect(countBytes()).toBeLessThan(10_000_000);
  });

  it("redirects to itself gets one request for each URL", async () => {
    const { url, seen } = await startRequestRecordingTestServer((response, request) =>
      response.writeHead(302, { location: request.url }).end(),
    );
    await catchError(connect(`${url}/card.json`));
    expect(seen).toHaveLength(1);
  });

  it("is silent during a stream is asked again, and a task that it still serves is awaited", async () => {
    const delays: number[] = [];
    const { remote, seen } = await connectToRequestRecordingTestServer(
      (response, { body }) => {
        const isLast = seen().length === 5;
        const state = isLast ? "TASK_STATE_COMPLETED" : "TASK_STATE_WORKING";
        const result = { task: { ...task, status: { state } } };
        sendTestSseEvents(response, [[0, { jsonrpc: "2.0", id: body.id, result }]], isLast ? "end" : "open");
      },
      {
        timeouts: { streamIdleMs: 500 },
        reconnect: { maxRetries: 1, sleep: (ms) => Promise.resolve(void delays.push(ms)) },
      },
    );
    const events = await collectStreamEventsForTest(remote.stream("hi"));
    expect(events).toHaveLength(5);
    expect(delays).toHaveLength(4);
  });

  it("sends an event id that no header can contain is asked for the current task", async () => {
    const { remote, seen } = await connectToRequestRecordingTestServer(
      (response, { body }) => {
        const isFirst = seen().length === 1;
        const state = isFirst ? "TASK_STATE_WORKING" : "TASK_STATE_COMPLETED";
        const frame = { jsonrpc: "2.0", id: body.id, result: { task: { ...task, status: { state } } } };
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(`id: \u2713\ndata: ${JSON.stringify(frame)}\n\n`);
      },
      { reconnect: { sleep: () => Promise.resolve() } },
    );
    expect(await collectStreamEventsForTest(remote.stream("hi"))).toHaveLength(2);
    expect(seen().map(({ headers }) => headers["last-event-id"])).toEqual([undefined, undefined]);
  });

  it("never opens a stream cannot hold the client [SEC-35]", async () => {
    const { remote } = await connectToRequestRecordingTestServer(() => {}, {
      timeouts: { streamIdleMs: 100 },
      reconnect: { maxRetries: 1, sleep: () => Promise.resolve() },
    });
    const failure = await catchError(collectStreamEventsForTest(remote.stream("hi")));
    expect(failure.message).toContain("sent nothing within 0.1 s");
  });

  it("requests an absurd delay delays a stream by five minutes", async () => {
    const delays: number[] = [];
    const { remote } = await connectToRequestRecordingTestServer(
      (response) => response.writeHead(503, { "retry-after": "999999999" }).end(),
      { reconnect: { maxRetries: 1, sleep: (ms) => Promise.resolve(void delays.push(ms)) } },
    );
    await catchError(collectStreamEventsForTest(remote.stream("hi")));
    expect(delays).toEqual([300_000]);
  });

  it.each(["JSONRPC", "HTTP+JSON"] as const)(
    "streams an endless answer over %s cannot fill the memory of collect and ask",
    async (binding) => {
      const artifactUpdate = {
        taskId: "t",
        contextId: "c",
        artifact: { artifactId: "a", parts: [{ text: "x".repeat(60_000) }] },
        append: true,
      };
      let written = 0;
      const { remote } = await connectToRequestRecordingTestServer(
        (response, { body }) => {
          response.writeHead(200, { "content-type": "text/event-stream" });
          const send = (result: object): void => {
            const json = binding === "JSONRPC" ? { jsonrpc: "2.0", id: body.id, result } : result;
            written += 60_000;
            if (response.writable)
              response.write(`data: ${JSON.stringify(json)}\n\n`, () =>
                setImmediate(send, { artifactUpdate }),
              );
          };
          send({ task });
        },
        { binding, maxTaskBytes: 1_000_000, reconnect: { maxRetries: 0 } },
      );
      for (const work of [collect(remote.stream("hi")), remote.ask("hi")]) {
        const failure = await catchError(work);
        expect(failure.reason).toBe("INVALID_AGENT_RESPONSE");
        expect(failure.message).toContain("Raise maxTaskBytes");
      }
      expect(written).toBeLessThan(20_000_000);
    },
  );

  it("sends a million comments or empty events is read without keeping them", async () => {
    for (const text of [": x\n\n".repeat(1_000_000), "data:\n\n".repeat(1_000_000)]) {
      const { remote } = await connectToRequestRecordingTestServer(
        (response) => response.writeHead(200, { "content-type": "text/event-stream" }).end(text),
        { reconnect: { maxRetries: 0 } },
      );
      const failure = await catchError(collectStreamEventsForTest(remote.stream("hi")));
      expect(failure.reason).toMatch(/^(UNAVAILABLE|INVALID_AGENT_RESPONSE)$/);
    }
  });
});

describe("a hostile card", () => {
  async function connectToCard(card: object): Promise<A2AError> {
    const { url } = await startRequestRecordingTestServer((response) => sendTestJsonResponse(response, card));
    return await catchError(connect(`${url}/card.json`, { auth: { bearer: "s" } }));
  }

  it("has URLs of at most 2,048 characters, so that slashes cannot freeze the client", async () => {
    const url = `https://a.test${"/".repeat(200_000)}x`;
    expect((await connectToCard(buildTestAgentCard(url))).message).toContain("the maximum is 2048");
  });

  it("has at most 100 interfaces", async () => {
    const supportedInterfaces = Array.from({ length: 5_000 }, (_, index) => ({
      url: `https://a.test/${index}`,
      protocolBinding: "JSONRPC",
      protocolVersion: "1.0",
    }));
    const failure = await connectToCard(buildTestAgentCard("", { supportedInterfaces }));
    expect(failure.message).toContain("5000 interfaces; the maximum is 100");
  });
});

const httpLine = fc.oneof(
  fc.constantFrom(
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 103 Early Hints\r\n\r\n",
    "HTTP/1.1 999 ?\r\n",
    "content-type: text/event-stream\r\n",
    "content-type: application/json\r\n",
    "content-length: 5\r\n",
    "transfer-encoding: chunked\r\n",
    "content-encoding: gzip\r\n",
    "retry-after: 99999999999\r\n",
    "location: /\r\n",
    "\r\n",
    "5\r\n",
    '{"jsonrpc":"2.0","result":',
    "data: ",
    "data: {}\n\n",
    `id: -1\ndata: ${JSON.stringify({ jsonrpc: "2.0", result: { task } })}\n\n`,
    "\u0000",
  ),
  fc.string(),
);

it("whatever bytes a server sends, each call of the client ends with a result or an A2AError", async () => {
  let script: readonly string[] = [];
  let isClosed = false;
  const remote = await connectToRawAgent(
    (socket) => {
      socket.write(script.join(""));
      if (isClosed) socket.end();
    },
    { timeouts: { callMs: 100, sendMs: 100, streamIdleMs: 100 } },
  );
  const property = fc.asyncProperty(
    fc.array(httpLine, { maxLength: 12 }),
    fc.boolean(),
    async (lines, isClosing) => {
      script = ["HTTP/1.1 200 OK\r\n", ...lines];
      isClosed = isClosing;
      const calls = [
        remote.tasks.get("t"),
        remote.send("hi"),
        collectStreamEventsForTest(remote.stream("hi")),
      ];
      const outcomes = await Promise.allSettled(calls);
      return outcomes.every(
        (outcome) => outcome.status === "fulfilled" || outcome.reason instanceof A2AError,
      );
    },
  );
  const checked = fc.assert(property, { numRuns: 100, endOnFailure: true });
  await expect(checked).resolves.toBeUndefined();
});
