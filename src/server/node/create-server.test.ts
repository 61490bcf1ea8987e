import { expect, it, vi } from "vitest";
import { messageCommandTestAgent } from "../server.fixture.ts";
import { createServer } from "./create-server.ts";

it("createServer throws on Node.js 20, which lacks functions that every request needs", () => {
  vi.spyOn(Promise, "withResolvers", "get").mockReturnValue(undefined as never);
  try {
    expect(() => createServer(messageCommandTestAgent, { store: "memory" })).toThrow(
      `Colloquy requires Node.js 22.13 or later, and this is ${process.version}.`,
    );
  } finally {
    vi.restoreAllMocks();
  }
});
