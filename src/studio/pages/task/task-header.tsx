import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { useHotkeys } from "../app/hotkeys.ts";
import { usePageState } from "../app/page-state.ts";
import { formatRoute } from "../app/route.ts";
import { AgentText } from "../cards/agent-text.tsx";
import { formatCount, formatDuration, pluralize } from "../cards/text-format.ts";
import { Identifier } from "../parts/identifier.tsx";
import { FailureNotice } from "../parts/notice.tsx";
import { findShownState, TaskStateBadge } from "../parts/task-state-badge.tsx";
import { formatDateTime } from "../parts/time-format.ts";
import { isTerminal, type Task, type TaskState } from "../../../protocol/index.ts";
import {
  computeTotalUsage,
  formatPrice,
  getTaskPeriod,
  type TokenUsage,
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
        {task?.status.timestamp !== undefined && (
          <time class="soft">{formatDateTime(task.status.timestamp)}</time>
        )}
        {traffic !== undefined && isTerminal(state) && (
          <span class="soft" title="Time from the first message to the end">
            {formatDuration(getTaskPeriod(traffic).endMs - getTaskPeriod(traffic).startMs)}
          </span>
        )}
        {usage !== undefined && usage.calls > 0 && (
          <span class="soft">{formatUsage(usage, "of this task")}</span>
        )}
        {treeUsage !== undefined && treeUsage.calls > (usage?.calls ?? 0) && (
          <span class="soft">{formatUsage(treeUsage, "with the tasks that it started")}</span>
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

function formatUsage(usage: TokenUsage, scope: string): string {
  const tokens = `${formatCount(usage.inputTokens)} + ${formatCount(usage.outputTokens)} tokens`;
  const price = formatPrice(usage);
  return `${tokens} in ${pluralize(usage.calls, "model call")} ${scope}${price === "" ? "" : `, ${price}`}`;
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
