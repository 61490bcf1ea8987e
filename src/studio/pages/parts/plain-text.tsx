import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { escapeControlCharacters } from "../../../cards/index.ts";

/** Characters that are shown before the button for the rest, because the layout of megabytes blocks the page. */
const MAX_SHOWN_LENGTH = 200_000;

/** Text of a stranger as it is. */
export function PlainText({ text }: { readonly text: string }): VNode {
  const [isWhole, setIsWhole] = useState(false);
  const isCut = text.length > MAX_SHOWN_LENGTH && !isWhole;
  return (
    <>
      <pre class="plain-text" dir="auto" tabIndex={0}>
        {escapeControlCharacters(isCut ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text)}
      </pre>
      {isCut && (
        <button type="button" class="quiet" onClick={() => setIsWhole(true)}>
          all {text.length} characters
        </button>
      )}
    </>
  );
}
