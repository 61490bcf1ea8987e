import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { agent } from "../agents/adapters/index.ts";
import { connect } from "../client/index.ts";
import { createLogObserver } from "../observe/logging/index.ts";
import { bearer } from "./auth/index.ts";
import { createServer } from "./index.ts";

const SECRETS = {
  bearerToken: "bearer-token-of-ada-0123456789",
  rejectedToken: "rejected-token-0123456789",
  webhookToken: "webhook-token-0123456789",
  webhookCredentials: "webhook-credentials-0123456789",
};
/** A text that the files have to contain, so that the search can find something. */
const PROBE = "text-of-a-message-0123456789";

it("the log and the store of a server contain no bearer tokens and no secrets of webhooks", async () => {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-secrets-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const observer = createLogObserver({
    format: "json",
    requests: true,
    write: (entry) => appendFileSync(join(folder, "server.log"), entry),
  });
  const failing = agent({ name: "failing", description: "Fails" }, async function* ({ text }) {
    yield text;
    throw new Error(
      `${PROBE} POST failed: {"authorization":"Bearer ${SECRETS.bearerToken}","token":"${SECRETS.webhookToken}"}`,
    );
  });
  const server = createServer(failing, {
    store: `sqlite:${join(folder, "tasks.db")}`,
    observer,
    authenticate: bearer({ tokens: { [SECRETS.bearerToken]: "ada" } }),
    push: { allowPrivate: true },
  });
  const { url } = await server.listen();
  const headers = { authorization: `Bearer ${SECRETS.bearerToken}` };
  const client = await connect(url, { headers });
  const config = {
    url: "http://127.0.0.1:9/hook",
    token: SECRETS.webhookToken,
    authentication: { scheme: "Bearer", credentials: SECRETS.webhookCredentials },
  };
  const response = await client.send(PROBE, { configuration: { taskPushNotificationConfig: config } });
  const taskId = "task" in response ? response.task.id : "";
  const stranger = await connect(url, { headers: { authorization: `Bearer ${SECRETS.rejectedToken}` } });
  await expect(stranger.tasks.get(taskId)).rejects.toMatchObject({ reason: "UNAUTHENTICATED" });
  await server.close({ graceMs: 0 });

  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const contents = new Map(files.map(({ name }) => [name, readFileSync(join(folder, name), "latin1")]));
  for (const name of ["server.log", "tasks.db"]) expect(contents.get(name)).toContain(PROBE);
  const findings = [...contents].flatMap(([name, text]) =>
    Object.entries(SECRETS).flatMap(([secret, value]) =>
      text.includes(value) ? `${secret} in ${name}` : [],
    ),
  );
  expect(findings).toEqual([]);
});
