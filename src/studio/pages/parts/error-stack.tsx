import type { VNode } from "preact";
import { escapeControlCharacters } from "../../../cards/index.ts";

/** The stack of an error of `colloquy dev`. */
export function ErrorStack({ stack }: { readonly stack: string }): VNode {
  return (
    <pre tabIndex={0} aria-label="Stack of the error">
      {escapeControlCharacters(stack)}
    </pre>
  );
}
