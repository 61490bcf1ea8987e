import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { usePageState } from "../app/page-state.ts";

/** Fonts of many systems lack a symbol for copying. */
function CopyIcon(): VNode {
  return (
    <svg
      viewBox="0 0 16 16"
      width="14"
      height="14"
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
      aria-hidden="true"
    >
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
      <path d="M10.5 3.5v-1h-8v8h1" />
    </svg>
  );
}

/** Copies a text to the clipboard. Calls `text` only for a click, because JSON can have megabytes. */
export function CopyButton({ text, label }: { readonly text: () => string; readonly label: string }): VNode {
  const { announcement } = usePageState();
  const [result, setResult] = useState<"copied" | "failed">();
  const copy = async (): Promise<void> => {
    const outcome = await navigator.clipboard.writeText(text()).then(
      () => "copied" as const,
      () => "failed" as const,
    );
    setResult(outcome);
    announcement.value = `${label}: ${outcome}`;
  };
  return (
    <button type="button" class="quiet copy" title={label} aria-label={label} onClick={() => void copy()}>
      {result === "copied" ? "✓" : result === "failed" ? "✕" : <CopyIcon />}
    </button>
  );
}
