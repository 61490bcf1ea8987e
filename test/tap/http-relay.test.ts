/** Tests the tap with plain HTTP servers and raw sockets: headers, large bodies, limits, and guards. */
import { once } from "node:events";
import { createServer, request as sendRequest, type IncomingMessage, type RequestListener } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { startTestTap, waitForLines, type RecordingTestTap } from "./tapped-record.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function startUpstream(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function startTap(...targets: Parameters<typeof startTestTap>): Promise<RecordingTestTap> {
  const tap = await startTestTap(...targets);
  closers.push(() => tap.close());
  return tap;
}

/** Sends raw bytes, and returns the response until the connection closes. */
async function exchangeBytes(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write(text);
  let received = "";
  for await (const chunk of socket) received += String(chunk);
  return received;
}

/** Resolves when a value has not changed for half a second. */
async function waitUntilStable(read: () => number): Promise<void> {
  for (let previous = -1; previous !== read();) {
    previous = read();
    await delay(500);
  }
}

describe("the tap", () => {
  it("forwards headers unchanged, without the headers of one connection", async () => {
    let received: string[] = [];
    const url = await startUpstream((request, response) => {
      received = request.rawHeaders;
      response.writeHead(201, "Made", [
        "X-Two",
        "a",
        "X-Two",
        "b",
        "Set-Cookie",
        "c=1",
        "Connection",
        "x-private",
        "X-Private",
        "1",
      ]);
      response.end("done");
    });
    const tap = await startTap([url]);
    const answer = await exchangeBytes(
      tap.url,
      "POST /path?q=1 HTTP/1.1\r\nHost: localhost\r\nX-One: 1\r\nX-One: 2\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nTE: trailers\r\nAuthorization: Bearer secret-of-the-caller-1\r\nContent-Length: 2\r\n\r\nhi",
    );
    const names = received.filter((_, at) => at % 2 === 0);
    expect(names).toEqual(expect.arrayContaining(["X-One", "X-One", "Authorization", "Via", "Host"]));
    expect(names.map((name) => name.toLowerCase())).not.toContain("x-hop");
    expect(names.map((name) => name.toLowerCase())).not.toContain("te");
    expect(received[received.indexOf("Host") + 1]).toBe(new URL(url).host);
    expect(answer).toMatch(/^HTTP\/1\.1 201 Made\r\nX-Two: a\r\nX-Two: b\r\nSet-Cookie: c=1\r\n/);
    expect(answer).not.toMatch(/x-private/i);
    const text = JSON.stringify(
      await waitForLines(tap, (lines) => lines.some(({ kind }) => kind === "response")),
    );
    expect(text).not.toContain("secret-of-the-caller-1");
    expect(text).not.toContain("c=1");
  });

  it("forwards a request without a body as a request without a body", async () => {
    let received: IncomingMessage["headers"] = {};
    const tap = await startTap([
      await startUpstream(({ headers }, response) => {
        received = headers;
        response.end("{}");
      }),
    ]);
    const { host } = new URL(tap.url);
    await exchangeBytes(
      tap.url,
      `POST /tasks/1:cancel HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    );
    expect(received).toMatchObject({ "content-length": "0" });
    expect(received).not.toHaveProperty("transfer-encoding");
  });

  it("takes no more bytes than the other side reads, in both directions", async () => {
    const size = 64 * 2 ** 20;
    const chunk = Buffer.alloc(2 ** 18, "x");
    let sentByAgent = 0;
    let receivedByAgent = 0;
    let readRequest = (): void => {};
    const url = await startUpstream((request, response) => {
      if (request.method === "GET") {
        response.writeHead(404).end();
        return;
      }
      readRequest = () => {
        request.on("data", (bytes: Buffer) => (receivedByAgent += bytes.length));
      };
      void (async () => {
        response.writeHead(200);
        for (; sentByAgent < size; sentByAgent += chunk.length)
          if (!response.write(chunk)) await once(response, "drain");
        response.end();
      })();
    });
    const tap = await startTap([url]);
    const { port } = new URL(tap.url);
    const outgoing = sendRequest({ hostname: "127.0.0.1", port, method: "POST", path: "/large" });
    let sentByClient = 0;
    const upload = (async () => {
      for (; sentByClient < size; sentByClient += chunk.length)
        if (!outgoing.write(chunk)) await once(outgoing, "drain");
      outgoing.end();
    })();
    const [response] = (await once(outgoing, "response")) as [IncomingMessage];
    // Neither the agent nor the client reads. The sockets and the tap hold a few MB.
    await waitUntilStable(() => sentByAgent + sentByClient);
    expect(sentByAgent).toBeLessThan(size / 2);
    expect(sentByClient).toBeLessThan(size / 2);
    readRequest();
    await upload;
    let receivedByClient = 0;
    for await (const bytes of response) receivedByClient += (bytes as Buffer).length;
    expect([receivedByAgent, receivedByClient]).toEqual([size, size]);
    const lines = await waitForLines(tap, (all) => all.some(({ kind }) => kind === "response"));
    expect(lines.find((line) => line.kind === "response")).toMatchObject({ body_bytes: size });
    expect(JSON.stringify(lines).length).toBeLessThan(10_000);
  });

  it("forwards a long JSON response without Content-Length, which is no card", async () => {
    const body = Buffer.from(JSON.stringify({ text: "x".repeat(2 ** 21) }));
    const url = await startUpstream((request, response) => {
      response.writeHead(request.url === "/data" ? 200 : 404, { "content-type": "application/json" });
      response.write(body.subarray(0, 1000));
      response.end(body.subarray(1000));
    });
    const tap = await startTap([url]);
    const response = await fetch(`${tap.url}/data`);
    expect(Buffer.from(await response.arrayBuffer()).equals(body)).toBe(true);
    const lines = await waitForLines(tap, (all) => all.some(({ kind }) => kind === "response"));
    expect(lines.find(({ kind }) => kind === "response")).toMatchObject({
      status: 200,
      body_bytes: body.length,
    });
  });

  it("passes the bytes of a stream on as they arrive, and counts a broken stream as cut", async () => {
    let breakStream = (): void => {};
    const url = await startUpstream((request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(': hello\r\n\r\ndata: {"a":');
      breakStream = () => void request.socket.destroy();
    });
    const tap = await startTap([url]);
    const response = await fetch(`${tap.url}/events`);
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(new TextDecoder().decode(first?.value)).toBe(': hello\r\n\r\ndata: {"a":');
    breakStream();
    await expect(reader?.read()).rejects.toThrow();
    const lines = await waitForLines(tap, (all) => all.some(({ kind }) => kind === "stream-end"));
    expect(lines.find(({ kind }) => kind === "frame")).toMatchObject({ index: 1, text: "hello", bytes: 11 });
    expect(lines.find(({ kind }) => kind === "stream-end")).toMatchObject({ reason: "cut", frames: 1 });
  });

  it("records the end of the calls in progress before it stops", async () => {
    const url = await startUpstream((request, response) => {
      if (request.url === "/events") {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(": hello\n\n");
      } else response.writeHead(404).end();
    });
    const tap = await startTap([url]);
    const response = await fetch(`${tap.url}/events`);
    const reader = response.body?.getReader();
    await reader?.read();
    tap.tap.faults.add("delay:ms=3600000,match=*");
    const delayed = fetch(`${tap.url}/delayed`).catch(() => "broken");
    await waitForLines(tap, (all) => all.some(({ kind }) => kind === "fault"));
    await closers.pop()?.();
    await expect(reader?.read()).rejects.toThrow();
    expect(await delayed).toBe("broken");
    const lines = await tap.readLines();
    expect(lines.find(({ kind }) => kind === "stream-end")).toMatchObject({
      reason: "cut",
      error: "The tap stopped.",
    });
    expect(lines.findLast(({ kind }) => kind === "response")).toMatchObject({ error: "The tap stopped." });
  });

  it("stops although a response waits behind another response of the same connection", async () => {
    const url = await startUpstream((request, response) => {
      if (request.url === "/large") response.end(Buffer.alloc(2 ** 20));
      else if (request.url !== "/silent") response.writeHead(404).end();
    });
    const tap = await startTap([url]);
    const { hostname, port } = new URL(tap.url);
    const socket = connect(Number(port), hostname).on("error", () => {});
    const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    socket.write(get("/silent") + get("/large"));
    await waitForLines(tap, (all) => all.filter(({ kind }) => kind === "request").length === 2);
    await expect(closers.pop()?.()).resolves.toBeUndefined();
  });

  it("reports an agent that is not running", async () => {
    const url = await startUpstream(() => {});
    await closers.pop()?.();
    const tap = await startTap([url]);
    expect(tap.warnings).toEqual([expect.stringContaining(`found no agent card at ${url}`)]);
    const response = await fetch(`${tap.url}/x`);
    expect(response.status).toBe(502);
    expect(await response.text()).toContain("Check that the agent is running.");
    const lines = await tap.readLines();
    expect(lines.find(({ kind }) => kind === "response")).toMatchObject({
      status: 502,
      error: expect.any(String) as string,
    });
  });

  it("refuses WebSocket connections, its own requests, and foreign host names", async () => {
    const url = await startUpstream((_, response) => void response.end("agent"));
    const tap = await startTap([url]);
    const upgrade = await exchangeBytes(
      tap.url,
      "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n",
    );
    expect(upgrade).toMatch(/^HTTP\/1\.1 501 /);
    expect(upgrade).toContain("does not forward WebSocket connections");
    const foreign = await exchangeBytes(
      tap.url,
      "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
    );
    expect(foreign).toMatch(/^HTTP\/1\.1 403 /);
    for (const hosts of ["Host: a@localhost", "Host: localhost\r\nHost: evil.example"]) {
      const forged = await exchangeBytes(tap.url, `GET / HTTP/1.1\r\n${hosts}\r\nConnection: close\r\n\r\n`);
      expect(forged).toMatch(/^HTTP\/1\.1 400 /);
    }
    // A Java client offers HTTP/2, which a server may ignore.
    const h2c = await exchangeBytes(
      tap.url,
      "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
    );
    expect(h2c).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("opens at most 16 ports for the addresses in the cards of a target", async () => {
    const card = {
      name: "many",
      supportedInterfaces: Array.from({ length: 40 }, (_, at) => ({
        url: `http://127.0.0.1:${2_000 + at}/`,
        protocolBinding: "JSONRPC",
        protocolVersion: "1.0",
      })),
    };
    const url = await startUpstream(
      (_, response) =>
        void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(card)),
    );
    const tap = await startTap([url]);
    for (let times = 0; times < 2; times++) {
      const response = await fetch(`${tap.url}/.well-known/agent-card.json`);
      const { supportedInterfaces } = (await response.json()) as typeof card;
      const isChanged = supportedInterfaces.map((one, at) => one.url !== card.supportedInterfaces[at]?.url);
      expect(isChanged.filter(Boolean)).toHaveLength(16);
    }
    expect(tap.warnings).toEqual([
      "The tap does not record all interfaces of many, because its card has too many addresses. To record an interface, add --to with its URL.",
    ]);
  });

  it("refuses requests that lead back to itself", async () => {
    const probe = createServer().listen(0, "127.0.0.1");
    await once(probe, "listening");
    const { port } = probe.address() as AddressInfo;
    probe.close();
    const tap = await startTap([`http://127.0.0.1:${port}`], { port });
    const response = await fetch(`${tap.url}/x`);
    expect(response.status).toBe(508);
    expect(await response.text()).toContain("Start the tap with the URL of the agent.");
  });

  it("does not listen for other machines unless allowed, and refuses invalid targets", async () => {
    await expect(startTestTap(["http://127.0.0.1:1"], { host: "0.0.0.0" })).rejects.toThrow(
      "allowUnauthenticated",
    );
    await expect(startTestTap([])).rejects.toThrow("pass the URL of an agent");
    await expect(startTestTap(["ftp://x"])).rejects.toThrow("pass a URL such as http://127.0.0.1:4120");
    await expect(startTestTap(["http://u:p@x"])).rejects.toThrow("targets");
    await expect(startTestTap(["http://127.0.0.1:1"], { faults: ["explode"] })).rejects.toThrow(
      "no known fault",
    );
  });
});

describe("agent cards", () => {
  const card = (url: string) => ({
    name: "remote",
    capabilities: {},
    supportedInterfaces: [
      { url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url: "/rest", protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
      { url: "http://10.0.0.7/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    ],
    signatures: [{ protected: "x", signature: "y" }],
  });

  it("lead only hosts that the user named to the tap, and lose their signatures", async () => {
    let base = "";
    const url = await startUpstream((_, response) => {
      response.writeHead(200, {
        "content-type": "application/json",
        etag: '"1"',
        "cache-control": "max-age=60",
      });
      response.end(JSON.stringify(card(base)));
    });
    base = url.replace("127.0.0.1", "localhost");
    const tap = await startTap([{ name: "mine", url }]);
    const response = await fetch(`${tap.url}/.well-known/agent-card.json`, {
      headers: { "if-none-match": '"1"' },
    });
    expect(response.headers.get("etag")).toBeNull();
    expect(await response.json()).toEqual({
      name: "remote",
      capabilities: {},
      supportedInterfaces: [
        { url: `${tap.url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        { url: "/rest", protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
        { url: "http://10.0.0.7/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      ],
    });
    expect(tap.warnings).toEqual([
      expect.stringContaining("does not record the JSONRPC interface of mine at http://10.0.0.7/rpc"),
      expect.stringContaining("removes the signatures from the card of mine"),
    ]);
    const agents = (await tap.readLines()).filter(({ kind }) => kind === "agent");
    expect(agents).toMatchObject([
      {
        agent: "mine",
        card: card(base),
        changes: [expect.any(String), expect.stringContaining("signatures: removed")],
      },
    ]);
  });

  it("of A2A 0.3 lead to the tap", async () => {
    let base = "";
    const url = await startUpstream((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(
        JSON.stringify({
          name: "old",
          url: `${base}/`,
          preferredTransport: "JSONRPC",
          capabilities: {},
          additionalInterfaces: [{ url: `${base}/rest`, transport: "HTTP+JSON" }],
        }),
      );
    });
    base = url;
    const tap = await startTap([url]);
    expect(await (await fetch(`${tap.url}/.well-known/agent-card.json`)).json()).toMatchObject({
      url: `${tap.url}/`,
      additionalInterfaces: [{ url: `${tap.url}/rest` }],
    });
  });
});

describe("the control API", () => {
  it("switches faults on and off, only with the token", async () => {
    const url = await startUpstream((_, response) => void response.end("{}"));
    const { tap } = await startTap([url]);
    const call = async (method: string, path: string, body?: object, token = tap.control.token) => {
      const response = await fetch(new URL(path, tap.control.url), {
        method,
        headers: { authorization: `Bearer ${token}` },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      return { status: response.status, json: (await response.json()) as object };
    };
    expect((await call("GET", "faults", undefined, "wrong")).status).toBe(401);
    expect(await call("POST", "faults", { fault: "cut:after=3" })).toEqual({
      status: 201,
      json: { id: "1", fault: "cut:after=3", matchedCalls: 0, affectedCalls: 0 },
    });
    expect(tap.faults.list()).toHaveLength(1);
    expect(await call("POST", "faults", { fault: "cut" })).toMatchObject({
      status: 400,
      json: { error: { message: expect.stringContaining("needs after=NUMBER") as string } },
    });
    expect((await call("GET", "")).json).toMatchObject({
      targets: [{ target: `${url}/` }],
      faults: [{ fault: "cut:after=3" }],
    });
    expect((await call("DELETE", "faults/7")).status).toBe(404);
    expect((await call("DELETE", "faults/1")).json).toEqual({ faults: [] });
    expect(tap.faults.hasRules).toBe(false);
  });
});
