import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  buildTestAgentCard,
  createTestJsonRpcResponder,
  type RecordedTestRequest,
  sendTestJsonResponse,
  startRequestRecordingTestServer,
} from "../client/request-recording-test-server.fixture.ts";
import { createTempTestDirectoryWithFiles } from "./cli-test-process.fixture.ts";
import { runCliExpectingError, runCliExpectingSuccess } from "./spec/run-command.fixture.ts";

const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } };

/** Starts a server whose card names an agent on a second server. */
async function serveCardForOtherOrigin(): Promise<{
  cardUrl: string;
  agentUrl: string;
  agentRequests: readonly RecordedTestRequest[];
}> {
  const agent = await startRequestRecordingTestServer(createTestJsonRpcResponder(task));
  const { url } = await startRequestRecordingTestServer((response) =>
    sendTestJsonResponse(response, buildTestAgentCard(agent.url)),
  );
  return { cardUrl: url, agentUrl: agent.url, agentRequests: agent.seen };
}

const env = { A2ACLI_BEARER: "s3cret" };

describe("credentials of the command line", () => {
  it("are not sent to an agent that only a card of another origin names, without --trust-origin", async () => {
    const { cardUrl, agentUrl, agentRequests } = await serveCardForOtherOrigin();
    const error = await runCliExpectingError(["task", "get", cardUrl, "t"], { env });
    expect(error.hint).toBe(`If you trust that agent, pass --trust-origin ${agentUrl}.`);
    for (const words of [
      ["send", cardUrl, "hello"],
      ["task", "cancel", cardUrl, "t"],
    ])
      await runCliExpectingError(words, { env });
    expect(agentRequests).toEqual([]);
  });

  it("are sent to the origin that --trust-origin names, and to no other", async () => {
    const { cardUrl, agentUrl, agentRequests } = await serveCardForOtherOrigin();
    const words = ["task", "get", cardUrl, "t", "--trust-origin"];
    await runCliExpectingError([...words, "http://127.0.0.1:1"], { env });
    expect(agentRequests).toEqual([]);
    await runCliExpectingSuccess([...words, agentUrl], { env });
    expect(agentRequests.map(({ headers }) => headers.authorization)).toEqual(["Bearer s3cret"]);
  });

  it("are not sent to an origin that only a discovered .env file trusts", async () => {
    const { cardUrl, agentUrl, agentRequests } = await serveCardForOtherOrigin();
    const cwd = await createTempTestDirectoryWithFiles({});
    await writeFile(join(cwd, ".env"), `A2ACLI_TRUST_ORIGIN=${agentUrl}\n`);
    await runCliExpectingError(["task", "get", cardUrl, "t"], { env, cwd });
    expect(agentRequests).toEqual([]);
  });

  it("are not required for a call without credentials to that agent", async () => {
    const { cardUrl, agentRequests } = await serveCardForOtherOrigin();
    await runCliExpectingSuccess(["task", "get", cardUrl, "t"]);
    expect(agentRequests).toHaveLength(1);
  });
});
