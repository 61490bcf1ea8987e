/**
 * Scorers of answers:
 *
 * - `number`: the answer is the same number, with a tolerance of 1e-6.
 * - `exact`: the answer has the same words, without case, punctuation, and articles.
 * - `f1`: like `exact`, with the additional measure `f1` over words.
 * - `choice`: the answer is the same letter.
 */
export type AnswerScorer = "number" | "exact" | "f1" | "choice";

export const ANSWER_SCORERS: readonly AnswerScorer[] = ["number", "exact", "f1", "choice"];

/** Score of an answer. */
interface AnswerScore {
  readonly predicted: string | undefined;
  /** Whether the answer has the requested format. */
  readonly isMarked: boolean;
  readonly correct: boolean;
  readonly measures?: Readonly<Record<string, number>>;
}

/** Returns the form of the answers that a scorer compares. */
export function getAnswerForm(scorer: AnswerScorer): AnswerForm {
  return scorer === "number" || scorer === "choice" ? scorer : "text";
}

/** Extracts the answer from a reply and compares it with the correct answer. */
export function scoreAnswer(reply: string, gold: string, scorer: AnswerScorer): AnswerScore {
  const form = getAnswerForm(scorer);
  const { answer: predicted, isMarked } = extractAnswer(reply, form);
  if (scorer === "f1") {
    const { exact, f1 } = scoreHotpotQaAnswer(predicted ?? "", gold);
    return { predicted, isMarked, correct: exact === 1, measures: { em: exact, f1 } };
  }
  return { predicted, isMarked, correct: predicted !== undefined && isSameAnswer(predicted, gold, form) };
}

/** Compares an answer with the correct answer. An unreadable correct answer equals no answer. */
function isSameAnswer(predicted: string, gold: string, form: AnswerForm): boolean {
  const expected = extractAnswer(gold, form).answer;
  if (expected === undefined) return false;
  if (form === "number") return Math.abs(Number(predicted) - Number(expected)) <= 1e-6;
  return form === "choice" ? predicted === expected : normalizeAnswer(predicted) === normalizeAnswer(gold);
}

/**
 * Normalizes an answer in the same way as HotpotQA's official script. The function converts text to lower
 * case and removes ASCII punctuation, articles, and repeated spaces.
 */
export function normalizeAnswer(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(PUNCTUATION_PATTERN, "")
    .replaceAll(ARTICLE_PATTERN, " ")
    .split(/\s+/)
    .filter(Boolean)
    .join(" ");
}

/**
 * Scores a HotpotQA answer by exact match (1 or 0) and by F1 over words. The answers `yes`, `no`, and `noanswer`
 * receive no partial credit for words that they share with another answer.
 */
export function scoreHotpotQaAnswer(
  predicted: string,
  gold: string,
): { readonly exact: number; readonly f1: number } {
  const [left, right] = [normalizeAnswer(predicted), normalizeAnswer(gold)];
  const exact = left === right ? 1 : 0;
  if (exact === 1 && left !== "") return { exact, f1: 1 };
  if (ANSWERS_WITHOUT_PARTIAL_CREDIT.has(left) || ANSWERS_WITHOUT_PARTIAL_CREDIT.has(right))
    return { exact, f1: 0 };
  const [words, goldWords] = [left, right].map((text) => text.split(" ").filter(Boolean)) as [
    string[],
    string[],
  ];
  const all = words.length + goldWords.length;
  // F1 is the harmonic mean of precision and recall.
  return { exact, f1: all === 0 ? 0 : (2 * countSharedWords(words, goldWords)) / all };
}

/** Counts the words that two texts share. A word that both texts repeat counts more than once. */
function countSharedWords(left: readonly string[], right: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const word of right) counts.set(word, (counts.get(word) ?? 0) + 1);
  let shared = 0;
  for (const word of left) {
    const count = counts.get(word) ?? 0;
    if (count > 0) shared += 1;
    counts.set(word, count - 1);
  }
  return shared;
}

const ANSWERS_WITHOUT_PARTIAL_CREDIT: ReadonlySet<string> = new Set(["yes", "no", "noanswer"]);
const PUNCTUATION_PATTERN = /[!-/:-@[-`{-~]/g;
// The pattern does not use `\b`, because JavaScript supports only ASCII letters there and Python supports all
// scripts.
const ARTICLE_PATTERN = /(?<![\p{L}\p{N}_])(?:a|an|the)(?![\p{L}\p{N}_])/gu;

/** Form of an answer: a number, a few words, or the letter of an option. */
export type AnswerForm = "number" | "text" | "choice";

/** An answer that was found in the reply of a model. */
interface ExtractedAnswer {
  /** The answer, or `undefined` if the reply contains none. */
  readonly answer: string | undefined;
  /** Whether the answer follows an answer marker, or the reply consists only of the answer. */
  readonly isMarked: boolean;
}

/**
 * Extracts the final answer from a reply. All methods and all votes use this function, so that a comparison of
 * methods does not compare formats. The answer directly follows the last marker: `####`, `Answer:`,
 * `The answer is`, `A:`, `\boxed{`, or a marker in Chinese, Japanese, or Korean. Without a marker, the answer
 * is the last number, the last letter of an option, or the entire text.
 */
export function extractAnswer(text: string, form: AnswerForm): ExtractedAnswer {
  const reply = toAsciiForms(removeThinking(text));
  const marked = listMarkedTexts(reply);
  if (form === "text") {
    const answer = trimQuotes((marked.at(-1) ?? reply).replaceAll(/[*_`]/g, ""));
    return {
      answer: answer === "" ? undefined : answer,
      isMarked: marked.length > 0 || !reply.trim().includes("\n"),
    };
  }
  const { pattern, findLast } = FORMS[form];
  const first = readAnswerAtStart(marked.at(-1) ?? "", pattern)?.answer;
  const answer = first ?? findLast(reply);
  return {
    answer: answer && stripNumberFormatting(answer),
    isMarked: first !== undefined || readAnswerAtStart(reply.trim(), pattern)?.isAlone === true,
  };
}

/**
 * Returns the last number of a text and removes currency signs and thousands separators from the number. The
 * function ignores numbers that are written as words.
 */
export function findLastNumber(text: string): string | undefined {
  const found = [...toAsciiForms(text).matchAll(NUMBER_PATTERN)].at(-1);
  return found && stripNumberFormatting(found[0]);
}

/**
 * Removes the thoughts that a model writes between `<think>` and `</think>`. A thought without an end is
 * removed up to the end of the text, and a thought without a start is removed from the start of the text.
 */
export function removeThinking(text: string): string {
  const end = [...text.matchAll(/<\/think(?:ing)?>/gi)].at(-1);
  const rest = end ? text.slice(end.index + end[0].length) : text;
  const start = /<think(?:ing)?>/i.exec(rest);
  return start ? rest.slice(0, start.index) : rest;
}

/**
 * Returns whether a text contains only a placeholder of our prompts or an ellipsis, such as `"…"`. Small models
 * copy placeholders from prompts.
 */
export function isPlaceholderText(text: string): boolean {
  const inner = text.replace(/^\s*answer:/i, "").replaceAll(/[\s"'“”‘’<>[\](){}*`]/g, "");
  const isEllipsis = /^[.…⋯]+$/.test(inner) && inner !== ".";
  return isEllipsis || /^(?:TEXT|SUBTASK|ANSWER|TITLE)$/.test(inner);
}

/** Removes spaces and quotation marks at both ends, and the end of a LaTeX command. */
function trimQuotes(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && /[\s"'“‘]/.test(text.charAt(start))) start++;
  while (start < end && /[\s"'”’}]/.test(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

/** Returns the rest of the line after each answer marker. */
function listMarkedTexts(reply: string): string[] {
  return [...reply.matchAll(MARKER_PATTERN)].map(({ index, 0: marker }) => {
    const [line = ""] = reply.slice(index + marker.length).split("\n", 1);
    return line;
  });
}

/** Replaces full-width characters and Unicode minus signs, and the thousands separator of LaTeX. */
function toAsciiForms(text: string): string {
  return text
    .replaceAll(/[\uff01-\uff5e]/g, (character) => String.fromCharCode(character.charCodeAt(0) - 0xfee0))
    .replaceAll("\u2212", "-")
    .replaceAll(/\{,\}|\\,/g, ",");
}

function stripNumberFormatting(number: string): string {
  return number.replaceAll(/[$,\s]/g, "");
}

// In Chinese, Japanese, and Korean, no space separates words, so these markers require no word boundary.
const MARKER_PATTERN =
  /####|\\boxed\{|\b(?:[Aa]nswer|ANSWER)\**(?::| is\b\**:?)|\bA\**:|(?:정답|답|答案|答え|答)\**(?:[은는]|是|は|:)\**:?/g;

// A minus sign belongs to the number unless it directly follows an operand, as in `16-3`.
const NUMBER_PATTERN = /(?:(?<![\w.)\]])-)?\$?(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)/g;

/** Emphasis, currency signs, and commands of LaTeX before an answer. */
const SIGNS = /^(?:[\s*$"'`_~:(=₩€£¥]|\\(?:boxed|text|mathbf|\(|\[|\$)\{?)*/u;
/** The text after an answer that is the entire reply: signs, and a unit of at most three words. */
const UNIT = /^[^\p{L}\p{N}]*(?:\p{L}+[^\p{L}\p{N}]+){0,2}(?:\p{L}+[^\p{L}\p{N}]*)?$/u;

const FORMS = {
  number: { pattern: NUMBER_PATTERN, findLast: findLastNumber },
  choice: { pattern: /[A-J](?![\p{L}\p{N}'’])/gu, findLast: findLastLetter },
} as const;

/** Returns the answer at the start of a text, and whether only signs and a unit follow it. */
function readAnswerAtStart(
  text: string,
  pattern: RegExp,
): { readonly answer: string; readonly isAlone: boolean } | undefined {
  const start = SIGNS.exec(text)?.[0].length ?? 0;
  pattern.lastIndex = start;
  const match = pattern.exec(text);
  // The next search with the pattern must begin at the start of its text.
  pattern.lastIndex = 0;
  if (match?.index !== start) return undefined;
  const [answer] = match;
  return { answer, isAlone: UNIT.test(text.slice(start + answer.length)) };
}

/** Returns the last letter of an option. `A` and `I` are words unless they are in parentheses or alone. */
function findLastLetter(reply: string): string | undefined {
  const letters = /\(([A-J])\)|(?<![\p{L}\p{N}])([B-HJ])(?![\p{L}\p{N}'’])|^\s*([AI])[.)]?\s*$/gu;
  return [...reply.matchAll(letters)].at(-1)?.slice(1).find(Boolean);
}
