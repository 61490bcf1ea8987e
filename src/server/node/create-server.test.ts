import { expect, it, onTestFinished } from "vitest";
import { messageCommandTestAgent } from "../server.fixture.ts";
import { createServer } from "./create-server.ts";

it("createServer throws on Node.js 20, which lacks functions that every request needs", () => {
  const descriptor = Object.getOwnPropertyDescriptor(Promise, "withResolvers") as PropertyDescriptor;
  Object.defineProperty(Promise, "withResolvers", { ...descriptor, value: undefined });
  onTestFinished(() => void Object.defineProperty(Promise, "withResolvers", descriptor));
  expect(() => createServer(messageCommandTestAgent, { store: "memory" })).toThrow(
    `Colloquy requires Node.js 22.18 or later, and this is ${process.version}.`,
  );
});
