import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { DeliveryResult } from "../../webhooks/index.ts";
import { LogEvent } from "../../protocol/index.ts";
import { WebhookSender } from "./webhook-sender.ts";
import { WebhookUrlGuard } from "./webhook-url-guard.ts";

const event = LogEvent.create(1, { message: { messageId: "m", role: "ROLE_AGENT", parts: [] } });
const neverAborted = new AbortController().signal;

async function startReceiver(respond: RequestListener): Promise<{ http: Server; port: number }> {
  const http = createServer(respond);
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => {
    http.close();
    http.closeAllConnections();
  });
  return { http, port: (http.address() as AddressInfo).port };
}

function createSender(challenge: boolean): (url: string, principal?: string) => Promise<DeliveryResult> {
  const resolve = async (): Promise<string[]> => ["127.0.0.1"];
  const guard = new WebhookUrlGuard({ allowPrivate: true, resolve });
  const sender = new WebhookSender({ guard, timeoutMs: 2000, challenge });
  onTestFinished(() => sender.close());
  return (url, principal = "alice") => {
    const scope = { tenant: "", principal, agent: "a" };
    const config = { id: "c", url, token: "the-token" };
    return sender.deliver({ webhook: { scope, taskId: "t", version: "1.0", config }, event }, neverAborted);
  };
}

describe("a receiver that must confirm its webhooks", () => {
  it("gets no notification before it has returned the random value, and one challenge per owner and URL", async () => {
    const requests: IncomingHttpHeaders[] = [];
    const { port } = await startReceiver(({ headers }, outgoing) => {
      requests.push(headers);
      outgoing.end(headers["x-a2a-notification-challenge"]);
    });
    const send = createSender(true);
    const url = `http://127.0.0.1:${port}/hook`;
    for (let count = 0; count < 3; count++) expect(await send(url)).toEqual({ ok: true });
    expect(await send(url, "bob")).toEqual({ ok: true });
    const challenges = requests.map((headers) => headers["x-a2a-notification-challenge"]);
    expect(challenges).toEqual([
      expect.any(String),
      undefined,
      undefined,
      undefined,
      expect.any(String),
      undefined,
    ]);
    expect(challenges[0]).not.toBe(challenges[4]);
    expect(requests[0]).toMatchObject({ "content-length": "0", "x-a2a-notification-token": "the-token" });
  });

  it.each<[string, RequestListener]>([
    ["returns no body", (_, outgoing) => outgoing.end()],
    ["returns another body", (_, outgoing) => outgoing.end("x".repeat(32))],
    [
      "returns more than the value",
      ({ headers }, outgoing) => outgoing.end(`${String(headers["x-a2a-notification-challenge"])} `),
    ],
    ["returns an endless body", (_, outgoing) => void outgoing.write("x".repeat(100_000))],
    [
      "ends its response early",
      (_, outgoing) =>
        void outgoing.writeHead(200, { "content-length": "32" }).write("x", () => outgoing.destroy()),
    ],
    [
      "returns an error",
      ({ headers }, outgoing) => outgoing.writeHead(404).end(headers["x-a2a-notification-challenge"]),
    ],
  ])("gets no notification if it %s", async (_, respond) => {
    let count = 0;
    const { port } = await startReceiver((incoming, outgoing) => {
      count++;
      expect(incoming.headers["x-a2a-notification-challenge"]).toHaveLength(32);
      respond(incoming, outgoing);
    });
    const send = createSender(true);
    for (let attempt = 1; attempt <= 2; attempt++) {
      const result = await send(`http://127.0.0.1:${port}/`);
      expect(result).toMatchObject({ ok: false });
      expect(result).not.toHaveProperty("isPermanent");
      expect(count).toBe(attempt);
    }
  });

  it("gets no challenge by default", async () => {
    const { port } = await startReceiver(({ headers }, outgoing) => {
      expect(headers).not.toHaveProperty("x-a2a-notification-challenge");
      outgoing.end();
    });
    expect(await createSender(false)(`http://127.0.0.1:${port}/`)).toEqual({ ok: true });
  });
});

it("deliveries to many hosts leave at most 256 idle connections, so that other hosts can be reached", async () => {
  const { http, port } = await startReceiver((_, outgoing) => outgoing.end());
  http.keepAliveTimeout = 60_000;
  const send = createSender(false);
  for (let at = 0; at < 600; at++)
    expect(await send(`http://h${at}.example:${port}/`, "mallory")).toEqual({ ok: true });
  const connectionCount = await new Promise<number>((resolve) =>
    http.getConnections((_, count) => resolve(count)),
  );
  expect(connectionCount).toBeGreaterThan(200);
  expect(connectionCount).toBeLessThanOrEqual(260);
});
