/** Tests the check by which `npm run lab -- interop --tap-faults` judges the records of other SDKs. */
import { JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkInjectedFaults } from "../../lab/interop/check-injected-faults.ts";
import type { RunningTestServer } from "../../src/client/a2a-client.contract.ts";
import { serveWithOfficialSdk } from "../../src/client/a2a-js-server.fixture.ts";
import type { TrafficLine } from "../../src/observe/trace/index.ts";
import { collectEvents, createSdkClient, createTextRequest } from "../interop/sdk-client.ts";
import { startTestTap, waitForLines } from "./tapped-record.ts";

let server: RunningTestServer;
beforeAll(async () => {
  server = await serveWithOfficialSdk();
});
afterAll(() => server.close());

/** Streams one message through a tap with a fault, and returns the lines of the call. */
async function recordWithFault(fault: string): Promise<TrafficLine[]> {
  const tap = await startTestTap([server.url], { faults: [fault] });
  const client = await createSdkClient(tap.url, "JSONRPC", new JsonRpcTransportFactory());
  await collectEvents(client.sendMessageStream(createTextRequest("count"))).catch(() => {});
  const lines = await waitForLines(tap, (all) =>
    all.some((line) => line.kind === "stream-end" || (line.kind === "response" && line.error !== undefined)),
  );
  await tap.close();
  return lines;
}

describe("the check of injected faults", () => {
  it.each([
    ["cut:after=2", "cut", "stream-end"],
    ["drop:frame=2", "drop", "frame"],
    ["duplicate:frame=2", "duplicate", "frame"],
    ["429:retry-after=1", "reject", "response"],
    ["drop", "drop", "response"],
    ["kill:ms=0,after=1", "kill", "stream-end"],
  ])("accepts the record of %s, and misses the lines that show its effect", async (rule, fault, kind) => {
    const lines = await recordWithFault(rule);
    expect(checkInjectedFaults(lines)).toEqual({ faults: { [fault]: 1 }, problems: [] });
    const damaged = lines.filter((line) => line.kind !== kind);
    expect(checkInjectedFaults(damaged).problems).not.toEqual([]);
    if (kind !== "frame") return;
    const withoutFault = lines.filter((line) => line.kind !== "fault");
    expect(checkInjectedFaults(withoutFault).problems).toHaveLength(1);
  });

  it("accepts the record of a delay, and misses the time of the delay", async () => {
    const lines = await recordWithFault("delay:ms=50");
    expect(checkInjectedFaults(lines)).toEqual({ faults: { delay: 1 }, problems: [] });
    const fast = lines.map((line) => (line.kind === "response" ? { ...line, duration_ms: 1 } : line));
    expect(checkInjectedFaults(fast).problems).toEqual([
      expect.stringContaining("delay 50 ms has no delayed response"),
    ]);
  });
});
