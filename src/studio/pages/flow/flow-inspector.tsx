import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { formatRoute } from "../app/route.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { useCopyHotkeys } from "../parts/copy-text.ts";
import { JsonTree } from "../parts/json-tree.tsx";
import { formatClock } from "../parts/time-format.ts";
import { usePageState } from "../app/page-state.ts";
import { ModelCallView } from "../task/model-call-view.tsx";
import { describeLine } from "../task/describe-line.ts";
import { chooseMarkTone, describeMark } from "../task/describe-mark.ts";
import type { JsonValue } from "../../../protocol/index.ts";
import type { TimelineEntry, TrafficLine, TrafficTask } from "../../../observe/trace/index.ts";
import type { FlowAnalysis } from "./analyze-flow.ts";
import { findFlowSelection } from "./flow-selection.ts";
import { formatJson } from "../parts/json-text.ts";

/** Largest number of lines that the inspector shows. */
const MAX_LINES = 20;

interface FlowInspectorProps {
  readonly flow: FlowAnalysis;
  readonly selectedKey: string;
  readonly onClose: () => void;
}

/** Details of the selected message, task, or party: its lines as JSON, its marks, and a link to its task. */
export function FlowInspector({ flow, selectedKey, onClose }: FlowInspectorProps): VNode {
  const selection = useMemo(() => findFlowSelection(flow, selectedKey), [flow, selectedKey]);
  const { title, task, entries } = selection;
  const lines = entries.map(({ line }) => line);
  useCopyHotkeys(task && { name: "the task id", text: () => task.id }, {
    name: "the lines as JSON",
    text: () => formatJson(lines, 2),
  });
  return (
    <section class="flow-inspector" aria-label="Details">
      <header>
        <h2>
          <AgentText text={title} />
        </h2>
        <button type="button" class="quiet" onClick={onClose} aria-label="Close the details">
          ✕
        </button>
      </header>
      {task && <TaskLink task={task} />}
      {entries.slice(0, MAX_LINES).map((entry) => (
        <LineDetails key={`${entry.line.writer} ${entry.line.seq}`} entry={entry} task={task} />
      ))}
      {entries.length > MAX_LINES && (
        <p class="hint">
          {entries.length - MAX_LINES} more lines{task ? " in the task" : ""}
        </p>
      )}
      {entries.length === 0 && <p class="hint">The record contains no lines of this selection.</p>}
    </section>
  );
}

function TaskLink({ task }: { readonly task: TrafficTask }): VNode {
  const { agents } = usePageState();
  const agent = agents.value.find(({ name }) => name === task.agent)?.id ?? task.agent ?? "unknown";
  return (
    <p>
      <a href={formatRoute("task", [agent, task.id])}>Open the task</a>{" "}
      <a href={formatRoute("compare", [], { a: task.id, agent })}>Compare</a>
    </p>
  );
}

function LineDetails(props: {
  readonly entry: TimelineEntry;
  readonly task: TrafficTask | undefined;
}): VNode {
  const { entry, task } = props;
  const { kind, text } = describeLine(entry.line);
  const json = entry.line satisfies TrafficLine as unknown as JsonValue;
  return (
    <details open>
      <summary>
        <span class="soft">{formatClock(entry.timeMs)}</span> {kind} <AgentText text={text} />
      </summary>
      {(task?.getMarks(entry) ?? []).map((mark) => (
        <span key={describeMark(mark)} class="badge" data-tone={chooseMarkTone(mark)}>
          {describeMark(mark)}
        </span>
      ))}
      <CopyButton text={() => formatJson(entry.line, 2)} label="Copy the line as JSON" />
      {entry.line.kind === "model" && <ModelCallView line={entry.line} />}
      <JsonTree value={json} openLevels={1} />
    </details>
  );
}
