import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { formatRoute } from "../app/route.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { useCopyHotkeys } from "../parts/copy-text.ts";
import { JsonTree } from "../parts/json-tree.tsx";
import { formatClock } from "../parts/time-format.ts";
import { usePageState } from "../app/page-state.ts";
import { TaskLink } from "../parts/identifier.tsx";
import { ModelCallView } from "../task/model-call-view.tsx";
import { describeLine } from "../task/describe-line.ts";
import { chooseMarkTone, describeMark } from "../task/describe-mark.ts";
import type { JsonValue } from "../../../protocol/index.ts";
import type { TimelineEntry, TrafficLine, TrafficModel, TrafficTask } from "../../../observe/trace/index.ts";
import type { FlowAnalysis } from "./analyze-flow.ts";
import { formatJson } from "../parts/json-text.ts";
import { drawTrafficSequence, drawTrafficTimeline } from "./traffic-drawings.ts";

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
  const { findAgent } = usePageState();
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
      {task && (
        <p>
          <TaskLink agent={task.agent} id={task.id} text="Open the task" />{" "}
          <a href={formatRoute("compare", [], { a: task.id, agent: findAgent(task.agent ?? "")?.id })}>
            Compare
          </a>
        </p>
      )}
      {entries.slice(0, MAX_LINES).map((entry) => (
        <LineDetails
          key={`${entry.line.writer} ${entry.line.seq}`}
          entry={entry}
          model={flow.model}
          task={task}
        />
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

function LineDetails(props: {
  readonly entry: TimelineEntry;
  readonly model: TrafficModel;
  readonly task: TrafficTask | undefined;
}): VNode {
  const { entry, model, task } = props;
  const { kind, text } = describeLine(entry.line, model);
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

/** What is behind a selected part of a drawing. */
interface FlowSelection {
  readonly title: string;
  readonly task: TrafficTask | undefined;
  /** Lines of the selection in the order of time. */
  readonly entries: readonly TimelineEntry[];
}

/** Finds the lines of a selected message, task, or party. The key comes from one of the drawings. */
function findFlowSelection(flow: FlowAnalysis, key: string): FlowSelection {
  const { model, taskKeys, path, tasks } = flow;
  const item = drawTrafficSequence(model, taskKeys, path).items.get(key);
  if (item) {
    const call = model.calls.get(item.callKey ?? "");
    // A request shows its response, and a broken stream shows its request.
    const related = [call?.request, item.entry, call?.response, ...(call?.faults ?? []), call?.end];
    const entries = [...new Set(related.filter((entry) => entry !== undefined))];
    return {
      title: `${item.from} → ${item.to}: ${item.label}`,
      task: model.tasks.get(item.taskKey ?? ""),
      entries: item.callKey === undefined ? [item.entry] : entries,
    };
  }
  const task = drawTrafficTimeline(model, tasks, path).tasksByKey.get(key);
  if (task) return { title: `Task ${task.id}`, task, entries: task.entries };
  // The key of a node of the graph is the name of the party.
  const calls = flow.exchanges.filter(({ from, to }) => from === key || to === key);
  const requests = calls.flatMap((exchange) => exchange.calls[0]?.request ?? []);
  const uses = tasks.flatMap(({ modelCalls, toolCalls }) => [
    ...modelCalls.filter(({ line }) => line.model === key),
    ...toolCalls.filter(({ line }) => key === line.tool || key === `${line.server}/${line.tool}`),
  ]);
  return { title: key, task: undefined, entries: [...requests, ...uses] };
}
