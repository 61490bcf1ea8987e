import type { VNode } from "preact";
import type { WatchConnection } from "../source/traffic-source.ts";
import { usePageState } from "./page-state.ts";

/** Shows whether new lines arrive. */
export function ConnectionBadge(): VNode {
  const { connection, source } = usePageState();
  const { mode } = source.session;
  const { state } = connection.value;
  const text = formatConnection(connection.value, mode);
  return (
    <span class="connection" role="status" data-testid="connection-status" data-status={state}>
      <span class="connection-dot" aria-hidden="true" />
      {text}
    </span>
  );
}

function formatConnection(connection: WatchConnection, mode: string): string {
  if (connection.state === "reconnecting")
    return `Connection lost: attempt ${connection.attempt}. ${connection.error}`;
  if (connection.state === "ended") return mode === "file" ? "Record" : "Not live";
  return connection.state === "live" ? "Live" : "Connecting …";
}
