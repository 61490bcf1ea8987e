import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root: string = fileURLToPath(new URL("../..", import.meta.url));

/** All Markdown pages, as paths relative to the repository root. */
export const DOCUMENTS: readonly string[] = globSync("{,docs/**/,examples/,examples/*/}*.md", {
  cwd: root,
}).toSorted();

export function readDocument(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

/** A code block in a page. */
export interface CodeBlock {
  readonly document: string;
  readonly line: number;
  /** The language after the opening fence, or an empty string. */
  readonly language: string;
  readonly code: string;
  /**
   * The file name in the first line, for example `// agent.ts`. Such a block is written as a file for the
   * page's commands.
   */
  readonly file: string | undefined;
  /** The reason in a preceding comment why the block is not run: `<!-- not run: needs a key -->`. */
  readonly skipReason: string | undefined;
  /** The block immediately after this one, if it shows the output. */
  readonly expectedOutput: string | undefined;
}

const FENCE_PATTERN = /(?:^<!-- not run: (.+) -->\n)?^```(\w*)\n([^]*?)^```$/gm;
const OUTPUT_LANGUAGES = new Set(["", "text", "mermaid", "json"]);

export function parseCodeBlocks(document: string, markdown: string = readDocument(document)): CodeBlock[] {
  const found = [...markdown.matchAll(FENCE_PATTERN)];
  return found.map((match, index) => {
    const [whole, notRun, language = "", code = ""] = match;
    const next = found[index + 1];
    const between = next && markdown.slice(match.index + whole.length, next.index);
    const isOutput =
      next?.[1] === undefined && between?.trim() === "" && OUTPUT_LANGUAGES.has(next?.[2] ?? "-");
    return {
      document,
      line: markdown.slice(0, match.index).split("\n").length,
      language,
      code,
      file: /^(?:\/\/|#) (\S+\.\w+)\n/.exec(code)?.[1],
      skipReason: notRun,
      expectedOutput: isOutput ? next?.[3] : undefined,
    };
  });
}

/**
 * The variables that code in a page may use without declaring them. Code that uses any of them is a fragment,
 * which is compiled but not run.
 */
export const FRAGMENT_GLOBALS = `
import type * as colloquy from "colloquy";
declare global {
  const agent: colloquy.Agent;
  const connect: typeof colloquy.connect;
  const createServer: typeof colloquy.createServer;
  const hello: colloquy.Agent;
  const mine: Set<string>;
  const privateKey: string;
  const remote: colloquy.A2AClient;
  const rootAgent: import("@google/adk").LlmAgent;
  const token: string;
}
`;

const FRAGMENT_GLOBAL_NAMES = [...FRAGMENT_GLOBALS.matchAll(/const (\w+):/g)].map(([, name = ""]) => name);

export function isFragment(code: string): boolean {
  const codeOnly = code.replaceAll(/\/\/.*$|"[^"\n]*"|`[^`]*`/gm, "");
  return FRAGMENT_GLOBAL_NAMES.some(
    (name) =>
      new RegExp(`(?<![.\\w])${name}\\b(?!:|\\?:)`).test(codeOnly) &&
      !new RegExp(`(?:const|let|function) (?:\\{[^}]*)?\\b${name}\\b|import[^;]*\\b${name}\\b`).test(
        codeOnly,
      ),
  );
}

/** Returns whether the code has an omission mark, so that it cannot be compiled. */
export function isElided(code: string): boolean {
  return /…,|…;|\[\.\.\.\]/.test(code.replaceAll(/"[^"\n]*"|`[^`]*`|\/\/.*$/gm, ""));
}

/** Returns whether the block is a complete script, which can be run. */
export function isScript({ language, file, code, skipReason }: CodeBlock): boolean {
  return (
    language === "ts" &&
    file === undefined &&
    skipReason === undefined &&
    !isFragment(code) &&
    !isElided(code)
  );
}

const SHELL_LANGUAGES = new Set(["sh", "bash", "console"]);

export function isShellBlock({ language }: CodeBlock): boolean {
  return SHELL_LANGUAGES.has(language);
}

/** Returns whether `runDocument` executes the block. */
export function isExecuted(block: CodeBlock): boolean {
  return block.skipReason === undefined && (isShellBlock(block) || isScript(block));
}

/** True for the README in another language, which has the code of README.md. */
export const isTranslation = (document: string): boolean => /^README\.\w+\.md$/.test(document);
