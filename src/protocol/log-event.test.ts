import { expect, it } from "vitest";
import { LogEvent } from "./log-event.ts";

it("encodes an event once for each encoder, although readers of several encodings alternate", () => {
  const calls: string[] = [];
  const encodeText = (): string => {
    calls.push("text");
    return "text";
  };
  const encodeBytes = (): Uint8Array => {
    calls.push("bytes");
    return new Uint8Array([1]);
  };
  const event = LogEvent.create(1, { message: { messageId: "m", role: "ROLE_AGENT", parts: [] } });
  const bytes = event.encodeWith(encodeBytes);
  for (let round = 0; round < 3; round++) {
    expect(event.encodeWith(encodeText)).toBe("text");
    expect(event.encodeWith(encodeBytes)).toBe(bytes);
  }
  expect(calls).toEqual(["bytes", "text"]);
});
