import { describe, expect, it } from "vitest";
import { CallerActivityRegistry } from "./caller-activity-registry.ts";

describe("the registry of active callers", () => {
  it("forgets only idle callers when it has more than twice the limit of runs", () => {
    const registry = new CallerActivityRegistry<string>({ runs: 1, runsPerCaller: 1 });
    const getState = (principal: string): ReturnType<typeof registry.getOrCreate> =>
      registry.getOrCreate({ tenant: "", principal });
    const running = getState("running");
    running.runLimit.acquireOrThrow();
    const sending = getState("sending");
    sending.inFlightMessages.set("m", "in flight");
    const idle = getState("idle");
    expect(getState("idle")).toBe(idle);

    getState("newcomer");

    expect(getState("running")).toBe(running);
    expect(() => getState("running").runLimit.acquireOrThrow()).toThrow(/running agents for this caller/);
    expect(getState("sending")).toBe(sending);
    expect(getState("idle")).not.toBe(idle);
  });
});
