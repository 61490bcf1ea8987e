import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { ConsoleLoadFailure } from "../../console/api-types.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { escapeControlCharacters } from "../../cards/index.ts";
import { usePageState } from "./page-state.ts";

/** Time for which a reload without failures is visible, in milliseconds. */
const SUCCESS_MS = 6_000;

/** A line below the header about the last reload of `colloquy dev`. Failures stay until they are corrected or closed. */
export function ReloadNotice(): VNode | null {
  const { reload } = usePageState();
  const shown = reload.value;
  const hasFailed = shown !== undefined && shown.failures.length > 0;
  const close = (): void => void (reload.value = undefined);
  useEffect(() => {
    if (shown === undefined || hasFailed) return undefined;
    const timer = setTimeout(close, SUCCESS_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  if (shown === undefined) return null;
  const { reloaded, added, removed, failures } = shown;
  const changes = [
    ...(reloaded.length > 0 ? [`${reloaded.join(", ")} reloaded`] : []),
    ...(added.length > 0 ? [`${added.join(", ")} added`] : []),
    ...(removed.length > 0 ? [`${removed.join(", ")} removed`] : []),
  ].join("; ");
  if (changes === "" && !hasFailed) return null;
  return (
    <section class="reload-notice" data-tone={hasFailed ? "bad" : "good"} data-testid="reload">
      <div role={hasFailed ? "alert" : "status"}>
        {changes !== "" && (
          <p>
            ↻ <AgentText text={changes} />
          </p>
        )}
        {failures.map((failure) => (
          <LoadFailure key={failure.file} failure={failure} />
        ))}
      </div>
      <button type="button" class="quiet" aria-label="Close the notice" onClick={close}>
        ✕
      </button>
    </section>
  );
}

function LoadFailure({ failure }: { readonly failure: ConsoleLoadFailure }): VNode {
  const { file, message, stack, keepsEarlierAgents } = failure;
  return (
    <>
      <p>
        <strong>
          <AgentText text={`${file}: ${message}`} />
        </strong>
        {keepsEarlierAgents && " The earlier version answers."}
      </p>
      {stack !== undefined && (
        <pre tabIndex={0} aria-label="Stack of the error">
          {escapeControlCharacters(stack)}
        </pre>
      )}
    </>
  );
}
