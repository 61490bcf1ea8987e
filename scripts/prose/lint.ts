import { createRequire } from "node:module";
import { TextlintKernel, type TextlintPluginCreator, type TextlintRuleReporter } from "@textlint/kernel";
import { split } from "sentence-splitter";
import type { ProseSource } from "./prose-sources.ts";
import { MAX_COLUMNS, MAX_SENTENCE_WORDS, VOCABULARY } from "./rules.ts";

export interface ProseFinding {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  readonly message: string;
}

const textlintKernel = new TextlintKernel();
// A CommonJS package whose default export Node and Vitest import differently.
const { default: markdownPlugin } = createRequire(import.meta.url)("@textlint/textlint-plugin-markdown") as {
  default: TextlintPluginCreator;
};

interface TextNode {
  readonly type: string;
  readonly parent?: TextNode | null | undefined;
}

function isQuoted({ parent }: TextNode): boolean {
  return parent ? parent.type === "BlockQuote" || isQuoted(parent) : false;
}

/** Reports the phrases of `VOCABULARY` outside of code and quotations. */
const vocabularyRule: TextlintRuleReporter = (context) => ({
  [context.Syntax.Str](node) {
    if (isQuoted(node)) return;
    const text = context.getSource(node);
    for (const { pattern, advice } of VOCABULARY)
      for (const match of text.matchAll(new RegExp(pattern, "gi"))) {
        const phrase = match[0].trim().replaceAll(/\s+/g, " ").slice(0, 40);
        context.report(node, new context.RuleError(`"${phrase}": ${advice}`, { index: match.index }));
      }
  },
});

/** Reports sentences of more than `MAX_SENTENCE_WORDS` words. */
const sentenceLengthRule: TextlintRuleReporter = (context) => ({
  [context.Syntax.Paragraph](node) {
    for (const sentence of split(context.getSource(node))) {
      if (sentence.type !== "Sentence") continue;
      const words = sentence.raw.replaceAll(/`[^`]*`/g, "x").match(/[\p{L}\d][\p{L}\d'’-]*/gu)?.length ?? 0;
      if (words > MAX_SENTENCE_WORDS)
        context.report(
          node,
          new context.RuleError(
            `a sentence of ${words} words; at most ${MAX_SENTENCE_WORDS}: one idea each`,
            {
              index: sentence.range[0],
            },
          ),
        );
    }
  },
});

export async function lintProse({ file, markdown, isPage }: ProseSource): Promise<ProseFinding[]> {
  const { messages } = await textlintKernel.lintText(markdown, {
    ext: ".md",
    filePath: file,
    plugins: [{ pluginId: "markdown", plugin: markdownPlugin }],
    rules: [
      { ruleId: "vocabulary", rule: vocabularyRule },
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
