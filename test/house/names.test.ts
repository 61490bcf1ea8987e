import { describe, expect, it } from "vitest";
import { findBadNames } from "../../scripts/readability/name-rules.ts";
import {
  isListOfNames,
  listNamesDeclaredInProject,
} from "../../scripts/readability/list-names-and-sentences.ts";

const declare = (
  name: string,
  kind: string,
): { name: string; kind: string; folder: string; file: string } => ({
  name,
  kind,
  folder: "src/room",
  file: "src/room/file.ts",
});

describe("names", () => {
  it("keep the rules that a program can check", () => {
    const names = listNamesDeclaredInProject();
    expect(names.length).toBeGreaterThan(5000);
    expect(findBadNames(names)).toEqual([]);
  });

  it.each([
    ["function", "nameOf"],
    ["method", "Store.tasksOf"],
    ["class", "TaskManager"],
    ["class", "DefaultStore"],
    ["interface", "ITask"],
    ["class", "Desk"],
    ["method", "Inbox.#told"],
  ])("break a rule when a %s is called %s", (kind, name) => {
    expect(findBadNames([declare(name, kind)])).toHaveLength(1);
  });

  it.each([
    ["const", "indexOf"],
    ["function", "oneOf"],
    ["class", "TaskStore"],
    ["function", "inferBinding"],
  ])("keep the rules when a %s is called %s", (kind, name) => {
    expect(findBadNames([declare(name, kind)])).toEqual([]);
  });
});

describe("the sentences of the reading test", () => {
  it.each([
    "engine's types, adapters, adk, cards, roles",
    "status updates, streamed text",
    "data-structures, protocol, engine, stores from `resolve-store.ts`, grpc from `bindings/grpc.ts`",
  ])("exclude the list of names: %s", (text) => {
    expect(isListOfNames(text)).toBe(true);
  });

  it.each([
    "sends one subtask to a solver",
    "an AI SDK agent that uses an A2A agent as a tool",
    "a task, a query, or a control card",
    "The store checks ids, scopes, and keys.",
    "column widths of characters in a terminal, to align message cards",
  ])("include the sentence or description: %s", (text) => {
    expect(isListOfNames(text)).toBe(false);
  });
});
