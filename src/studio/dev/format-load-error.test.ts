import { mkdtemp, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { formatLoadError } from "./format-load-error.ts";

describe("the text of an error in an agent file", () => {
  it("has only the frames of the user's files, with relative paths", async () => {
    const error = new Error("no");
    error.stack = [
      "Error: no",
      "    at ask (file:///project/agents/tools.ts?colloquy-reload=12:3:9)",
      "    at file:///project/agent.ts:5:1",
      "    at ModuleJob.run (node:internal/modules/esm/module_job:343:25)",
      "    at run (file:///project/node_modules/ai/index.js:1:1)",
      `    at execute (${new URL("../../engine/turn.ts", import.meta.url).href}:1:1)`,
    ].join("\n");
    expect(await formatLoadError(error, [], "/project")).toBe(
      "Error: no\n    at ask (agents/tools.ts:3:9)\n    at agent.ts:5:1",
    );
    expect(await formatLoadError("text", [], "/project")).toBe("Something threw text.");
  });

  it("has the position of a syntax error, which V8 does not report", async () => {
    const directory = await realpath(await mkdtemp(join(tmpdir(), "colloquy-syntax-")));
    const correct = join(directory, "correct.ts");
    const wrong = join(directory, "wrong.ts");
    await writeFile(correct, "export const a: number = 1;\n");
    await writeFile(wrong, "const a: number = 1;\nconst a = 2;\n");
    const error = new SyntaxError("Identifier 'a' has already been declared");
    expect(await formatLoadError(error, [correct, wrong], directory)).toBe(
      "wrong.ts:2\nconst a = 2;\n      ^\n\nSyntaxError: Identifier 'a' has already been declared",
    );
  });
});
