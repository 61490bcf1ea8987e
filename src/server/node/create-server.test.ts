import { expect, it, onTestFinished } from "vitest";
import { messageCommandTestAgent } from "../server.fixture.ts";
import { createServer } from "./create-server.ts";

it("createServer throws on Node.js 20, which lacks functions that every request needs", () => {
  const { withResolvers } = Promise;
  Object.assign(Promise, { withResolvers: undefined });
  onTestFinished(() => void Object.assign(Promise, { withResolvers }));
  expect(() => createServer(messageCommandTestAgent, { store: "memory" })).toThrow(
    `Colloquy requires Node.js 22.13 or later, and this is ${process.version}.`,
  );
});
