import type { VNode } from "preact";
import type { ReaderPosition, TrafficTask } from "../../../observe/trace/index.ts";
import { toSingleLine } from "../../../cards/index.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { pluralize } from "../cards/text-format.ts";

const STATE_TONES: Readonly<Record<ReaderPosition["state"], string>> = {
  open: "busy",
  completed: "good",
  cut: "warn",
  stalled: "warn",
  canceled: "idle",
  failed: "bad",
};

/** Who read the events of the task, and how far each reader came. */
export function ReadersView({
  task,
}: {
  readonly task: TrafficTask;
  readonly version: number;
}): VNode | null {
  const readers = task.readers;
  const last = Math.max(task.loggedNumbers.highest, ...readers.map(({ lastLogSeq = 0 }) => lastLogSeq));
  if (readers.length === 0) return null;
  return (
    <section class="readers" aria-label="Readers" tabIndex={0}>
      <h2>Readers</h2>
      <ul>
        {readers.map((reader, index) => (
          <li key={reader.call}>
            <AgentText text={formatReader(reader, index)} />
            {reader.lastLogSeq !== undefined && (
              <progress
                max={last || 1}
                value={reader.lastLogSeq}
                aria-label={toSingleLine(`Events that ${formatReader(reader, index)} received`)}
              />
            )}
            <span class="soft">
              {reader.lastLogSeq === undefined
                ? pluralize(reader.frames, "frame")
                : `event ${reader.lastLogSeq} of ${last}`}
            </span>
            <span class="badge" data-tone={STATE_TONES[reader.state]}>
              {reader.state}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Names a reader by its agent or client. Readers without a name have a number. */
function formatReader({ from, vantage }: ReaderPosition, index: number): string {
  if (from !== undefined) return from;
  return vantage === "unknown" ? `reader ${index + 1}` : `reader ${index + 1}, seen by the ${vantage}`;
}
