import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createTempFolder } from "../../../test/support/store-factories.ts";
import { createTestFileOfFirstSchema } from "../../stores/sqlite/earlier-file.fixture.ts";
import { runCliInTestProcess, type CliTestProcessResult } from "../cli-test-process.fixture.ts";

vi.mock(import("../../stores/sqlite/schema.ts"), async (original) => {
  const { addTestSchemaSteps } = await import("../../stores/sqlite/later-schema.fixture.ts");
  return { SCHEMA_STEPS: addTestSchemaSteps((await original()).SCHEMA_STEPS) };
});

describe("colloquy store", () => {
  let file: string;
  let remove: () => Promise<void>;

  beforeEach(async () => {
    const temp = await createTempFolder();
    remove = temp.remove;
    file = join(temp.folder, "tasks.db");
    createTestFileOfFirstSchema(file);
  });

  afterEach(() => remove());

  const runStore = (...args: string[]): Promise<CliTestProcessResult> =>
    runCliInTestProcess(["store", ...args, "--store", `sqlite:${file}`]);

  it("migrate copies and migrates a file of an earlier version, with its progress, and repeats nothing", async () => {
    const first = await runStore("migrate", "-o", "json");
    expect(JSON.parse(first.out)).toEqual({ file, migrated: true, backup: `${file}.schema-1.bak` });
    expect(first.err).toContain(`is copied to ${file}.schema-1.bak before its migration from schema 1`);
    expect(first.err).toContain("Delete this backup when you no longer need it");
    expect(existsSync(`${file}.schema-1.bak`)).toBe(true);
    expect(JSON.parse((await runStore("migrate", "-o", "json")).out)).toEqual({
      file,
      migrated: false,
      backup: null,
    });
  });

  it("migrate --no-backup makes no copy, and says so", async () => {
    const { out, err } = await runStore("migrate", "--no-backup");
    expect(out).toContain("Backup: none");
    expect(err).toContain("There is no backup for the earlier version of Colloquy");
    expect(existsSync(`${file}.schema-1.bak`)).toBe(false);
  });
});
