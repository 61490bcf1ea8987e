import { describe, expect, it } from "vitest";
import { parseCodeBlocks, isElided, isFragment, isScript } from "./code-blocks.ts";
import { collectAnchors, findLinks, findLinkMistake } from "./links.ts";
import { PageValues } from "./page-values.ts";
import { runDocument, parseSteps } from "./run-document.ts";
import { isWindows } from "../support/is-windows.ts";

const createCodeBlock = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\`\n`;

describe("the blocks of a page", () => {
  it("are found with their language, their file, their output, and why they are not run", () => {
    const page = [
      createCodeBlock("ts", "// agent.ts\nexport const a = 1;"),
      `<!-- not run: needs a key -->\n${createCodeBlock("sh", "echo hi")}`,
      createCodeBlock("ts", 'console.log("hi");'),
      createCodeBlock("text", "hi"),
    ].join("\n");
    const found = parseCodeBlocks("page.md", page).map(
      ({ line, language, file, skipReason, expectedOutput }) => [
        line,
        language,
        file,
        skipReason,
        expectedOutput,
      ],
    );
    expect(found).toEqual([
      [1, "ts", "agent.ts", undefined, undefined],
      [6, "sh", undefined, "needs a key", undefined],
      [11, "ts", undefined, undefined, "hi\n"],
      [15, "text", undefined, undefined, undefined],
    ]);
  });

  it("are scripts, unless they use undeclared variables or omit code", () => {
    expect(isFragment("createServer(agent);")).toBe(true);
    expect(isFragment('import { agent, createServer } from "colloquy";\ncreateServer(agent);')).toBe(false);
    expect(isFragment("const { token } = process.env;\nconsole.log(token);")).toBe(false);
    expect(isElided("run({ before: (x) => …, after });")).toBe(true);
    expect(isElided('say("Thinking…"); // and so on …')).toBe(false);
    const [script] = parseCodeBlocks("page.md", createCodeBlock("ts", "console.log(1);"));
    expect(script && isScript(script)).toBe(true);
  });

  it("of a terminal are commands, each with what it prints", () => {
    const [block] = parseCodeBlocks(
      "page.md",
      createCodeBlock("console", "$ one \\\n  two # three\na\nb\n$ four"),
    );
    expect(block && parseSteps(block)).toEqual([
      { line: "one \\\n  two", expectedOutput: "a\nb" },
      { line: "four", expectedOutput: undefined },
    ]);
  });
});

describe("the expected output in a page", () => {
  const id = "01a201f2-d502-7d58-94d9-39f2e0c07480";
  const other = "01a20202-4e9c-7645-bf45-12652743bcb3";

  it("matches printed output with other ids and times, and … matches any text", async () => {
    const values = await PageValues.create("--port 4999");
    const printed = `Task: ${other}\nat 2026-11-22T06:40:40.803Z on ${values.toActual("4999")}\nmany\nlines\nend\n`;
    const shown = `Task: ${id}\nat 2025-01-01T00:00:00.000Z on 4999\n…\nend`;
    expect(values.matchOutput(shown, printed)).toBe(values.toShown(printed).trimEnd().length);
    expect(values.toActual(`get ${id}`)).toBe(`get ${other}`);
  });

  it("does not match if a word, a line, or the position of an id differs", async () => {
    const values = await PageValues.create("");
    expect(values.matchOutput("State: DONE", "State: FAILED")).toBeUndefined();
    expect(values.matchOutput("one\n…\nthree", "one\ntwo")).toBeUndefined();
    expect(values.matchOutput(`a ${id} b ${id}`, `a ${id} b ${other}`)).toBeUndefined();
    expect(values.matchOutput(`a ${id}`, `a ${id}`)).toBeDefined();
    expect(values.matchOutput(`a ${id}`, `a ${other}`)).toBeUndefined();
  });
});

describe("links", () => {
  it("are checked against existing files and headings", () => {
    expect(findLinks('[a](b.md#c) `[no](x)` [d](https://e) <img src="f.svg">')).toEqual(["b.md#c", "f.svg"]);
    expect([...collectAnchors("# A `b`, c\n## Same\n## Same\n```\n# no\n```")]).toEqual([
      "a-b-c",
      "same",
      "same-1",
    ]);
    expect(findLinkMistake("docs/adk.md", "nowhere.md")).toBe("there is no docs/nowhere.md");
    expect(findLinkMistake("docs/adk.md", "cli.md#nowhere")).toBe("docs/cli.md has no #nowhere");
    expect(findLinkMistake("docs/adk.md", "#answering")).toBeUndefined();
  });
});

describe.skipIf(isWindows)("running a page", () => {
  const runBlocks = (...blocks: string[]): ReturnType<typeof runDocument> =>
    runDocument("page.md", blocks.join("\n"));

  it("runs files, scripts, commands, and background jobs in one project", async () => {
    const compared = await runBlocks(
      createCodeBlock("ts", '// name.ts\nexport const name = "Ada";'),
      createCodeBlock("ts", 'import { name } from "./name.ts";\nconsole.log(name);'),
      createCodeBlock("text", "Ada"),
      createCodeBlock(
        "console",
        "$ sh -c 'echo begun; sleep 60' &\nbegun\n$ kill %1\n$ cat name.ts | wc -l\n2",
      ),
    );
    expect(compared).toEqual({ printed: "", shown: "" });
  });

  it("reports where the output differs from the page", async () => {
    const wrong = await runBlocks(createCodeBlock("ts", "console.log(1 + 1);"), createCodeBlock("text", "3"));
    expect(wrong).toEqual({
      printed: "page.md:1: node block-0.ts\n2\n\n(exit code 0)",
      shown: "page.md:1: node block-0.ts\n3\n\n(exit code 0)",
    });
    const failing = await runBlocks(createCodeBlock("sh", "echo bad; exit 3"));
    expect(failing.printed).toContain("bad\n\n(exit code 3)");
    const more = await runBlocks(createCodeBlock("console", "$ printf 'one\\ntwo\\n'\none"));
    expect(more.printed).toContain("two");
  });
});
