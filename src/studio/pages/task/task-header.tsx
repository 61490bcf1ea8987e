import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { useHotkeys } from "../app/hotkeys.ts";
import { usePageState } from "../app/page-state.ts";
import { formatRoute } from "../app/route.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { formatDuration, formatTaskDuration, pluralize } from "../cards/text-format.ts";
import { WAIT_LABELS } from "../flow/traffic-drawings.ts";
import { Identifier, TaskLink } from "../parts/identifier.tsx";
import { FailureNotice } from "../parts/notice.tsx";
import { findShownState, TaskStateBadge } from "../parts/task-state-badge.tsx";
import { formatDateTime, useCurrentTime } from "../parts/time-format.ts";
import { TokenCount } from "../parts/token-count.tsx";
import { isInterrupted, isTerminal, type Task, type TaskState } from "../../../protocol/index.ts";
import {
  computeTaskCriticalPath,
  computeTotalUsage,
  type CriticalPathStep,
  formatPrice,
  formatTokens,
  getTaskPeriod,
  summarizeCriticalPath,
  type TokenUsage,
  type TrafficModel,
  type TrafficTask,
} from "../../../observe/trace/index.ts";
import type { TaskRecord } from "./task-record.ts";
import type { TaskActions } from "./use-task-actions.ts";

interface TaskHeaderProps {
  readonly record: TaskRecord;
  /** Changes with the task, which grows in place. */
  readonly version: number;
  readonly task: Task | undefined;
  readonly traffic: TrafficTask | undefined;
  readonly actions: TaskActions | undefined;
}

/** The state of a task, its ids, and its actions. */
export function TaskHeader({ record, task, traffic, actions }: TaskHeaderProps): VNode {
  const { findAgent, source } = usePageState();
  const { agentId, taskId } = record;
  const state = task?.status.state ?? (traffic?.state as TaskState | undefined) ?? "TASK_STATE_UNSPECIFIED";
  const agent = findAgent(agentId);
  const agentName = agent?.name ?? agentId;
  // The console reads the event log of its own server, which refuses webhooks at private addresses by default.
  const receivesPush =
    source.session.features.receivesPush && agent?.isOwn === false && agent.capabilities.pushNotifications;
  const contextId = task?.contextId ?? traffic?.contextId;
  const usage = traffic?.usage;
  const treeUsage = traffic && computeTotalUsage(record.model, traffic);
  const parent = traffic?.statedParent;
  const pathOfTask = [agentId, taskId];
  return (
    <header class="task-header">
      <div class="task-title">
        <h1>
          <AgentText text={agentName} />
        </h1>
        <TaskStateBadge state={task === undefined ? state : findShownState(task)} />
        <Identifier name="task" id={taskId} />
        {contextId !== undefined && contextId !== "" && <Identifier name="context" id={contextId} />}
        {parent?.agent !== undefined && (
          <TaskLink agent={parent.agent} id={parent.task_id} text={`called by ${parent.agent}`} />
        )}
        {task?.status.timestamp !== undefined && (
          <span class="soft">
            {isTerminal(state) ? "Ended" : "Last status"} <time>{formatDateTime(task.status.timestamp)}</time>
          </span>
        )}
        {usage !== undefined && usage.calls > 0 && <UsageText usage={usage} scope="of this task" />}
        {treeUsage !== undefined && treeUsage.calls > (usage?.calls ?? 0) && (
          <UsageText usage={treeUsage} scope="with the tasks that it started" />
        )}
        {traffic !== undefined && (
          <a class="task-time" href={formatRoute("flow", pathOfTask, { view: "path" })}>
            <TaskTime model={record.model} task={traffic} state={state} />
          </a>
        )}
      </div>
      <div class="actions">
        {PAGE_SENDS_REQUESTS && actions && !isTerminal(state) && <CancelButton actions={actions} />}
        {PAGE_SENDS_REQUESTS && actions && !isTerminal(state) && (
          <button type="button" onClick={() => actions.subscribe(record.history.lastSeq || undefined)}>
            Subscribe
          </button>
        )}
        {PAGE_SENDS_REQUESTS && actions && receivesPush && (
          <button type="button" onClick={actions.registerPush}>
            Receive push notifications
          </button>
        )}
        {contextId !== undefined && contextId !== "" && (
          <a class="button" href={formatRoute("tasks", [], { context: contextId })}>
            Same context
          </a>
        )}
        <a class="button" href={formatRoute("flow", pathOfTask)}>
          Flow
        </a>
        <a class="button" href={formatRoute("compare", [], { a: taskId, agent: agentId })}>
          Compare
        </a>
      </div>
      {PAGE_SENDS_REQUESTS && actions?.pending !== undefined && (
        <p class="pending" role="status">
          {actions.pending} …{" "}
          <button type="button" onClick={actions.stop}>
            Stop
          </button>
        </p>
      )}
      {PAGE_SENDS_REQUESTS && actions?.problem !== undefined && (
        <FailureNotice title={`${actions.problem.action} failed`} error={actions.problem.error} />
      )}
    </header>
  );
}

/** How long a task took, and who determined the duration. An open task states since when it runs or waits. */
function TaskTime(props: {
  readonly model: TrafficModel;
  readonly task: TrafficTask;
  readonly state: TaskState;
}): VNode {
  const { model, task, state } = props;
  const { source } = usePageState();
  const nowMs = useCurrentTime();
  const { startMs, endMs } = getTaskPeriod(task);
  if (isTerminal(state) || state === "TASK_STATE_UNSPECIFIED" || source.session.mode === "file")
    return <AgentText text={`${formatTaskDuration(endMs - startMs)}: ${explainTime(model, task)}`} />;
  const sinceMs = isInterrupted(state) ? (task.stateChanges.at(-1)?.timeMs ?? startMs) : startMs;
  const duration = formatDuration(Math.max(0, nowMs - sinceMs));
  if (isInterrupted(state)) return <>Waiting for the user for {duration}</>;
  const open = model.listExchangesDuring(task.key).filter((exchange) => exchange.endMs === undefined);
  const agents = [...new Set(open.map(({ to }) => to))].join(", ");
  return <AgentText text={`Running for ${duration}${agents === "" ? "" : `, now waiting for ${agents}`}`} />;
}

/** Largest number of causes that the header of a task names. */
const MAX_CAUSES = 3;

/** Names the parties that determined the duration of a task, for example `98 % waiting for the user, 1 % model gpt-5`. */
function explainTime(model: TrafficModel, root: TrafficTask): string {
  const path = computeTaskCriticalPath(model, root);
  const causes = path.map((step) => ({ ...step, kind: "own" as const, name: nameCause(model, root, step) }));
  const shares = summarizeCriticalPath(causes).filter(({ share }) => share >= 0.005);
  if (shares.length === 0) return "where the time went was not observed";
  return shares
    .slice(0, MAX_CAUSES)
    .map(({ name, share }) => `${Math.round(100 * share)} % ${name}`)
    .join(", ");
}

/** Names the cause of a step. For the work of other agents, these are the agents from the called one to the busy one. */
function nameCause(
  model: TrafficModel,
  root: TrafficTask,
  { kind, name, taskKey }: CriticalPathStep,
): string {
  if (kind === "user") return "waiting for the user";
  const agents = kind === "agent" ? [name] : [];
  let key: string | undefined = taskKey;
  for (let depth = 0; key !== undefined && key !== root.key && depth < MAX_CHAIN_LENGTH; depth++) {
    const { agent = "agent" } = model.tasks.get(key) ?? {};
    if (agents[0] !== agent) agents.unshift(agent);
    key = model.findParentTaskKey(key);
  }
  if (agents.length > 0) return `waiting for ${agents.join(" → ")}`;
  return kind === "own" || name === "" ? WAIT_LABELS[kind] : `${WAIT_LABELS[kind]} ${name}`;
}

/** A damaged record can contain tasks that call each other in a circle. */
const MAX_CHAIN_LENGTH = 20;

function UsageText({ usage, scope }: { readonly usage: TokenUsage; readonly scope: string }): VNode {
  const price = formatPrice(usage);
  return (
    <span class="soft">
      <TokenCount usage={usage} text={`${formatTokens(usage, true)} tokens`} /> in{" "}
      {pluralize(usage.calls, "model call")} {scope}
      {price === "" ? "" : `, ${price}`}
    </span>
  );
}

function CancelButton({ actions }: { readonly actions: TaskActions }): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const ask = (): void => dialog.current?.showModal();
  useHotkeys([{ keys: ".", label: "Cancel the task", run: ask }]);
  return (
    <>
      <button type="button" class="danger" onClick={ask}>
        Cancel
      </button>
      <dialog ref={dialog} aria-labelledby="cancel-title">
        <h2 id="cancel-title">Cancel the task?</h2>
        <p>A canceled task cannot continue.</p>
        <form method="dialog" class="actions">
          <button>Keep the task</button>
          <button class="danger" onClick={actions.cancel}>
            Cancel the task
          </button>
        </form>
      </dialog>
    </>
  );
}
