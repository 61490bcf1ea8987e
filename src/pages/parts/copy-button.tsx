import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { usePageState } from "../app/page-state.ts";

/** Copies a text to the clipboard. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }): VNode {
  const { announcement } = usePageState();
  const [result, setResult] = useState<"copied" | "failed">();
  const copy = async (): Promise<void> => {
    const outcome = await navigator.clipboard.writeText(text).then(
      () => "copied" as const,
      () => "failed" as const,
    );
    setResult(outcome);
    announcement.value = `${label}: ${outcome}`;
  };
  return (
    <button type="button" class="quiet copy" title={label} aria-label={label} onClick={() => void copy()}>
      {result === "copied" ? "✓" : result === "failed" ? "✕" : "⧉"}
    </button>
  );
}
