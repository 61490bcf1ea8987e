import { lexer, type Token } from "marked";
import type { ProseSource } from "./prose-sources.ts";
import { MAX_COLUMNS, MAX_SENTENCE_WORDS, VOCABULARY } from "./rules.ts";

export interface ProseFinding {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  readonly message: string;
}

/** A text of a Markdown page, with the number of its first line. */
interface TextBlock {
  readonly line: number;
  /** Texts that belong together, for example those around inline code. */
  readonly text: string;
}

const sentenceSegmenter = new Intl.Segmenter("en", { granularity: "sentence" });

export function lintProse({ file, markdown, isPage }: ProseSource): ProseFinding[] {
  const { texts, paragraphs } = new MarkdownTexts(markdown);
  const findings = [...texts.flatMap(findPhrases), ...paragraphs.flatMap(findLongSentences)].map(
    (finding) => ({ file, ...finding }),
  );
  return isPage ? [...findings, ...findLongLines(file, markdown)] : findings;
}

/** Lists the texts of a page outside of code and quotations, and its paragraphs. */
class MarkdownTexts {
  readonly texts: TextBlock[] = [];
  readonly paragraphs: TextBlock[] = [];
  readonly #markdown: string;
  /** Position behind the text that was found last. Tokens have no positions, but their order is that of the page. */
  #position = 0;

  constructor(markdown: string) {
    this.#markdown = markdown;
    for (const token of lexer(markdown)) this.#add(token, false);
  }

  #add(token: Token, isInParagraph: boolean): void {
    const { type, raw } = token;
    if (type === "blockquote" || type === "code" || type === "codespan" || type === "html") {
      this.#locate(raw);
      return;
    }
    const children = listChildren(token);
    const isParagraph = !isInParagraph && (type === "paragraph" || type === "text");
    if (isParagraph) this.paragraphs.push({ line: this.#locate(raw, false), text: raw });
    if (children.length > 0) for (const child of children) this.#add(child, isInParagraph || isParagraph);
    else if (type === "text") this.texts.push({ line: this.#locate(raw), text: raw });
  }

  /** Returns the line of the first line of a text. Lists lose their indentation, so only that line is searched. */
  #locate(raw: string, advances = true): number {
    const [first = ""] = raw.trimStart().split("\n", 1);
    const found = this.#markdown.indexOf(first, this.#position);
    const start = found === -1 ? this.#position : found;
    if (advances && found !== -1) this.#position = start + first.length;
    return this.#markdown.slice(0, start).split("\n").length;
  }
}

function listChildren(token: Token): Token[] {
  if (token.type === "list") return (token as { items: Token[] }).items;
  if (token.type === "table") {
    const { header, rows } = token as unknown as { header: { tokens: Token[] }[]; rows: (typeof header)[] };
    return [header, ...rows].flatMap((cells) => cells.flatMap(({ tokens }) => tokens));
  }
  return "tokens" in token ? (token.tokens ?? []) : [];
}

type BlockFinding = Omit<ProseFinding, "file">;

/** Finds the phrases of `VOCABULARY`. */
function findPhrases({ line, text }: TextBlock): BlockFinding[] {
  return VOCABULARY.flatMap(({ pattern, advice }) =>
    [...text.matchAll(new RegExp(pattern, "gi"))].map((match) => ({
      line: line + text.slice(0, match.index).split("\n").length - 1,
      rule: "vocabulary",
      message: `"${match[0].trim().replaceAll(/\s+/g, " ").slice(0, 40)}": ${advice}`,
    })),
  );
}

/** Finds sentences of more than `MAX_SENTENCE_WORDS` words. Inline code counts as one word. */
function findLongSentences({ line, text }: TextBlock): BlockFinding[] {
  const withoutCode = text.replaceAll(/`[^`]*`/g, (code) => `X${code.replaceAll(/[^\n]/g, "")}`);
  return [...sentenceSegmenter.segment(withoutCode)].flatMap(({ segment, index }) => {
    const words = segment.match(/[\p{L}\d][\p{L}\d'’-]*/gu)?.length ?? 0;
    if (words <= MAX_SENTENCE_WORDS) return [];
    return [
      {
        line: line + withoutCode.slice(0, index).split("\n").length - 1,
        rule: "sentence-length",
        message: `a sentence of ${words} words; at most ${MAX_SENTENCE_WORDS}: one idea each`,
      },
    ];
  });
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
