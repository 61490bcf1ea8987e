import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { AgentLoadFailed, AgentReloadNotice } from "../../console-api/index.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { ErrorStack } from "../parts/error-stack.tsx";
import { usePageState } from "./page-state.ts";

/** Time for which a reload without failures is visible, in milliseconds. */
const SUCCESS_MS = 6_000;

/** Lines below the header about the reloads of `colloquy dev`. Failures stay until they are corrected or closed. */
export function ReloadNotice(): VNode | null {
  const { reloadNotices } = usePageState();
  const notices = [...reloadNotices.value.values()];
  const failures = listDifferentFailures(notices);
  const loaded = notices.filter((notice) => notice.kind === "agentReloaded");
  const reloaded = loaded.map(({ agent }) => agent);
  const renamed = loaded.filter(({ earlierId }) => earlierId !== undefined);
  const hasFailed = failures.length > 0;
  useEffect(() => {
    // The line that keeps the id must stay until it is copied.
    if (reloaded.length === 0 || renamed.length > 0) return undefined;
    const timer = setTimeout(() => {
      const remaining = [...reloadNotices.value].filter(([, { kind }]) => kind === "agentLoadFailed");
      reloadNotices.value = new Map(remaining);
    }, SUCCESS_MS);
    return () => clearTimeout(timer);
  }, [reloadNotices.value]);
  if (reloaded.length === 0 && !hasFailed) return null;
  return (
    <section class="reload-notice" data-tone={hasFailed ? "bad" : "good"} data-testid="reload">
      <div role={hasFailed ? "alert" : "status"}>
        {reloaded.length > 0 && (
          <p>
            ↻ <AgentText text={`${reloaded.join(", ")} reloaded`} />
          </p>
        )}
        {renamed.map(({ agent, earlierId = "" }) => (
          <p key={agent}>
            <AgentText
              text={`${agent} was ${earlierId}, whose URL answers until the command ends. To keep the id, add the option `}
            />
            <code>
              <AgentText text={`id: ${JSON.stringify(earlierId)},`} />
            </code>{" "}
            <CopyButton
              text={() => `id: ${JSON.stringify(earlierId)},`}
              label="Copy the line that keeps the id"
            />
          </p>
        ))}
        {failures.map((failure) => (
          <LoadFailure key={failure.agent} failure={failure} />
        ))}
      </div>
      <button
        type="button"
        class="quiet"
        aria-label="Close the notice"
        onClick={() => (reloadNotices.value = new Map())}
      >
        ✕
      </button>
    </section>
  );
}

/** A file with several agents has one notice for each agent, with the same message and the same stack. */
function listDifferentFailures(notices: readonly AgentReloadNotice[]): readonly AgentLoadFailed[] {
  const failures = notices.filter((notice) => notice.kind === "agentLoadFailed");
  return [...new Map(failures.map((failure) => [`${failure.message} ${failure.stack}`, failure])).values()];
}

function LoadFailure({ failure }: { readonly failure: AgentLoadFailed }): VNode {
  const { message, stack } = failure;
  return (
    <>
      <p>
        <strong>
          <AgentText text={message} />
        </strong>{" "}
        An earlier version, if there is one, answers.
      </p>
      {stack !== undefined && <ErrorStack stack={stack} />}
    </>
  );
}
