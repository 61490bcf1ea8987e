import { describe, expect, it } from "vitest";
import type { StreamResponse } from "../protocol/index.ts";
import { createServer } from "../server/index.ts";
import {
  type CliTestProcess,
  runCliInTestProcess,
  spawnColloquyForTest,
} from "./cli-test-process.fixture.ts";
import {
  parseJsonLines,
  parseLabeledCliOutputFields,
  runCliExpectingSuccess,
} from "./spec/run-command.fixture.ts";
import { instructionFollowingTestAgent } from "./spec/test-servers.fixture.ts";

/** Starts the command, and waits for its URL and token. */
async function startWebhook(
  ...flags: string[]
): Promise<{ cli: CliTestProcess; url: string; token: string }> {
  const cli = spawnColloquyForTest(["webhook", ...flags]);
  const text = await cli.waitForOutput("Ctrl-C stops it.");
  const [, url = ""] = /^Webhook: (\S+)$/m.exec(text) ?? [];
  const [, token = ""] = /^Token: (\S+)$/m.exec(text) ?? [];
  return { cli, url, token };
}

const post = async (url: string, body: unknown, token: string): Promise<number> => {
  const headers = { "x-a2a-notification-token": token };
  return (await fetch(url, { method: "POST", body: JSON.stringify(body), headers })).status;
};

const createUpdate = (taskId: string): StreamResponse => ({
  statusUpdate: { taskId, contextId: "c", status: { state: "TASK_STATE_WORKING" } },
});

describe("webhook", () => {
  it("shows the notifications of a server, each with its task [PUSH_002]", async () => {
    const server = createServer(instructionFollowingTestAgent, {
      store: "memory",
      push: { allowPrivate: true },
    });
    const { url } = await server.listen();
    const asked = await runCliExpectingSuccess(["send", url, "ask"]);
    const { Task: id = "" } = parseLabeledCliOutputFields(asked.out);
    const webhook = await startWebhook();
    const config = ["task", "push-config", "create", url, id, "--url", webhook.url, "--token", webhook.token];
    await runCliExpectingSuccess(config);
    await runCliExpectingSuccess(["send", url, "--task-id", id, "Seoul"]);
    await webhook.cli.waitForOutput("TASK_STATE_COMPLETED");
    webhook.cli.child.kill("SIGINT");
    const { code, out } = await webhook.cli.result;
    expect(code).toBe(0);
    expect(out).toContain(`Task: ${id}\n`);
    expect(out).toContain("You said: Seoul");
    await server.close();
  });

  it("writes one JSON line per notification, ends after --count, and refuses others [PUSH_002]", async () => {
    const webhook = await startWebhook("-o", "json", "--count", "2", "--token", "a-token-of-mine");
    // The command does not repeat the token of the user.
    expect(webhook.token).toBe("");
    expect(await post(webhook.url, createUpdate("t"), "wrong")).toBe(401);
    expect(await post(webhook.url, { no: "event" }, "a-token-of-mine")).toBe(400);
    expect(await post(webhook.url, createUpdate("1"), "a-token-of-mine")).toBe(204);
    expect(await post(webhook.url, createUpdate("\u001b[2J"), "a-token-of-mine")).toBe(204);
    const { code, out, err } = await webhook.cli.result;
    expect(code).toBe(0);
    expect(parseJsonLines(out)).toEqual([createUpdate("1"), createUpdate("\u001b[2J")]);
    expect(err).toMatch(/^warning: a notification is refused: .*token/m);
    expect(out + err).not.toContain("\u001b");
    expect(out + err).not.toContain("a-token-of-mine");
  });

  it("reports a port in use, and a wrong number", async () => {
    const { url, cli } = await startWebhook();
    expect(await runCliInTestProcess(["webhook", "--port", new URL(url).port])).toMatchObject({
      code: 1,
      err: expect.stringContaining("A2ACLI_ERR_PORT_IN_USE") as string,
    });
    expect(await runCliInTestProcess(["webhook", "--count", "some"])).toMatchObject({ code: 2 });
    cli.child.kill("SIGINT");
    await cli.result;
  });
});
