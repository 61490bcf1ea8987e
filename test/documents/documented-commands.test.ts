import { globSync, readFileSync } from "node:fs";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/command-registry.ts";
import type { CommandTable } from "../../src/cli/command-table.ts";
import { createTerminalStreams } from "../../src/cli/terminal-streams.ts";
import type { CliContext } from "../../src/cli/cli-context.ts";

/** Returns the lines in code blocks that start with the program's name, without shell operators. */
function findCommandLines(markdown: string): string[] {
  const blocks = [...markdown.matchAll(/^```\w*\n([^]*?)^```/gm)].map(([, code = ""]) => code);
  return blocks.flatMap((code) =>
    code.split("\n").flatMap((line) => {
      const [, words] =
        /^(?:\$ )?(?:[A-Z0-9_]+=\S+ )*(?:npx --no -- )?(?:source <\()?colloquy (?![\d…])(.+)$/.exec(line) ??
        [];
      return words === undefined
        ? []
        : [words.replace(/(?:^|\s)#.*$/, "").replaceAll(/"[^"]*"|'[^']*'/g, "TEXT")];
    }),
  );
}

/** This context is never used, because the commands are created but not run. */
const UNUSED_CONTEXT: CliContext = {
  streams: createTerminalStreams({ out: () => {}, err: () => {} }, false),
  stdin: process.stdin,
  isInteractive: false,
  interruptSignal: new AbortController().signal,
  env: {},
  cwd: "/",
};

/** Returns the reason why a line cannot run, or `undefined` when the command and all its flags exist. */
async function findCommandMistake(line: string): Promise<string | undefined> {
  const words = line.trim().split(/\s+/);
  let commands: CommandTable = COMMANDS;
  for (const [at, word] of words.entries()) {
    if (["help", "--help", "--version"].includes(word)) return undefined;
    const entry = Object.hasOwn(commands, word) ? commands[word] : undefined;
    if (!entry) return `there is no command ${words.slice(0, at + 1).join(" ")}`;
    if ("loadFactory" in entry)
      return findFlagMistake((await entry.loadFactory())(UNUSED_CONTEXT), words.slice(at + 1));
    commands = entry.commands;
  }
  return undefined;
}

function findFlagMistake(command: Command, words: readonly string[]): string | undefined {
  const known = command.options.flatMap(({ long, short }) => [long, short]);
  const unknown = words.filter((word) => /^-{1,2}[a-z]/i.test(word)).map((word) => word.split("=")[0]);
  const missing = unknown.filter((flag) => flag !== "--help" && !known.includes(flag));
  return missing.length > 0 ? `${command.name()} has no ${missing.join(", ")}` : undefined;
}

describe("the commands in the documents", () => {
  const documents = globSync(["*.md", "docs/**/*.md", "examples/*.md", "skills/**/*.md"]);
  const lines = documents.flatMap((document) =>
    findCommandLines(readFileSync(document, "utf8")).map((line) => ({ document, line })),
  );

  it("exist with all their flags", async () => {
    expect(lines.length).toBeGreaterThan(30);
    const mistakes = await Promise.all(
      lines.map(async ({ document, line }) => ({ document, line, mistake: await findCommandMistake(line) })),
    );
    expect(mistakes.filter(({ mistake }) => mistake !== undefined)).toEqual([]);
  });

  it("are checked: an unknown command or flag is found", async () => {
    const source =
      '```sh\nA=1 colloquy task gt http://x # a\nnpx --no -- colloquy send X "--not-a-flag" --strem\ncolloquy send X --stream\n```\n';
    const found = await Promise.all(findCommandLines(source).map(findCommandMistake));
    expect(found).toEqual(["there is no command task gt", "send has no --strem", undefined]);
  });
});
