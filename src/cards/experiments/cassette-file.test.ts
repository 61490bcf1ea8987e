import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CassetteEntry } from "../roles/index.ts";
import { openCassetteFile } from "./cassette-file.ts";

const createEntry = (key: string, text: string): CassetteEntry => ({
  key,
  model: "m",
  request: {},
  reply: { text, finish: "stop" },
});

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cassette-"));
  file = join(folder, "tapes", "a.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("a cassette in a file", () => {
  it("keeps its entries, and the last one of each key, after it is reopened", async () => {
    const first = openCassetteFile(file);
    await first.put(createEntry("a", "1"));
    await first.put(createEntry("b", "2"));
    await first.put(createEntry("a", "3"));
    const second = openCassetteFile(file);
    expect([await second.get("a"), await second.get("b"), await second.get("c")]).toEqual([
      createEntry("a", "3"),
      createEntry("b", "2"),
      undefined,
    ]);
    expect(readFileSync(file, "utf8").split("\n")).toHaveLength(4);
  });

  it("ignores an incomplete line of a killed writer and continues after it", async () => {
    await openCassetteFile(file).put(createEntry("a", "1"));
    appendFileSync(file, '{"key":"b","mo');
    const second = openCassetteFile(file);
    expect(await second.get("a")).toEqual(createEntry("a", "1"));
    await second.put(createEntry("c", "2"));
    const third = openCassetteFile(file);
    expect([await third.get("a"), await third.get("c")]).toEqual([
      createEntry("a", "1"),
      createEntry("c", "2"),
    ]);
  });

  it.each(["hello", "[]", '{"key":"a"}', "null"])("is rejected with a line like %s", async (line) => {
    await openCassetteFile(file).put(createEntry("a", "1"));
    writeFileSync(file, `${line}\n`);
    expect(() => openCassetteFile(file)).toThrow("a.jsonl:1 is not a cassette entry. Remove the line");
  });
});
