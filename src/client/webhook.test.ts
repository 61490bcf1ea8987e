import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer as createHttp } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { obedient } from "../../test/interop/obedient.ts";
import { createSigner, generateSigningKey, type JWK, signJwt } from "../keys/index.ts";
import { isTerminal, type StreamResponse } from "../protocol/index.ts";
import { createServer } from "../server/index.ts";
import { collect, connect, createWebhook, type WebhookOptions } from "./index.ts";
import { taskOf } from "./remote.contract.ts";

const status = { taskId: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } } as const;
const event: StreamResponse = { statusUpdate: status };

/** A webhook and what it has handed on. */
function webhook(options: Partial<WebhookOptions> = { token: "s3cret" }): {
  post: (headers?: Record<string, string>, body?: unknown) => Promise<number>;
  events: [StreamResponse, string][];
} {
  const events: [StreamResponse, string][] = [];
  const receive = createWebhook({
    onEvent: (event, taskId) => void events.push([event, taskId]),
    ...options,
  });
  return {
    events,
    async post(headers = {}, body = event) {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const response = await receive(
        new Request("http://me.example/hook", { method: "POST", headers, body: text }),
      );
      return response.status;
    },
  };
}

const TOKEN = { "x-a2a-notification-token": "s3cret" };

describe("a webhook", () => {
  it("hands on what proves itself by the token [I-12]", async () => {
    const { post, events } = webhook();
    expect(await post(TOKEN)).toBe(204);
    expect(await post({ "a2a-notification-token": "s3cret" })).toBe(204);
    expect(events).toEqual([
      [event, "t"],
      [event, "t"],
    ]);
    expect(await post({ "x-a2a-notification-token": "s3cre" })).toBe(401);
    expect(await post()).toBe(401);
    expect(events).toHaveLength(2);
  });

  it("hands on what proves itself by its authentication, together with the token when both are given [I-12]", async () => {
    const { post } = webhook({ token: "s3cret", authentication: { scheme: "Bearer", credentials: "x y" } });
    expect(await post({ ...TOKEN, authorization: "bearer x y" })).toBe(204);
    expect(await post({ authorization: "bearer x y" })).toBe(401);
    for (const authorization of ["Bearer x", "Basic x y", "Bearer", "x y"]) {
      expect(await post({ ...TOKEN, authorization })).toBe(401);
    }
  });

  it("takes from anyone only when it is told so in words [I-12]", async () => {
    expect(() => webhook({})).toThrow("{ allowAnyone: true }");
    expect(await webhook({ allowAnyone: true }).post()).toBe(204);
  });

  it("refuses tasks that nobody waits for, what is no notification, and what is too large [I-12]", async () => {
    const { post, events } = webhook({ token: "s3cret", isExpected: (id) => id === "t", maxBytes: 1_000 });
    expect(await post(TOKEN, { statusUpdate: { ...status, taskId: "other" } })).toBe(404);
    for (const junk of ["", "{", "[]", "{}", { task: 1 }, `"${"x".repeat(1_000)}"`]) {
      expect(await post(TOKEN, junk)).toBe(400);
    }
    expect(events).toEqual([]);
    const receive = createWebhook({ allowAnyone: true, onEvent: () => {} });
    expect((await receive(new Request("http://me.example/hook"))).status).toBe(405);
  });

  it("reads the task that 0.3 sends", async () => {
    const { post, events } = webhook();
    const task = { kind: "task", id: "t", contextId: "c", status: { state: "input-required" } };
    expect(await post(TOKEN, task)).toBe(204);
    expect(events).toMatchObject([
      [{ task: { id: "t", status: { state: "TASK_STATE_INPUT_REQUIRED" } } }, "t"],
    ]);
  });

  it("hands on once what comes several times under one id, also at once, unless it failed [I-12]", async () => {
    const failing = vi.fn<() => Promise<void>>().mockRejectedValueOnce(new Error("down")).mockResolvedValue();
    const { post } = webhook({ token: "s3cret", onEvent: failing });
    const headers = { ...TOKEN, "x-a2a-notification-id": "t:1" };
    expect(await post(headers)).toBe(500);
    expect(await Promise.all([post(headers), post(headers)])).toEqual([204, 204]);
    expect(await post(headers)).toBe(204);
    expect(failing).toHaveBeenCalledTimes(2);
    expect(await post({ ...headers, "x-a2a-notification-id": "t:2" })).toBe(204);
    expect(failing).toHaveBeenCalledTimes(3);
  });

  it.each(["1.0", "0.3"] as const)(
    "hears of a task to its end from our server, signed, over %s [I-12]",
    async (version) => {
      const privateKey = { ...(await generateSigningKey("ES256")), kid: "k" };
      const server = createServer(obedient, {
        store: "memory",
        push: { allowPrivate: true, sign: { privateKey } },
      });
      const { url } = await server.listen();
      const events: StreamResponse[] = [];
      const ended = Promise.withResolvers<void>();
      const hook = await serve((hookUrl) =>
        createWebhook({
          token: "s3cret",
          signature: { keys: `${url}/.well-known/jwks.json`, audience: hookUrl },
          onEvent: (event) => {
            events.push(event);
            const { status } =
              "task" in event ? event.task : "statusUpdate" in event ? event.statusUpdate : {};
            if (status && isTerminal(status.state)) ended.resolve();
          },
        }),
      );
      const remote = await connect(url, { version });
      const taskPushNotificationConfig = { url: hook, token: "s3cret" };
      const sent = await remote.send("count", { configuration: { taskPushNotificationConfig } });
      await ended.promise;
      async function* all(): AsyncGenerator<StreamResponse> {
        yield* events;
      }
      expect(taskOf(await collect(all())).artifacts).toEqual(taskOf(sent).artifacts);
      await server.close();
    },
  );

  it("refuses a signature that is of another text, for another webhook, or by another key [I-12]", async () => {
    const audience = "http://me.example/hook";
    const key = { ...(await generateSigningKey("ES256")), kid: "k" };
    const { d: _one, ...publicKey } = key;
    const { d: _other, ...stranger } = { ...(await generateSigningKey("ES256")), kid: "k" };
    const text = JSON.stringify(event);
    const jwt = await signed(key, audience, text);
    const { post } = webhook({ signature: { keys: [publicKey], audience } });
    expect(await post({ "x-a2a-notification-signature": jwt }, text)).toBe(204);
    expect(await post({ authorization: `Bearer ${jwt}` }, text)).toBe(204);
    expect(await post({ authorization: `Bearer ${jwt}` }, `${text} `)).toBe(401);
    expect(await post({}, text)).toBe(401);
    expect(await post({ authorization: "Bearer x" }, text)).toBe(401);
    const elsewhere = await signed(key, "http://other.example", text);
    expect(await post({ authorization: `Bearer ${elsewhere}` }, text)).toBe(401);
    const strange = webhook({ signature: { keys: [stranger], audience } });
    expect(await strange.post({ authorization: `Bearer ${jwt}` }, text)).toBe(401);
    // Whose keys cannot be fetched may come again.
    const cut = webhook({ signature: { keys: "http://127.0.0.1:1/jwks.json", audience } });
    expect(await cut.post({ authorization: `Bearer ${jwt}` }, text)).toBe(503);
  });
});

async function signed(privateKey: JWK, aud: string, text: string): Promise<string> {
  const exp = Math.floor(Date.now() / 1_000) + 60;
  const request_body_sha256 = createHash("sha256").update(text).digest("hex");
  return signJwt({ aud, exp, request_body_sha256 }, await createSigner({ privateKey }));
}

/** Serves a webhook, which is told its own URL. */
async function serve(make: (url: string) => (request: Request) => Promise<Response>): Promise<string> {
  let url = "";
  let receive: ReturnType<typeof make> | undefined;
  const http = createHttp((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const headers = incoming.headers as Record<string, string>;
      const body = Buffer.concat(chunks);
      const request = new Request(url, { method: incoming.method ?? "POST", headers, body });
      void receive?.(request).then(({ status }) => response.writeHead(status).end());
    });
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => {
    http.close();
    http.closeAllConnections();
  });
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/hook`;
  receive = make(url);
  return url;
}
