import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { findTestDatabase } from "../../../test/support/find-test-postgres.ts";
import { PostgresStore } from "../../stores/index.ts";
import { createServer, type Server } from "../index.ts";
import { buildTestMessage, messageCommandTestAgent, V1_JSON_TEST_HEADERS } from "../server.fixture.ts";

const { url: databaseUrl, reason } = await findTestDatabase();
const webhook = { id: "w", url: "https://1.1.1.1/" };
const secrets = [{ token: "t" }, { authentication: { scheme: "Bearer", credentials: "secret" } }];
const KEY_MISSING = /set "pushSecretKeys" of PostgresStore or COLLOQUY_PUSH_SECRET_KEYS on all servers/;

describe.skipIf(reason)("a PostgreSQL store without pushSecretKeys", () => {
  let server: Server;
  let url: string;

  beforeEach(async () => {
    vi.stubEnv("COLLOQUY_PUSH_SECRET_KEYS", "");
    server = createServer({ parrot: messageCommandTestAgent }, { store: new PostgresStore(databaseUrl) });
    ({ url } = await server.listen());
  });

  afterEach(async () => {
    vi.unstubAllEnvs();
    await server.close({ graceMs: 50 });
  });

  async function post(path: string, body: object): Promise<{ status: number; body: unknown }> {
    const headers = V1_JSON_TEST_HEADERS;
    const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, body: await response.json() };
  }

  const send = (config: object): ReturnType<typeof post> =>
    post("/message:send", {
      message: buildTestMessage("chunks 1"),
      configuration: { taskPushNotificationConfig: config },
    });

  it("registers a webhook without secrets", async () => {
    expect(await send(webhook)).toMatchObject({ status: 200 });
  });

  it.each(secrets)("refuses a message whose webhook has %o, and creates no task", async (secret) => {
    const refused = await send({ ...webhook, ...secret });
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringMatching(KEY_MISSING) as string } },
    });
    expect(JSON.stringify(refused.body)).toContain("UNSUPPORTED_OPERATION");
  });

  it.each(secrets)("refuses to register a webhook that has %o", async (secret) => {
    const { body } = await send(webhook);
    const { id } = (body as { task: { id: string } }).task;
    const refused = await post(`/tasks/${id}/pushNotificationConfigs`, { ...webhook, ...secret });
    expect(JSON.stringify(refused.body)).toMatch(/UNSUPPORTED_OPERATION/);
    expect(refused.body).toMatchObject({ error: { message: expect.stringMatching(KEY_MISSING) as string } });
  });
});
