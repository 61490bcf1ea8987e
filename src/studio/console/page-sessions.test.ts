import { afterEach, expect, it } from "vitest";
import { bearer } from "../../server/auth/index.ts";
import { messageCommandTestAgent } from "../../server/server.fixture.ts";
import type { ServerOptions } from "../../server/index.ts";
import { CONSOLE_KEY_HEADER } from "../console-api/index.ts";
import { ConsoleTestServer, TEST_LAUNCH_TOKEN } from "./console.fixture.ts";
import { PageSessions } from "./page-sessions.ts";

const ADA = "token-of-ada-0123456789";
const BOB = "token-of-bob-0123456789";
let console: ConsoleTestServer;
afterEach(() => console?.close());

const start = async (serverOptions: ServerOptions = {}, sessionSecret = "a secret"): Promise<void> => {
  console = await ConsoleTestServer.start({ parrot: messageCommandTestAgent }, serverOptions, {
    sessionSecret,
  });
};

interface Session {
  readonly cookie: string;
  readonly key: string;
  /** The header `set-cookie`. */
  readonly setCookie: string;
}

async function signIn(body: object): Promise<Session> {
  const response = await console.request("POST sign-in", { token: false, body });
  const { key } = (await response.json()) as { key: string };
  const setCookie = response.headers.get("set-cookie") ?? "";
  return { cookie: setCookie.split(";")[0] ?? "", key, setCookie };
}

async function readStatus(route: string, { cookie, key }: Partial<Session>, headers = {}): Promise<number> {
  const session = { ...(cookie && { cookie }), ...(key && { [CONSOLE_KEY_HEADER]: key }) };
  const response = await console.request(route, { token: false, headers: { ...session, ...headers } });
  return response.status;
}

it("a session needs both its cookie and its key, which browsers send to no other port [SEC-85]", async () => {
  await start();
  const session = await signIn({ token: TEST_LAUNCH_TOKEN });
  const { port } = new URL(console.url);
  expect(session.setCookie).toMatch(
    new RegExp(
      `^colloquy-console-${port}-[0-9a-f]{8}=.*; Path=/console/; Max-Age=\\d+; HttpOnly; SameSite=Strict$`,
    ),
  );
  expect(await readStatus("GET session", session)).toBe(200);
  const other = await signIn({ token: TEST_LAUNCH_TOKEN });
  for (const part of [
    { cookie: session.cookie },
    { key: session.key },
    { cookie: session.cookie, key: other.key },
  ])
    expect(await readStatus("GET session", part)).toBe(401);
});

it("a request with a session changes the state only from the page of the console [SEC-90]", async () => {
  await start();
  const session = await signIn({ token: TEST_LAUNCH_TOKEN });
  const route = "POST agents/parrot/tasks/unknown/cancel";
  expect(await readStatus(route, session)).toBe(403);
  expect(await readStatus(route, session, { origin: "http://127.0.0.1:1" })).toBe(403);
  expect(await readStatus(route, session, { origin: console.url })).toBe(404);
});

it("a session survives a restart with the same secret, and no other", async () => {
  await start();
  const { port } = new URL(console.url);
  const session = await signIn({ token: TEST_LAUNCH_TOKEN });
  for (const [secret, status] of [
    ["a secret", 200],
    ["another secret", 401],
  ] as const) {
    await console.close();
    await start({}, secret);
    const cookie = session.cookie.replace(port, new URL(console.url).port);
    expect([secret, await readStatus("GET session", { ...session, cookie })]).toEqual([secret, status]);
  }
});

it("only a valid token or valid credentials start a session", async () => {
  await start({ authenticate: bearer({ tokens: { [ADA]: "Ada", [BOB]: "Bob" } }) });
  for (const body of [
    {},
    { token: TEST_LAUNCH_TOKEN },
    { headers: { authorization: "Bearer eve" } },
    { headers: { host: "ada" } },
    { headers: { authorization: `Bearer ${ADA}`, "x-api-key": "1" } },
  ]) {
    const response = await console.request("POST sign-in", { token: false, body });
    expect([body, response.status < 400, response.headers.get("set-cookie")]).toEqual([body, false, null]);
  }
  const [ada, bob] = [
    await signIn({ headers: { authorization: `Bearer ${ADA}` } }),
    await signIn({ headers: { authorization: `Bearer ${BOB}` } }),
  ];
  await console.send("parrot", "echo hello", { token: ADA });
  const countTasks = async ({ cookie, key }: Session): Promise<number> => {
    const headers = { cookie, [CONSOLE_KEY_HEADER]: key };
    return (await console.readJson<{ tasks: unknown[] }>("GET tasks", { token: false, headers })).tasks
      .length;
  };
  expect([await countTasks(ada), await countTasks(bob)]).toEqual([1, 0]);
  // The cookie is encrypted.
  expect(Buffer.from(ada.cookie.split("=")[1] ?? "", "base64url").toString("latin1")).not.toContain(ADA);
});

it("a session ends after 30 days", () => {
  const sessions = new PageSessions("a secret");
  const url = new URL("http://127.0.0.1:4120/console/");
  const { cookie, key } = sessions.create(url, { credentials: undefined }, 0);
  const request = new Request(url, {
    headers: { cookie: cookie.split(";")[0] ?? "", [CONSOLE_KEY_HEADER]: key },
  });
  const maxAgeMs = 30 * 24 * 60 * 60 * 1_000;
  expect(sessions.find(url, request, maxAgeMs - 1)).toEqual({ credentials: undefined });
  expect(sessions.find(url, request, maxAgeMs)).toBeUndefined();
});
