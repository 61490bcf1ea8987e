import type { VNode } from "preact";
import { useMemo } from "preact/hooks";
import { computeQuantile } from "../../../cards/index.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { formatCount, formatDuration, formatPercent } from "../cards/text-format.ts";
import { TokenCount } from "../parts/token-count.tsx";
import { Notice } from "../parts/notice.tsx";
import { shortenId } from "../parts/identifier.tsx";
import {
  addUsage,
  buildTrafficGraph,
  type CriticalPathStep,
  listTaskActivities,
  NO_USAGE,
  summarizeCriticalPath,
  type TaskActivity,
  type TrafficTask,
  UNOBSERVED_TASK,
} from "../../../observe/trace/index.ts";
import { explainMissingPrice } from "../parts/token-count.tsx";
import type { FlowAnalysis } from "./analyze-flow.ts";
import { FigureTable } from "./figure-table.tsx";
import { listUsage, WAIT_LABELS } from "./traffic-drawings.ts";

/** Largest number of steps of the critical path that the view shows. */
const MAX_STEPS = 200;

interface PathViewProps {
  readonly flow: FlowAnalysis;
  readonly onOpenTask: (task: TrafficTask) => void;
}

/** The critical path of a task, what the tasks waited for, and the cost of each hop. */
export function PathView({ flow, onOpenTask }: PathViewProps): VNode {
  const { model, path, pathTask, tasks, taskKeys } = flow;
  const shares = useMemo(() => summarizeCriticalPath(path), [path]);
  const waits = useMemo(() => sumActivities(flow), [flow]);
  const { edges } = useMemo(() => buildTrafficGraph(model, taskKeys), [model, flow]);
  const missingPrice = explainMissingPrice(tasks.map((task) => task.usage).reduce(addUsage, NO_USAGE));
  const start = path[0]?.startMs ?? 0;
  const total = (path.at(-1)?.endMs ?? start) - start;
  return (
    <div class="path-view">
      {(pathTask ?? taskKeys) && path.length === 0 && <Notice tone="idle" title={UNOBSERVED_TASK} />}
      {pathTask && path.length > 0 && (
        <section>
          <h2>
            Critical path of <AgentText text={`${pathTask.agent ?? "agent"} ${shortenId(pathTask.id)}`} />:{" "}
            {formatDuration(total)}
          </h2>
          <p class="soft">
            Each step determined how long the task took. A faster step makes the task faster.
          </p>
          <ol class="path-bar" aria-label="Shares of the critical path">
            {shares.map(({ kind, name, durationMs, share }) => (
              <li
                key={`${kind} ${name}`}
                class={PATH_COLOR_CLASSES[kind]}
                style={{ flexGrow: Math.max(share, 0.01) }}
              >
                <span>
                  <AgentText text={formatStep(kind, name)} /> {formatPercent(share)}
                </span>
                <span class="soft">{formatDuration(durationMs)}</span>
              </li>
            ))}
          </ol>
          <FigureTable
            head={["after", "step", "time", "share", "task"]}
            rows={path.slice(0, MAX_STEPS).map(({ kind, name, taskKey, startMs, endMs }) => {
              const stepTask = model.tasks.get(taskKey);
              return [
                formatDuration(startMs - start),
                <AgentText text={formatStep(kind, name)} />,
                formatDuration(endMs - startMs),
                formatPercent(total > 0 ? (endMs - startMs) / total : 0),
                stepTask && (
                  <button type="button" class="link" onClick={() => onOpenTask(stepTask)}>
                    <AgentText text={`${stepTask.agent ?? "agent"} ${shortenId(stepTask.id)}`} />
                  </button>
                ),
              ];
            })}
          />
          {path.length > MAX_STEPS && <p class="hint">{formatCount(path.length - MAX_STEPS)} more steps</p>}
        </section>
      )}
      {waits.length > 0 && (
        <section>
          <h2>What {tasks.length === 1 ? "the task" : `${formatCount(tasks.length)} tasks`} waited for</h2>
          <FigureTable
            head={["for", "times", "total", "longest"]}
            rows={waits.map(({ kind, name, count, totalMs, longestMs }) => [
              <AgentText text={formatStep(kind, name)} />,
              formatCount(count),
              formatDuration(totalMs),
              formatDuration(longestMs),
            ])}
          />
        </section>
      )}
      <section>
        <h2>Hops</h2>
        <FigureTable
          head={[
            "from",
            "to",
            "requests",
            "errors",
            "median",
            "95th percentile",
            "bytes",
            "spent",
            "seen by",
          ]}
          rows={edges.map(({ from, to, count, errors, durationsMs, bytes, usage, observers }) => [
            <AgentText text={from} />,
            <AgentText text={to} />,
            formatCount(count),
            formatCount(errors),
            durationsMs.length > 0 ? formatDuration(computeQuantile(durationsMs, 0.5)) : "–",
            durationsMs.length > 0 ? formatDuration(computeQuantile(durationsMs, 0.95)) : "–",
            bytes > 0 ? formatCount(bytes) : "–",
            <TokenCount usage={usage} text={listUsage(usage).join(" · ") || "–"} />,
            [...observers].join(", ") || "agent",
          ])}
        />
        {missingPrice !== "" && <p class="soft">{missingPrice}</p>}
      </section>
    </div>
  );
}

const PATH_COLOR_CLASSES: Readonly<Record<CriticalPathStep["kind"], string>> = {
  own: "request",
  unobserved: "other",
  agent: "response",
  model: "model",
  retry: "failure",
  tool: "tool",
  user: "other",
  queue: "other",
};

function formatStep(kind: CriticalPathStep["kind"], name: string): string {
  return name === "" ? WAIT_LABELS[kind] : `${name} (${WAIT_LABELS[kind]})`;
}

/** Time that tasks waited for one party. Waits may overlap. */
interface WaitSum {
  readonly kind: TaskActivity["kind"];
  readonly name: string;
  readonly count: number;
  readonly totalMs: number;
  readonly longestMs: number;
}

/** Adds up the activities of all shown tasks by kind and party, longest total first. */
function sumActivities({ model, tasks }: FlowAnalysis): WaitSum[] {
  const sums = new Map<string, WaitSum>();
  for (const task of tasks)
    for (const { kind, name, startMs, endMs } of listTaskActivities(model, task)) {
      const key = JSON.stringify([kind, name]);
      const sum = sums.get(key) ?? { kind, name, count: 0, totalMs: 0, longestMs: 0 };
      const durationMs = endMs - startMs;
      sums.set(key, {
        ...sum,
        count: sum.count + 1,
        totalMs: sum.totalMs + durationMs,
        longestMs: Math.max(sum.longestMs, durationMs),
      });
    }
  return [...sums.values()].toSorted((a, b) => b.totalMs - a.totalMs);
}
