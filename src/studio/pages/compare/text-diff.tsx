import { type ChangeObject, diffLines, diffWordsWithSpace } from "diff";
import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { escapeControlCharacters } from "../../../cards/index.ts";

/** Texts above this length are compared by line, because a comparison by word takes too long. */
const MAX_WORD_DIFF_LENGTH = 20_000;
/** Each change is an element of the page. */
const MAX_CHANGES = 5_000;
/** Time in milliseconds after which the page shows both texts without a comparison. */
const DIFF_TIMEOUT_MS = 500;

/** Two texts as one text with insertions and deletions. */
export function TextDiff({ first, second }: { readonly first: string; readonly second: string }): VNode {
  const changes = useMemo(() => compareTexts(first, second), [first, second]);
  return (
    <pre class="text-diff" tabIndex={0} dir="auto">
      {changes.map(({ added, removed, value }, index) => {
        const text = escapeControlCharacters(value);
        if (added) return <ins key={index}>{text}</ins>;
        return removed ? <del key={index}>{text}</del> : <span key={index}>{text}</span>;
      })}
    </pre>
  );
}

function compareTexts(first: string, second: string): readonly ChangeObject<string>[] {
  const isShort = first.length + second.length <= MAX_WORD_DIFF_LENGTH;
  const changes = isShort
    ? diffWordsWithSpace(first, second, { timeout: DIFF_TIMEOUT_MS })
    : diffLines(first, second, { timeout: DIFF_TIMEOUT_MS });
  if (changes && changes.length <= MAX_CHANGES) return changes;
  return [
    { value: first, removed: true, added: false, count: 1 },
    { value: second, removed: false, added: true, count: 1 },
  ];
}
