import { expect, it } from "vitest";
import { agent } from "../../agents/adapters/index.ts";
import { MemoryStore } from "../../stores/index.ts";
import { createServer } from "./create-server.ts";

const echo = agent({ name: "echo", description: "Repeats" }, async function* ({ text }) {
  yield text;
});

class SharedStore extends MemoryStore {
  readonly nodes = { hasOtherNodes: false };
}

it.each([
  ["no store", {}, "The default store requires Node.js, Bun, or Deno"],
  ["a store address", { store: "postgres://u:secret@h/db" }, 'The store "postgres://***@h/db" requires'],
  ["a store that several servers share", { store: new SharedStore() as never }, "The store memory requires"],
  ["push notifications", { store: "memory", push: {} }, 'The option "push" requires'],
])("a server without Node.js refuses %s", (_, options, message) => {
  expect(() => createServer(echo, options as never)).toThrow(message);
});
