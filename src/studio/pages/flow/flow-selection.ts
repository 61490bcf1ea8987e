import type { TimelineEntry, TrafficTask } from "../../../observe/trace/index.ts";
import type { FlowAnalysis } from "./analyze-flow.ts";
import { drawTrafficSequence, drawTrafficTimeline } from "./traffic-drawings.ts";

/** What is behind a selected part of a drawing. */
interface FlowSelection {
  readonly title: string;
  readonly task: TrafficTask | undefined;
  /** Lines of the selection in the order of time. */
  readonly entries: readonly TimelineEntry[];
}

/** Finds the lines of a selected message, task, or party. The key comes from one of the drawings. */
export function findFlowSelection(flow: FlowAnalysis, key: string): FlowSelection {
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
