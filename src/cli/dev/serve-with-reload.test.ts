import { describe, expect, it } from "vitest";
import { ReloadNoticeSource } from "./serve-with-reload.ts";

describe("the notices of a reload", () => {
  it("name the earlier id of the renamed agent, and of no other agent of the same file", () => {
    const report = {
      agents: {},
      reloaded: ["weather"],
      added: ["greeter"],
      removed: ["hello"],
      renamed: { from: "hello", to: "greeter" },
      failures: [],
    };
    const notices = new ReloadNoticeSource("/").listNotices(report, [], "2026-11-29T00:00:00.000Z");
    expect(notices).toMatchObject([
      { kind: "agentRemoved", agent: "hello" },
      { kind: "agentReloaded", agent: "weather" },
      { kind: "agentReloaded", agent: "greeter", earlierId: "hello" },
    ]);
    expect(notices[1]).not.toHaveProperty("earlierId");
  });
});
