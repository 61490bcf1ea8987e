import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { decodeRecording } from "../../src/cards/index.ts";
import {
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
} from "../../src/cli/cli-test-process.fixture.ts";
import { dataFolder } from "./data-folder.ts";

describe("colloquy cards run on complete datasets", () => {
  it.each([
    [["--model", "oracle"], 1_308, 1_319],
    [["--model", "oracle", "-n", "200"], 200, 200],
    [["--model", "oracle", "--method", "cot"], 1_308, 1_319],
  ])("%j is right as often as it is known to be", async (words, right, all) => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const where = ["--data", dataFolder, "--out", cwd, "--concurrency", "8"];
    const { code, out } = await runCliInTestProcess(["cards", "run", "--json", ...where, ...words]);
    expect(code).toBe(0);
    const { runs } = JSON.parse(out) as { readonly runs: readonly { readonly file: string }[] };
    const file = runs[0]?.file ?? "";
    const { scores } = decodeRecording(readFileSync(file, "utf8"), file);
    expect([scores.filter(({ correct }) => correct).length, scores.length]).toEqual([right, all]);
  });
});
