import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { serveWithOfficialSdk as serve } from "./a2a-js-server.fixture.ts";
import { connect } from "./index.ts";
import {
  collectStreamEventsForTest,
  defineA2AClientContractTests,
  TESTED_0_3_BINDINGS,
  TESTED_1_0_BINDINGS,
} from "./a2a-client.contract.ts";

// The official server logs each error response before a stream starts.
beforeAll(() => void vi.spyOn(console, "error").mockReturnValue());
afterAll(() => void vi.restoreAllMocks());

defineA2AClientContractTests(
  "the official SDK's server",
  [...TESTED_1_0_BINDINGS, ...TESTED_0_3_BINDINGS],
  serve,
);

it.each(["JSONRPC", "HTTP+JSON", "GRPC"] as const)(
  "an answer without a task is a message over %s [G-01]",
  async (binding) => {
    const served = await serve();
    const remote = await connect(served.url, { binding });
    const message = { role: "ROLE_AGENT", parts: [{ text: "hi" }] };
    expect(await remote.send("message")).toMatchObject({ message });
    expect(await collectStreamEventsForTest(remote.stream("message"))).toMatchObject([{ message }]);
    await served.close();
  },
);
