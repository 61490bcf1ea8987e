import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { assertRecordWritable } from "./assert-record-writable.ts";
import { createTempTestDirectoryWithFiles, runCliInTestProcess } from "./cli-test-process.fixture.ts";
import { expectFileMode } from "../../test/support/is-windows.ts";

const SERVE_CAT = ["serve", "--exec", "cat", "--store", "memory", "--port", "0"];

describe("a record that cannot be written", () => {
  it.each([
    ["tap", ["tap", "--to", "http://127.0.0.1:1", "--port", "0"]],
    ["serve", SERVE_CAT],
    ["serve with a console", [...SERVE_CAT, "--console"]],
  ])("is a usage error of %s before the command listens", async (_, words) => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const file = join(cwd, "missing/x.jsonl");
    const { code, out, err } = await runCliInTestProcess([...words, "--record", file]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(`The record ${file} cannot be written (ENOENT`);
    expect(err).toContain("Pass another file with --record");
  });

  it("is created for its owner only, and keeps its lines", async () => {
    const cwd = await createTempTestDirectoryWithFiles({ "old.jsonl": "line\n" });
    await assertRecordWritable(join(cwd, "new.jsonl"));
    expectFileMode(join(cwd, "new.jsonl"), 0o600);
    await assertRecordWritable(join(cwd, "old.jsonl"));
    expect(await readFile(join(cwd, "old.jsonl"), "utf8")).toBe("line\n");
  });
});
