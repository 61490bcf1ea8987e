import { createRequire } from "node:module";
import { TextlintKernel, type TextlintPluginCreator } from "@textlint/kernel";
import { sentenceLengthRule, bannedPhraseRule } from "./rules.ts";
import type { ProseSource } from "./prose-sources.ts";

export interface ProseFinding {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  readonly message: string;
}

const MAX_COLUMNS = 120;
const textlintKernel = new TextlintKernel();
// A CommonJS package whose default export Node and Vitest import differently.
const { default: markdownPlugin } = createRequire(import.meta.url)("@textlint/textlint-plugin-markdown") as {
  default: TextlintPluginCreator;
};

export async function lintProse({ file, markdown, isPage }: ProseSource): Promise<ProseFinding[]> {
  const { messages } = await textlintKernel.lintText(markdown, {
    ext: ".md",
    filePath: file,
    plugins: [{ pluginId: "markdown", plugin: markdownPlugin }],
    rules: [
      { ruleId: "vocabulary", rule: bannedPhraseRule },
      { ruleId: "sentence-length", rule: sentenceLengthRule },
    ],
  });
  const findings = messages.map(({ ruleId, message, loc }) => ({
    file,
    line: loc.start.line,
    rule: ruleId,
    message,
  }));
  return isPage ? [...findings, ...findLongLines(file, markdown)] : findings;
}

/** Lines over 120 columns, except in code blocks, tables, and lines that a link or a badge makes long. */
function findLongLines(file: string, markdown: string): ProseFinding[] {
  let inCode = false;
  return markdown.split("\n").flatMap((text, index) => {
    if (/^\s*```/.test(text)) inCode = !inCode;
    const isFree = inCode || text.startsWith("|") || /^\S+\(\S+\)\S*$/.test(text.trim());
    const { length } = text.trimEnd();
    if (isFree || length <= MAX_COLUMNS) return [];
    const message = `a line of ${length} columns; at most ${MAX_COLUMNS}`;
    return [{ file, line: index + 1, rule: "line-length", message }];
  });
}
