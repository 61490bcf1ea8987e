import { describe, expect, it } from "vitest";
import { InFlightMessageRegistry } from "./in-flight-message-registry.ts";

describe("the registry of in-flight messages", () => {
  it("forgets only callers without messages when it has too many callers", () => {
    const registry = new InFlightMessageRegistry<string>(1);
    const getMessages = (principal: string): ReturnType<typeof registry.getOrCreate> =>
      registry.getOrCreate({ tenant: "", principal });
    const sending = getMessages("sending");
    sending.set("m", "in flight");
    const idle = getMessages("idle");
    expect(getMessages("idle")).toBe(idle);

    getMessages("newcomer");

    expect(getMessages("sending")).toBe(sending);
    expect(getMessages("idle")).not.toBe(idle);
  });
});
