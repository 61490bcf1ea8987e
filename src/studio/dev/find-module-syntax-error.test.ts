import { mkdtemp, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findModuleSyntaxError } from "./find-module-syntax-error.ts";

async function findErrorOf(source: string, name = "agent.ts"): Promise<SyntaxError | undefined> {
  const file = join(await realpath(await mkdtemp(join(tmpdir(), "colloquy-syntax-"))), name);
  await writeFile(file, source);
  return findModuleSyntaxError(file);
}

describe("the syntax check of a saved file", () => {
  it.each(["export const a = ", "export default async function* () {", "import { a } fr", "const a: = 1;"])(
    "finds the error of the half-written source %j, with its file and line",
    async (source) => {
      expect((await findErrorOf(`\n${source}`))?.stack).toMatch(/agent\.ts:2\n/);
    },
  );

  it.each([
    "",
    "export enum Word { a }",
    "class A { constructor(private readonly a: number) {} }",
    "await 1;",
  ])("accepts the source %j", async (source) => {
    expect(await findErrorOf(source)).toBeUndefined();
  });

  it("accepts files that can be CommonJS or data, and missing files", async () => {
    expect(await findErrorOf("return 1;", "agent.js")).toBeUndefined();
    expect(await findErrorOf("{", "data.json")).toBeUndefined();
    expect(findModuleSyntaxError("/missing/agent.ts")).toBeUndefined();
  });
});
