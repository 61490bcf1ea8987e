import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { JsonValue } from "../../../protocol/index.ts";
import {
  isEntryOfKind,
  type TimelineEntry,
  type TrafficCall,
  type TrafficModel,
  type TrafficTask,
} from "../../../observe/trace/index.ts";
import { toSingleLine } from "../../../cards/index.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { formatBytes } from "../parts/byte-format.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { JsonTree } from "../parts/json-tree.tsx";
import { formatClock } from "../parts/time-format.ts";
import { describeLine } from "./describe-line.ts";
import { formatJson } from "../parts/json-text.ts";

const FRAMES_PER_STEP = 50;

interface WireViewProps {
  readonly model: TrafficModel;
  readonly task: TrafficTask;
  /** Changes with the task, which grows in place. */
  readonly version: number;
}

/** The requests of a task as they were on the wire: headers, bodies, and frames. */
export function WireView({ model, task, version }: WireViewProps): VNode {
  const byStart = [...task.calls].toSorted((a, b) => (a.startMs ?? 0) - (b.startMs ?? 0));
  const requests = new Map(
    byStart.map((call) => {
      const { key, calls } = model.findExchange(call.key) ?? { key: call.key, calls: [call] };
      return [key, calls];
    }),
  );
  if (requests.size === 0)
    return <p class="empty">The record contains no requests of this task, only the events of its log.</p>;
  return (
    <div class="wire">
      {[...requests].map(([key, calls]) => (
        <RequestDetails key={key} calls={calls} model={model} task={task} version={version} />
      ))}
    </div>
  );
}

interface RequestDetailsProps extends WireViewProps {
  /** The observations of the request: client, tap, server. */
  readonly calls: readonly TrafficCall[];
}

function RequestDetails({ calls, model, task, version }: RequestDetailsProps): VNode {
  const [isOpen, setIsOpen] = useState(false);
  const call = calls[0] as TrafficCall;
  const { request, response, end } = call;
  const title = request === undefined ? "Request not recorded" : describeLine(request.line, model).text;
  const observers = calls.map(({ vantage = "record" }) => vantage);
  return (
    <div class="call">
      <button type="button" class="call-head" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span>
        <time>{formatClock(call.startMs ?? Number.NaN)}</time>
        <AgentText text={title} />
        {request !== undefined && (
          <AgentText
            class="soft"
            text={`${request.line.binding} ${request.line.protocol_version ?? ""}, seen by the ${observers.join(" and the ")}`}
          />
        )}
        <span class="badge" data-tone={call.hasFailed ? "bad" : call.wasInterrupted ? "warn" : "idle"}>
          {response === undefined ? "no response" : toSingleLine(String(response.line.status ?? "failed"))}
          {call.frameCount > 0 && ` · ${call.frameCount} frames, ${formatBytes(call.frameBytes)}`}
          {end !== undefined && ` · ${end.line.reason}`}
        </span>
      </button>
      {isOpen &&
        calls.map((observed) => (
          <section
            key={observed.key}
            class="call-body"
            aria-label={`Seen by the ${observed.vantage ?? "record"}`}
          >
            {calls.length > 1 && <h2>Seen by the {observed.vantage ?? "record"}</h2>}
            <CallDetails call={observed} task={task} version={version} />
          </section>
        ))}
    </div>
  );
}

interface CallDetailsProps extends Omit<WireViewProps, "model"> {
  readonly call: TrafficCall;
}

function CallDetails({ call, task, version }: CallDetailsProps): VNode {
  const { request, response } = call;
  return (
    <>
      {request !== undefined && (
        <>
          <h2>Request</h2>
          {request.line.url !== undefined && (
            <p class="mono">
              <AgentText text={request.line.url} />
            </p>
          )}
          <Headers headers={request.line.headers} />
          <Body body={request.line.body} name="request" />
        </>
      )}
      {response !== undefined && (
        <>
          <h2>Response</h2>
          <Headers headers={response.line.headers} />
          <Body body={response.line.body} name="response" />
        </>
      )}
      {call.frameCount > 0 && <FrameTable task={task} call={call} version={version} />}
    </>
  );
}

function Headers({
  headers,
}: {
  readonly headers: Readonly<Record<string, string>> | undefined;
}): VNode | null {
  const entries = Object.entries(headers ?? {});
  if (entries.length === 0) return null;
  return (
    <dl class="facts mono">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>
            <AgentText text={name} />
          </dt>
          <dd>
            <AgentText text={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Body({ body, name }: { readonly body: JsonValue | undefined; readonly name: string }): VNode {
  if (body === undefined) return <p class="soft">No body in the record</p>;
  return (
    <div class="wire-body">
      <CopyButton text={() => formatJson(body, 2)} label={`Copy the body of the ${name}`} />
      <JsonTree value={body} openLevels={3} />
    </div>
  );
}

function FrameTable({ task, call }: CallDetailsProps): VNode {
  const [limit, setLimit] = useState(FRAMES_PER_STEP);
  const frames = task.entries.filter((entry) => isFrameOfCall(entry, call));
  return (
    <>
      <h2>Frames</h2>
      <ol class="frames">
        {frames.slice(0, limit).map((entry) => (
          <FrameItem key={entry.line.seq} entry={entry} task={task} />
        ))}
      </ol>
      {frames.length > limit && (
        <button type="button" onClick={() => setLimit(limit + FRAMES_PER_STEP * 4)}>
          {frames.length - limit} more frames
        </button>
      )}
    </>
  );
}

function FrameItem({
  entry,
  task,
}: Pick<WireViewProps, "task"> & { readonly entry: TimelineEntry }): VNode | null {
  const [isOpen, setIsOpen] = useState(false);
  if (!isEntryOfKind(entry, "frame")) return null;
  const { line, timeMs } = entry;
  const event = task.findFrameEvent(line);
  const value: JsonValue = event ?? line.text ?? null;
  return (
    <li>
      <button type="button" class="call-head" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span>
        <time>{formatClock(timeMs)}</time>
        <AgentText class="soft" text={`id ${line.event_id ?? "–"}`} />
        <AgentText text={describeLine(event ? { ...line, event } : line).text} />
        <span class="soft">{formatBytes(line.bytes)}</span>
      </button>
      {isOpen && <JsonTree value={value} openLevels={4} />}
    </li>
  );
}

function isFrameOfCall({ line }: TimelineEntry, call: TrafficCall): boolean {
  return line.kind === "frame" && `${line.writer}/${line.call}` === call.key;
}
