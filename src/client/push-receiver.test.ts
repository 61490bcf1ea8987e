import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createSigner, generateSigningKey, publicKeys, signJwt, type Signer } from "../keys/index.ts";
import type { StreamResponse } from "../protocol/index.ts";
import { pushReceiver, type PushNotification, type PushReceiverOptions } from "./push-receiver.ts";

const HOOK = "https://client.example/hook";
const event: StreamResponse = {
  statusUpdate: {
    taskId: "t",
    contextId: "c",
    status: { state: "TASK_STATE_WORKING", timestamp: "2026-01-01T00:00:00.000Z" },
  },
};
const BODY = JSON.stringify(event);

interface Told {
  readonly got: PushNotification[];
  readonly errors: string[];
  readonly post: (headers?: Record<string, string>, body?: string) => Promise<number>;
  readonly ask: (request: Request) => Promise<Response>;
}

function receiving(
  options: PushReceiverOptions,
  handle: (notification: PushNotification) => unknown = () => {},
): Told {
  const got: PushNotification[] = [];
  const errors: string[] = [];
  const ask = pushReceiver({ onError: (error) => errors.push(String(error)), ...options }, (notification) => {
    got.push(notification);
    return handle(notification);
  });
  const post = async (headers: Record<string, string> = {}, body = BODY): Promise<number> =>
    (await ask(new Request(HOOK, { method: "POST", headers, body }))).status;
  return { got, errors, post, ask };
}

const anybody: PushReceiverOptions = { allowUnauthenticated: true };

describe("a push receiver", () => {
  it("is not made without anything to know its sender by [I-12]", () => {
    expect(() => pushReceiver({}, () => {})).toThrow("give token, authorization or jwks");
  });

  it("gives what was posted, in words of 1.0, and answers that it was taken in [I-12, I-04]", async () => {
    const { post, got } = receiving(anybody);
    expect(await post({ "x-a2a-notification-id": "t:1" })).toBe(204);
    const task = { kind: "task", id: "t", contextId: "c", status: { state: "input-required" } };
    expect(await post({}, JSON.stringify(task))).toBe(204);
    expect(got).toEqual([
      { taskId: "t", event, version: "1.0", id: "t:1" },
      {
        taskId: "t",
        event: { task: { id: "t", contextId: "c", status: { state: "TASK_STATE_INPUT_REQUIRED" } } },
        version: "0.3",
        id: undefined,
      },
    ]);
  });

  it("refuses what does not have its token or its authorization [I-12]", async () => {
    const { post, got, errors } = receiving({ token: "tok", authorization: "Bearer secret" });
    const good = { "x-a2a-notification-token": "tok", authorization: "bearer secret" };
    for (const wrong of [
      {},
      { ...good, "x-a2a-notification-token": "tokk" },
      { ...good, "x-a2a-notification-token": "" },
      { ...good, authorization: "Bearer Secret" },
      { ...good, authorization: "Basic secret" },
    ])
      expect(await post(wrong)).toBe(401);
    expect(got).toEqual([]);
    expect(errors).toHaveLength(5);
    expect(await post(good)).toBe(204);
  });

  it("refuses what is no notification, is too large, or is not posted", async () => {
    const { post, ask, got } = receiving({ ...anybody, maxBytes: 1000 });
    for (const body of [
      "",
      "{",
      "[]",
      "null",
      "{}",
      "1",
      '"x"',
      JSON.stringify({ message: {} }),
      '{"task":{}}',
    ])
      expect(await post({}, body)).toBe(400);
    expect(await post({}, JSON.stringify({ statusUpdate: { ...event, pad: "x".repeat(1000) } }))).toBe(413);
    expect((await ask(new Request(HOOK))).status).toBe(405);
    expect(got).toEqual([]);
  });

  it("takes only what it expects; the rest may come again, when it is expected [I-12]", async () => {
    const expected = new Set<string>();
    const { post, got } = receiving({ ...anybody, isExpected: (taskId) => expected.has(taskId) });
    expect(await post()).toBe(404);
    expected.add("t");
    expect(await post()).toBe(204);
    expect(got).toHaveLength(1);
  });

  it("handles once what comes again, also while it is being handled, but not what failed [I-12]", async () => {
    let fails = true;
    const handled = Promise.withResolvers<void>();
    const { post, got, errors } = receiving(anybody, () =>
      fails ? Promise.reject(new Error("no")) : handled.promise,
    );
    const once = { "x-a2a-notification-id": "t:1" };
    expect(await post(once)).toBe(500);
    expect(errors).toEqual(["Error: no"]);
    fails = false;
    const both = Promise.all([post(once), post(once)]);
    setImmediate(handled.resolve);
    expect(await both).toEqual([204, 204]);
    expect(await post(once)).toBe(204);
    expect(got).toHaveLength(2);
    expect(await post({ "x-a2a-notification-id": "t:2" })).toBe(204);
    // Nothing tells whether these are one or two.
    expect([await post(), await post()]).toEqual([204, 204]);
    expect(got).toHaveLength(5);
  });

  it("tells senders to wait when it has too much to do [I-12]", async () => {
    const handled = Promise.withResolvers<void>();
    const { post, ask, got } = receiving({ ...anybody, atOnce: 2 }, () => handled.promise);
    const first = [post(), post()];
    while (got.length < 2) await new Promise<void>((resolve) => setImmediate(resolve));
    const refused = await ask(new Request(HOOK, { method: "POST", body: BODY }));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    handled.resolve();
    expect(await Promise.all(first)).toEqual([204, 204]);
    expect(await post()).toBe(204);
  });
});

describe("a push receiver that wants signatures", () => {
  const now = Date.UTC(2026, 0, 1);
  const seconds = now / 1000;
  const claims = {
    iat: seconds,
    exp: seconds + 300,
    aud: HOOK,
    iss: "https://agents.example",
    request_body_sha256: createHash("sha256").update(BODY).digest("hex"),
  };

  async function newSigner(): Promise<Signer> {
    return createSigner({ privateKey: await generateSigningKey("ES256") });
  }

  it("takes what is signed for it, over that body, by that sender, now [I-12]", async () => {
    const [signer, stranger] = [await newSigner(), await newSigner()];
    const options = { jwks: publicKeys([signer]), issuer: "https://agents.example", now: () => now };
    const { post, got } = receiving(options);
    const signed = async (more: object = {}, by = signer): Promise<Record<string, string>> => ({
      "x-a2a-notification-signature": await signJwt({ ...claims, ...more }, by),
    });
    const wrong: Record<string, string>[] = [
      {},
      { "x-a2a-notification-signature": "x.y.z" },
      await signed({}, stranger),
      await signed({ aud: "https://other.example/hook" }),
      await signed({ aud: undefined }),
      await signed({ iss: "https://other.example" }),
      await signed({ exp: seconds - 60 }),
      await signed({ exp: undefined, iat: seconds - 400 }),
      await signed({ iat: undefined }),
      await signed({ request_body_sha256: createHash("sha256").update("{}").digest("hex") }),
      await signed({ request_body_sha256: undefined }),
    ];
    for (const headers of wrong) expect(await post(headers)).toBe(401);
    expect(got).toEqual([]);
    expect(await post(await signed())).toBe(204);
    const bearer = `Bearer ${await signJwt(claims, signer)}`;
    expect(await post({ authorization: bearer })).toBe(204);
    expect(await post({ authorization: bearer }, `${BODY} `)).toBe(401);
  });

  it("has the sender come again when the keys can not be had", async () => {
    const fetch = (): Promise<never> => Promise.reject(new Error("no network"));
    const { post } = receiving({
      jwks: "https://agents.example/.well-known/jwks.json",
      fetch,
      now: () => now,
    });
    expect(await post({ authorization: `Bearer ${await signJwt(claims, await newSigner())}` })).toBe(503);
  });
});
