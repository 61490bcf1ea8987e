import type { VNode } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { usePageState } from "../app/page-state.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { formatCount, formatDuration, pluralize } from "../cards/text-format.ts";
import { analyzeFlow } from "../flow/analyze-flow.ts";
import { FigureTable } from "../flow/figure-table.tsx";
import { TaskPicker } from "../flow/task-picker.tsx";
import { getTrafficFeed, useLoadedTask } from "../flow/traffic-feed.ts";
import { listUsage } from "../flow/traffic-drawings.ts";
import { Notice } from "../parts/notice.tsx";
import { isObject, type JsonValue, type StreamResponse } from "../../../protocol/index.ts";
import {
  alignTaskSequences,
  compareTasks,
  formatState,
  listTaskSequence,
  summarizeTask,
  type SequenceItem,
  type TaskSummary,
  type TrafficModel,
  type TrafficTask,
} from "../../../observe/trace/index.ts";
import { TextDiff } from "./text-diff.tsx";

/** Largest number of aligned messages that the screen shows. */
const MAX_SHOWN_STEPS = 400;

/**
 * The screen Compare: two tasks side by side, with the agents that they called. The route is
 * `#/compare?a=TASK&agent=AGENT&b=TASK`. `agent` is the agent of task `a`.
 */
export function CompareScreen(): VNode {
  const state = usePageState();
  const { params } = state.route.value;
  const feed = useMemo(() => getTrafficFeed(state), [state]);
  useEffect(() => () => feed.release(), [feed]);
  useLoadedTask(feed, params["agent"], params["a"]);
  const { model } = feed.snapshot.value;
  const { roots } = useMemo(() => analyzeFlow(model, undefined), [model, feed.snapshot.value]);
  const pair = useMemo(() => findComparableTasks(roots), [roots]);
  const chosen = findChosenTask(model, params["a"]);
  const other = findChosenTask(model, params["b"]);
  const proposed = chosen
    ? (findOtherRun(chosen, roots) ?? roots.find((task) => task !== chosen))
    : (pair[1] ?? roots.find((task) => task !== pair[0]));
  // A link from a task names only this task, and the earlier run comes first.
  const isLater =
    other === undefined && chosen !== undefined && proposed && chosen.startMs > proposed.startMs;
  const [first, second] = isLater ? [proposed, chosen] : [chosen ?? pair[0], other ?? proposed];
  return (
    <div class="compare-screen">
      <h1>Compare</h1>
      <div class="compare-pickers">
        <TaskPicker
          label="First"
          roots={roots}
          task={first}
          onPick={(task) => state.replaceParams({ a: task?.id, b: second?.id })}
        />
        <TaskPicker
          label="Second"
          roots={roots}
          task={second}
          onPick={(task) => state.replaceParams({ a: first?.id, b: task?.id })}
        />
      </div>
      {first && second && first !== second ? (
        <Comparison model={model} first={first} second={second} />
      ) : (
        <Notice tone="idle" title="Two tasks are needed">
          The page has seen {pluralize(roots.length, "task")} that no other task started. Send a message
          twice, or open records of two runs with colloquy trace html.
        </Notice>
      )}
    </div>
  );
}

function findChosenTask(model: TrafficModel, id: string | undefined): TrafficTask | undefined {
  return id === undefined ? undefined : model.findTask(id);
}

interface ComparisonProps {
  readonly model: TrafficModel;
  readonly first: TrafficTask;
  readonly second: TrafficTask;
}

function Comparison({ model, first, second }: ComparisonProps): VNode {
  const comparison = useMemo(
    () => compareTasks(summarizeTask(model, first), summarizeTask(model, second)),
    [model, first, second, first.version, second.version],
  );
  const differences: readonly string[] = comparison.differences;
  const [a, b] = [comparison.first, comparison.second];
  const questions = [first, second].map((task) => (findQuestionText(task) ?? "–").slice(0, 300)) as [
    string,
    string,
  ];
  const artifactIds = [...new Set([...Object.keys(a.artifacts), ...Object.keys(b.artifacts)])];
  return (
    <>
      <section>
        <h2>Facts</h2>
        <FigureTable
          head={["fact", "first", "second", "difference"]}
          rows={[
            [
              "question",
              <AgentText text={questions[0]} />,
              <AgentText text={questions[1]} />,
              questions[0] !== questions[1] && <strong class="different">≠ different</strong>,
            ],
            ...SUMMARY_ROWS.map(({ name, label, format, measure }) => [
              label,
              <AgentText text={format(a)} />,
              <AgentText text={format(b)} />,
              measure
                ? formatDelta(measure(a), measure(b), name)
                : differences.includes(name) && <strong class="different">≠ different</strong>,
            ]),
          ]}
        />
      </section>
      <section>
        <h2>Artifacts</h2>
        {artifactIds.length === 0 && <p class="soft">Neither task has an artifact.</p>}
        {artifactIds.map((id) => {
          const [before, after] = [a.artifacts[id], b.artifacts[id]];
          return (
            <article key={id}>
              <h3>
                <AgentText text={id} /> <span class="soft">{describeDifference(before, after)}</span>
              </h3>
              <TextDiff first={before ?? ""} second={after ?? ""} />
            </article>
          );
        })}
      </section>
      <AlignedMessages model={model} first={first} second={second} />
    </>
  );
}

function describeDifference(first: string | undefined, second: string | undefined): string {
  if (first === undefined) return "only second";
  if (second === undefined) return "only first";
  return first === second ? "equal" : "different";
}

/** Number of the newest tasks among which the screen looks for two runs of the same question. */
const MAX_COMPARED_TASKS = 100;

/** Returns the newest two runs of the same question, or else the newest two tasks, with the older task first. */
function findComparableTasks(roots: readonly TrafficTask[]): readonly (TrafficTask | undefined)[] {
  for (const task of roots.slice(0, MAX_COMPARED_TASKS)) {
    const earlier = findOtherRun(task, roots.slice(roots.indexOf(task) + 1));
    if (earlier) return [earlier, task];
  }
  return [roots[1], roots[0]];
}

/** Returns the newest other task of the same agent with the same question. */
function findOtherRun(task: TrafficTask, roots: readonly TrafficTask[]): TrafficTask | undefined {
  const question = findQuestionText(task);
  if (question === undefined) return undefined;
  return roots
    .slice(0, MAX_COMPARED_TASKS)
    .find((one) => one !== task && one.agent === task.agent && findQuestionText(one) === question);
}

/** Returns the text of the first message of a task, if a line contains the message. */
function findQuestionText(task: TrafficTask): string | undefined {
  const stored = task.findLoggedEvent(1)?.line.event as Partial<StreamResponse> | undefined;
  const request = task.entries.find(({ line }) => line.kind === "request" && line.body !== undefined)?.line;
  const body = request?.kind === "request" ? request.body : undefined;
  const params = isObject(body) ? (isObject(body["params"]) ? body["params"] : body) : {};
  const message: unknown = stored && "task" in stored ? stored.task?.history?.[0] : params["message"];
  const parts: JsonValue | undefined = isObject(message) ? message["parts"] : undefined;
  if (!Array.isArray(parts)) return undefined;
  // The JSON comes from strangers, and may have any shape.
  const texts = parts.flatMap((part) =>
    isObject(part) && typeof part["text"] === "string" ? part["text"] : [],
  );
  return texts.join(" ") || undefined;
}

/** A row of the table of facts. Rows with `measure` show the difference of a number, which can be unknown. */
interface SummaryRow {
  readonly name: keyof TaskSummary;
  readonly label: string;
  readonly format: (task: TaskSummary) => string;
  readonly measure?: (task: TaskSummary) => number | undefined;
}

const SUMMARY_ROWS: readonly SummaryRow[] = [
  { name: "agent", label: "agent", format: ({ agent }) => agent },
  { name: "state", label: "state", format: ({ state }) => formatState(state ?? "unknown") },
  {
    name: "durationMs",
    label: "time",
    format: ({ durationMs }) => formatDuration(durationMs),
    measure: ({ durationMs }) => durationMs,
  },
  { name: "states", label: "states", format: ({ states }) => states.map(formatState).join(", ") },
  {
    name: "events",
    label: "events",
    format: ({ events }) => (events === undefined ? "–" : formatCount(events)),
    measure: ({ events }) => events,
  },
  {
    name: "usage",
    label: "tokens and cost",
    format: ({ usage }) => listUsage(usage).join(" · ") || "–",
    measure: ({ usage: { calls, callsWithoutTokens, inputTokens, outputTokens } }) =>
      calls === 0 || callsWithoutTokens > 0 ? undefined : inputTokens + outputTokens,
  },
  {
    name: "calledAgents",
    label: "called agents",
    format: ({ calledAgents }) => calledAgents.join(", ") || "–",
  },
  { name: "toolCalls", label: "tools", format: ({ toolCalls }) => toolCalls.join(", ") || "–" },
  {
    name: "marks",
    label: "marks",
    format: ({ marks }) =>
      Object.entries(marks)
        .map(([kind, count]) => `${count} ${kind}`)
        .join(", ") || "–",
  },
];

function formatDelta(first: number | undefined, second: number | undefined, name: keyof TaskSummary): VNode {
  if (first === undefined || second === undefined)
    return <span title="The number of at least one task is unknown">–</span>;
  const delta = second - first;
  const format = name === "durationMs" ? formatDuration : formatCount;
  return (
    <span>
      {delta > 0 ? "+" : delta < 0 ? "−" : "±"}
      {format(Math.abs(delta))}
    </span>
  );
}

function AlignedMessages({ model, first, second }: ComparisonProps): VNode {
  const steps = useMemo(() => {
    return alignTaskSequences(listTaskSequence(model, first), listTaskSequence(model, second));
  }, [model, first, second, first.version, second.version]);
  const different = steps.filter(({ isEqual }) => !isEqual).length;
  return (
    <section>
      <h2>Messages</h2>
      <p class="soft">
        {different === 0
          ? "Both tasks have the same messages."
          : `${formatCount(different)} of ${formatCount(steps.length)} messages differ.`}
      </p>
      <FigureTable
        head={["change", "first", "second", "difference"]}
        rows={steps.slice(0, MAX_SHOWN_STEPS).map((step) => {
          const firstMs = step.first && step.first.startMs - first.startMs;
          const secondMs = step.second && step.second.startMs - second.startMs;
          return [
            <span class={step.isEqual ? "soft" : "different"}>
              {step.isEqual
                ? "="
                : step.first
                  ? step.second
                    ? "≠ changed"
                    : "− only first"
                  : "+ only second"}
            </span>,
            <StepLabel step={step.first} afterMs={firstMs} />,
            <StepLabel step={step.second} afterMs={secondMs} />,
            firstMs !== undefined && secondMs !== undefined && formatDelta(firstMs, secondMs, "durationMs"),
          ];
        })}
      />
      {steps.length > MAX_SHOWN_STEPS && (
        <p class="hint">{formatCount(steps.length - MAX_SHOWN_STEPS)} more messages</p>
      )}
    </section>
  );
}

function StepLabel(props: {
  readonly step: SequenceItem | undefined;
  readonly afterMs: number | undefined;
}): VNode | null {
  const { step, afterMs = 0 } = props;
  if (!step) return null;
  return (
    <>
      <AgentText text={`${step.from} → ${step.to}: ${step.label}`} />{" "}
      <span class="soft">after {formatDuration(afterMs)}</span>
    </>
  );
}
