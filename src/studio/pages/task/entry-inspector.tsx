import type { VNode } from "preact";
import type { JsonValue, Part, StreamResponse } from "../../../protocol/index.ts";
import {
  hasKnownTime,
  type TimelineEntry,
  type TrafficModel,
  type TrafficTask,
} from "../../../observe/trace/index.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { ErrorStack } from "../parts/error-stack.tsx";
import { JsonTree } from "../parts/json-tree.tsx";
import { TaskLink } from "../parts/identifier.tsx";
import { PartList } from "../parts/part-view.tsx";
import { formatClock } from "../parts/time-format.ts";
import { describeLine } from "./describe-line.ts";
import { chooseMarkTone, describeMark } from "./describe-mark.ts";
import { formatJson } from "../parts/json-text.ts";
import { ModelCallView } from "./model-call-view.tsx";

interface EntryInspectorProps {
  readonly entry: TimelineEntry;
  readonly model: TrafficModel;
  readonly task: TrafficTask;
  /** The task of another agent to which the line belongs. */
  readonly otherTask?: TrafficTask | undefined;
  /** Changes with the task, whose later lines can add marks. */
  readonly version: number;
  readonly onClose: () => void;
  /** Shows the task as it was after the event. Missing if the history before the event is incomplete. */
  readonly onShowTaskAt?: ((seq: number) => void) | undefined;
  /** Subscribes again after the event. Missing for records. */
  readonly onReplayAfter?: ((seq: number) => void) | undefined;
}

/** The details of a line: its marks, its content, and its JSON. */
export function EntryInspector(props: EntryInspectorProps): VNode {
  const { entry, model, task, otherTask, onClose, onShowTaskAt, onReplayAfter } = props;
  const { line, timeMs } = entry;
  const { kind, text } = describeLine(line, model);
  const marks = task.getMarks(entry);
  const seq = line.kind === "event" || line.kind === "frame" ? line.log_seq : undefined;
  const parts = line.kind === "event" || line.kind === "frame" ? findEventParts(line.event) : undefined;
  return (
    <aside class="inspector" aria-label="Details" id="inspector" tabIndex={-1}>
      <header>
        <h2>
          {kind}
          {seq !== undefined && ` #${seq}`}
        </h2>
        <CopyButton text={() => formatJson(line, 2)} label="Copy the line as JSON" />
        <button type="button" class="quiet" onClick={onClose} aria-label="Close the details">
          ✕
        </button>
      </header>
      {marks.length > 0 && (
        <p>
          {marks.map((mark) => (
            <span key={describeMark(mark)} class="badge" data-tone={chooseMarkTone(mark)}>
              {describeMark(mark)}
            </span>
          ))}
        </p>
      )}
      <dl class="facts">
        <dt>Time</dt>
        <dd>{hasKnownTime(line) ? formatClock(timeMs) : "not observed"}</dd>
        <dt>Written by process</dt>
        <dd>
          <AgentText text={`${line.writer}, line ${line.seq}`} />
        </dd>
        {line.traceparent !== undefined && (
          <>
            <dt>Trace</dt>
            <dd>
              <AgentText text={line.traceparent} class="mono" />
            </dd>
          </>
        )}
      </dl>
      {otherTask && (
        <p>
          <TaskLink
            agent={otherTask.agent}
            id={otherTask.id}
            text={`Open the task of ${otherTask.agent ?? "the agent"}`}
          />
        </p>
      )}
      {seq !== undefined && (
        <p class="actions">
          {onShowTaskAt && (
            <button type="button" onClick={() => onShowTaskAt(seq)}>
              Show the task after this event
            </button>
          )}
          {PAGE_SENDS_REQUESTS && onReplayAfter && (
            <button type="button" onClick={() => onReplayAfter(seq)}>
              Replay from here
            </button>
          )}
        </p>
      )}
      {line.kind === "model" ? (
        <ModelCallView line={line} />
      ) : parts === undefined || parts.length === 0 ? (
        text !== "" && (
          <p>
            <AgentText text={text} />
          </p>
        )
      ) : (
        <PartList parts={parts} />
      )}
      {line.kind === "turn" && line.stack !== undefined && <ErrorStack stack={line.stack} />}
      <details open={line.kind !== "model"}>
        <summary>The line as JSON</summary>
        <JsonTree value={line as unknown as JsonValue} openLevels={3} />
      </details>
    </aside>
  );
}

/** Returns the content of an event, or `undefined` for an event without content. */
function findEventParts(json: unknown): readonly Part[] | undefined {
  const event = json as StreamResponse | undefined;
  if (event === undefined) return undefined;
  const parts =
    "artifactUpdate" in event
      ? event.artifactUpdate?.artifact?.parts
      : "message" in event
        ? event.message?.parts
        : "statusUpdate" in event
          ? event.statusUpdate?.status?.message?.parts
          : undefined;
  // The JSON of a stranger may have any shape.
  return Array.isArray(parts) ? parts : undefined;
}
