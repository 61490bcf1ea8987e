import type { ComponentChildren, VNode } from "preact";
import { escapeControlCharacters } from "../../../cards/index.ts";
import { AgentText } from "../cards/agent-text.tsx";

/** A message about a state of the screen, with what the user can do. */
export function Notice(props: {
  readonly tone: "idle" | "busy" | "good" | "warn" | "bad" | "wait";
  readonly title: string;
  readonly children?: ComponentChildren;
}): VNode {
  const { tone, title, children } = props;
  return (
    <div class="notice" data-tone={tone} role={tone === "bad" ? "alert" : "status"}>
      <strong>
        <AgentText text={title} />
      </strong>
      {children !== undefined && <div>{children}</div>}
    </div>
  );
}

/** A failed request, with a button that tries again. */
export function FailureNotice(props: {
  readonly title: string;
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}): VNode {
  const { title, error, onRetry } = props;
  return (
    <Notice tone="bad" title={title}>
      <p>
        <bdi>{formatError(error)}</bdi>
      </p>
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </Notice>
  );
}

/** Returns the message of an error, with visible control characters. */
export function formatError(error: unknown): string {
  return escapeControlCharacters(error instanceof Error ? error.message : String(error));
}
