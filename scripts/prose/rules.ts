import type { TextlintRuleReporter } from "@textlint/kernel";
import { split } from "sentence-splitter";
import { BANNED_PHRASES } from "./banned-phrases.ts";

/** A sentence with more words than this is hard to read once. */
export const MAX_SENTENCE_WORDS = 40;

interface TextNode {
  readonly type: string;
  readonly parent?: TextNode | null | undefined;
}

function isQuoted({ parent }: TextNode): boolean {
  return parent ? parent.type === "BlockQuote" || isQuoted(parent) : false;
}

/** Reports each banned phrase of `bannedPhraseRule.ts` outside of code and quotations. */
export const bannedPhraseRule: TextlintRuleReporter = (context) => ({
  [context.Syntax.Str](node) {
    if (isQuoted(node)) return;
    const text = context.getSource(node);
    for (const { pattern, advice } of BANNED_PHRASES)
      for (const match of text.matchAll(new RegExp(pattern, "gi"))) {
        const phrase = match[0].trim().replaceAll(/\s+/g, " ").slice(0, 40);
        context.report(node, new context.RuleError(`"${phrase}": ${advice}`, { index: match.index }));
      }
  },
});

/** Reports sentences of more than `MAX_SENTENCE_WORDS` words. */
export const sentenceLengthRule: TextlintRuleReporter = (context) => ({
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
