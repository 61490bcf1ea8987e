import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer as createHttp } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { textDrivenAgent } from "./text-driven-agent.fixture.ts";
import {
  importSigningKeyPair,
  generateSigningKey,
  buildJwks,
  type SigningKeyPair,
  signJwt,
} from "../../wire/keys/index.ts";
import { isTerminal, type StreamResponse } from "../../protocol/index.ts";
import { createServer, toNodeListener } from "../../server/index.ts";
import { collect, connect, createWebhook, type WebhookOptions } from "../index.ts";
import { requireTaskResponseInTest } from "../a2a-client.contract.ts";

const status = { taskId: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } } as const;
const event: StreamResponse = { statusUpdate: status };

/** Creates a webhook and records the events that it processed. */
function createTestWebhook(options: Partial<WebhookOptions> = { token: "s3cret" }): {
  post: (headers?: Record<string, string>, body?: unknown) => Promise<number>;
  ask: (request: Request) => Promise<Response>;
  events: [StreamResponse, string][];
  errors: string[];
} {
  const events: [StreamResponse, string][] = [];
  const errors: string[] = [];
  const receive = createWebhook({
    onEvent: (event, taskId) => void events.push([event, taskId]),
    onError: (error) => errors.push(String(error)),
    ...options,
  });
  return {
    ask: receive,
    events,
    errors,
    async post(headers = {}, body = event) {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const response = await receive(
        new Request("http://me.example/hook", { method: "POST", headers, body: text }),
      );
      return response.status;
    },
  };
}

const TOKEN_HEADER = { "x-a2a-notification-token": "s3cret" };

describe("a webhook", () => {
  it("accepts notifications with the configured token [I-12]", async () => {
    const { post, events } = createTestWebhook();
    expect(await post(TOKEN_HEADER)).toBe(204);
    expect(await post({ "a2a-notification-token": "s3cret" })).toBe(204);
    expect(events).toEqual([
      [event, "t"],
      [event, "t"],
    ]);
    expect(await post({ "x-a2a-notification-token": "s3cre" })).toBe(401);
    expect(await post()).toBe(401);
    expect(events).toHaveLength(2);
  });

  it("requires the configured authentication, and also the token if both are set [I-12]", async () => {
    const { post, errors } = createTestWebhook({
      token: "s3cret",
      authentication: { scheme: "Bearer", credentials: "x y" },
    });
    expect(await post({ ...TOKEN_HEADER, authorization: "bearer x y" })).toBe(204);
    expect(await post({ authorization: "bearer x y" })).toBe(401);
    for (const authorization of ["Bearer x", "Basic x y", "Bearer", "x y"]) {
      expect(await post({ ...TOKEN_HEADER, authorization })).toBe(401);
    }
    expect(errors[0]).toContain("does not contain the token of its webhook");
  });

  it("accepts unauthenticated notifications only with an explicit option [I-12]", async () => {
    expect(() => createTestWebhook({})).toThrow("{ allowUnauthenticated: true }");
    expect(await createTestWebhook({ allowUnauthenticated: true }).post()).toBe(204);
  });

  it("rejects unexpected tasks, invalid notifications, and oversized notifications [I-12]", async () => {
    const { post, ask, events } = createTestWebhook({
      token: "s3cret",
      isExpectedTask: (id) => id === "t",
      maxBodyBytes: 1_000,
    });
    expect(await post(TOKEN_HEADER, { statusUpdate: { ...status, taskId: "other" } })).toBe(404);
    for (const junk of ["", "{", "[]", "{}", "null", "1", { task: 1 }, { message: {} }]) {
      expect(await post(TOKEN_HEADER, junk)).toBe(400);
    }
    expect(await post(TOKEN_HEADER, `"${"x".repeat(1_000)}"`)).toBe(413);
    expect(events).toEqual([]);
    const { status: refused, headers } = await ask(new Request("http://me.example/hook"));
    expect([refused, headers.get("allow")]).toEqual([405, "POST"]);
  });

  it("decodes the task that a 0.3 agent sends", async () => {
    const { post, events } = createTestWebhook();
    const task = { kind: "task", id: "t", contextId: "c", status: { state: "input-required" } };
    expect(await post(TOKEN_HEADER, task)).toBe(204);
    expect(events).toMatchObject([
      [{ task: { id: "t", status: { state: "TASK_STATE_INPUT_REQUIRED" } } }, "t"],
    ]);
  });

  it("processes repeated and concurrent deliveries of one id once, unless they failed [I-12]", async () => {
    const failing = vi.fn<() => Promise<void>>().mockRejectedValueOnce(new Error("down")).mockResolvedValue();
    const { post } = createTestWebhook({ token: "s3cret", onEvent: failing });
    const headers = { ...TOKEN_HEADER, "x-a2a-notification-id": "t:1" };
    expect(await post(headers)).toBe(500);
    expect(await Promise.all([post(headers), post(headers)])).toEqual([204, 204]);
    expect(await post(headers)).toBe(204);
    expect(failing).toHaveBeenCalledTimes(2);
    expect(await post({ ...headers, "x-a2a-notification-id": "t:2" })).toBe(204);
    expect(failing).toHaveBeenCalledTimes(3);
  });

  it("asks senders to wait if it is overloaded [I-12]", async () => {
    const done = Promise.withResolvers<void>();
    const onEvent = vi.fn<() => Promise<void>>(() => done.promise);
    const { post, ask } = createTestWebhook({ token: "s3cret", maxConcurrent: 2, onEvent });
    const first = [post(TOKEN_HEADER), post(TOKEN_HEADER)];
    await vi.waitUntil(() => onEvent.mock.calls.length === 2, { timeout: 30_000, interval: 1 });
    const refused = await ask(
      new Request("http://me.example/hook", { method: "POST", headers: TOKEN_HEADER }),
    );
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    done.resolve();
    expect(await Promise.all(first)).toEqual([204, 204]);
    expect(await post(TOKEN_HEADER)).toBe(204);
  });

  it.each(["1.0", "0.3"] as const)(
    "receives the signed notifications of a Colloquy server until the task ends, over %s [I-12]",
    async (version) => {
      const privateKey = { ...(await generateSigningKey("ES256")), kid: "k" };
      const server = createServer(textDrivenAgent, {
        store: "memory",
        push: { allowPrivate: true, signing: { privateKey } },
      });
      const { url } = await server.listen();
      const events: StreamResponse[] = [];
      const ended = Promise.withResolvers<void>();
      const hook = await serveWebhook((hookUrl) =>
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
      expect(requireTaskResponseInTest(await collect(all())).artifacts).toEqual(
        requireTaskResponseInTest(sent).artifacts,
      );
      await server.close();
    },
  );

  it("accepts only current signatures of this webhook, body, and issuer [I-12]", async () => {
    const audience = "http://me.example/hook";
    const text = JSON.stringify(event);
    const seconds = Date.UTC(2026, 0, 1) / 1_000;
    const [signer, stranger] = [await createTestSigner(), await createTestSigner()];
    const claims = {
      iat: seconds,
      exp: seconds + 300,
      aud: audience,
      iss: "https://agents.example",
      request_body_sha256: computeSha256Hex(text),
    };
    const signed = async (extra: object = {}, by = signer): Promise<Record<string, string>> => ({
      "x-a2a-notification-signature": await signJwt({ ...claims, ...extra }, by),
    });
    const currentTime = (): number => seconds * 1_000;
    const trusted = { audience, issuer: "https://agents.example", now: currentTime };
    const { post, events } = createTestWebhook({ signature: { ...trusted, keys: buildJwks([signer]) } });
    const wrong: Record<string, string>[] = [
      {},
      { authorization: "Bearer x" },
      { "x-a2a-notification-signature": "x.y.z" },
      await signed({}, stranger),
      await signed({ aud: "http://other.example/hook" }),
      await signed({ aud: undefined }),
      await signed({ iss: "https://other.example" }),
      await signed({ exp: seconds - 60 }),
      await signed({ exp: undefined, iat: seconds - 400 }),
      await signed({ iat: undefined }),
      await signed({ request_body_sha256: computeSha256Hex("{}") }),
      await signed({ request_body_sha256: undefined }),
    ];
    for (const headers of wrong) expect(await post(headers, text)).toBe(401);
    expect(events).toEqual([]);
    expect(await post(await signed(), text)).toBe(204);
    const bearer = { authorization: `Bearer ${await signJwt(claims, signer)}` };
    expect(await post(bearer, text)).toBe(204);
    expect(await post(bearer, `${text} `)).toBe(401);
    const numbered = await signed({ sub: "t", seq: 4 });
    for (const id of ["t:5", "u:4", ""])
      expect(await post({ ...numbered, "x-a2a-notification-id": id }, text)).toBe(401);
    expect(await post(numbered, text)).toBe(401);
    expect(await post({ ...numbered, "x-a2a-notification-id": "t:4" }, text)).toBe(204);
    // A notification is retried if the keys could not be fetched.
    const cut = createTestWebhook({ signature: { ...trusted, keys: "http://127.0.0.1:1/jwks.json" } });
    expect(await cut.post(bearer, text)).toBe(503);
  });
});

it("a webhook with signatures reads no body without one, so that others cannot take its places", async () => {
  const signature = { keys: [], audience: "http://me.example/hook" };
  const webhook = createTestWebhook({ signature, maxConcurrent: 1 });
  const endless = new ReadableStream({ pull: () => new Promise<void>(() => {}) });
  for (const headers of [{}, { "x-a2a-notification-signature": "e30.e30.x" }]) {
    const init = { method: "POST", headers, body: endless, duplex: "half" } as RequestInit;
    expect((await webhook.ask(new Request("http://me.example/hook", init))).status).toBe(401);
  }
});

describe("a webhook that a server challenges", () => {
  const value = "k".repeat(32);
  const challenge = { "x-a2a-notification-challenge": value };
  const ask = (
    webhook: ReturnType<typeof createTestWebhook>,
    headers: Record<string, string>,
  ): Promise<Response> => webhook.ask(new Request("http://me.example/hook", { method: "POST", headers }));

  it("returns the value to a server that knows its token", async () => {
    const webhook = createTestWebhook();
    const response = await ask(webhook, { ...TOKEN_HEADER, ...challenge });
    expect([response.status, await response.text()]).toEqual([200, value]);
    expect(response.headers.get("content-type")).toBe("text/plain");
    expect(webhook.events).toEqual([]);
  });

  it("confirms nothing without its token, and returns no text that a browser could run", async () => {
    const webhook = createTestWebhook();
    expect((await ask(webhook, challenge)).status).toBe(401);
    const script = { ...TOKEN_HEADER, "x-a2a-notification-challenge": "<script>alert(1)</script>" };
    const response = await ask(webhook, script);
    expect([response.status, await response.text()]).toEqual([400, ""]);
  });

  it("confirms nothing if its only check is the signature, which a challenge does not have", async () => {
    const webhook = createTestWebhook({ signature: { keys: [], audience: "http://me.example/hook" } });
    expect((await ask(webhook, challenge)).status).toBe(401);
    expect(webhook.errors).toEqual([expect.stringContaining('Set "token"')]);
    const open = createTestWebhook({ allowUnauthenticated: true });
    expect((await ask(open, challenge)).status).toBe(200);
  });

  it("receives the notifications of a server that requires the confirmation", async () => {
    const received = new Set<string>();
    const url = await serveWebhook(() =>
      createWebhook({ token: "s3cret", onEvent: (event) => void received.add(Object.keys(event)[0] ?? "") }),
    );
    const server = createServer(textDrivenAgent, {
      store: "memory",
      push: { allowPrivate: true, challenge: true },
    });
    onTestFinished(() => server.close({ graceMs: 0 }));
    const { agents } = await server.listen();
    const client = await connect(agents[0]?.url ?? "");
    await client.send("hello", { configuration: { taskPushNotificationConfig: { url, token: "s3cret" } } });
    await expect.poll(() => [...received]).toEqual(expect.arrayContaining(["task", "statusUpdate"]));
  });
});

async function createTestSigner(): Promise<SigningKeyPair> {
  return importSigningKeyPair({ privateKey: await generateSigningKey("ES256") });
}

function computeSha256Hex(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Serves a webhook that is configured with its own URL. */
async function serveWebhook(make: (url: string) => (request: Request) => Promise<Response>): Promise<string> {
  const http = createHttp(toNodeListener((request) => receive(request)));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => {
    http.close();
    http.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/hook`;
  const receive = make(url);
  return url;
}
