import { describe, expect, it } from "vitest";
import { findTestDatabase } from "../../support/find-test-postgres.ts";
import { runRollingRestart } from "./rolling-restart.ts";

const { url, reason } = await findTestDatabase();

describe.skipIf(reason)("a rolling restart of two servers behind a load balancer", () => {
  it("loses and repeats no event of an open stream, and fails no request [E21, E1, E4]", async () => {
    const options = { streams: 20, events: 60, eventIntervalMs: 25, drainMs: 400 };
    const report = await runRollingRestart(url, options);
    expect(report).toMatchObject({ brokenStreams: 0, failures: [] });
    expect(report.movedTurns).toBeGreaterThanOrEqual(10);
    expect(report.requests).toBeGreaterThan(3);
  });
});
