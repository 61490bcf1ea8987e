import { isExecuted, type CodeBlock } from "../test/documents/code-blocks.ts";

/** The members of a markdown-it token that this module reads and writes. */
export interface MarkdownToken {
  type: string;
  content: string;
  info: string;
  map: [number, number] | null;
}

/**
 * Joins each code block with the output that follows it, and states for each command and script whether the tests run
 * it. `createHtml` creates a token with HTML. Returns the new list of tokens.
 */
export function joinExamplesWithOutput<Token extends MarkdownToken>(
  tokens: readonly Token[],
  blocks: readonly CodeBlock[],
  createHtml: (html: string) => Token,
): Token[] {
  const blocksByLine = new Map(blocks.map((block) => [getFenceLine(block), block]));
  const result: Token[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!;
    const block = token.type === "fence" && token.map ? blocksByLine.get(token.map[0] + 1) : undefined;
    if (!block) {
      result.push(token);
      continue;
    }
    const output = tokens[at + 1];
    const hasOutput = block.expectedOutput !== undefined && output?.type === "fence";
    const note = describeTest(block);
    if (!hasOutput && note === undefined) {
      result.push(token);
      continue;
    }
    result.push(createHtml(`<div class="example">\n`), token);
    if (hasOutput) {
      result.push(createHtml(`<p class="example-label">Output</p>\n`), output);
      at++;
    }
    if (note !== undefined) result.push(createHtml(`<p class="example-note">${escapeHtml(note)}</p>\n`));
    result.push(createHtml("</div>\n"));
  }
  return result;
}

/** Returns the line of the opening fence. A comment with the reason why a block is not run is the line before it. */
function getFenceLine({ line, skipReason }: CodeBlock): number {
  return skipReason === undefined ? line : line + 1;
}

function describeTest(block: CodeBlock): string | undefined {
  if (block.skipReason !== undefined) return `Not run by the tests: ${block.skipReason}.`;
  if (!isExecuted(block)) return undefined;
  const showsOutput = block.language === "console" || block.expectedOutput !== undefined;
  return showsOutput ? "The tests run this and compare the output." : "The tests run this.";
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("{{", "&#123;&#123;");
}
