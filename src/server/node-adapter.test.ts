import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import type { HttpReply, ResponseSink } from "./http-exchange.ts";
import { NodeRequest, sendReply } from "./node-adapter.ts";
import { createResultReply, MAX_WRITE_LENGTH } from "./result-reply.ts";

/** Serves `body` with `sendReply`, and returns the URL. */
function serveBody(body: NonNullable<HttpReply["body"]>, onRequest?: RequestListener): Promise<string> {
  return serveReply({ status: 200, headers: {}, body }, onRequest);
}

/** Serves the JSON of a result, and returns the URL. */
async function serveResult(result: string, onRequest?: RequestListener): Promise<string> {
  return await serveReply(await createResultReply(undefined, {}, { result }), onRequest);
}

async function serveReply(reply: HttpReply, onRequest: RequestListener = () => {}): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    onRequest(incoming, outgoing);
    sendReply(reply, new NodeRequest(incoming), outgoing);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it("a request without TLS has the scheme http on Bun, whose sockets always have the member `encrypted`", async () => {
  let origin = "";
  const url = await serveBody("", (incoming) => {
    Object.defineProperty(incoming.socket, "encrypted", { value: false });
    ({ origin } = new NodeRequest(incoming));
  });
  await fetch(url);
  expect(origin).toBe(url);
});

describe("a long response", () => {
  // An odd number of UTF-16 units before the emoji puts the end of each slice between the halves of an emoji.
  it.each([
    ["ASCII text", "a".repeat(3_500_000)],
    ["characters of four bytes", `x${"😀".repeat(1_600_000)}`],
    ["characters of four bytes after an even number of units", `xy${"😀".repeat(1_600_000)}`],
  ])("arrives unchanged, with its length: %s", async (_, text) => {
    const response = await fetch(await serveResult(text));
    expect(Number(response.headers.get("content-length"))).toBe(Buffer.byteLength(text) + 2);
    expect((await response.json()) === text).toBe(true);
  });

  it("has no body for HEAD", async () => {
    const response = await fetch(await serveBody("a".repeat(2_000_000)), { method: "HEAD" });
    expect(response.headers.get("content-length")).toBe("2000000");
    expect(await response.text()).toBe("");
  });

  it("ends when the client disconnects", async () => {
    const { promise: wasSentWhole, resolve } = Promise.withResolvers<boolean>();
    const url = await serveResult("a".repeat(50_000_000), (_, outgoing) =>
      outgoing.on("close", () => resolve(outgoing.writableFinished)),
    );
    const abortController = new AbortController();
    const response = await fetch(url, { signal: abortController.signal });
    await response.body?.getReader().read();
    abortController.abort();
    expect(await wasSentWhole).toBe(false);
  });

  it("lets other work run between its slices", async () => {
    let turns = 0;
    let isRunning = true;
    const countTurns = (): void => {
      turns++;
      if (isRunning) setImmediate(countTurns);
    };
    const url = await serveResult("a".repeat(32 * MAX_WRITE_LENGTH), (_, outgoing) => {
      countTurns();
      outgoing.on("finish", () => (isRunning = false));
    });
    await (await fetch(url)).text();
    expect(turns).toBeGreaterThan(30);
  });
});

describe("a streamed response", () => {
  /** Serves a body that `write` writes, and returns the response. */
  async function fetchStream(write: (sink: ResponseSink) => void): Promise<Response> {
    return await fetch(await serveBody(write));
  }

  it("has a length if its first text is its last", async () => {
    const response = await fetchStream((sink) => sink.end("id: 1 ü\n\n"));
    expect(response.headers.get("content-length")).toBe("10");
    expect(await response.text()).toBe("id: 1 ü\n\n");
  });

  it("is chunked if a text precedes the last", async () => {
    const response = await fetchStream((sink) => {
      void sink.write("id: 1\n\n");
      sink.end("id: 2\n\n");
    });
    expect(response.headers.get("transfer-encoding")).toBe("chunked");
    expect(await response.text()).toBe("id: 1\n\nid: 2\n\n");
  });

  it("can be empty", async () => {
    const response = await fetchStream((sink) => sink.end());
    expect(response.status).toBe(200);
    expect(await response.text()).toBe("");
  });
});
