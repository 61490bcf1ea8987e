import { createServer, type AddressInfo } from "node:net";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { LogEvent } from "../../protocol/index.ts";
import { createWebhookValidator, WebhookUrlGuard, type WebhookUrlGuardOptions } from "./webhook-url-guard.ts";
import type { HostResolver } from "./dns-lookup-queue.ts";
import { TestWebhookReceiver } from "./test-webhook-receiver.fixture.ts";
import { WebhookSender, type WebhookSenderOptions } from "./webhook-sender.ts";
import { countRuns } from "../../../test/support/count-runs.ts";
import { arbitraryCharacter } from "../../../test/support/arbitrary-character.ts";
import { arbitraryUrl } from "../../../test/support/arbitrary-url.ts";

const createResolver =
  (...addresses: string[]): HostResolver =>
  async () =>
    addresses;

/** Returns the violations of a URL at registration. */
async function listViolations(url: string, options: WebhookUrlGuardOptions = {}): Promise<string[]> {
  const guard = new WebhookUrlGuard({ resolve: createResolver("1.1.1.1"), ...options });
  return (await createWebhookValidator(guard)({ url }, "alice")).map(
    ({ field, description }) => `${field} ${description}`,
  );
}

const PRIVATE_URLS = `
  http://127.0.0.1/ http://127.1/ http://2130706433/ http://0x7f000001/ http://017700000001/
  http://127.0.0.1./ http://0/ http://[::1]/ http://[::ffff:127.0.0.1]/ http://[::ffff:7f00:1]:8080/
  http://localhost/ http://LOCALHOST./ http://foo.localhost:3000/ https://10.0.0.1/ https://192.168.1.1/
  https://172.31.255.255/ http://169.254.169.254/latest/ http://100.100.100.200/ http://[fd00:ec2::254]/
  http://[fe80::1]/ http://[64:ff9b::7f00:1]/ http://①②⑦.⓪.⓪.①/ http://1２7.0.0.1/ http://0.0.0.0:8022/
  http://224.0.0.1/ http://255.255.255.255/
`
  .trim()
  .split(/\s+/);

const INVALID_URLS = [
  "",
  "notaurl",
  "/hook",
  "//example.com/",
  "https://",
  "http://a b/",
  "ftp://example.com/",
  "file:///etc/passwd",
  "gopher://example.com/",
  "data:text/plain,x",
  "javascript:alert(1)",
  "ws://example.com/",
  "unix:/run/x.sock",
  "https://user@example.com/",
  "https://user:pw@example.com/",
  "https://:pw@example.com/",
  `https://example.com/${"x".repeat(2048)}`,
];

describe("a webhook at registration", () => {
  it.each(PRIVATE_URLS)("is rejected at %s [I-09]", async (url) => {
    expect(await listViolations(url)).toEqual([
      expect.stringMatching(/^url names the host .*, which is in a private network;/),
    ]);
    expect(await listViolations(url, { allowPrivate: true })).toEqual([]);
  });

  it.each(INVALID_URLS)("is rejected at %j, whatever is allowed [I-09]", async (url) => {
    expect(await listViolations(url, { allowPrivate: true })).toHaveLength(1);
  });

  it.each([
    "https://example.com/hook?a=b#c",
    "http://example.com:8080",
    "https://1.1.1.1/",
    "https://[2606:4700::1111]/",
  ])("is accepted at %s", async (url) => {
    expect(await listViolations(url)).toEqual([]);
  });

  it.each([22, 25, 6667, 10_080])(
    "is rejected at port %i, which belongs to another protocol than HTTP",
    async (port) => {
      const violation = [expect.stringContaining(`has the port ${port}`)];
      expect(await listViolations(`https://example.com:${port}/`)).toEqual(violation);
      expect(await listViolations(`http://1.1.1.1:${port}/`)).toEqual(violation);
      expect(await listViolations(`http://10.0.0.1:${port}/`, { allowPrivate: ["10.0.0.1"] })).toEqual([]);
    },
  );

  it("is rejected when any address of its host is private [I-09]", async () => {
    const url = "https://example.com/";
    expect(await listViolations(url, { resolve: createResolver("1.1.1.1", "10.0.0.1") })).toHaveLength(1);
    expect(
      await listViolations(url, { resolve: createResolver("2606:4700::1", "::ffff:10.0.0.1") }),
    ).toHaveLength(1);
    expect(await listViolations(url, { resolve: createResolver("1.1.1.1", "1.0.0.1") })).toEqual([]);
  });

  it("is rejected without its addresses in the message", async () => {
    const [text] = await listViolations("https://wiki.corp/", { resolve: createResolver("10.9.8.7") });
    expect(text).not.toContain("10.9.8.7");
  });

  it("is accepted when its host cannot be resolved within a second", async () => {
    const failing = (): Promise<never> => Promise.reject(new Error("EAI_AGAIN"));
    expect(await listViolations("https://example.com/", { resolve: failing })).toEqual([]);
    const hanging = (): Promise<never> => new Promise(() => {});
    expect(await listViolations("https://example.com/", { resolve: hanging })).toEqual([]);
  });

  it("can be at listed private hosts, and at no others [I-09]", async () => {
    const options = { allowPrivate: ["10.1.0.0/16", "hooks.internal", "*.svc.cluster.local"] };
    expect(await listViolations("http://10.1.2.3/", options)).toEqual([]);
    expect(await listViolations("http://10.2.0.1/", options)).toHaveLength(1);
    expect(
      await listViolations("http://hooks.internal/", { ...options, resolve: createResolver("192.168.0.1") }),
    ).toEqual([]);
    expect(
      await listViolations("http://a.b.svc.cluster.local./", {
        ...options,
        resolve: createResolver("10.9.0.1"),
      }),
    ).toEqual([]);
    expect(
      await listViolations("http://other.example/", {
        ...options,
        resolve: createResolver("10.1.0.1", "1.1.1.1"),
      }),
    ).toEqual([]);
    expect(
      await listViolations("http://other.example/", {
        ...options,
        resolve: createResolver("10.1.0.1", "10.2.0.1"),
      }),
    ).toHaveLength(1);
    expect(await listViolations("http://localhost/", options)).toHaveLength(1);
    expect(await listViolations("https://example.com/", options)).toEqual([]);
  });

  it("must be at an allowed host when there is a list [I-09]", async () => {
    const options = { allowedHosts: ["hooks.example.com", "198.100.0.0/16"] };
    expect(await listViolations("https://hooks.example.com/", options)).toEqual([]);
    expect(await listViolations("https://198.100.1.1/", options)).toEqual([]);
    expect(
      await listViolations("https://example.com/", { ...options, resolve: createResolver("198.100.2.2") }),
    ).toEqual([]);
    for (const url of ["https://example.com/", "https://1.1.1.1/", "https://x.hooks.example.com/"])
      expect(await listViolations(url, options)).toEqual([expect.stringContaining("not among the hosts")]);
    // An allowed host must still be public.
    expect(
      await listViolations("https://hooks.example.com/", { ...options, resolve: createResolver("10.0.0.1") }),
    ).toHaveLength(1);
  });

  it("has secrets that are valid in a header [I-05]", async () => {
    const check = createWebhookValidator(new WebhookUrlGuard({ resolve: createResolver("1.1.1.1") }));
    const url = "https://example.com/";
    const fields = async (config: object): Promise<string[]> =>
      (await check({ url, ...config }, "alice")).map(({ field }) => field);
    expect(
      await fields({ token: "a b", authentication: { scheme: "Digest", credentials: 'a="b", c=d' } }),
    ).toEqual([]);
    expect(await fields({ token: "", authentication: { scheme: "Bearer" } })).toEqual([]);
    for (const bad of ["a\r\nx: y", "a\n", " a", "a ", "ü", "\u0000", "x".repeat(8193)]) {
      expect(await fields({ token: bad })).toEqual(["token"]);
      expect(await fields({ authentication: { scheme: "Bearer", credentials: bad } })).toEqual([
        "authentication.credentials",
      ]);
    }
    for (const scheme of ["", "Bearer x", "a:b", "ä"])
      expect(await fields({ authentication: { scheme } })).toEqual(["authentication.scheme"]);
    expect(await fields({ id: "x".repeat(257) })).toEqual(["id"]);
  });

  it("is validated without an exception, whatever the URL", async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string({ unit: arbitraryCharacter }), arbitraryUrl), async (url) => {
        expect((await listViolations(url)).length).toBeLessThanOrEqual(1);
      }),
      { numRuns: countRuns(30, 200) },
    );
  });
});

describe("a notification", () => {
  const event = LogEvent.create(1, { message: { messageId: "m", role: "ROLE_AGENT", parts: [] } });
  const never = new AbortController().signal;

  function send(
    url: string,
    options: WebhookUrlGuardOptions,
    times: Partial<WebhookSenderOptions> = {},
  ): ReturnType<WebhookSender["deliver"]> {
    const sender = new WebhookSender({ guard: new WebhookUrlGuard(options), timeoutMs: 5000, ...times });
    onTestFinished(() => sender.close());
    const scope = { tenant: "", principal: "", agent: "a" };
    return sender.deliver(
      { webhook: { scope, taskId: "t", version: "1.0", config: { id: "c", url } }, event },
      never,
    );
  }

  async function listening(): Promise<TestWebhookReceiver> {
    const receiver = await new TestWebhookReceiver().listen();
    onTestFinished(() => receiver.close());
    return receiver;
  }

  it("is not sent to a private address in any notation [I-09] [SEC-24]", async () => {
    const receiver = await listening();
    const { port } = receiver;
    for (const host of [
      "127.0.0.1",
      "127.1",
      "2130706433",
      "0x7f.1",
      "[::ffff:127.0.0.1]",
      "localhost",
      "0.0.0.0",
      "localhost.",
    ])
      expect(await send(`http://${host}:${port}/`, {})).toMatchObject({ ok: false, isPermanent: true });
    expect(receiver.requests).toEqual([]);
    // This request proves that the receiver listens.
    expect(await send(`http://127.1:${port}/`, { allowPrivate: true })).toEqual({ ok: true });
    expect(receiver.requests).toHaveLength(1);
  });

  it("is not sent to a name that was public at registration and is private now (DNS rebinding) [I-09] [SEC-25]", async () => {
    const receiver = await listening();
    const answers = [["192.88.98.1"], ["127.0.0.1"]];
    const rebinding = { resolve: async () => answers.shift() ?? ["127.0.0.1"] };
    const url = `http://rebind.example:${receiver.port}/`;
    expect(await createWebhookValidator(new WebhookUrlGuard(rebinding))({ url }, "alice")).toEqual([]);
    for (let at = 0; at < 5; at++)
      expect(await send(url, rebinding)).toMatchObject({
        ok: false,
        isPermanent: true,
        reason: expect.stringContaining("private") as string,
      });
    expect(receiver.requests).toEqual([]);
  });

  it("is sent to the checked address: the name is resolved once per connection [I-09]", async () => {
    const receiver = await listening();
    let lookupCount = 0;
    const resolveOnce = async (): Promise<string[]> => (lookupCount++ === 0 ? ["127.0.0.1"] : ["127.0.0.2"]);
    const options = { resolve: resolveOnce, allowPrivate: ["127.0.0.1"] };
    expect(await send(`http://pinned.example:${receiver.port}/`, options)).toEqual({ ok: true });
    expect(lookupCount).toBe(1);
    expect(receiver.requests[0]?.headers.host).toBe(`pinned.example:${receiver.port}`);
  });

  it("is not sent to a name with a private address among its addresses [I-09]", async () => {
    const receiver = await listening();
    const url = `http://both.example:${receiver.port}/`;
    expect(await send(url, { resolve: createResolver("127.0.0.1", "1.1.1.1") })).toMatchObject({
      isPermanent: true,
    });
    expect(await send(url, { resolve: createResolver("1.1.1.1", "::1") })).toMatchObject({
      isPermanent: true,
    });
    expect(receiver.requests).toEqual([]);
  });

  it("does not follow a redirect to a private address, nor any other [I-08, I-09] [SEC-26]", async () => {
    const secret = await listening();
    const open = await listening();
    open.defaultResponse = { status: 307, headers: { location: secret.url() } };
    const url = `http://open.example:${open.port}/`;
    const options = { resolve: createResolver("127.0.0.1"), allowPrivate: ["open.example"] };
    expect(await send(url, options)).toMatchObject({
      ok: false,
      reason: expect.stringContaining("307") as string,
    });
    expect(secret.requests).toEqual([]);
  });

  it("fails when the receiver switches the protocol or sends no response", async () => {
    for (const answer of [
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
      "\r\n",
    ]) {
      const receiver = createServer((socket) => {
        socket.on("error", () => {});
        socket.once("data", () => socket.end(answer));
      });
      await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void receiver.close());
      const { port } = receiver.address() as AddressInfo;
      const sent = send(`http://127.0.0.1:${port}/`, { allowPrivate: true });
      expect(await sent).toMatchObject({ ok: false, reason: expect.stringMatching(/^The receiver /) });
    }
  });

  it("times out sooner without a connection than without a response [I-07]", async () => {
    const times = { connectTimeoutMs: 50, timeoutMs: 60_000 };
    const timeoutResult = { ok: false, reason: "The receiver did not accept the connection within 50 ms." };
    // The first receiver does not complete the TLS handshake. The second name is never resolved.
    const mute = createServer((socket) => socket.on("error", () => {}));
    await new Promise<void>((resolve) => mute.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void mute.close());
    const { port } = mute.address() as AddressInfo;
    expect(await send(`https://127.0.0.1:${port}/`, { allowPrivate: true }, times)).toEqual(timeoutResult);
    const hanging = { resolve: () => new Promise<never>(() => {}) };
    expect(await send("http://example.com/", hanging, times)).toEqual(timeoutResult);
    const receiver = await listening();
    receiver.defaultResponse = "hang";
    expect(
      await send(receiver.url(), { allowPrivate: true }, { connectTimeoutMs: 50, timeoutMs: 150 }),
    ).toMatchObject({ reason: "The receiver did not respond within 150 ms." });
  });

  it("fails temporarily when the name cannot be resolved", async () => {
    const failing = (): Promise<never> =>
      Promise.reject(Object.assign(new Error("no"), { code: "EAI_AGAIN" }));
    expect(await send("http://example.com/", { resolve: failing })).toEqual({
      ok: false,
      reason: "The receiver is not reachable: EAI_AGAIN.",
    });
  });
});
