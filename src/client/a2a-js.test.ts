import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { serveWithOfficialSdk as serve } from "./a2a-js-server.fixture.ts";
import { connect } from "./index.ts";
import { collectEvents, describeA2AClient, BINDINGS_0_3, BINDINGS_1_0 } from "./a2a-client.contract.ts";

// The official server logs each error response before a stream starts.
beforeAll(() => void vi.spyOn(console, "error").mockReturnValue());
afterAll(() => void vi.restoreAllMocks());

describeA2AClient("the official SDK's server", [...BINDINGS_1_0, ...BINDINGS_0_3], serve);

it.each(["JSONRPC", "HTTP+JSON", "GRPC"] as const)(
  "an answer without a task is a message over %s [G-01]",
  async (binding) => {
    const served = await serve();
    const remote = await connect(served.url, { binding });
    const message = { role: "ROLE_AGENT", parts: [{ text: "hi" }] };
    expect(await remote.send("message")).toMatchObject({ message });
    expect(await collectEvents(remote.stream("message"))).toMatchObject([{ message }]);
    await served.close();
  },
);
