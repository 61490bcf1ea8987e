import { Marked, type Token } from "marked";
import { escapeControlCharacters } from "../../../cards/index.ts";
import { MAX_MARKDOWN_LENGTH } from "./markdown-length.ts";
import highlighter from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

/**
 * Maximum sum over all blocks of the number of delimiters times the length of the block. The parser searches the rest of a
 * block for each delimiter, which takes about a second at this limit.
 */
const MAX_DELIMITER_COST = 30_000_000;
/** Maximum number of quotes and lists within each other. */
const MAX_NESTING = 20;
/** Maximum number of parsed pieces, because the page creates an element for each one. */
const MAX_TOKENS = 6_000;
/** Maximum length of all link targets and titles. Each use of a link definition repeats its target. */
const MAX_LINK_LENGTH = 500_000;
/** Maximum length of the highlighted code of a text in characters. The page creates an element for each colored word. */
const MAX_HIGHLIGHTED_LENGTH = 10_000;

const DELIMITER_PATTERN = /[*_[\]~`<!]/g;
/** One level more than `MAX_NESTING`. */
const NESTED_MARKERS_PATTERN = /^(?:[ \t]{0,8}(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))){21}/m;

let highlightedLength = 0;
const marked = new Marked({ gfm: true, breaks: true });
// HTML within Markdown is shown as text. DOMPurify is the second line of defense.
marked.use({
  renderer: {
    html: ({ text }) => escapeHtml(text),
    code: ({ text, lang = "" }) => {
      highlightedLength += text.length;
      const language = highlightedLength > MAX_HIGHLIGHTED_LENGTH ? "" : (/^[\w+#-]*/.exec(lang)?.[0] ?? "");
      return `<pre><code>${highlightCode(text, language) ?? escapeHtml(text)}\n</code></pre>\n`;
    },
  },
});

/**
 * Converts Markdown to HTML. Returns `undefined` if the text is too long, too deeply nested, or too expensive to parse, so
 * that the page shows it as plain text. The HTML of links is not safe until DOMPurify has removed dangerous targets.
 */
export function convertMarkdown(text: string): string | undefined {
  if (isTooExpensive(text)) return undefined;
  highlightedLength = 0;
  try {
    const tokens = marked.lexer(escapeControlCharacters(text));
    const budget = { tokens: MAX_TOKENS, linkLength: MAX_LINK_LENGTH };
    return fitsBudget(tokens, budget, 0) ? marked.parser(tokens) : undefined;
  } catch {
    // The parser is recursive, and can exceed the size of the stack.
    return undefined;
  }
}

function isTooExpensive(text: string): boolean {
  if (text.length > MAX_MARKDOWN_LENGTH || NESTED_MARKERS_PATTERN.test(text)) return true;
  let cost = 0;
  for (const block of text.split(/\n[ \t]*\n/))
    cost += (block.match(DELIMITER_PATTERN)?.length ?? 0) * block.length;
  return cost > MAX_DELIMITER_COST;
}

/** Subtracts the tokens from the budget. Returns false if the budget is exceeded, or if a token is nested too deeply. */
function fitsBudget(
  tokens: readonly Token[],
  budget: { tokens: number; linkLength: number },
  depth: number,
): boolean {
  budget.tokens -= tokens.length;
  if (budget.tokens < 0 || depth > 2 * MAX_NESTING) return false;
  return tokens.every((token) => {
    if (token.type === "link" || token.type === "image") {
      const { href, title } = token as { href: string; title?: string | null };
      budget.linkLength -= href.length + (title?.length ?? 0);
      if (budget.linkLength < 0) return false;
    }
    return listChildren(token).every((children) => fitsBudget(children, budget, depth + 1));
  });
}

/** Returns the lists of tokens within a token: inline tokens, the items of a list, and the cells of a table. */
function listChildren(token: Token): readonly (readonly Token[])[] {
  if (token.type === "list") return [token["items"] as Token[]];
  if (token.type === "table") {
    const { header, rows } = token as { header: Cell[]; rows: Cell[][] };
    return [header, ...rows].map((cells) => cells.flatMap((cell) => cell.tokens));
  }
  return "tokens" in token && token.tokens ? [token.tokens] : [];
}

interface Cell {
  readonly tokens: Token[];
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Code with longer words is not highlighted, because the time of several languages grows with the square of this length. */
const LONG_WORD_PATTERN = /\w{100}/;

const LANGUAGES = {
  bash,
  cpp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};
for (const [name, language] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, language);

/** Returns code as HTML with a class for each kind of word, or `undefined` for an unknown language. */
function highlightCode(code: string, language: string): string | undefined {
  if (highlighter.getLanguage(language) === undefined || LONG_WORD_PATTERN.test(code)) return undefined;
  return highlighter.highlight(code, { language, ignoreIllegals: true }).value;
}
