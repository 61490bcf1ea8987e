import { describe, expect, it } from "vitest";
import { findBadNames } from "../scripts/readability/name-rules.ts";
import { listDeclaredNames } from "../scripts/readability/list-names-and-sentences.ts";

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
    const names = listDeclaredNames();
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
