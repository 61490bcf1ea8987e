import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { createWebhook } from "../../client/index.ts";
import { generateSigningKey, type SignatureAlgorithm } from "../../wire/keys/index.ts";
import type { StreamResponse } from "../../protocol/index.ts";
import { createServer, toNodeListener, type PushOptions } from "../index.ts";
import { V1_JSON_TEST_HEADERS, buildTestMessage, messageCommandTestAgent } from "../server.fixture.ts";

/** A server that signs notifications, with a receiver that knows only the URL of the public keys. */
async function startSigningServer(push: PushOptions): Promise<{
  url: string;
  hook: string;
  got: StreamResponse[];
  errors: unknown[];
  ended: Promise<void>;
}> {
  const server = createServer(
    { parrot: messageCommandTestAgent },
    { store: "memory", push: { allowPrivate: true, ...push } },
  );
  onTestFinished(() => server.close());
  const { url } = await server.listen();
  const got: StreamResponse[] = [];
  const errors: unknown[] = [];
  const end = Promise.withResolvers<void>();
  const http = createHttpServer(toNodeListener((request) => receive(request)));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const hook = `http://127.0.0.1:${(http.address() as AddressInfo).port}/hook?x=1`;
  const receive = createWebhook({
    signature: { keys: `${url}/.well-known/jwks.json`, audience: hook },
    onError: (error) => errors.push(error),
    onEvent: (event) => {
      got.push(event);
      if (JSON.stringify(event).includes("COMPLETED")) end.resolve();
    },
  });
  return { url, hook, got, errors, ended: end.promise };
}

async function sendMessage(url: string, taskPushNotificationConfig: object): Promise<void> {
  const body = JSON.stringify({
    message: buildTestMessage("echo hi"),
    configuration: { taskPushNotificationConfig },
  });
  const response = await fetch(`${url}/message:send`, {
    method: "POST",
    headers: V1_JSON_TEST_HEADERS,
    body,
  });
  expect(response.status).toBe(200);
}

describe("a server that signs its push notifications [SEC-41]", () => {
  it.each<SignatureAlgorithm>(["ES256", "EdDSA", "RS256"])(
    "with %s is believed by whoever reads its keys, and shows no private one [I-12]",
    async (alg) => {
      const { url, hook, got, errors, ended } = await startSigningServer({
        signing: { privateKey: await generateSigningKey(alg), issuer: "https://agents.example" },
      });
      await sendMessage(url, { url: hook });
      await ended;
      const kinds = got.map((event) => Object.keys(event)[0]);
      expect(kinds).toEqual(["task", "statusUpdate", "artifactUpdate", "statusUpdate"]);
      expect(errors).toEqual([]);
      const keys = await fetch(`${url}/.well-known/jwks.json`);
      expect(keys.headers.get("content-type")).toBe("application/json");
      const {
        keys: [key],
      } = (await keys.json()) as { keys: object[] };
      expect(key).toMatchObject({ alg, use: "sig" });
      expect(key).not.toHaveProperty("d");
    },
  );

  it("signs in addition to the authorization that a webhook configures [I-05]", async () => {
    const { url, hook, got, ended } = await startSigningServer({
      signing: { privateKey: await generateSigningKey() },
    });
    await sendMessage(url, { url: hook, authentication: { scheme: "Bearer", credentials: "secret" } });
    await ended;
    expect(got).toHaveLength(4);
  });

  it("also publishes its former keys", async () => {
    const [now, before] = await Promise.all([generateSigningKey(), generateSigningKey("EdDSA")]);
    const { url } = await startSigningServer({
      signing: { privateKey: now, previousKeys: [{ privateKey: before }] },
    });
    const { keys } = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as {
      keys: { kid: string }[];
    };
    expect(keys.map(({ kid }) => kid)).toEqual([now.kid, before.kid]);
  });
});

it("a server without signing publishes no keys, and its notifications fail verification [I-12]", async () => {
  const { url, hook, got, errors } = await startSigningServer({ retry: { initialDelayMs: 1 } });
  expect((await fetch(`${url}/.well-known/jwks.json`)).status).toBe(404);
  await sendMessage(url, { url: hook });
  await expect.poll(() => errors.length).toBeGreaterThan(2);
  expect(got).toEqual([]);
});

it("a server with an invalid signing key does not start", async () => {
  const server = createServer(
    { parrot: messageCommandTestAgent },
    { store: "memory", push: { signing: { privateKey: "no key" } } },
  );
  onTestFinished(() => server.close());
  await expect(server.listen()).rejects.toThrow(/alg/);
});
