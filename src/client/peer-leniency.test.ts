/** Responses of real peers that the specification forbids (`wire/leniency.ts`). */
import { describe, expect, it } from "vitest";
import {
  connectToRequestRecordingTestServer,
  createTestJsonRpcResponder,
} from "./request-recording-test-server.fixture.ts";

describe("a response with a time without an offset, as FastA2A sends it", () => {
  const status = { state: "TASK_STATE_COMPLETED", timestamp: "2026-01-31T12:00:00.123456" };
  const respond = createTestJsonRpcResponder({ id: "t", contextId: "c", status });

  it("counts the time as UTC", async () => {
    const { remote } = await connectToRequestRecordingTestServer(respond);
    expect((await remote.tasks.get("t")).status.timestamp).toBe("2026-01-31T12:00:00.123Z");
  });

  it("is rejected if the client accepts no deviations", async () => {
    const { remote } = await connectToRequestRecordingTestServer(respond, { peerLeniency: "none" });
    await expect(remote.tasks.get("t")).rejects.toMatchObject({ reason: "INVALID_AGENT_RESPONSE" });
  });
});
