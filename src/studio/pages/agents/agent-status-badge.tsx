import type { VNode } from "preact";
import type { ConsoleAgentStatus } from "../../console-api/index.ts";

const STATUS_LOOKS: Readonly<
  Record<ConsoleAgentStatus, { readonly symbol: string; readonly tone: string; readonly text: string }>
> = {
  connecting: { symbol: "◐", tone: "busy", text: "connecting" },
  connected: { symbol: "✓", tone: "good", text: "connected" },
  degraded: { symbol: "▲", tone: "warn", text: "degraded" },
  unreachable: { symbol: "✕", tone: "bad", text: "unreachable" },
  "auth-needed": { symbol: "⚿", tone: "wait", text: "sign-in needed" },
};

/** The connection to an agent as a symbol and a word. Agents of a record have no connection. */
export function AgentStatusBadge(props: {
  readonly status: ConsoleAgentStatus;
  readonly isRecorded: boolean;
}): VNode {
  const { status, isRecorded } = props;
  const { symbol, tone, text } = isRecorded
    ? { symbol: "◉", tone: "idle", text: "recorded" }
    : STATUS_LOOKS[status];
  return (
    <span class="badge" data-tone={tone}>
      <span aria-hidden="true">{symbol}</span> {text}
    </span>
  );
}
