import { expect, it } from "vitest";
import {
  buildTestAgentCard,
  createTestJsonRpcResponder,
  sendTestJsonResponse,
  startRequestRecordingTestServer,
} from "../../client/request-recording-test-server.fixture.ts";
import { createMcpServer } from "./index.ts";

it("an MCP server sends no credentials to an agent that only a card of another origin names", async () => {
  const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } };
  const agent = await startRequestRecordingTestServer(createTestJsonRpcResponder(task));
  const { url } = await startRequestRecordingTestServer((response) =>
    sendTestJsonResponse(response, buildTestAgentCard(agent.url)),
  );
  for (const connectOptions of [{ auth: { bearer: "s3cret" } }, { headers: { "x-api-key": "s3cret" } }])
    await expect(createMcpServer({ far: url }, { connectOptions })).rejects.toThrow(
      `set { trustedOrigins: ["${agent.url}"] }`,
    );
  expect(agent.seen).toEqual([]);
  const trusted = { auth: { bearer: "s3cret" }, trustedOrigins: [agent.url] };
  const server = await createMcpServer({ far: url }, { connectOptions: trusted });
  await server.close();
});
