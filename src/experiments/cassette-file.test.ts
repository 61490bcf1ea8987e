import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Take } from "../roles/index.ts";
import { cassetteFile } from "./cassette-file.ts";

const take = (key: string, text: string): Take => ({
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
  it("has its takes again when it is opened again; of one key the last", async () => {
    const first = cassetteFile(file);
    await first.put(take("a", "1"));
    await first.put(take("b", "2"));
    await first.put(take("a", "3"));
    const second = cassetteFile(file);
    expect([await second.get("a"), await second.get("b"), await second.get("c")]).toEqual([
      take("a", "3"),
      take("b", "2"),
      undefined,
    ]);
    expect(readFileSync(file, "utf8").split("\n")).toHaveLength(4);
  });

  it("passes over what a killed writer left, and goes on behind it", async () => {
    await cassetteFile(file).put(take("a", "1"));
    appendFileSync(file, '{"key":"b","mo');
    const second = cassetteFile(file);
    expect(await second.get("a")).toEqual(take("a", "1"));
    await second.put(take("c", "2"));
    const third = cassetteFile(file);
    expect([await third.get("a"), await third.get("c")]).toEqual([take("a", "1"), take("c", "2")]);
  });

  it.each(["hello", "[]", '{"key":"a"}', "null"])("is none with a line like %s", async (line) => {
    await cassetteFile(file).put(take("a", "1"));
    writeFileSync(file, `${line}\n`);
    expect(() => cassetteFile(file)).toThrow("a.jsonl:1 is no take of a cassette; remove the line");
  });
});
