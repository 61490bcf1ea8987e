import { describe, expect, it } from "vitest";
import { describeUnknownCaller } from "./describe-unknown-caller.ts";

const describeCaller = (userAgent?: string, address?: string): object =>
  describeUnknownCaller({
    ...(userAgent === undefined ? {} : { headers: { "user-agent": userAgent } }),
    ...(address === undefined ? {} : { from_address: address }),
  });

describe("an unknown caller", () => {
  it.each([
    ["python-httpx/0.28.1", "127.0.0.1", "client (python-httpx/0.28.1)"],
    [
      "grpc-python-asyncio/1.80.0 grpc-c/54.0.0 (linux; chttp2)",
      "::1",
      "client (grpc-python-asyncio/1.80.0)",
    ],
    ["Mozilla/5.0 (X11; Linux x86_64)", undefined, "client (browser)"],
    ["node", "10.0.0.7", "client (node, 10.0.0.7)"],
    [undefined, "10.0.0.7", "client (10.0.0.7)"],
    ["colloquy-console", "10.0.0.7", "console"],
  ])("with the User-Agent %j and the address %j is named %s", (userAgent, address, name) => {
    expect(describeCaller(userAgent, address)).toEqual({ name, evidence: "headers" });
  });

  it.each([
    [undefined, undefined],
    ["", "::ffff:127.0.0.1"],
    ["x".repeat(61), "127.0.0.1"],
  ])("without evidence is a client (%j, %j)", (userAgent, address) => {
    expect(describeCaller(userAgent, address)).toEqual({ name: "client", evidence: "none" });
  });
});
